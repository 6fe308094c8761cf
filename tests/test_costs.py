"""The model of what an instance costs, against clocks."""

import pytest
from bregalad import Geometry
from bregalad_hw.costs import Costs
from load import Load, measure, slots_of, tree_slots

BAR = 0.02  # what the model may differ by
TINY = Geometry(lanes=2, passes=5, bins=8, classes=2, slots=16, count_width=16, bus_width=32)
LEVELS = ({"cells": 2}, {"cells": 2, "depth": 3}, {"cells": 4, "depth": 3})


def confirm(geometry, count, **load):
    """Counters under a load, and by how much the model is off."""
    counters = measure(geometry, Load(**load), count=count)
    nodes = load.pop("depth", 1)
    model = Costs(geometry, load.pop("cells"), nodes=nodes, classes=2, **load)
    return counters | {"error": model.clocks * counters["records"] / counters["learning"] - 1}


@pytest.mark.parametrize(
    "load, sizes",
    [
        ({"cells": 2}, {}),
        ({"cells": 4}, {}),
        ({"cells": 4, "grace": 0}, {}),
        ({"cells": 4, "grace": 15}, {}),
        ({"cells": 4, "depth": 3}, {}),
        ({"cells": 2, "depth": 4}, {}),
        ({"cells": 2}, {"banks": 2}),
        ({"cells": 4}, {"banks": 2}),
        ({"cells": 4, "depth": 3}, {"banks": 2}),
        *(pytest.param(load, {"levels": 4}, marks=pytest.mark.slow) for load in LEVELS),
    ],
    ids=str,
)
def test_model_is_confirmed(load, sizes):
    found = confirm(TINY.replace(**sizes), count=24_000 // load.get("depth", 1), **load)
    print(found)
    assert abs(found["error"]) < BAR
    depth = load.get("depth", 1)
    assert found["beats"] == 24_000 // depth * depth * TINY.passes_for(load["cells"])


def test_no_beat_is_lost_in_passes():
    """What the buffer has room for covers the way from `room` through the tracker and back."""
    found = confirm(TINY, count=4000, cells=10, grace=0)
    print(found)
    assert abs(found["error"]) < BAR


@pytest.mark.parametrize("levels", [1, 2, 4, 8])
def test_model_counts_groups_of_nodes(levels):
    """A path is counted from the root's end in groups, trials stop all of them alike."""
    g = Geometry(lanes=2, passes=4, bins=16, slots=64, levels=levels)
    for nodes in range(1, 20):
        groups = sum(depth % levels == 0 for depth in range(nodes))
        plain = Costs(g, 6, nodes=nodes, grace=0, inner_grace=0)
        assert plain.groups == groups
        assert plain.clocks == plain.counting == 3 * groups
        tried = Costs(g, 6, nodes=nodes, grace=2000, inner_grace=100_000)
        assert tried.snapshots == pytest.approx(16 * 3 * (1 / 2000 + (nodes - 1) / 100_000))
        assert tried.clocks == pytest.approx(3 * groups + tried.snapshots + tried.waits, rel=1e-6)
        assert 0 < tried.waits < 0.01 * groups if nodes > 1 else not tried.waits
    # Half the paths are of four nodes, half of five.
    five = {1: 5, 2: 3, 4: 2, 8: 1}[levels]
    four = {1: 4, 2: 2, 4: 1, 8: 1}[levels]
    assert Costs(g, 6, nodes=4.5).groups == (four + five) / 2


@pytest.mark.parametrize("levels", [1, 2, 4, 8])
@pytest.mark.parametrize("depth", [1, 3, 5, 8])
def test_slots_of_a_path(levels, depth):
    """Every path is counted in as few groups as may be; without levels slots are in order."""
    geometry = Geometry(lanes=2, passes=4, slots=512, levels=levels)
    used = tree_slots(depth) if depth > 1 else geometry.slots
    slots = slots_of(geometry, used, depth)
    assert len({*slots}) == used and max(slots) < geometry.slots
    if levels == 1:
        assert slots == [*range(used)]
    for node in range(used) if depth > 1 else ():
        path = [slots[node]]
        while node:
            node = node - 1 >> 1
            path.append(slots[node])
        path.reverse()
        for at in range(0, len(path), levels):
            group = [slot % levels for slot in path[at : at + levels]]
            assert len({*group}) == len(group)
    with pytest.raises(ValueError, match="a tree of 5 levels takes more than 32 slots where these"):
        slots_of(TINY.replace(slots=32, levels=8), tree_slots(5), 5)


def test_model():
    g = Geometry(lanes=32, passes=32, bus_width=512)
    assert Costs(g, 32).clocks == pytest.approx(1 + 16 / 200, rel=1e-3)
    assert Costs(g.replace(banks=2), 32).clocks == pytest.approx(1, rel=1e-3)
    assert Costs(g, 1024, grace=0, inner_grace=0).clocks == 32
    # A further node takes its beats, but no less than 2 clocks.
    assert Costs(g, 32, nodes=5, grace=0, inner_grace=0).clocks == 5
    assert Costs(g, 128, nodes=2.5, grace=0, inner_grace=0).clocks == 10
    # Trials beyond what the gain units can do.
    many = Costs(g, 32, grace=10)
    assert many.bound == "gains" and many.clocks == pytest.approx(many.gains, rel=1e-3)
    slow = Costs(g.replace(bus_width=32), 32)
    assert slow.bound == "supply" and slow.clocks == 9
    with pytest.raises(ValueError, match="cells must be 1 to 1024, not 1025"):
        Costs(g, 1025)
    with pytest.raises(ValueError, match="nodes must be at least 1, not 0.5"):
        Costs(g, 32, nodes=0.5)
