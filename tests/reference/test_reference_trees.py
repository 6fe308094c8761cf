"""What the reference trees decide, on streams small enough to follow."""

from functools import partial

import numpy as np
import pytest
from bregalad_sim import reference
from bregalad_sim.reference.node import Node

# What is decided takes effect at once.
ReferenceVFDT, ReferenceEFDT = (partial(kind, block=1) for kind in (reference.ReferenceVFDT, reference.ReferenceEFDT))
ALL = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.uint8)


def stream(*parts):
    """Codes and labels of parts ``(n, label)``: two binary attributes in turn, all combinations."""
    codes = np.concatenate([np.resize(ALL, (n, 2)) for n, _ in parts])
    labels = np.concatenate([[label(a, b) for a, b in np.resize(ALL, (n, 2)).tolist()] for n, label in parts])
    return codes, labels


def first(a, b):
    return a


def second(a, b):
    return b


def shape(node):
    """A tree in brackets."""
    if not node.kind:
        return "."
    return f"{node.attribute}({' '.join(map(shape, node.children))})"


def test_nodes_come_in_order_however_deep_the_tree():
    root = node = Node(2, [])
    expected = []
    for _ in range(2000):
        node.children = [Node(2, [], parent=node), Node(2, [], parent=node)]
        expected += node.children
        node = node.children[1]
    assert root.below() == expected


# VFDT


@pytest.mark.parametrize("child_counts", ["inherit", "zero"])
def test_vfdt_splits_as_soon_as_the_gap_is_sure(child_counts):
    tree = ReferenceVFDT([2, 2], 2, child_counts=child_counts)
    codes, labels = stream((199, first))
    tree.learn(codes, labels)
    assert shape(tree.root) == "." and tree.event_counts.attempts == 0
    tree.learn(np.array([[1, 1]], np.uint8), [1])
    assert shape(tree.root) == "0(. .)" and tree.root.kind == "multiway"
    assert tree.splits == [(200, 0, "multiway", 0, tree.splits[0].margin, False)]
    # The gap, 1 bit, was above epsilon by this much.
    assert tree.splits[0].margin == pytest.approx(1 - 0.2007364, abs=1e-5)
    inherited = [[100, 0], [0, 100]] if child_counts == "inherit" else [[0, 0], [0, 0]]
    assert [child.counts.tolist() for child in tree.root.children] == inherited
    assert tree.root.counts is None
    # Without counts a child predicts its side's majority.
    last = 1 if child_counts == "inherit" else 0
    assert tree.learn(ALL, [0, 0, 0, 0]).tolist() == [0, 0, 1, last]


def test_a_child_that_gets_no_instances_predicts_its_parents_majority():
    tree = ReferenceVFDT([3], 2, grace=200)
    codes = np.where(np.arange(200) % 10 < 3, 0, 2)[:, None].astype(np.uint8)
    tree.learn(codes, (codes[:, 0] == 2).astype(int))
    assert shape(tree.root) == "0(. . .)"
    assert [child.counts.tolist() for child in tree.root.children] == [[60, 0], [0, 0], [0, 140]]
    assert tree.learn(np.array([[1]], np.uint8), [0]).tolist() == [1]
    assert tree.learn(np.array([[1]], np.uint8), [0]).tolist() == [0]


def test_vfdt_leaves_pure_nodes_alone():
    tree = ReferenceVFDT([2, 2], 2)
    codes, _ = stream((1000, first))
    tree.learn(codes, np.zeros(1000, int))
    assert tree.event_counts.attempts == 5 and not tree.decisions and not tree.splits


