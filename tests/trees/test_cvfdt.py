"""CVFDT: the window, what leaves it, and the alternates of inner nodes."""

import copy

import numpy as np
import pytest
from bregalad import CVFDT, VFDT, Geometry, load_tree
from bregalad.benchmark.streams import load
from bregalad.boards import open_board
from bregalad.data.generators import open_generator
from bregalad.driver import checkpoint
from bregalad.driver.trainer import Trainer
from bregalad.evaluation import prequential
from bregalad.policy.decide import DROP, SWAP
from bregalad.policy.split_policy import SplitPolicy
from bregalad.tree.cells import CellMap
from bregalad.tree.table import FORK, LEAF, MULTIWAY, NO_NODE, NUMERIC, above
from bregalad_sim.reference import ReferenceCVFDT
from comparison import agree
from driving import CAPACITIES, OPTIONS, drifting, geometry
from test_alternates import check as check_slots

TESTS = {"test_every": 150, "test_length": 60}
RULES = {"window": 1500, "inner_grace": 130, "grace": 100}


def trainer_on(nominal_split="multiway", prediction="mc", **options):
    board = open_board("emulated", geometry(options.pop("slots", 400), naive_bayes=prediction != "mc"))
    rules = {"anytime": True, "alternates": True, "rivals": True, "delta": 1e-2}
    policy = SplitPolicy(**rules | RULES | TESTS | options)
    cells = CellMap.build(CAPACITIES, board.geometry.bins, nominal_split)
    return Trainer(board, cells, policy, 2, review_period=1000, prediction=prediction)


def reached(nodes, row):
    """The leaves that an instance reaches, alternates' too."""
    waiting, found = [0], []
    while waiting:
        node = waiting.pop()
        first, kind = int(nodes.child[node]), nodes.kind[node]
        if kind == LEAF:
            found.append(node)
        elif kind == FORK:
            waiting += [first, first + 1]
        else:
            code, value, default = row[nodes.attribute[node]], nodes.threshold[node], int(nodes.default[node])
            branch = int(code >= value) if kind == NUMERIC else int(code != value)
            if kind == MULTIWAY:
                branch = code if code < nodes.width[node] else default
            waiting.append(first + (default if code == 255 else branch))
    return found


def check_counts(trainer):
    """What nodes have counted is what the window holds of the instances since they began."""
    nodes, memory, table = trainer.nodes, trainer.memory, trainer.nodes.table
    size, learnt = len(memory), trainer.event_counts.instances
    observed, counts = (np.zeros((nodes.rows, trainer.board.geometry.classes), int) for _ in range(2))
    made, born, counting = nodes.made.tolist(), nodes.born.tolist(), {}
    codes = memory.codes.reshape(size, memory.attributes).tolist()
    for turn in range(min(size, learnt)):
        number, label = learnt - (learnt - 1 - turn) % size, memory.labels[turn]
        for leaf in reached(nodes, codes[turn]):
            counts[leaf, label] += number > made[leaf]
            node = leaf
            while node != NO_NODE:
                observed[node, label] += number > born[node]
                if node not in counting:
                    counting[node] = int(above(table, node))
                node = counting[node]
    leaves = nodes.leaves()
    assert (nodes.counts[leaves] == counts[leaves]).all()
    board = checkpoint.read(trainer)
    held = board["nodes"]
    assert (board["entries"][:, 4:] == observed[held]).all() and (
        board["entries"][:, 0] == observed[held].sum(axis=1)
    ).all()
    inner = nodes.kind[held] != LEAF
    assert (nodes.observed[held[~inner]] == board["entries"][~inner, 0]).all()
    bins = board["counts"].reshape(*board["counts"].shape[:2], -1, counts.shape[1])
    assert (bins.sum(axis=2) <= observed[held][:, None]).all()


