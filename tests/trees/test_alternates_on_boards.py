"""Trees with alternates: what their trainers learn."""

import numpy as np
import pytest
from bregalad.boards import open_board
from bregalad.driver import checkpoint
from bregalad.driver.trainer import Trainer
from bregalad.geometry import Geometry
from bregalad.policy.split_policy import SplitPolicy
from bregalad.tree.cells import CellMap

CAPACITIES = [0, 3, 0, 0]
ALTERNATES = {"alternates": True, "delta": 1e-2, "grace": 40}
TREES = {
    "hat": ALTERNATES | {"watched": True, "drift_delta": 0.05, "switch_width": 40},
    "hat, inner nodes": ALTERNATES
    | {"watched": True, "drift_delta": 0.2, "switch_width": 30, "leaf_alternates": False},
    "efhat": ALTERNATES
    | {"watched": True, "anytime": True, "inner_grace": 60, "drift_delta": 0.05, "switch_width": 40},
    "cvfdt": ALTERNATES
    | {
        "rivals": True,
        "anytime": True,
        "window": 600,
        "inner_grace": 60,
        "test_every": 60,
        "test_length": 30,
        "same_attribute": "replace",
    },
}


def stream(seed, count, period=900):
    """Another numeric attribute tells the class each period, with noise and missing values."""
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, top, count) for top in (255, 3, 255, 255)], axis=1).astype(np.uint8)
    turn, rows = np.arange(count) // period % 3, np.arange(count)
    value, other = codes[rows, np.array([0, 2, 3])[turn]], codes[rows, np.array([2, 3, 0])[turn]]
    labels = (value > 120) & ((other > 60) | (codes[:, 1] == 1)) ^ (rng.random(count) < 0.05)
    codes[rng.random(codes.shape) < 0.03] = 255
    return codes, labels.astype(np.int32)


def shape(slots=400, **changes):
    return Geometry(lanes=3, passes=2, bins=4, classes=3, slots=slots, count_width=12, naive_bayes=True, **changes)


def trainer_on(board, tree, prediction, block=1):
    policy = SplitPolicy(**TREES[tree], block=block)
    cells = CellMap.build(CAPACITIES, board.geometry.bins)
    return Trainer(board, cells, policy, 2, prediction=prediction, review_period=1000)


def same(trainer, other, found, wanted):
    """Whether two trainers have come to the same in all: nodes, slots, what boards have counted."""
    assert (found == wanted).all(), np.flatnonzero(found != wanted)[:5]
    mine, theirs = trainer.nodes, other.nodes
    assert mine.difference(theirs) is None
    assert trainer.tally == other.tally
    live, others = mine.descendants(), theirs.descendants()
    dates = ("born", "made") if trainer.policy.window else ()  # else they say nothing
    for name in ("slot", "own", "since", "right", "due_at", "verdict", "base", "windows", *dates):
        assert (getattr(mine, name)[live] == getattr(theirs, name)[others]).all(), name
    one, two = checkpoint.read(trainer), checkpoint.read(other)
    assert (one["counts"] == two["counts"]).all() and (one["entries"] == two["entries"]).all()


def learnt(board, tree, prediction, block, codes, labels):
    trainer = trainer_on(board, tree, prediction, block)
    found = [trainer.learn(codes[:700], labels[:700]), trainer.learn(codes[700:], labels[700:])]
    return trainer, np.concatenate(found)


@pytest.mark.parametrize("tree", TREES)
def test_alternates_begin_and_take_over(tree):
    """Wherever calls begin and end."""
    codes, labels = stream(1, 4000)
    whole = trainer_on(open_board("emulated", shape()), tree, "nba", 50)
    wanted = whole.learn(codes, labels)
    trainer, found = learnt(open_board("emulated", shape()), tree, "nba", 50, codes, labels)
    same(trainer, whole, found, wanted)
    assert whole.tally.swapped and whole.tally.alternates > 1
