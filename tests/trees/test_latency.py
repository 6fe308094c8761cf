"""The driver's strict order: the same tree on a board that answers at once and on a late one."""

import random
from types import SimpleNamespace

import numpy as np
import pytest
from bregalad.boards import open_board
from bregalad.trees.policy.policy import SplitPolicy
from bregalad.trees.structure.cells import CellMap
from bregalad.trees.structure.nodes import HOLDING, LEAF, Nodes
from bregalad.trees.training import checkpoint
from bregalad.trees.training.trainer import Trainer
from bregalad_sim.latency import LateBoard
from driving import (
    CAPACITIES,
    OPTIONS,
    TREES,
    active,
    drifting,
    geometry,
    learn,
    stream,
    trainer_on,
)


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("nominal_split", ["multiway", "one_vs_rest"])
def test_latency_changes_nothing(tree, nominal_split):
    codes, labels = drifting(12, 20_000)
    first = trainer_on(open_board("emulated", geometry(2000)), nominal_split=nominal_split, tree=tree)
    expected = learn(first, codes, labels)
    assert first.tally.splits >= 3
    assert tree.startswith("vfdt") or "averages" in tree or first.tally.replaced >= 1
    for seed in range(3):
        board = LateBoard(open_board("emulated", geometry(2000)), random.Random(seed))
        late = trainer_on(board, nominal_split=nominal_split, tree=tree)
        assert (learn(late, codes, labels, seed) == expected).all()
        assert late.nodes.difference(first.nodes) is None
        assert late.tally == first.tally


@pytest.mark.parametrize("count_width", [12, 18])  # with and without halving
@pytest.mark.parametrize("tree", TREES)
def test_trials_are_of_the_same_instances_at_any_latency(tree, count_width):
    codes, labels = drifting(6, 20_000)
    reports = []
    for rng in (SimpleNamespace(choice=lambda counts: counts[-1]), random.Random(6)):
        board = LateBoard(open_board("emulated", geometry(2000, count_width=count_width)), rng)
        trainer = trainer_on(board, tree=tree)
        reports.append(found := [])
        judge = trainer.trials.judge

        def noting(report, trainer=trainer, judge=judge, found=found):
            words = np.frombuffer(report, np.uint32).reshape(-1, trainer.trials.form.size).copy()
            words[:, 0] &= 0xFFFF  # in which slot a node is depends on when reports came
            found += words.tolist()
            judge(report)

        trainer.trials.judge = noting
        learn(trainer, codes, labels)
        assert len(found) == trainer.tally.trials > 80
    assert reports[0] != reports[1] or "moa" in tree  # its trials come one by one
    assert sorted(reports[0]) == sorted(reports[1])


@pytest.mark.parametrize("nominal_split", ["multiway", "one_vs_rest"])
def test_idle_board_counts_ahead_of_the_verdict(nominal_split):
    """Withheld instances go to their leaf, and again to its children where it has split."""
    codes, labels = stream(4, 20_000)
    emulated = trainer_on(open_board("emulated", geometry()), nominal_split=nominal_split)
    learn(emulated, codes, labels)
    board = LateBoard(open_board("emulated", geometry()), random.Random(4))
    late = trainer_on(board, nominal_split=nominal_split)
    learn(late, codes, labels)
    assert late.nodes.difference(emulated.nodes) is None
    assert 0 < late.trials.recounted <= late.tally.splits * (late.policy.grace - 1)
    assert board.counters()["records"] == len(codes) + late.trials.recounted


@pytest.mark.parametrize("seed", range(3))
def test_counting_ahead_of_the_verdict_halves_nothing(seed):
    """The root has nearly as many instances as its counters hold when it splits."""
    sizes = geometry(count_width=12)
    codes, labels = stream(seed)
    labels ^= np.random.default_rng(seed).random(len(labels)) < 0.45
    policy = SplitPolicy(delta=1e-30, grace=130, tau=0.093)  # a tie at 4030 of 4095 instances
    cells = CellMap.build(CAPACITIES, sizes.bins)
    trees = []
    for board in (open_board("emulated", sizes), LateBoard(open_board("emulated", sizes), random.Random(seed))):
        trainer = Trainer(board, cells, policy, 2)
        trees.append((learn(trainer, codes, labels).tolist(), trainer))
    (expected, first), (predictions, late) = trees
    assert first.tally.splits == first.tally.ties == 1
    assert predictions == expected
    assert late.nodes.difference(first.nodes) is None
    assert late.tally == first.tally


@pytest.mark.parametrize("tree", [tree for tree in TREES if tree.startswith("efdt")])
@pytest.mark.parametrize("seed", [9])
def test_an_anytime_trees_counts_are_halved_in_the_streams_order(tree, seed):
    """Nodes near the root are full often; what is withheld below comes before what is after."""
    sizes = geometry(2000, count_width=12)
    codes, labels = drifting(seed, 40_000)
    boards = open_board("emulated", sizes), LateBoard(open_board("emulated", sizes), random.Random(seed))
    first, late = (trainer_on(board, nominal_split="one_vs_rest", tree=tree) for board in boards)
    expected = learn(first, codes, labels)
    assert (learn(late, codes, labels, seed) == expected).all()
    assert late.nodes.difference(first.nodes) is None
    assert late.tally == first.tally
    assert first.tally.halvings > 20
    statistics = checkpoint.read(late)
    assert (statistics["entries"][:, 0] == late.nodes.own[statistics["nodes"]]).all()


