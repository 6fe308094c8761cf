"""The driver on one board: the reference's tree, slots, checkpoints, errors, memory."""

import random
import signal

import numpy as np
import pytest
from bregalad.boards import BoardError, open_board
from bregalad.trees.policy.policy import SplitPolicy
from bregalad.trees.structure import walk
from bregalad.trees.structure.cells import CellMap
from bregalad.trees.structure.table import LEAF, MULTIWAY, NUMERIC
from bregalad.trees.training import checkpoint
from bregalad.trees.training.trainer import Trainer
from bregalad_sim.latency import GoldenBoard, LateBoard
from bregalad_sim.record_board import RecordBoard
from bregalad_sim.reference import ReferenceVFDT
from comparison import difference
from driving import CAPACITIES, OPTIONS, TREES, drifting, geometry, learn, stream, trainer_on


@pytest.mark.parametrize("child_counts, nominal_split", OPTIONS)
@pytest.mark.parametrize("late", [False, True])
def test_equals_reference(child_counts, nominal_split, late):
    codes, labels = stream(1)
    board = LateBoard(RecordBoard(geometry()), random.Random(7)) if late else open_board("emulated", geometry())
    trainer = trainer_on(board, child_counts, nominal_split)
    predictions = learn(trainer, codes, labels, seed=3 if late else None)
    reference = ReferenceVFDT(
        CAPACITIES, 2, bins=8, delta=1e-3, grace=100, child_counts=child_counts, nominal_split=nominal_split
    )
    expected = reference.learn(codes, labels)
    assert difference(trainer.nodes, reference.root) is None
    assert predictions.tolist() == expected.tolist()
    assert trainer.tally.splits == reference.tally.splits >= 3
    assert trainer.tally.ties == reference.tally.ties
    assert trainer.tally.trials == reference.tally.trials


@pytest.mark.parametrize("nominal_split", ["multiway", "one_vs_rest"])
def test_instances_are_routed_together_as_one_by_one(nominal_split):
    codes, labels = drifting(14, 10_000)
    trainer = trainer_on(open_board("emulated", geometry(2000)), nominal_split=nominal_split)
    nodes = trainer.nodes
    assert not walk.route(nodes.table, codes[:5]).any()  # the root is a leaf
    learn(trainer, codes, labels)
    expected = []
    for row in codes[: 3 * walk.GROUP].tolist():
        at = 0
        while (kind := nodes.kind[at]) != LEAF:
            code, value = row[nodes.attribute[at]], nodes.threshold[at]
            branch = code >= value if kind == NUMERIC else code != value
            if kind == MULTIWAY:
                branch = code if code < nodes.width[at] else nodes.default[at]
            at = nodes.child[at] + (nodes.default[at] if code == 255 else branch)
        expected.append(int(at))
    assert len(set(expected)) > 3
    for count in (0, 1, walk.GROUP, walk.GROUP + 1, len(expected)):
        assert walk.route(nodes.table, codes[:count]).tolist() == expected[:count]


@pytest.mark.parametrize("tree", ["vfdt", "efdt", "efdt kdd2018"])
@pytest.mark.parametrize("slots", [8, 500])
def test_slots_in_use_are_those_of_nodes_that_count(tree, slots):
    codes, labels = drifting(3, 20_000)
    trainer = trainer_on(open_board("emulated", geometry(slots)), tree=tree, review_period=500)
    for at in range(0, len(codes), 500):
        trainer.learn(codes[at : at + 500], labels[at : at + 500])
        nodes, pool = trainer.nodes, trainer.growth.pool
        alive = nodes.descendants()
        assert len(alive) == len(nodes)
        held = {int(slot): node for node, slot in zip(alive, nodes.slot[alive], strict=True) if slot >= 0}
        assert len(held) + pool.free == slots
        assert all(pool.node[slot] == node for slot, node in held.items())
        if tree == "vfdt":
            assert all(nodes.kind[node] == LEAF for node in held.values())
        elif slots == 500:
            assert len(held) == len(nodes)
    assert tree == "vfdt" or trainer.tally.replaced + trainer.tally.pruned > 0