@pytest.mark.parametrize("child_counts, nominal_split", OPTIONS)
@pytest.mark.parametrize(
    "block, same_attribute",
    [(60, "replace"), *(pytest.param(1, same, marks=pytest.mark.slow) for same in ("replace", "keep"))],
)
def test_equals_reference(child_counts, nominal_split, block, same_attribute):
    codes, labels = drifting(1, 9000)
    trainer = trainer_on(
        nominal_split=nominal_split, child_counts=child_counts, block=block, same_attribute=same_attribute
    )
    reference = ReferenceCVFDT(
        CAPACITIES,
        2,
        bins=8,
        delta=1e-2,
        child_counts=child_counts,
        nominal_split=nominal_split,
        block=block,
        same_attribute=same_attribute,
        **RULES,
        **TESTS,
    )
    assert (trainer.learn(codes, labels) == reference.learn(codes, labels)).all()
    agree(trainer, reference)
    check_counts(trainer)


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
    assert (trainer.learn(codes, labels) == reference.learn(codes, labels)).all()
    agree(trainer, reference)
    assert reference.event_counts.splits >= 5


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_equals_reference_where_alternates_come_and_go(seed):
    codes, labels = concepts(seed)
    options = {"window": 800, "inner_grace": 60, "grace": 50, "test_every": 60, "test_length": 30}
    options["same_attribute"] = "replace"
    trainer = trainer_on(**options)
    reference = ReferenceCVFDT(CAPACITIES, 2, bins=8, delta=1e-2, **options)
    at = 0
    while at < len(codes):
        found = trainer.learn(codes[at : at + 1111], labels[at : at + 1111])
        assert (found == reference.learn(codes[at : at + 1111], labels[at : at + 1111])).all()
        at += 1111
        check_counts(trainer)
        check_slots(trainer)
    agree(trainer, reference)
    assert reference.event_counts.swapped and reference.event_counts.alternates > 2


