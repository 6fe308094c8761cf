"""The driver's strict order: the tree of the one-at-a-time algorithm on any board, however late."""

import random
import signal
from types import SimpleNamespace

import numpy as np
import pytest
from bregalad.boards import BoardError, open_board
from bregalad.geometry import Geometry
from bregalad.sim.latency import GoldenBoard, LateBoard
from bregalad.sim.reference import ReferenceVFDT
from bregalad.trees.policy.policy import SplitPolicy
from bregalad.trees.structure import walk
from bregalad.trees.structure.cells import CellMap
from bregalad.trees.structure.nodes import HOLDING, LEAF, MULTIWAY, NUMERIC, Nodes
from bregalad.trees.training import checkpoint
from bregalad.trees.training.trainer import Trainer
from comparison import difference

CAPACITIES = [0, 0, 5, 20, 0]  # numeric, numeric, nominal, nominal over three cells, numeric
OPTIONS = [(child, split) for child in ("inherit", "zero") for split in ("multiway", "one_vs_rest")]


def stream(seed, count=6000, missing=0.05):
    """Codes and labels that a small tree describes, with noise and missing values."""
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, top, count) for top in (255, 255, 5, 20, 30)],
                     axis=1).astype(np.uint8)
    labels = ((codes[:, 0] > 100) & (codes[:, 2] != 1)
              | (codes[:, 3] % 4 == 1) & (codes[:, 1] < 70)).astype(np.int32)
    labels ^= rng.random(count) < 0.05
    codes[rng.random(codes.shape) < missing] = 255
    return codes, labels


ANYTIME = {"anytime": True, "inner_grace": 130}
TREES = {
    "vfdt": {},
    "efdt": ANYTIME,
    "efdt averages": ANYTIME | {"gain_average": True},
    "efdt moves": ANYTIME | {"same_attribute": "replace"},
    "efdt moa": ANYTIME | {"variant": "moa"},
    "efdt kdd2018": ANYTIME | {"variant": "kdd2018", "child_counts": "zero"},
    "vfdt genuine ties": {"ties": "htdt"},
    "vfdt adaptive": {"adaptive_grace": True},
}


def trainer_on(board, child_counts="inherit", nominal_split="multiway", tree="vfdt", **options):
    cells = CellMap.build(CAPACITIES, board.geometry.bins, nominal_split)
    policy = SplitPolicy(**{"delta": 1e-3, "grace": 100, "child_counts": child_counts,
                            **TREES[tree]})
    return Trainer(board, cells, policy, 2, **options)


def learn(trainer, codes, labels, seed=None):
    """Learn in one call, or (``seed``) in calls of random length."""
    rng = random.Random(seed)
    predictions, at = [], 0
    while at < len(codes):
        end = len(codes) if seed is None else at + rng.choice([1, 17, 300, 2000])
        predictions.append(trainer.learn(codes[at:end], labels[at:end]))
        at = end
    return np.concatenate(predictions)


def active(nodes):
    """Which leaves, from left to right, have a slot."""
    return (nodes.slot[nodes.leaves()] >= 0).tolist()


def geometry(slots=200, **changes):
    return Geometry(**{"lanes": 3, "passes": 3, "bins": 8, "slots": slots, **changes})


@pytest.mark.parametrize("child_counts, nominal_split", OPTIONS)
@pytest.mark.parametrize("late", [False, True])
def test_equals_reference(child_counts, nominal_split, late):
    codes, labels = stream(1)
    board = open_board("emulated", geometry())
    if late:
        board = LateBoard(board, random.Random(7))
    trainer = trainer_on(board, child_counts, nominal_split)
    predictions = learn(trainer, codes, labels, seed=3 if late else None)
    reference = ReferenceVFDT(CAPACITIES, 2, bins=8, delta=1e-3, grace=100,
                              child_counts=child_counts, nominal_split=nominal_split)
    expected = reference.learn(codes, labels)
    assert difference(trainer.nodes, reference.root) is None
    assert predictions.tolist() == expected.tolist()
    assert trainer.tally.splits == reference.tally.splits >= 3
    assert trainer.tally.ties == reference.tally.ties
    assert trainer.tally.trials == reference.tally.trials


