"""Learning on a device, the golden model or the RTL: the emulated board's tree, however late reports come."""

import random
import signal
from functools import partial

import numpy as np
import pytest
from bregalad.boards import open_board
from bregalad.boards.base import BoardError
from bregalad.driver.trainer import Trainer
from bregalad.geometry import NONE
from bregalad.policy.split_policy import SplitPolicy
from bregalad.protocol.commands import COMMAND_BYTES, COMMANDS, Opcode
from bregalad.protocol.leaf_rows import RowOp, RowWord
from bregalad.protocol.reports import Kind, layout_of
from bregalad.protocol.rows import Column, RowKind, RowLayout
from bregalad.protocol.tree import TREE_COMMANDS, TreeKind, TreeOpcode
from bregalad.tree.split import sides_of
from bregalad_sim.latency import GoldenBoard, LateBoard
from driving import TREES, active, both, cells_of, drifting, geometry, moving, same, trainer_on
from marks import nightly, nightly_but
from models import TREE

# A policy whose attempts are all reported is code of its own: of the two that there are one is compiled each day.
KINDS = [pytest.param(tree, marks=[pytest.mark.slow] * (tree == "vfdt genuine ties")) for tree in TREES]


@pytest.mark.parametrize("block", [None, 1, 7, 37])
@pytest.mark.parametrize("tree", KINDS)
def test_tree_is_the_same(tree, block):
    trainer, device = both(tree, 2500, geometry(80), 3, block=block)
    assert trainer.event_counts.splits > 1
    candidates, attempts = device.event_counts.attempts, trainer.event_counts.attempts
    print(f"{candidates} candidates of {attempts} attempts, {trainer.event_counts}")
    asks = not device.board.read("decider.decides")
    assert asks == (candidates == attempts) or "efdt" in tree


@pytest.mark.parametrize("tree", KINDS)
def test_late_reports_change_nothing(tree, seed):
    rng = random.Random(f"{seed} {tree}")
    options = {
        "block": rng.choice([None, 1, 20, 0.5]),
        "max_depth": rng.choice([None, 2]),
        "child_counts": "inherit" if "kdd2018" in tree else "zero",
        "memory_size": rng.choice([64, 4096, 1 << 16]),
    }
    print(options)
    trainer, _ = both(tree, 2000, geometry(80), 3, late=rng, other=True, rng=rng, **options)
    assert trainer.event_counts.splits > 1


@pytest.mark.parametrize("late", [pytest.param(False, marks=pytest.mark.slow), True])
@pytest.mark.parametrize("tree", [*KINDS, "efdt nba"])
def test_goes_on_on_another_board(tree, late, seed):
    """A tree moves from board to board, emulated ones and devices, amid its blocks."""
    rng = random.Random(f"{seed} {tree}")
    tree, bayes, _ = tree.partition(" nba")
    sizes = geometry(rng.choice([80, 7]), naive_bayes=bool(bayes))
    policy = SplitPolicy(**{"delta": 1e-2, "grace": 60, "block": rng.choice([None, 1, 7, 200]), **TREES[tree]})
    codes, labels = (part[:2340] for part in drifting(3, 8000))

    def device():
        board = GoldenBoard(sizes.replace(nodes=512))
        return LateBoard(board, rng) if late else board

    def make(board, **learnt):
        prediction = "nba" if bayes else "mc"
        return Trainer(board, cells_of(tree, sizes), policy, 2, prediction=prediction, review_period=500, **learnt)

    here = partial(open_board, "emulated", sizes)
    boards = [(device if turn % 2 or turn and rng.random() < 0.3 else here)() for turn in range(10)]
    trainer, found = moving(boards, make, codes, labels, rng, 500)
    whole = make(here())
    assert (found == whole.learn(codes, labels)).all()
    assert trainer.nodes.difference(whole.nodes) is None
    assert active(trainer.nodes) == active(whole.nodes)


