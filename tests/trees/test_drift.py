"""Anytime trees on streams that never settle: what is killed gives everything back."""

import numpy as np
import pytest
from bregalad import EFDT
from bregalad.data.generators import open_generator


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
            assert report["slots"] == report["nodes"] == len(tree._nodes.descendants())
            assert report["inactive_leaves"] == 0
            largest = max(largest, report["nodes"])
    changes = report["replaced"] + report["pruned"]
    print(f"{report}, {largest} nodes at most, {tree._nodes.rows} rows")
    assert changes >= concepts / 4
    # Rows of killed nodes are used again, if not always at once.
    assert tree._nodes.rows <= 2 * largest + 64