def drifting(seed, count):
    """Like ``stream`` for a while; then another attribute tells the class, then a third one."""
    codes, labels = stream(seed, count)
    for start, stop, attribute in ((1500, count // 2, 4), (count // 2, count, 0)):
        part = slice(start, stop)
        labels[part] = (codes[part, attribute] > np.median(codes[part, attribute])) ^ (
            codes[part, 2] == 2)
    return codes, labels


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("nominal_split", ["multiway", "one_vs_rest"])
def test_latency_changes_nothing(tree, nominal_split):
    codes, labels = drifting(12, 20_000)
    first = trainer_on(open_board("emulated", geometry(2000)), nominal_split=nominal_split,
                       tree=tree)
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
def test_instances_are_routed_together_as_one_by_one(nominal_split):
    codes, labels = drifting(14, 10_000)
    trainer = trainer_on(open_board("emulated", geometry(2000)), nominal_split=nominal_split)
    nodes = trainer.nodes
    assert not walk.route(nodes.table, codes[:5]).any()  # the root is a leaf
    learn(trainer, codes, labels)
    expected = []
    for row in codes[:3 * walk.GROUP].tolist():
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
    for board in (open_board("emulated", sizes),
                  LateBoard(open_board("emulated", sizes), random.Random(seed))):
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
    """Nodes near the root are full often; what is withheld below comes before what is behind."""
    sizes = geometry(2000, count_width=12)
    codes, labels = drifting(seed, 40_000)
    boards = open_board("emulated", sizes), LateBoard(open_board("emulated", sizes),
                                                      random.Random(seed))
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
        first.learn(codes[at:at + 500], labels[at:at + 500])
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
    late = trainer_on(LateBoard(open_board("emulated", geometry(60)), random.Random(8)),
                      nominal_split="one_vs_rest")
    run, starts = late._run, []

    def noting(window, position, end):
        starts.append(position)
        return run(window, position, end)

    monkeypatch.setattr(late, "_run", noting)
    assert late._reach(len(codes)) < len(codes) / 3
    learn(late, codes, labels)
    print(starts, late.tally)
    assert late.tally.trials > 100 and len(starts) <= 2


def test_trials_that_are_out_may_take_slots():
    growth = trainer_on(open_board("emulated", geometry())).growth
    branches = growth.cells.most_branches
    assert growth.slots_needed(99) == 0
    assert growth.slots_needed(99, out=2) == 2 * (branches - 1)
    assert growth.slots_needed(100, out=2) > 2 * (branches - 1)


@pytest.mark.parametrize("slots", [2, 5, 8, 20])
@pytest.mark.parametrize("child_counts, nominal_split", OPTIONS)
@pytest.mark.parametrize("tree", ["vfdt", "vfdt adaptive", "efdt"])
def test_short_of_slots_latency_changes_nothing(slots, child_counts, nominal_split, tree):
    codes, labels = stream(2)
    first = trainer_on(open_board("emulated", geometry(slots)), child_counts, nominal_split, tree,
                       review_period=1000)
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
    options = {"delta": 0.2, "grace": rng.randrange(10, 60), "tau": rng.choice([0.03, 0.1]),
               "child_counts": rng.choice(["inherit", "zero"]), **TREES[tree]}
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


@pytest.mark.parametrize("tree", ["vfdt", "efdt", "efdt kdd2018"])
@pytest.mark.parametrize("slots", [8, 500])
def test_slots_in_use_are_those_of_nodes_that_count(tree, slots):
    codes, labels = drifting(3, 20_000)
    trainer = trainer_on(open_board("emulated", geometry(slots)), tree=tree, review_period=500)
    for at in range(0, len(codes), 500):
        trainer.learn(codes[at:at + 500], labels[at:at + 500])
        nodes, pool = trainer.nodes, trainer.growth.pool
        alive = nodes.descendants()
        assert len(alive) == len(nodes)
        held = {int(slot): node for node, slot in zip(alive, nodes.slot[alive], strict=True)
                if slot >= 0}
        assert len(held) + pool.free == slots
        assert all(pool.node[slot] == node for slot, node in held.items())
        if tree == "vfdt":
            assert all(nodes.kind[node] == LEAF for node in held.values())
        elif slots == 500:
            assert len(held) == len(nodes)
    assert tree == "vfdt" or trainer.tally.replaced + trainer.tally.pruned > 0


@pytest.mark.parametrize("tree, prediction", [
    ("vfdt", "mc"), ("vfdt adaptive", "nb"), ("efdt", "nba"), ("efdt averages", "nb"),
    ("efdt moa", "nba")])
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
    second = trainer_on(open_board("emulated", geometry(slots=300)), nodes=first.nodes, tree=tree,
                        tally=first.tally)
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
    board = open_board("emulated", geometry())
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

    board = Interrupting(open_board("emulated", geometry()), random.Random(1))
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
    board = open_board("emulated", geometry(), memory_size=memory_size)
    if late:
        board = LateBoard(board, random.Random(5))
    trainer = trainer_on(board, feed="memory")
    assert (learn(trainer, codes, labels, seed=4) == predictions).all()
    assert trainer.nodes.difference(expected.nodes) is None
    saved = checkpoint.read(trainer)
    assert len(saved["nodes"]) == len(checkpoint.read(expected)["nodes"])


def test_memory_too_small():
    board = open_board("emulated", geometry(), memory_size=16)
    with pytest.raises(ValueError, match="16 bytes of memory.*feed it through the stream"):
        trainer_on(board, feed="memory")
