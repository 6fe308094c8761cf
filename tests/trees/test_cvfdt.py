"""CVFDT: the float64 reference's tree, alternates and counts; the window, and what cannot be one."""

import numpy as np
import pytest
from bregalad import CVFDT, VFDT, Geometry, load_tree
from bregalad.benchmark.streams import load
from bregalad.boards import open_board
from bregalad.driver.trainer import Trainer
from bregalad.policy.split_policy import SplitPolicy
from bregalad.tree.cells import CellMap
from bregalad.tree.routing import route
from bregalad_sim.reference import ReferenceCVFDT
from comparison import counted_by
from driving import CAPACITIES, OPTIONS, concepts, drifting, geometry, learn_alike, trainer_on
from marks import nightly

RULES = {"window": 1500, "inner_grace": 130, "grace": 100, "test_every": 150, "test_length": 60, "delta": 1e-2}


def pair(nominal_split="multiway", **options):
    """A trainer and the reference."""
    policy = SplitPolicy(anytime=True, alternates=True, rivals=True, **RULES | options)
    trainer = trainer_on(open_board("emulated", geometry(400)), policy, nominal_split, review_period=1000)
    return trainer, ReferenceCVFDT(CAPACITIES, 2, bins=8, nominal_split=nominal_split, **RULES | options)


@pytest.mark.parametrize("child_counts, nominal_split", OPTIONS)
@pytest.mark.parametrize(
    "block, same_attribute",
    [(60, "replace"), *(pytest.param(1, same, marks=pytest.mark.slow) for same in ("replace", "keep"))],
)
def test_equals_reference(child_counts, nominal_split, block, same_attribute):
    codes, labels = drifting(1, 9000)
    trainer, reference = pair(nominal_split, child_counts=child_counts, block=block, same_attribute=same_attribute)
    learn_alike(trainer, reference, codes, labels)


@pytest.mark.parametrize("block", [1, 1 / 32])
def test_equals_reference_on_a_stream(block):
    """SEA by bin edges that stay: where they change, the window's instances are counted anew, as no reference does."""
    X, y, _ = load("generator:recurrence,first=(sea,function=1),second=(sea,function=3,seed=2)", 30_000)
    codes, labels = (X.to_numpy() * 25.4).astype(np.uint8), np.unique(y, return_inverse=True)[1]
    rules = {"delta": 1e-4, "grace": 200, "inner_grace": 500, "window": 5000, "test_every": 500, "test_length": 200}
    board = open_board("emulated", Geometry(lanes=4, passes=1, slots=1024))
    policy = SplitPolicy(anytime=True, alternates=True, rivals=True, same_attribute="keep", block=block, **rules)
    trainer = Trainer(board, CellMap.build([0] * 3, board.geometry.bins, "multiway"), policy, 2, prediction="mc")
    reference = ReferenceCVFDT([0] * 3, 2, bins=board.geometry.bins, tau=policy.tau, block=block, **rules)
    learn_alike(trainer, reference, codes, labels)
    assert reference.event_counts.splits >= 5


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_equals_reference_where_alternates_come_and_go(seed):
    codes, labels = concepts(seed)
    options = {"window": 800, "inner_grace": 60, "grace": 50, "test_every": 60, "test_length": 30}
    trainer, reference = pair(same_attribute="replace", **options)
    learn_alike(trainer, reference, codes, labels, 1111)
    assert reference.event_counts.swapped and reference.event_counts.alternates > 2


def numbers(count=9000, seed=1, moving=True):
    """Two numbers tell the class, the first one first, then the other; their range grows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 3)) * (1 + moving * np.arange(count)[:, None] / 1000)
    late = np.arange(count) >= count // 2
    y = np.where(late, X[:, 1] > 0.5, X[:, 0] > 0.3) ^ (rng.random(count) < 0.05)
    X[rng.random(X.shape) < 0.02] = np.nan
    return X, y


SMALL = {"window": 1500, "grace": 100, "inner_grace": 200, "test_every": 200, "test_length": 100, "delta": 1e-2}


def check_window(tree):
    """Leaves, and the root's bins, have counted what the window holds of the instances since they began."""
    nodes, memory, learnt = tree._nodes, tree._memory, tree.report()["instances"]
    size = min(len(memory), learnt)
    codes, labels = memory.codes.reshape(len(memory), -1)[:size], memory.labels[:size]
    number = learnt - (learnt - 1 - np.arange(size)) % len(memory)
    leaves, root = route(nodes.table, codes), nodes.standing(0)
    for leaf in np.unique(leaves):
        since = (leaves == leaf) & (number > nodes.made[leaf])
        assert (nodes.counts[leaf] == np.bincount(labels[since], minlength=2)).all()
    for attribute, table in enumerate(counted_by(tree._trainer)[root][1]):
        since = (codes[:, attribute] < 255) & (number > nodes.born[root])
        assert (table.sum(axis=0) == np.bincount(labels[since], minlength=2)).all()


@pytest.mark.slow
def test_code_books_that_change_leave_counts_as_they_are_of_the_window():
    X, y = numbers()
    tree = CVFDT(**SMALL)
    changed = []
    for at in range(0, len(X), 500):
        before = [book.edges.tolist() for book in tree._quantiser.books] if at else []
        tree.partial_fit(X[at : at + 500], y[at : at + 500], [False, True])
        changed.append(before != [book.edges.tolist() for book in tree._quantiser.books])
        check_window(tree)
    assert sum(changed) > 3
    assert tree.report()["swapped"]


@pytest.mark.slow
def test_without_a_window_nothing_is_forgotten(tmp_path):
    X, y = numbers(3000, moving=False)
    tree = CVFDT(**SMALL | {"window": None}).fit(X, y)
    assert tree._nodes.counts[tree._nodes.leaves()].sum() >= 3000
    tree.save(tmp_path / "tree")
    with pytest.raises(ValueError, match="window was None when this tree began to learn.*leave it as it is"):
        load_tree(tmp_path / "tree", window=2000)


SEA = "first=(sea,function=1,seed=9),second=(sea,function=3,seed=10)"
HYPERPLANES = "first=(hyperplane),second=(hyperplane,model_seed=2,seed=2)"


@pytest.mark.parametrize("concepts", [SEA, *nightly(HYPERPLANES)])
def test_recovers_before_vfdt(concepts):
    """Thousands of instances after the drift until five are on average nearly as right as those before it."""
    X, y, _ = load(f"generator:drift,{concepts},position=30000", 60_000)
    after = []
    for tree in (CVFDT(), VFDT()):
        right = (tree.test_then_train(X, y, np.unique(y)) == y).reshape(-1, 1000).mean(axis=1)
        recovered = np.convolve(right[30:], np.ones(5) / 5, "valid") >= right[25:30].mean() - 0.02
        after.append(recovered.argmax() if recovered.any() else len(recovered))
    assert after[0] < after[1]
