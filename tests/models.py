"""Geometries whose RTL the tests simulate: compiling one takes half a minute of a processor, so all share these."""

from bregalad.geometry import PRESETS, Geometry
from bregalad_sim.tree_lockstep import SMALL

__all__ = ["LEAST", "SMALL", "SOC", "TREE", "VIRTUAL", "words"]

# SMALL: so few slots and nodes that all of them are used. TREE: so many that trees grow as on a larger board; most of
# its leaves' statistics lie in memory.
TREE = Geometry(
    lanes=4, passes=3, bins=8, classes=3, slots=64, bus_width=64, naive_bayes=True, nodes=256, alternates=3, resident=4
)
LEAST = Geometry(lanes=1, passes=1, bins=4, classes=2, slots=2, count_width=12, bus_width=32, nodes=8, searchers=0)
# The core of a system on chip.
SOC = Geometry(lanes=2, passes=2, bins=4, slots=16, count_width=16, bus_width=64, nodes=64)
# Boards pin by pin. Few lanes, since the wire is what is new there.
VIRTUAL = PRESETS["tiny"].replace(passes=4, slots=64, nodes=256, searchers=0)


def words(geometry):
    """A geometry as the command line takes it: list of str."""
    return [f"{name}={int(size) if isinstance(size, bool) else size}" for name, size in geometry.as_dict().items()]
