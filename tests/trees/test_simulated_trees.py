"""The RTL, trained by the driver: the tree of the emulated board, whatever stalls."""

import numpy as np
import pytest
from bregalad import VFDT
from bregalad.boards import open_board
from bregalad.driver.trainer import Trainer
from bregalad.policy.split_policy import SplitPolicy
from bregalad.tree.cells import CellMap
from driving import CAPACITIES, TREES, active, drifting, geometry
from marks import nightly_but
from models import TREE


def both(sizes, tree, seed, prediction="mc", *, block=None, count=1500, stream=3, review_period=20_000, **options):
    """Trainers that have learnt the same, on the emulated and on a simulated board."""
    codes, labels = (part[:count] for part in drifting(stream, 8000))
    cells = CellMap.build(CAPACITIES, sizes.bins, "one_vs_rest" if "efdt" in tree else "multiway")
    policy = SplitPolicy(**{"delta": 1e-2, "grace": 60, "block": block, **TREES[tree], **options})
    simulated = open_board("simulated", sizes.replace(nodes=256), memory_size=8192, stall=0.2, seed=seed)
    boards = open_board("emulated", sizes), simulated
    how = {"prediction": prediction, "review_period": review_period}
    expected, found = trainers = [Trainer(board, cells, policy, 2, **how) for board in boards]
    wanted, predictions = (trainer.learn(codes, labels) for trainer in trainers)
    simulated.close()
    assert (predictions == wanted).all(), np.flatnonzero(predictions != wanted)[:5]
    assert found.nodes.difference(expected.nodes) is None
    assert active(found.nodes) == active(expected.nodes)
    assert expected.event_counts.splits > 1 and found.event_counts.history == expected.event_counts.history
    return expected, found


SIZES = TREE.replace(nodes=0)
BLOCKS = [None, 1, 37, 1 / 8]
QUICK = {("vfdt", None), ("vfdt", 1), ("vfdt adaptive", None), ("efdt", 37), ("efdt moves", None)}


@pytest.mark.parametrize("tree, block", nightly_but(QUICK, [(tree, block) for tree in TREES for block in BLOCKS]))
def test_rtl_grows_the_same_tree(tree, block, seed):
    both(SIZES, tree, seed, block=block)


@pytest.mark.parametrize("prediction", ["nb", "nba"])
@pytest.mark.parametrize("tree", ["vfdt", "efdt"])
def test_rtl_predicts_by_naive_bayes(tree, prediction, seed):
    both(SIZES, tree, seed, prediction)


@pytest.mark.slow
@pytest.mark.parametrize("tree", ["vfdt", "efdt"])
def test_rtl_is_short_of_slots(tree, seed):
    expected, _ = both(geometry(7, lanes=4), tree, seed, count=2500, stream=5, review_period=500)
    assert not all(active(expected.nodes))


OTHERS = [{"bus_width": 32}, {"classes": 4}, {"bus_width": 256}]


@pytest.mark.slow
@pytest.mark.parametrize("changes", OTHERS)
def test_rtl_of_other_geometries(changes, seed):
    both(geometry(**{"slots": 64, "lanes": 4, **changes}), "efdt", seed)


def test_a_saved_tree_goes_on_in_rtl(tmp_path, seed):
    """From the emulated board to a simulated one, and back."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1800, 4))
    y = (X[:, 0] + X[:, 1] ** 2 > 0.6).astype(int)
    whole = VFDT(geometry=SIZES, grace=60, delta=1e-2)
    whole.partial_fit(X[:700], y[:700], classes=[0, 1]).partial_fit(X[700:], y[700:])
    tree = VFDT(geometry=SIZES, grace=60, delta=1e-2)
    tree.partial_fit(X[:700], y[:700], classes=[0, 1])
    for last, board in ((1100, "simulated"), (1800, "emulated")):
        tree.save(tmp_path / "tree")
        first = tree.report()["instances"]
        tree.close()
        tree = VFDT.load(tmp_path / "tree", board=board, geometry=SIZES.replace(nodes=256 * (board == "simulated")))
        tree.partial_fit(X[first:last], y[first:last])
    assert tree.difference(whole) is None and whole.get_n_leaves() > 3
    assert (tree.predict_proba(X) == whole.predict_proba(X)).all()
    tree.close()
