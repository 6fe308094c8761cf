"""HAT and EFHAT on boards that hold the tree: what the emulated one learns, however late reports come."""

import random
from functools import partial

import numpy as np
import pytest
from bregalad import HAT, Resident
from bregalad.boards import open_board
from bregalad.boards.base import BoardError
from bregalad.driver import checkpoint
from bregalad.driver.trainer import Trainer
from bregalad.geometry import Geometry
from bregalad.policy.split_policy import SplitPolicy
from bregalad.protocol.reports import Kind, kind_of, layout_of
from bregalad.protocol.tree import TREE_REPORTS, TreeKind
from bregalad.tree.alternates import ways
from bregalad.tree.cells import CellMap
from bregalad.tree.table import FORK, LEAF, NO_NODE
from bregalad_sim.latency import GoldenBoard, LateBoard
from driving import concepts, moving
from marks import nightly_but
from models import TREE

CAPACITIES = [0, 3, 0, 0]
MEMORY = 4096  # bytes: a call takes several LEARNs
WATCHED = {"alternates": True, "watched": True, "delta": 1e-2, "grace": 40, "drift_delta": 0.05, "switch_width": 40}
TREES = {
    "hat": WATCHED,
    "hat, inner nodes": WATCHED | {"drift_delta": 0.2, "switch_width": 30, "leaf_alternates": False},
    "efhat": WATCHED | {"anytime": True, "inner_grace": 60},
    "efhat moves": WATCHED | {"anytime": True, "inner_grace": 60, "same_attribute": "replace"},
}


class TardyBoard(GoldenBoard):
    """Its attempts are told as late as they may be: behind the classes of the next block's instances."""

    def receive(self, wait=False):
        data, at, told, attempts = super().receive(wait), 0, [], []
        while at < len(data):
            size = layout_of(data[at], self.geometry, len(CAPACITIES)).size
            kind, report, at = kind_of(data[at]), data[at : at + size], at + size
            if kind in (TreeKind.SPLIT_CANDIDATE, Kind.TOP_CANDIDATES):
                attempts.append(report)
                continue
            if kind is not TreeKind.LABEL:
                told, attempts = told + attempts, []
            told.append(report)
        return b"".join(told + attempts)


stream = partial(concepts, period=900, tops=(255, 3, 255, 255), numeric=(0, 2, 3), helps=1)


def shape(slots=400, **changes):
    sizes = {"lanes": 4, "passes": 2, "bins": 4, "classes": 3, "count_width": 12, "bus_width": 64, "nodes": 256}
    return Geometry(slots=slots, naive_bayes=True, **{**sizes, "alternates": 3, **changes})


def trainer_on(board, tree, prediction, block=1, **others):
    policy = SplitPolicy(**TREES[tree], block=block)
    cells = CellMap.build(CAPACITIES, board.geometry.bins)
    return Trainer(board, cells, policy, 2, prediction=prediction, review_period=1000, **others)


def same(trainer, other, found, wanted):
    """Whether two trainers have come to the same in all: nodes, slots, what boards have counted."""
    assert (found == wanted).all(), np.flatnonzero(found != wanted)[:5]
    mine, theirs = trainer.nodes, other.nodes
    assert mine.difference(theirs) is None
    assert trainer.event_counts == other.event_counts
    one, two = checkpoint.read(trainer), checkpoint.read(other)
    assert (one["counts"] == two["counts"]).all() and (one["entries"] == two["entries"]).all()
    live = mine.descendants()
    assert (live == theirs.descendants()).all()
    for name in ("slot", "right", "decision", "inherited", "windows"):
        assert (getattr(mine, name)[live] == getattr(theirs, name)[live]).all(), name
    # What the engine keeps of nodes that do not count any more says nothing.
    counting = live[mine.kind[live] != FORK] if trainer.policy.anytime else live[mine.kind[live] == LEAF]
    assert (mine.since[counting] == theirs.since[counting]).all()
    # A node that has moved has had no attempt; nor does one before the block matter.
    tried = [np.maximum(nodes.due_at[counting], trainer.event_counts.begun) for nodes in (mine, theirs)]
    assert (tried[0] == tried[1]).all()


def compared(board, tree, prediction, block, codes, labels, weights=None):
    """A trainer on the emulated board that has come to the same as one on this board."""
    learnt = []
    for each in (open_board("emulated", board.geometry), board):
        trainer, found = trainer_on(each, tree, prediction, block), []
        for part in (slice(703), slice(703, None)):
            heavy = weights if weights is None else weights[part]
            found.append(trainer.run(trainer.learning(codes[part], labels[part], heavy)))
        learnt.append((trainer, np.concatenate(found)))
    (whole, wanted), (walking, found) = learnt
    same(walking, whole, found, wanted)
    print(whole.event_counts)
    return whole


CASES = [(tree, prediction, block) for tree in TREES for prediction in ("mc", "nba") for block in (1, None, 1 / 8, 37)]
# Each tree and prediction is code of its own on either board: two of them are compiled each day.
QUICK = ("hat", "mc", None), ("hat", "mc", 1), ("efhat", "nba", 1 / 8), ("efhat moves", "nba", 1)


@pytest.mark.parametrize("tree, prediction, block", nightly_but(QUICK, CASES))
@pytest.mark.parametrize("slots, alternates", [(400, 7), (13, 1)])
def test_a_board_that_holds_the_tree_learns_the_same(tree, prediction, block, slots, alternates, seed):
    """Also where slots are short, and where alternates that records would have gone down are not begun."""
    late = LateBoard(TardyBoard(shape(slots, alternates=alternates), MEMORY), random.Random(seed))
    whole = compared(late, tree, prediction, block, *stream(seed, 2600))
    event_counts = whole.event_counts
    assert event_counts.alternates and event_counts.swapped and event_counts.dropped
    assert ways(whole.nodes.table, whole.nodes.rows, NO_NODE) <= alternates