@pytest.mark.parametrize("late", [False, True])
def test_a_node_that_is_pruned_has_counted_what_its_slot_has(late):
    """Naive Bayes asks a leaf only that has counted something."""
    codes, labels = drifting(7, 12_000)
    board = open_board("emulated", geometry(2000, count_width=12))
    trainer = trainer_on(LateBoard(board, random.Random(7)) if late else board, tree="efdt")
    learn(trainer, codes, labels)
    nodes = trainer.nodes
    statistics = checkpoint.read(trainer)
    entry = statistics["entries"][statistics["nodes"].tolist().index(0)]
    if not late:
        nodes.own[0] = 0  # as after a restart: an inner node's is not kept here
    own = entry[4:].astype(np.int64) - [1, 0]  # of more classes halving may leave less than in n
    trainer.growth.prune(0, own)
    assert nodes.kind[0] == LEAF
    assert nodes.own[0] == (entry[0] if late else own.sum()) > 0


def test_gates_of_nodes_that_are_no_more_say_nothing():
    """A file may hold anything there: these rows wait to be used again."""
    codes, labels = drifting(5, 20_000)
    first = trainer_on(open_board("emulated", geometry(2000)), tree="efdt")
    at = 0
    while len(dead := np.setdiff1d(np.arange(first.nodes.rows), first.nodes.descendants())) == 0:
        first.learn(codes[at : at + 500], labels[at : at + 500])
        at += 500
    print(f"{len(dead)} nodes are no more after {at} instances")
    state = first.nodes.state()
    state["gate"][dead] = HOLDING
    board = LateBoard(open_board("emulated", geometry(2000)), random.Random(5))
    late = trainer_on(board, tree="efdt", nodes=Nodes.from_state(state, len(CAPACITIES)))
    checkpoint.restore(late, checkpoint.read(first))
    for trainer in (first, late):
        learn(trainer, codes[at:], labels[at:])
    assert at < len(codes) and late.nodes.difference(first.nodes) is None


def test_stream_runs_on_while_trials_are_out(monkeypatch):
    """The driver need not wait for all verdicts to know that slots are enough to go on."""
    codes, labels = stream(8, 20_000)
    late = trainer_on(LateBoard(open_board("emulated", geometry(60)), random.Random(8)), nominal_split="one_vs_rest")
    run, starts = late._run, []

    def noting(window, position, end):
        starts.append(position)
        return run(window, position, end)

    monkeypatch.setattr(late, "_run", noting)
    assert late._reach(len(codes)) < len(codes) / 3
    learn(late, codes, labels)
    print(starts, late.tally)
    assert late.tally.trials > 100 and len(starts) <= 2


@pytest.mark.parametrize("slots", [2, 5, 8, 20])
@pytest.mark.parametrize("child_counts, nominal_split", OPTIONS)
@pytest.mark.parametrize("tree", ["vfdt", "vfdt adaptive", "efdt"])
def test_short_of_slots_latency_changes_nothing(slots, child_counts, nominal_split, tree):
    codes, labels = stream(2)
    first = trainer_on(open_board("emulated", geometry(slots)), child_counts, nominal_split, tree, review_period=1000)
    expected = learn(first, codes, labels)
    assert first.nodes.inactive or slots == 20 or first.tally.splits < slots
    for seed in range(3):
        board = LateBoard(open_board("emulated", geometry(slots)), random.Random(seed))
        late = trainer_on(board, child_counts, nominal_split, tree, review_period=1000)
        assert (learn(late, codes, labels, seed) == expected).all()
        assert late.nodes.difference(first.nodes) is None
        assert active(late.nodes) == active(first.nodes)
        assert late.tally == first.tally
        leaves, others = late.nodes.leaves(), first.nodes.leaves()
        for name in ("own", "since", "period"):
            assert (getattr(late.nodes, name)[leaves] == getattr(first.nodes, name)[others]).all()


@pytest.mark.parametrize("seed", range(36, 60))
@pytest.mark.parametrize("tree", ["vfdt", "vfdt adaptive", "efdt"])
def test_short_of_slots_many_splits_are_under_way(tree, seed):
    """All leaves are tried often, and what a split costs them depends on others before it."""
    rng = random.Random(seed)
    codes, labels = stream(seed, 20_000)
    labels[np.random.default_rng(seed).random(len(labels)) < 0.3] ^= 1
    slots = rng.randrange(3, 40)
    options = {
        "delta": 0.2,
        "grace": rng.randrange(10, 60),
        "tau": rng.choice([0.03, 0.1]),
        "child_counts": rng.choice(["inherit", "zero"]),
        **TREES[tree],
    }
    cells = CellMap.build(CAPACITIES, 8, rng.choice(["multiway", "one_vs_rest"]))

    def trainer(board):
        return Trainer(board, cells, SplitPolicy(**options), 2, review_period=2000)

    first = trainer(open_board("emulated", geometry(slots)))
    expected = learn(first, codes, labels)
    assert first.tally.splits > slots / 2 or tree == "efdt"
    for batch_bytes in (100, 3000, 100_000):
        board = LateBoard(open_board("emulated", geometry(slots)), rng)
        board.batch_bytes = batch_bytes
        late = trainer(board)
        assert (learn(late, codes, labels, seed) == expected).all()
        assert late.nodes.difference(first.nodes) is None
        assert late.tally == first.tally
        leaves, others = late.nodes.leaves(), first.nodes.leaves()
        for name in ("own", "since", "period"):
            assert (getattr(late.nodes, name)[leaves] == getattr(first.nodes, name)[others]).all()