def out_of_turn(trainer, number):
    """Reports that no board gives then, and what is said of them."""
    geometry, free = trainer.board.geometry, int(trainer.growth.pool.stack[1])
    row = layout_of(TreeKind.ROW, geometry, 0).pack(kind=TreeKind.ROW, value=1)
    candidate = layout_of(TreeKind.SPLIT_CANDIDATE, geometry, 0).pack(
        kind=TreeKind.SPLIT_CANDIDATE, slot=free, number=number
    )
    attempt = layout_of(Kind.TOP_CANDIDATES, geometry, 0).pack(kind=Kind.TOP_CANDIDATES, slot=free, n=1)
    yield row, "board golden tells ROW out of turn: open it anew"
    yield candidate + attempt, "board golden proposes to change what no node of the tree has: open it anew"


@pytest.mark.parametrize("which", [0, 1])
def test_reports_out_of_turn(which, monkeypatch):
    """One error, and the tree is kept."""
    _, device = both("vfdt", 600, geometry(80), 3)
    report, message = [*out_of_turn(device, 600)][which]
    codes, labels = (part[600:700] for part in drifting(3, 8000))
    known, receive = device.nodes.counts[0].tolist(), GoldenBoard.receive
    monkeypatch.setattr(GoldenBoard, "receive", lambda board, wait=False: report + receive(board, wait))
    with pytest.raises(BoardError, match=message):
        device.learn(codes, labels)
    assert device.nodes.counts[0].tolist() == known and "failed while" in device.broken


def test_ctrl_c_leaves_tree_and_board_in_agreement(ctrl_c, seed):
    """What was learnt is a prefix of the stream, and learning goes on."""

    class Interrupting(LateBoard):
        left = 20

        def receive(self, wait=False):
            self.left -= 1
            if self.left == 0:
                signal.raise_signal(signal.SIGINT)
            return super().receive(wait)

    codes, labels = (part[:2000] for part in drifting(3, 8000))
    policy, sizes = SplitPolicy(delta=1e-2, grace=60), geometry(80)
    boards = open_board("emulated", sizes), Interrupting(GoldenBoard(sizes.replace(nodes=512)), random.Random(seed))
    trainer, device = (Trainer(each, cells_of("vfdt", sizes), policy, 2, review_period=300) for each in boards)
    with pytest.raises(KeyboardInterrupt):
        device.learn(codes, labels)
    assert 0 < (learnt := device.event_counts.instances) < len(codes)
    for part in (slice(learnt), slice(learnt, None)):
        trainer.learn(codes[part], labels[part])
    device.learn(codes[learnt:], labels[learnt:])
    same(device, trainer)


@pytest.mark.parametrize(
    "nodes, memory_size, message",
    [
        (2, 4096, r"the tree has \d+ nodes, the board's node table 2 rows: .* more nodes"),
        (512, 13, "board golden has 13 bytes of memory, two rows take 14: it learns from one half while"),
    ],
)
def test_too_small_for_a_tree(nodes, memory_size, message):
    trainer, _ = both("vfdt", 1200, geometry(80), 3)
    board = GoldenBoard(geometry(80, nodes=nodes), memory_size)
    with pytest.raises(ValueError, match=message):
        Trainer(board, trainer.cells, trainer.policy, 2, nodes=trainer.nodes, event_counts=trainer.event_counts)


@pytest.mark.parametrize(
    "tree, prediction",
    [("vfdt", "nb"), ("vfdt adaptive", "nba"), ("efdt", "nba"), ("efdt moa", "nba"), *nightly(("efdt averages", "nb"))],
)
def test_leaves_predict_by_naive_bayes(tree, prediction):
    both(tree, 1500, geometry(80, naive_bayes=True), 4, prediction)


@pytest.mark.parametrize(
    "tree, prediction",
    [("vfdt", "mc"), ("efdt", "nba"), *nightly(("efdt averages", "nba"), ("efdt moves", "mc"), ("efdt moa", "mc"))],
)
def test_instances_weigh_the_same(tree, prediction, seed):
    """Also where counters are full in the midst of an instance, and where the tree's own count tries inner nodes."""
    rng = np.random.default_rng(seed)
    weights = rng.poisson(1, 2500).astype(np.int32)
    weights[rng.integers(0, 2500, 120)] = rng.integers(0, 64, 120)
    sizes = geometry(80, naive_bayes=prediction != "mc", count_width=12)
    trainer, _ = both(tree, 2500, sizes, seed, prediction, weights=weights)
    assert trainer.event_counts.splits > 1 and (tree == "vfdt" or trainer.board.counters()["halvings"])


