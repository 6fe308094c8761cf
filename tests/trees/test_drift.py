"""Trees on streams that never settle: what is killed, or an alternate that goes, gives everything back."""

import numpy as np
import pytest
from bregalad import CVFDT, EFDT, HAT
from bregalad.data.generators import open_generator
from bregalad.tree.table import FORK
from driving import check_slots


@pytest.mark.parametrize("concepts, length", [(12, 10_000), pytest.param(100, 100_000, marks=pytest.mark.slow)])
def test_slots_in_use_are_the_nodes_of_the_tree(concepts, length):
    """Random trees in turn, another one each time: 10 M instances with -m slow."""
    tree = EFDT(slots=8192, leaf_prediction="nba")
    largest = 0
    for concept in range(concepts):
        stream = open_generator("tree", nominals=2, numerics=3, model_seed=concept, seed=concept, instances=length)
        for X, y in stream:
            tree.test_then_train(X, np.asarray(y), stream.schema.classes)
            report = tree.report()
            assert report["slots"] == report["nodes"] == len(tree._nodes) == len(tree._nodes.descendants())
            assert report["inactive_leaves"] == 0
            largest = max(largest, report["nodes"])
            tree.close()  # what is free stays so
    changes = report["replaced"] + report["pruned"]
    print(f"{report}, {largest} nodes at most, {tree._nodes.rows} rows")
    assert changes >= concepts / 4
    # Rows of killed nodes are used again, if not always at once.
    assert tree._nodes.rows <= 2 * largest + 64


@pytest.mark.parametrize("concepts, length", [(5, 10_000), pytest.param(100, 100_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("slots", [8192, 12])
@pytest.mark.parametrize(
    "kind, options", [(CVFDT, {"window": 5000, "inner_grace": 500, "test_every": 500, "test_length": 200}), (HAT, {})]
)
def test_slots_in_use_are_the_nodes_that_count(kind, options, slots, concepts, length):
    """Alternates' included: all of CVFDT, the leaves of HAT, as far as there are slots; 10 M instances with -m slow."""
    tree = kind(slots=slots, **options)
    for concept in range(concepts):
        stream = open_generator("tree", nominals=2, numerics=3, model_seed=concept, seed=concept, instances=length)
        for X, y in stream:
            tree.test_then_train(X, np.asarray(y), stream.schema.classes)
            check_slots(tree._trainer)
            nodes = tree._nodes
            counting = nodes.descendants() if kind is CVFDT else nodes.leaves()
            counting = counting[nodes.kind[counting] != FORK]
            assert (nodes.slot[counting] >= 0).all() or slots < len(counting)
    report = tree.report()
    print(f"{kind.__name__}: {report}, {tree._nodes.rows} rows")
    assert report["alternates"] and report["swapped"] + report["dropped"]