def test_vfdt_compares_a_single_attribute_with_the_null_split():
    codes, labels = stream((200, first))
    labels = labels ^ (np.arange(200) // 4 % 5 < 2)  # three fifths: 0.029 bit
    tree = ReferenceVFDT([2], 2)
    tree.learn(codes[:, :1], labels)
    assert not tree.splits
    assert tree.decisions[0].margin == pytest.approx(0.2007364 - 0.0290494, abs=1e-5)


def tied(n, columns=2, classes=2):
    """Attributes that are all the class's bit, then a constant one."""
    labels = np.arange(n) % classes
    codes = np.stack([labels] * columns + [np.zeros(n, int)], axis=1)
    return codes.astype(np.uint8), labels


def test_tie_is_broken_by_tau():
    codes, labels = tied(3400)
    tree = ReferenceVFDT([2] * 3, 2)
    tree.learn(codes[:3200], labels[:3200])
    assert not tree.splits  # epsilon is 0.0502
    tree.learn(codes[3200:], labels[3200:])
    assert [split[:3] for split in tree.splits] == [(3400, 0, "multiway")]
    assert tree.splits[0].tie and tree.event_counts.ties == 1 and tree.event_counts.attempts == 17


def test_genuine_ties():
    codes, labels = tied(10_000)
    tree = ReferenceVFDT([2] * 3, 2, ties="htdt")
    tree.learn(codes, labels)
    assert tree.splits[0].seen == 3400
    # Without a third attribute that is worse no tie is genuine.
    tree = ReferenceVFDT([2] * 2, 2, ties="htdt")
    tree.learn(codes[:, :2], labels)
    assert not tree.splits and tree.event_counts.attempts == 50
    # 5 (Ga - Gb) < Gb - Gc, Gc = 0: Gb has to be above 5/6 of Ga.
    for flipped, split in ((0.002, True), (0.01, True), (0.03, False)):
        worse = codes[:2000].copy()
        worse[np.arange(len(worse)) % 1000 < 1000 * flipped, 1] ^= 1
        tree = ReferenceVFDT([2] * 3, 2, ties="htdt", delta=1e-90, tau=0.5)
        tree.learn(worse, labels[:2000])
        assert bool(tree.splits) == split, flipped


def test_adaptive_wait():
    """Two bits of the class, each twice among the attributes: ties at the root and below."""
    labels = np.arange(12_000) % 4
    codes = np.stack([labels >> 1, labels >> 1, labels & 1, labels & 1], axis=1).astype(np.uint8)
    tree = ReferenceVFDT([2] * 4, 4, grace=100, ties="htat", tie_increment=500)
    tree.learn(codes, labels)
    # The root waits for 3000 instances, its children for 3500 each; every other one is theirs.
    assert [(split.seen, split.tie) for split in tree.splits] == [(3000, True), (9998, True), (10_000, True)]
    assert shape(tree.root) == "0(2(. .) 2(. .))"
    leaf = tree.root.children[0].children[0]
    assert leaf.wait == 4000


def test_regular_split_resets_the_wait():
    codes, labels = stream((200, first))
    tree = ReferenceVFDT([2, 2], 2, ties="htat")
    tree.root.wait = 9000
    tree.learn(codes, labels)
    assert not tree.splits[0].tie
    assert [child.wait for child in tree.root.children] == [3000, 3000]


def test_adaptive_grace():
    codes, labels = tied(3300)
    tree = ReferenceVFDT([2] * 3, 2, adaptive_grace=True)
    tree.learn(codes, labels)
    # ln(1e7) / (2 0.05^2) = 3223.6 instances make a tie: that is the second attempt.
    assert tree.event_counts.attempts == 2 and tree.splits[0].seen == 3224
    # A gap of 0.1887 is sure after ln(1e7) / (2 0.1887^2) = 226.3.
    codes, labels = stream((400, first))
    labels = labels ^ (np.arange(400) // 4 % 4 == 0)  # 3/4 of attribute 0
    tree = ReferenceVFDT([2, 2], 2, adaptive_grace=True, grace=20, tau=0.01)
    tree.learn(codes[:20], labels[:20])
    gap = tree.candidates(tree.root)[0].gain
    assert tree.root.period == np.ceil(np.log(1e7) / (2 * gap**2)) - 20
    assert ReferenceVFDT([2], 2, tau=0).next_period(0.0, 20) == 65535


@pytest.mark.parametrize(
    "bound, criterion, c",
    [
        ("mcdiarmid", "gini", 0),
        ("confidence", "gini", 0),
        ("confidence", "kearns_mansour", 0),
        pytest.param("confidence", "information_gain", 0, marks=pytest.mark.slow),  # it takes a million instances
        ("confidence-practical", "gini", 0.005),
    ],
)
def test_other_bounds_split_when_they_are_sure(bound, criterion, c):
    grace = 20_000 if criterion == "information_gain" else 100
    codes = np.resize(ALL, (20_000_000 // grace + grace * 60, 2))
    tree = ReferenceVFDT([2, 2], 2, bound=bound, criterion=criterion, c=c, tau=0, grace=grace)
    while not tree.splits:
        part = codes[tree.event_counts.instances :][: 10 * grace]
        tree.learn(part, part[:, 0])
    seen = tree.splits[0].seen
    assert shape(tree.root) == "0(. .)"
    gap = {"gini": 0.5, "kearns_mansour": 0.5, "information_gain": np.log(2) / 2}[criterion]

    def sure(n):
        d = 1 / n / (2 * (n + 1) ** 3 * 2 * n)
        return {
            "mcdiarmid": gap > 8 * np.sqrt(np.log(1e7) / (2 * n)),
            "confidence": gap
            >= 2
            * {
                "gini": np.sqrt(8 / n * np.log(2 / d)) + 4 * np.sqrt(1 / n),
                "kearns_mansour": 4 * np.sqrt(1 / n * np.log(8 / d)),
                "information_gain": np.log(n) * np.sqrt(2 / n * np.log(4 / d)) + 2 / n,
            }[criterion],
            "confidence-practical": gap >= 0.005 * np.sqrt(np.log(n * n * n * 2) / n),
        }[bound]

    assert sure(seen) and (seen == grace or not sure(seen - grace))


def test_missing_values_take_the_default_branch():
    codes, labels = stream((200, first))
    codes = np.concatenate([codes, np.full((60, 2), 255, np.uint8), codes[2:4], codes[2:4]])
    labels = np.concatenate([labels, np.zeros(60, int), labels[2:4], labels[2:4]])
    tree = ReferenceVFDT([2, 2], 2, grace=264)
    tree.learn(codes, labels)
    assert tree.root.default == 1  # 104 of 204 known
    assert [c.counts.tolist() for c in tree.root.children] == [[100, 0], [60, 104]]
    tree.learn(np.array([[255, 0], [7, 0]], np.uint8), [1, 1])  # unknown goes there too
    assert tree.root.children[1].observed.tolist() == [0, 2]


def test_pieces_change_nothing():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 255, (5000, 4)).astype(np.uint8)
    codes[:, 3] %= 3
    labels = ((codes[:, 0] > 90) ^ (codes[:, 3] == 1)).astype(int)
    for make in (ReferenceVFDT, ReferenceEFDT):
        whole = make([0, 0, 0, 3], 2, leaf_prediction="nba")
        pieces = make([0, 0, 0, 3], 2, leaf_prediction="nba")
        expected = whole.learn(codes, labels)
        found = [pieces.learn(codes[i : i + 77], labels[i : i + 77]) for i in range(0, 5000, 77)]
        assert (np.concatenate(found) == expected).all()
        assert pieces.splits == whole.splits and pieces.decisions == whole.decisions
        assert len(whole.splits) > 2


def test_margins_of_attempts_that_changed_nothing():
    codes, labels = tied(600)
    tree = ReferenceVFDT([2] * 3, 2)
    tree.learn(codes, labels)
    epsilon = [np.sqrt(np.log(1e7) / (2 * n)) for n in (200, 400, 600)]
    assert [d.outcome for d in tree.decisions] == ["keep"] * 3
    assert [d.margin for d in tree.decisions] == pytest.approx(epsilon)  # the gap is 0


# EFDT


def test_efdt_needs_a_gap_to_the_null_split_only():
    codes, labels = tied(200)
    tree = ReferenceEFDT([2] * 3, 2)
    tree.learn(codes, labels)
    assert shape(tree.root) == "0(. .)" and not tree.splits[0].tie
    assert tree.root.observed.tolist() == [100, 100]  # statistics stay


def test_efdt_counts_along_the_path():
    codes, labels = stream((600, first))
    tree = ReferenceEFDT([2, 2], 2)
    tree.learn(codes, labels)
    assert tree.root.observed.sum() == 600
    assert [child.observed.sum() for child in tree.root.children] == [200, 200]


def changing(**options):
    """Attribute 0 is the class, then attribute 1."""
    tree = ReferenceEFDT([2, 2], 2, **options)
    codes, labels = stream((200, first), (1996, second), (4, second))
    tree.learn(codes[:-4], labels[:-4])
    return tree, codes[-4:], labels[-4:]


def test_efdt_replaces_a_split_and_kills_its_subtree():
    tree, codes, labels = changing()
    assert shape(tree.root) == "0(1(. .) 1(. .))"
    tree.learn(codes[:-1], labels[:-1])
    attempts = tree.event_counts.attempts
    # The next is the 2000th since the root's split. The root comes first, and what is below it is gone.
    tree.root.children[1].since = 1999
    tree.learn(codes[-1:], labels[-1:])
    assert shape(tree.root) == "1(. .)"
    assert tree.event_counts.attempts == attempts + 3 and tree.event_counts.replaced == 1  # two below were due, too
    assert tree.splits[-1][:3] == (2200, 1, "multiway") and not tree.splits[-1].tie
    assert "replace" in [decision.outcome for decision in tree.decisions[-attempts:]]
    assert [child.observed.tolist() for child in tree.root.children] == [[0, 0], [0, 0]]
    # 200 instances of the first kind: a half of them, 50 each, were the wrong way round.
    assert [child.counts.tolist() for child in tree.root.children] == [[1050, 50], [50, 1050]]
    assert tree.root.observed.tolist() == [1100, 1100]
    assert len(tree.live()) == 3


def test_efdt_keeps_the_best_split():
    codes, labels = stream((6200, first))
    tree = ReferenceEFDT([2, 2], 2)
    tree.learn(codes, labels)
    assert shape(tree.root) == "0(. .)" and tree.event_counts.replaced == tree.event_counts.pruned == 0
    assert [d.seen for d in tree.decisions] == [200, 2200, 4200, 6200]
    # The other attribute's gain is 0: it lacks 1 bit and epsilon.
    assert tree.decisions[1].margin == pytest.approx(1 + np.sqrt(np.log(1e7) / 4400))


def test_efdt_keeps_a_split_that_another_hardly_beats():
    labels = np.arange(2200) % 2
    codes = np.stack([labels, labels], axis=1)
    codes[-2000::250, 0] ^= 1  # 8 of 2200 wrong: 0.0346 bit
    tree = ReferenceEFDT([2, 2], 2)
    tree.learn(codes.astype(np.uint8), labels)
    assert tree.root.attribute == 0 and tree.event_counts.replaced == 0
    p = 8 / 1108  # of the instances whose attribute 0 names the class that all 8 have not
    gap = 1108 / 2200 * -(p * np.log2(p) + (1 - p) * np.log2(1 - p))
    epsilon = np.sqrt(np.log(1e7) / 4400)
    assert tree.candidates(tree.root)[1].gain - tree.candidates(tree.root)[0].gain == pytest.approx(gap)
    assert tree.decisions[-1] == (2200, "keep", pytest.approx(epsilon - gap))


def test_efdt_replacement_by_a_tie():
    """Below tau the gap needs to be more than half of it."""
    tree = ReferenceEFDT([2], 2)
    assert tree._beats(0.026, tree.facts(tree.root, np.array([2000, 2000]))) == (False, False)
    tree = ReferenceEFDT([2, 2], 2, tau=0.05, variant="moa")
    attempt = tree.facts(tree.root, np.array([2000, 2000]))  # epsilon is 0.0449
    assert tree._beats(0.026, attempt) == (True, True)
    assert tree._beats(0.024, attempt) == (False, False)
    assert tree._beats(0.046, attempt) == (True, False)
    before = tree.facts(tree.root, np.array([1000, 1000]))
    assert tree._beats(0.026, before) == (False, False)


def prunable(**options):
    """The node of attribute 0's value 0 splits on attribute 1, which then means nothing.

    Its inherited counts are 2000 of one class, its own soon half and half: the inherited ones make
    every gain there negative.
    """
    half = [[0, 0, 0], [0, 1, 1]]
    quarters = [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1]]
    rows = np.concatenate(
        [
            np.resize([[0, 0, 0], [0, 1, 0]], (2000, 3)),
            np.resize([[1, 0, 1], [1, 1, 1]], (200, 3)),
            np.resize(half, (200, 3)),
            np.resize(quarters, (2000, 3)),
        ]
    )
    tree = ReferenceEFDT([2, 2], 2, **options)
    tree.learn(rows[:-1, :2].astype(np.uint8), rows[:-1, 2])
    return tree, rows[-1:, :2].astype(np.uint8), rows[-1:, 2]


def test_efdt_prunes_where_no_split_is_best():
    tree, codes, labels = prunable()
    # The root splits at 2200, its first attempt with two classes.
    assert tree.splits[0][:2] == (2200, 0) and tree.splits[1][:2] == (2400, 1)
    assert shape(tree.root).startswith("0(1(")
    tree.learn(codes, labels)
    assert shape(tree.root) == "0(. .)" and tree.event_counts.pruned == 1
    assert tree.decisions[-1].outcome == "prune"
    leaf = tree.root.children[0]
    assert leaf.observed.tolist() == [1100, 1100] and leaf.counts.tolist() == [3100, 1100]
    assert leaf.period == 200 and leaf.since == 0


def test_moa_never_prunes():
    tree, codes, labels = prunable(variant="moa")
    tree.learn(np.resize(codes, (4000, 2)), np.resize(labels, 4000))
    assert tree.event_counts.pruned == 0


def test_moa_looks_at_inner_nodes_by_the_trees_count():
    tree, codes, labels = changing(variant="moa")
    assert shape(tree.root) == "1(. .)"
    replaced = [split.seen for split in tree.splits if split.seen >= 1000]
    assert replaced == [2000] and tree.event_counts.replaced == 1


def test_kdd2018_splits_at_the_first_attempt():
    codes, labels = stream((200, first))
    labels = labels ^ (np.arange(200) // 4 % 5 < 2)  # three fifths of attribute 0: 0.029 bit
    trees = {variant: ReferenceEFDT([2, 2], 2, variant=variant) for variant in ("paper", "kdd2018")}
    for tree in trees.values():
        tree.learn(codes, labels)
    assert shape(trees["paper"].root) == "." and shape(trees["kdd2018"].root) == "0(. .)"
    assert trees["kdd2018"].event_counts.ties == 0
    tree = ReferenceEFDT([2, 2], 2, variant="kdd2018")
    codes, labels = stream((100, first), (100, lambda a, b: 1 - a))
    tree.learn(codes, labels)
    assert shape(tree.root) == "."  # no gain at all


def test_gain_average():
    codes, labels = stream((100, first), (100, lambda a, b: 1 - a), (200, first))
    for gain_average, expected in ((False, "0(. .)"), (True, ".")):
        tree = ReferenceEFDT([2, 2], 2, gain_average=gain_average)
        tree.learn(codes, labels)
        # The gain is 0 at 200, 0.1887 at 400, where epsilon is 0.1419.
        assert shape(tree.root) == expected
    assert tree.decisions[-1].margin == pytest.approx(0.141942 - 0.1887219 / 2, abs=1e-5)


def moving(same_attribute, **options):
    """A numeric threshold that moves from 96 to 160."""
    codes = np.resize(np.arange(255), (10_200, 1)).astype(np.uint8)
    labels = (codes[:, 0] >= np.where(np.arange(10_200) < 200, 96, 160)).astype(int)
    tree = ReferenceEFDT([0], 2, same_attribute=same_attribute, **options)
    tree.learn(codes, labels)
    return tree


def test_same_attribute():
    tree = moving("keep")
    assert tree.root.threshold == 96 and tree.event_counts.replaced == 0
    tree = moving("replace")
    assert tree.root.threshold == 160 and tree.event_counts.replaced == 1
    # The gain of the split that was is that at its own threshold.
    tree.root.threshold = 96
    table = tree.root.observers[0].counts
    sides = np.stack([table[:6].sum(axis=0), table[6:].sum(axis=0)])
    assert tree._current_gain(tree.root) == pytest.approx(tree._gains(tree.root, sides[None])[0])


def test_efdt_inherits_less_than_it_has_counted():
    """Counts at every node are the instances that passed since it began."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 3, (20_000, 4)).astype(np.uint8)
    labels = (codes[:, 0] + codes[:, 1] * codes[:, 2]) % 3
    tree = ReferenceEFDT([3] * 4, 3)
    tree.learn(codes, labels)
    for node in tree.nodes:
        if node.kind:
            assert sum(child.observed.sum() for child in node.children) <= node.observed.sum()
        if node.height:
            assert node.counts.sum() > node.observed.sum()
    assert tree.leaves > 20


@pytest.mark.parametrize(
    "options, message",
    [
        ({"variant": "river"}, "variant must be one of"),
        ({"same_attribute": "move"}, "same_attribute must be"),
        ({"adaptive_grace": True}, "adaptive_grace is VFDT's"),
    ],
)
def test_errors(options, message):
    with pytest.raises(ValueError, match=message):
        ReferenceEFDT([2], 2, **options)