@pytest.mark.parametrize(
    "tree, slots, seed, count, period",
    [
        # Which leaves keep a slot is read from their rows,
        *((*case, 5, 2500, 500) for case in (("vfdt", 7), ("vfdt adaptive", 2), ("efdt", 7), ("efdt averages", 5))),
        # as of the decision, not of its attempt: other leaves count meanwhile.
        *(("vfdt", slots, seed, 4000, 20_000) for slots, seed in ((12, 101), (7, 245), (20, 297))),
        # Decisions on nodes that went are void: a split is revised while attempts below are still to take effect.
        ("efdt", 7, 6656, 3000, 300),
        ("efdt averages", 7, 8627, 3000, 300),
        ("efdt kdd2018", 7, 1594, 3000, 20_000),
        # Where a split is revised its children may get rows that the board has known before, as leaves.
        ("efdt", 80, 4, 6000, 20_000),
    ],
)
def test_same_where_nodes_lose_slots_and_rows(tree, slots, seed, count, period):
    trainer, device = both(tree, count, geometry(slots), seed, review_period=period)
    assert trainer.event_counts.splits > 1 and (count != 2500 or not all(active(device.nodes)))


def lay_down(trainer, codes, labels):
    """Put instances into the memory of a trainer's board, six bytes each."""
    columns = [Column(f"cell {cell}", 1 + int(each), RowKind.CODE) for cell, each in enumerate(trainer.cells.attribute)]
    trainer.driver.declare(RowLayout(columns, 6, label=0), {})
    trainer.board.load(0, np.column_stack([labels.astype(np.uint8), codes]).reshape(-1))


def test_only_class_counts_are_asked_for_where_leaves_compete():
    """What else a leaf's row and slot have is asked for where the leaf splits, and of all leaves in the end."""
    codes, labels = (part[:5000] for part in drifting(5, 8000))
    sizes = geometry(7, nodes=512)
    board, sent = GoldenBoard(sizes, 1 << 15), []
    device = Trainer(board, cells_of("vfdt", sizes), SplitPolicy(delta=1e-2, grace=60, block=1), 2, review_period=500)
    lay_down(device, codes, labels)
    send = board.send
    board.send = lambda data: (sent.append(bytes(data)), send(data))
    device.learn_rows(0, len(codes))
    commands = np.frombuffer(b"".join(sent), np.uint8).reshape(-1, max(COMMAND_BYTES, sizes.bus_bytes))
    of = {opcode: commands[commands[:, 0] == opcode] for opcode in (Opcode.READ, TreeOpcode.ROW)}
    row, read = TREE_COMMANDS[TreeOpcode.ROW], COMMANDS[Opcode.READ]
    rows = np.ascontiguousarray(of[TreeOpcode.ROW][:, : row.size]).view(row.dtype)
    words = rows["word"][rows["flags"] == RowOp.READ]
    entries = np.ascontiguousarray(of[Opcode.READ][:, : read.size]).view(read.dtype)["cell"] == NONE
    splits, leaves = device.event_counts.splits, len(device.nodes.leaves())
    assert splits > 3 and leaves > 7
    assert (words == RowWord.MAJORITY).sum() == (words == RowWord.RIGHT).sum() == splits + leaves
    assert entries.sum() == splits + sum(active(device.nodes))
    assert (words == len(RowWord)).sum() > 2 * (splits + leaves)


