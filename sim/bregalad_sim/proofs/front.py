"""What is claimed of the blocks before the array in a core that holds the tree."""

from amaranth import Assert
from bregalad.geometry import Geometry
from bregalad_hw.front.judge import Judge

from .watched import Proof, Watched, steady

__all__ = ["FRONT"]

_GEOMETRY = Geometry(lanes=2, passes=1, bins=4, classes=2, slots=4, count_width=12, bus_width=32)


def _verdict_and_trial(m, block):
    """The registers stay as they are."""
    steady(m, *(value for _, _, value in block.configuration.signature.flatten(block.configuration)))
    m.d.comb += Assert(
        (block.i.valid & block.i.ready) == (block.o.valid & block.o.ready), "a trial is taken as its verdict is"
    )


FRONT = {
    "judge": Proof(
        "verdicts are held until taken, each together with its trial",
        lambda: Watched(Judge(_GEOMETRY), _verdict_and_trial),
    ),
}
