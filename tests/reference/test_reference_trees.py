"""What the reference trees decide, on streams small enough to follow."""

import math
from functools import partial

import numpy as np
import pytest
from bregalad_sim import reference
from bregalad_sim.reference.learner import best_two

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


def test_margins_of_attempts_that_changed_nothing():
    labels = np.arange(600) % 2
    tree = ReferenceVFDT([2] * 2, 2)
    tree.learn(np.stack([labels, labels], axis=1).astype(np.uint8), labels)
    epsilon = [np.sqrt(np.log(1e7) / (2 * n)) for n in (200, 400, 600)]
    assert [d.outcome for d in tree.decisions] == ["keep"] * 3
    assert [d.margin for d in tree.decisions] == pytest.approx(epsilon)  # the gap is 0


def test_a_split_takes_effect_a_block_after_its_attempt():
    codes, labels = stream((300, first))
    tree, ends = reference.ReferenceVFDT([2], 2, block=1 / 32), []
    for at in range(300):
        ends += [tree._ends] if tree._ends not in ends else []
        tree.learn(codes[at : at + 1, :1], labels[at : at + 1])
    # A block is 200 / 32 instances for each leaf; the 200th comes within one, whose end is the attempt.
    assert ends == [*range(6, 211, 6), *range(222, 301, 12), 306]
    assert [decision[:2] for decision in tree.decisions] == [(204, "split")]
    assert [split.seen for split in tree.splits] == [210]
    assert [child.counts.sum() for child in tree.root.children] == [150, 150]
    assert [child.observed.sum() for child in tree.root.children] == [44, 46]


# EFDT


def test_efdt_replaces_a_split_and_kills_its_subtree():
    tree = ReferenceEFDT([2, 2], 2)
    codes, labels = stream((200, first), (1996, second), (4, second))
    tree.learn(codes[:-1], labels[:-1])
    assert shape(tree.root) == "0(1(. .) 1(. .))"
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


def test_efdt_prunes_where_no_split_is_best():
    """The node of attribute 0's value 0 splits on attribute 1, which then means nothing.

    Its inherited counts are 2000 of one class, its own soon half and half: the inherited ones make
    every gain there negative.
    """
    quarters = [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1]]
    kinds = [([[0, 0, 0], [0, 1, 0]], 2000), ([[1, 0, 1], [1, 1, 1]], 200), ([[0, 0, 0], [0, 1, 1]], 200)]
    rows = np.concatenate([np.resize(rows, (count, 3)) for rows, count in (*kinds, (quarters, 2000))])
    codes, labels = rows[:, :2].astype(np.uint8), rows[:, 2]
    tree = ReferenceEFDT([2, 2], 2, leaf_prediction="nba")
    tree.learn(codes[:-1], labels[:-1])
    # The root splits at 2200, its first attempt with two classes.
    assert tree.splits[0][:2] == (2200, 0) and tree.splits[1][:2] == (2400, 1)
    assert shape(tree.root).startswith("0(1(")
    tree.learn(codes[-1:], labels[-1:])
    assert shape(tree.root) == "0(. .)" and tree.event_counts.pruned == 1
    assert tree.decisions[-1].outcome == "prune"
    leaf = tree.root.children[0]
    assert leaf.observed.tolist() == [1100, 1100] and leaf.counts.tolist() == [3100, 1100]
    assert leaf.period == 200 and leaf.since == leaf.bayes_right == leaf.majority_right == 0


def test_rounding_does_not_make_gains_unequal(monkeypatch):
    tree = ReferenceVFDT([0, 0], 2, bins=4)
    tree.learn(np.array([[0, 0], [200, 1]], np.uint8), [0, 1])
    gains = iter(np.array([[0.1, 0.5, 0.5 + 1e-15], [0.5 + 2e-15, 0.3, 0.2]]))
    monkeypatch.setattr(tree, "_gains", lambda node, sides: next(gains))
    first, second = tree.candidates(tree.root)
    assert first.threshold == 128 and first.lead == pytest.approx(0.4)
    assert second.threshold == 64 and second.lead == pytest.approx(0.2)
    assert best_two([first, second]) == [first, second]


@pytest.mark.parametrize(
    "kind, options, message",
    [
        (ReferenceVFDT, {"criterion": "entropy"}, "criterion must be one of"),
        (ReferenceVFDT, {"bound": "chernoff"}, "bound must be one of"),
        (ReferenceVFDT, {"child_counts": "none"}, "child_counts must be one of"),
        (ReferenceVFDT, {"nominal_split": "binary"}, "nominal_split must be one of"),
        (ReferenceVFDT, {"leaf_prediction": "bayes"}, "leaf_prediction must be one of"),
        (ReferenceVFDT, {"ties": "none"}, "ties must be one of"),
        (ReferenceVFDT, {"criterion": "kearns_mansour", "classes": 3}, "Kearns-Mansour is for two classes"),
        (ReferenceVFDT, {"criterion": "kearns_mansour", "bound": "mcdiarmid"}, "McDiarmid's bound is not known"),
        (ReferenceVFDT, {"bound": "confidence", "classes": 3}, "confidence bounds are for two classes"),
        (ReferenceVFDT, {"bound": "confidence", "capacities": [3]}, "confidence bounds are for binary splits"),
        *(
            (ReferenceVFDT, {"block": block}, "block must be 1 to 65536 instances, or a fraction")
            for block in (0, -1, 65_537, 0.0, 1.5, math.nan, math.inf)
        ),
        *((ReferenceVFDT, {"block": block}, "block must be an int or a float, not") for block in ("1/32", True, None)),
        (ReferenceEFDT, {"variant": "river"}, "variant must be one of"),
        (ReferenceEFDT, {"same_attribute": "move"}, "same_attribute must be"),
        (ReferenceEFDT, {"adaptive_grace": True}, "adaptive_grace is VFDT's"),
    ],
)
def test_errors(kind, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        kind(**{"capacities": [0], "classes": 2, **options})