def concepts(seed, count=12_000, period=2000):
    """Another numeric attribute tells the class each period, with noise and missing values."""
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, top, count) for top in (255, 255, 5, 20, 255)], axis=1).astype(np.uint8)
    attribute = np.array([0, 1, 4])[np.arange(count) // period % 3]
    other = np.array([1, 4, 0])[np.arange(count) // period % 3]
    value = codes[np.arange(count), attribute]
    labels = ((value > 120) & (codes[np.arange(count), other] > 60) ^ (rng.random(count) < 0.05)).astype(np.int32)
    codes[rng.random(codes.shape) < 0.03] = 255
    return codes, labels


@pytest.mark.parametrize("slots", [400, 12])
def test_slots_are_given_back(slots):
    codes, labels = concepts(5, 16_000)
    trainer = trainer_on(slots=slots, prediction="nba", delta=1e-2)
    for at in range(0, len(codes), 800):
        trainer.learn(codes[at : at + 800], labels[at : at + 800])
        check_slots(trainer)
        if slots == 400:
            check_counts(trainer)
    assert trainer.event_counts.alternates


def numbers(count=9000, seed=1, moving=True):
    """Two numbers tell the class, the first one first, then the other; their range grows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 3)) * (1 + moving * np.arange(count)[:, None] / 1000)
    late = np.arange(count) >= count // 2
    y = np.where(late, X[:, 1] > 0.5, X[:, 0] > 0.3) ^ (rng.random(count) < 0.05)
    X[rng.random(X.shape) < 0.02] = np.nan
    return X, y


SMALL = {"window": 1500, "grace": 100, "inner_grace": 200, "test_every": 200, "test_length": 100, "delta": 1e-2}


def test_code_books_that_change_leave_counts_as_they_are_of_the_window():
    X, y = numbers()
    tree = CVFDT(**SMALL)
    changed = []
    for at in range(0, len(X), 500):
        before = [book.edges.tolist() for book in tree._quantiser.books] if at else []
        tree.partial_fit(X[at : at + 500], y[at : at + 500], [False, True])
        changed.append(before != [book.edges.tolist() for book in tree._quantiser.books])
        check_counts(tree._trainer)
        counts = checkpoint.read(tree._trainer)
        root = counts["counts"][0].reshape(3, -1, 2).sum(axis=1)
        codes = tree._memory.codes.reshape(-1, 3)[: min(at + 500, 1500)]
        turns = np.arange(len(codes))
        known = at + 500 - (at + 499 - turns) % 1500 > tree._nodes.born[counts["nodes"][0]]
        codes, labels = codes[known], tree._memory.labels[: len(codes)][known]
        assert root.tolist() == [[int(((codes[:, a] < 255) & (labels == k)).sum()) for k in (0, 1)] for a in range(3)]
    assert sum(changed) > 3
    assert tree.report()["swapped"]


def test_alternates_that_are_to_take_over_or_go_are_saved(tmp_path):
    X, y = numbers(6000)
    whole = CVFDT(block=200, **SMALL).fit(X, y)
    tree = CVFDT(block=200, **SMALL)
    waited = 0
    for at in range(0, 6000, 150):
        tree.partial_fit(X[at : at + 150], y[at : at + 150], [False, True])
        if not np.isin(tree._nodes.decision, (SWAP, DROP)).any() or at == 5850:
            continue
        waited += 1
        tree.save(tmp_path / "tree")
        for other in (load_tree(tmp_path / "tree"), copy.deepcopy(tree)):
            other.partial_fit(X[at + 150 :], y[at + 150 :])
            assert other.difference(whole) is None and other.report() == whole.report()
    assert waited
    with pytest.raises(ValueError, match="window was 1500 when this tree began to learn.*leave it as it is"):
        load_tree(tmp_path / "tree", window=2000)


@pytest.mark.parametrize(
    "options, message",
    [
        (
            {"window": 150},
            "a window of 150 instances is smaller than grace=200.*choose window >= 200, or a smaller grace",
        ),
        ({"window": 900}, "smaller than inner_grace=1000.*or a smaller inner_grace"),
        ({"window": 1}, "window must be 2 to 16777215 instances, or None for all, not 1"),
        (
            {"geometry": Geometry(count_width=12, naive_bayes=True)},
            "a window of 10000 instances is larger than the board's counters, which hold 4095: choose window <= 4095, "
            "or a geometry with count_width >= 14",
        ),
    ],
)
def test_windows_that_cannot_be_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        CVFDT(**options).check_parameters()
    with pytest.raises(ValueError, match=message):
        CVFDT(**options).fit([[1.0], [2.0]], [0, 1])


def test_without_a_window_nothing_is_forgotten():
    X, y = numbers(3000, moving=False)
    tree = CVFDT(**SMALL | {"window": None}).fit(X, y)
    assert tree._nodes.counts[tree._nodes.leaves()].sum() >= 3000


def recovery(curve, drift, window):
    """Points from a drift on until as many as ``window`` are on average nearly as right as before it."""
    recent = np.array(curve.recent)
    level = recent[drift - window : drift].mean() - 0.02
    means = np.convolve(recent[drift:], np.ones(window) / window, "valid")
    return int((means >= level).argmax()) if (means >= level).any() else len(means)


@pytest.mark.parametrize(
    "stream",
    [
        "drift,first=(sea,function=1,seed=9),second=(sea,function=3,seed=10),position=30000",
        pytest.param(
            "drift,first=(hyperplane),second=(hyperplane,model_seed=2,seed=2),position=30000", marks=pytest.mark.slow
        ),
    ],
)
def test_recovers_before_vfdt(stream):
    curves = {}
    for tree in (CVFDT(), VFDT()):
        made = open_generator(stream)
        curves[type(tree)] = prequential(tree, made, list(made.schema.classes), every=1000, limit=60_000)
    mine, theirs = (recovery(curves[kind], 30, 5) for kind in (CVFDT, VFDT))
    assert mine < theirs