def test_leaves_compete_in_time_for_rows_that_lie_in_memory():
    """Wherever calls begin and end, and after decisions that take effect at the same record."""
    codes, labels = (part[:2600] for part in drifting(3, 8000))
    cells, policy = cells_of("vfdt", geometry(7)), SplitPolicy(delta=1e-2, grace=60)
    boards = open_board("emulated", geometry(7)), GoldenBoard(geometry(7, nodes=512), 1 << 15)
    expected, device = (Trainer(board, cells, policy, 2, review_period=300) for board in boards)
    lay_down(device, codes, labels)
    for begin, end in ((0, 1000), (1000, 1200), (1200, 2600)):
        right = expected.learn(codes[begin:end], labels[begin:end]) == labels[begin:end]
        assert device.learn_rows(6 * begin, end - begin) == right.sum()
        assert active(device.nodes) == active(expected.nodes)
    assert device.nodes.difference(expected.nodes) is None
    with pytest.raises(ValueError, match="do not lie in the 32768 bytes of memory"):
        device.learn_rows(1 << 14, 3000)


@pytest.mark.parametrize("tree, nodes", [("vfdt", 26), ("efdt", 4)])
def test_a_tree_whose_node_table_is_full_learns_on(tree, nodes, seed):
    """It splits no more, and is the same on every such board."""
    codes, labels = (part[:2500] for part in drifting(3, 8000))
    sizes = geometry(80, nodes=nodes)
    policy, found = SplitPolicy(**{"delta": 1e-2, "grace": 60, **TREES[tree]}), []
    for board in (open_board("emulated", sizes), LateBoard(GoldenBoard(sizes), random.Random(seed))):
        device = Trainer(board, cells_of(tree, sizes), policy, 2)
        with pytest.warns(UserWarning, match=f"table of {nodes} rows is full, .* splits no more: .* more") as told:
            predictions = [device.learn(codes[part], labels[part]) for part in (slice(1800), slice(1800, None))]
        assert len(told) == 1 and told[0].filename == __file__ and not device.broken
        assert 1 < device.nodes.rows <= nodes and device.event_counts.instances == 2500
        found.append((device, np.concatenate(predictions)))
    (emulated, expected), (late, predictions) = found
    assert (predictions == expected).all() and late.nodes.difference(emulated.nodes) is None


@pytest.mark.parametrize("nominal_split", ["multiway", "one_vs_rest"])
def test_a_splits_edits_find_room_whatever_the_bins_hold(nominal_split):
    board = GoldenBoard(geometry(400, nodes=1024))
    growth = trainer_on(board, SplitPolicy(anytime=True), nominal_split).growth
    cells, full = growth.cells, np.ones((8, 2), np.int64)
    for attribute, first in enumerate(cells.first_cell):
        values = cells.values(attribute, [full] * len(cells.cells_of(attribute)))
        assert 1 + len(sides_of(values, cells.kind[first], 0)) <= growth.most_edits


def test_weights_that_a_board_does_not_take():
    device = trainer_on(GoldenBoard(geometry(80, nodes=512)), SplitPolicy())
    device.check_weights(np.full(10, 63, np.int32), 10)
    with pytest.raises(ValueError, match="board golden takes weights up to 63, not 64: choose board='emulated'"):
        device.check_weights(np.full(10, 64, np.int32), 10)


BAYES = [(tree, prediction, None) for tree in ("vfdt", "efdt") for prediction in ("nb", "nba")]
QUICK = [("vfdt", "mc", None), ("vfdt", "mc", 1), ("vfdt adaptive", "mc", None), ("efdt", "mc", 37)]
QUICK += [("efdt moves", "mc", None), *BAYES]
ALL = [*((tree, "mc", block) for tree in TREES for block in (None, 1, 37, 1 / 8)), *BAYES]


@pytest.mark.parametrize("tree, prediction, block", nightly_but(QUICK, ALL))
def test_rtl_grows_the_same_tree(tree, prediction, block, seed):
    """Whatever stalls."""
    with open_board("simulated", TREE, memory_size=8192, stall=0.2, seed=seed) as board:
        trainer, _ = both(tree, 1500, TREE.replace(nodes=0, resident=0), 3, prediction, board=board, block=block)
    assert trainer.event_counts.splits > 1