@pytest.mark.parametrize(
    "tree, prediction",
    [("vfdt", "mc"), ("vfdt adaptive", "nb"), ("efdt", "nba"), ("efdt averages", "nb"), ("efdt moa", "nba")],
)
def test_golden_board_agrees(tree, prediction):
    codes, labels = stream(4, 3000)
    options = {"tree": tree, "prediction": prediction}
    golden = trainer_on(GoldenBoard(geometry(naive_bayes=True)), **options)
    emulated = trainer_on(open_board("emulated", geometry(naive_bayes=True)), **options)
    assert (learn(golden, codes, labels) == learn(emulated, codes, labels)).all()
    assert golden.nodes.difference(emulated.nodes) is None


def test_halved_counts_are_reported_and_learning_goes_on():
    codes, labels = stream(5, 12000)
    labels = (codes[:, 4] < 2).astype(np.int32)
    codes[:, 4] = 0
    trainer = trainer_on(open_board("emulated", geometry(count_width=12)))
    trainer.policy = SplitPolicy(delta=1e-3, tau=0.0, grace=100)
    learn(trainer, codes, labels)
    assert trainer.tally.halvings > 0


@pytest.mark.parametrize("tree", TREES)
def test_checkpoint_restores_on_another_board(tree):
    codes, labels = drifting(6, 12_000)
    whole = trainer_on(open_board("emulated", geometry()), tree=tree)
    expected = learn(whole, codes, labels)
    first = trainer_on(open_board("emulated", geometry()), tree=tree)
    head = learn(first, codes[:4321], labels[:4321])
    saved = checkpoint.read(first)
    second = trainer_on(open_board("emulated", geometry(slots=300)), nodes=first.nodes, tree=tree, tally=first.tally)
    checkpoint.restore(second, saved)
    tail = learn(second, codes[4321:], labels[4321:])
    assert np.concatenate([head, tail]).tolist() == expected.tolist()
    assert second.nodes.difference(whole.nodes) is None


def test_board_too_small():
    with pytest.raises(ValueError, match="7 cells, but the board has 6 .* lanes x passes >= 7"):
        trainer_on(open_board("emulated", geometry(passes=2)))
    cells = CellMap.build([0], 8)
    with pytest.raises(ValueError, match="3 classes, but the board has counters for 2"):
        Trainer(open_board("emulated", geometry()), cells, SplitPolicy(), 3)


def test_board_error_is_raised_with_its_cause():
    board = GoldenBoard(geometry())
    trainer = trainer_on(board)
    codes, labels = stream(8, 300)
    board.send(bytes([99] + [0] * (board.geometry.bus_bytes - 1)))
    with pytest.raises(BoardError, match="COMMAND"):
        trainer.learn(codes, labels)
    with pytest.raises(BoardError, match="failed while this tree was learning"):
        trainer.learn(codes, labels)


def test_interrupt_leaves_tree_and_board_in_agreement():
    """Ctrl-C in the middle: what was learnt is a prefix of the stream, and learning goes on."""
    codes, labels = stream(10, 4000)

    class Interrupting(LateBoard):
        left = 20

        def receive(self, wait=False):
            self.left -= 1
            if self.left == 0:
                signal.raise_signal(signal.SIGINT)
            return super().receive(wait)

    board = Interrupting(RecordBoard(geometry()), random.Random(1))
    trainer = trainer_on(board, review_period=300)
    # A shell's background job starts with the signal ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            trainer.learn(codes, labels)
    finally:
        signal.signal(signal.SIGINT, before)
    learnt = trainer.tally.instances
    assert 0 < learnt < len(codes)
    whole = trainer_on(open_board("emulated", geometry()), review_period=300)
    whole.learn(codes, labels)
    trainer.learn(codes[learnt:], labels[learnt:])
    assert trainer.nodes.difference(whole.nodes) is None


@pytest.mark.parametrize("memory_size", [200, 1 << 16])
@pytest.mark.parametrize("late", [False, True])
def test_feed_through_memory(memory_size, late):
    codes, labels = stream(9)
    expected = trainer_on(open_board("emulated", geometry()))
    predictions = learn(expected, codes, labels)
    board = RecordBoard(geometry(), memory_size)
    if late:
        board = LateBoard(board, random.Random(5))
    trainer = trainer_on(board, feed="memory")
    assert (learn(trainer, codes, labels, seed=4) == predictions).all()
    assert trainer.nodes.difference(expected.nodes) is None
    saved = checkpoint.read(trainer)
    assert len(saved["nodes"]) == len(checkpoint.read(expected)["nodes"])


def test_memory_too_small():
    board = RecordBoard(geometry(), 16)
    with pytest.raises(ValueError, match="16 bytes of memory.*feed it through the stream"):
        trainer_on(board, feed="memory")
