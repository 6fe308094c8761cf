"""Trees on streams that never settle: what is killed, or an alternate that goes, gives everything back."""

import numpy as np
import pytest
from bregalad import CVFDT, EFDT, HAT
from bregalad.data.generators import open_generator
from bregalad.tree.table import FORK
from driving import check_slots


@pytest.mark.parametrize("concepts, length", [(5, 10_000), pytest.param(100, 100_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("slots", [8192, 12])
@pytest.mark.parametrize(
    "kind, options",
    [
        (EFDT, {}),
        (CVFDT, {"window": 5000, "inner_grace": 500, "test_every": 500, "test_length": 200}),
        (HAT, {}),
    ],
)
def test_slots_in_use_are_the_nodes_that_count(kind, options, slots, concepts, length):
    """Random trees in turn, another one each time: 10 M instances with -m slow.

    All nodes of EFDT and CVFDT count, alternates' included, and the leaves of HAT, as far as there are slots.
    """
    tree, largest = kind(slots=slots, **options), 0
    for concept in range(concepts):
        stream = open_generator("tree", nominals=2, numerics=3, model_seed=concept, seed=concept, instances=length)
        for X, y in stream:
            tree.test_then_train(X, np.asarray(y), stream.schema.classes)
            check_slots(tree._trainer)
            nodes = tree._nodes
            counting = nodes.leaves() if kind is HAT else nodes.descendants()
            counting = counting[nodes.kind[counting] != FORK]
            assert (nodes.slot[counting] >= 0).all() or slots < len(counting)
            largest = max(largest, len(nodes))
            tree.close()  # what is free stays so
    report = tree.report()
    print(f"{kind.__name__}: {report}, {largest} nodes at most, {nodes.rows} rows")
    assert sum(report[change] for change in ("replaced", "pruned", "swapped", "dropped")) >= concepts / 4
    assert report["alternates"] or kind is EFDT
    # Rows of killed nodes are used again, if not always at once.
    assert nodes.rows <= 2 * largest + 64