@pytest.mark.slow  # weights are code of their own
@pytest.mark.parametrize("tree, prediction", [("hat", "mc"), ("efhat", "nba")])
def test_instances_weigh_the_same(tree, prediction, seed):
    """Those of weight 0, which only ask, are no errors."""
    codes, labels = stream(seed, 2600)
    weights = np.random.default_rng(seed).poisson(1, len(labels)).astype(np.int32)
    weights[::150] = 63
    whole = compared(GoldenBoard(shape(), MEMORY), tree, prediction, None, codes, labels, weights)
    assert whole.event_counts.swapped


@pytest.mark.parametrize("tree, prediction", [("hat", "mc"), pytest.param("efhat", "nba", marks=pytest.mark.slow)])
@pytest.mark.parametrize("more", range(3))
def test_goes_on_on_another_board(tree, prediction, more, seed):
    """Also where decisions are to take effect that the last board has come to."""
    codes, labels = stream(seed + more, 2600)
    here, there = (lambda: open_board("emulated", shape())), (lambda: GoldenBoard(shape(), MEMORY))
    ways = [here() for _ in range(40)], [(there if turn % 3 else here)() for turn in range(40)]

    def learnt_on(boards):
        rng = random.Random(seed + more)

        def make(board, **learnt):
            return trainer_on(board, tree, prediction, rng.choice([1, 1 / 8, 90]), **learnt)

        return moving(boards, make, codes, labels, rng, 150)

    (whole, wanted), (walking, found) = map(learnt_on, ways)
    assert whole.event_counts.alternates
    same(walking, whole, found, wanted)


@pytest.mark.parametrize("block, more", [(1, 0), *((30, more) for more in range(4))])
def test_takes_turns(block, more, seed):
    """As trees that share a board do, amid blocks."""
    rng, sizes, found, at = random.Random(seed), shape(), [], 0
    codes, labels = stream(seed + more, 2600)
    whole = trainer_on(open_board("emulated", sizes), "hat", "mc", block)
    wanted = whole.learn(codes, labels)
    walking = trainer_on(GoldenBoard(sizes, MEMORY), "hat", "mc", block)
    while at < len(codes):
        end = min(at + rng.randrange(1, 25), len(codes))
        found.append(walking.learn(codes[at:end], labels[at:end]))
        walking.driver.changed()
        at = end
    same(walking, whole, np.concatenate(found), wanted)


def test_a_tree_whose_node_table_is_full_learns_on(seed):
    """Neither splits nor alternates for which it has no room are any."""
    with pytest.warns(UserWarning, match="table of 12 rows is full") as told:
        whole = compared(GoldenBoard(shape(nodes=12), MEMORY), "hat", "mc", None, *stream(seed, 2600))
    assert len(told) == 2 and whole.event_counts.alternates and whole.nodes.rows <= 12


def test_a_board_with_fewer_alternates_than_a_tree(seed):
    codes, labels = stream(seed, 2600)
    trainer, at = trainer_on(open_board("emulated", shape(alternates=7)), "hat", "mc", None), 0
    while ways(trainer.nodes.table, trainer.nodes.rows, NO_NODE) < 2:
        trainer.learn(codes[at : at + 10], labels[at : at + 10])
        at += 10
    few = GoldenBoard(shape(alternates=1), MEMORY)
    with pytest.raises(ValueError, match=r"up to \d alternates of the tree, on the board down 1: .* alternates=\d or"):
        trainer_on(few, "hat", "mc", nodes=trainer.nodes, event_counts=trainer.event_counts)


@pytest.mark.parametrize("node", [255, 0])
def test_classes_told_out_of_turn(node, seed, monkeypatch):
    """One error, and the tree is kept."""
    codes, labels = stream(seed, 900)
    trainer = trainer_on(GoldenBoard(shape(), MEMORY), "hat", "mc", 200)
    trainer.learn(codes[:800], labels[:800])
    splits = trainer.event_counts.splits
    report = TREE_REPORTS[TreeKind.LABEL].pack(kind=TreeKind.LABEL, node=node)
    receive = GoldenBoard.receive
    monkeypatch.setattr(GoldenBoard, "receive", lambda board, wait=False: 101 * report + receive(board, wait))
    with pytest.raises(BoardError, match="board golden tells LABEL out of turn: open it anew"):
        trainer.learn(codes[800:], labels[800:])
    assert trainer.event_counts.splits == splits > 0 and "failed while" in trainer.broken


def test_instances_in_memory_are_refused(seed):
    board = GoldenBoard(shape(), 1 << 14)
    held = Resident(board, np.random.default_rng(seed).random((50, 4), np.float32), [0, 1] * 25)
    with pytest.raises(ValueError, match="learn_resident is not for trees that watch their errors"):
        HAT(board=board).learn_resident(held)


@pytest.mark.parametrize("tree, prediction, block", nightly_but([("hat", "mc", None), ("efhat", "nba", 1)], CASES))
def test_rtl_learns_the_same(tree, prediction, block, seed):
    with open_board("simulated", TREE, memory_size=MEMORY, stall=0.2, seed=seed) as board:
        event_counts = compared(board, tree, prediction, block, *stream(seed, 2200)).event_counts
    assert event_counts.alternates and event_counts.swapped and event_counts.dropped
