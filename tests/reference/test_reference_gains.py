"""Gains and bounds of the reference learners, worked out by hand."""

import numpy as np
import pytest
from bregalad_sim.reference import ReferenceVFDT
from bregalad_sim.reference.bounds import BOUNDS, Attempt
from bregalad_sim.reference.criteria import CRITERIA, impurity, reduction, value_range
from bregalad_sim.reference.learner import best_two


@pytest.mark.parametrize(
    "criterion, before, after",
    [
        ("information_gain", 1.0, 0.8112781244591328),  # 2 - 3/4 log2 3
        ("gini", 0.5, 0.375),
        ("kearns_mansour", 0.5, 0.4330127018922193),  # sqrt(3)/4
        ("classification_error", 0.5, 0.25),
    ],
)
def test_reduction(criterion, before, after):
    assert impurity(criterion, np.array([4.0, 4.0])) == pytest.approx(before)
    assert impurity(criterion, np.array([1.0, 3.0])) == pytest.approx(after)
    assert impurity(criterion, np.array([5.0, 0.0])) == impurity(criterion, np.zeros(2)) == 0
    sides = np.array([[[3.0, 1], [1, 3]], [[4, 4], [0, 0]]])
    assert reduction(criterion, sides) == pytest.approx(np.array([8 * (before - after), 0]))


@pytest.mark.parametrize(
    "criterion, expected", [("information_gain", 1.5), ("gini", 0.625), ("classification_error", 0.5)]
)
def test_three_classes(criterion, expected):
    assert impurity(criterion, np.array([2.0, 1, 1])) == pytest.approx(expected)


def test_ranges():
    assert [value_range("information_gain", k) for k in (1, 2, 8)] == [1, 1, 3]
    assert [value_range(c, 2) for c in CRITERIA[1:]] == [1, 0.5, 1]


def bound(name, criterion="information_gain", delta=1e-7, tau=0.05, c=5e-3):
    return BOUNDS[name](criterion, delta, tau, c)


def attempt(n, height=0, seen=1, attributes=1, classes=2):
    return Attempt(n, height, seen, attributes, classes)


def test_hoeffding():
    assert bound("hoeffding").epsilon(attempt(200)) == pytest.approx(0.2007364, abs=1e-6)
    assert bound("hoeffding").epsilon(attempt(200, classes=4)) == pytest.approx(0.4014728, abs=2e-6)
    # The tie threshold is reached where algorithms says.
    assert not bound("hoeffding").tied(attempt(3223)) and bound("hoeffding").tied(attempt(3224))
    later = bound("hoeffding", delta=1e-6)
    assert not later.tied(attempt(2763)) and later.tied(attempt(2764))
    assert bound("hoeffding").sure(0.2008, attempt(200))
    assert not bound("hoeffding").sure(0.2007, attempt(200))


def test_mcdiarmid():
    # n = 8, ln(1/delta) = 4: the root is 1/2; C = 6 (2 (3 + log2 e) + 4) + 2.
    assert bound("mcdiarmid", delta=np.exp(-4)).epsilon(attempt(8)) == pytest.approx(39.65617025)
    assert bound("mcdiarmid", "gini", delta=np.exp(-4)).epsilon(attempt(8)) == pytest.approx(4)


@pytest.mark.parametrize(
    "criterion, facts, expected",
    [
        ("gini", attempt(1), 9.26553772),  # d = 1/16: sqrt(8 ln 32) + 4
        ("gini", attempt(4, 1, 2, 3), 6.23291799),  # d = 1/3888: sqrt(2 ln 7776) + 2
        ("kearns_mansour", attempt(1), 8.81092972),  # 4 sqrt(ln 128)
        ("information_gain", attempt(4), 2.80833159),  # d = 1/64: ln 4 sqrt(ln 256 / 2) + 1/2
    ],
)
def test_confidence(criterion, facts, expected):
    found = bound("confidence", criterion)
    assert found.epsilon(facts) == pytest.approx(expected)
    unit = np.log(2) / 2 if criterion == "information_gain" else 1
    assert found.sure(2.0001 * expected / unit, facts)
    assert not found.sure(1.9999 * expected / unit, facts)
    assert found.excess(2.5 * expected / unit, facts) == pytest.approx(0.5 * expected / unit)


def test_practical_confidence():
    found = bound("confidence-practical", "gini")
    assert found.epsilon(attempt(4, 1, 2, 3)) == pytest.approx(0.0060984859)  # ln 384 / 4
    assert found.sure(0.0061, attempt(4, 1, 2, 3)) and not found.sure(0.006, attempt(4, 1, 2, 3))
    assert not found.tied(attempt(1e12))


def learnt(codes, labels, capacities=(0, 3), **options):
    tree = ReferenceVFDT(capacities, 2, bins=4, grace=1000, **options)
    tree.learn(np.array(codes, np.uint8), labels)
    return tree


def sides(tree, candidate):
    return tree.root.observers[candidate.attribute].sides(candidate.threshold).tolist()


def test_gain_of_each_attribute():
    # Numeric codes in bins 0, 1, 3, 3; the nominal value of the last instance is missing.
    tree = learnt([[0, 0], [64, 1], [200, 1], [201, 255]], [0, 0, 1, 0])
    numeric, nominal = tree.candidates(tree.root)
    whole = 0.8112781244591328
    assert numeric.threshold == 128 and sides(tree, numeric) == [[2, 0], [1, 1]]
    assert numeric.gain == pytest.approx(whole - 2 / 4)
    # Known: classes 2, 1; value 0: 1, 0; value 1: 1, 1. No value above 1 was seen.
    assert sides(tree, nominal) == [[1, 0], [1, 1]]
    assert nominal.gain == pytest.approx(3 / 4 * (0.9182958340544896 - 2 / 3))
    assert [c.attribute for c in (numeric, nominal)] == [0, 1]


def test_one_vs_rest():
    tree = learnt([[0, 0], [0, 1], [0, 2], [0, 2]], [0, 1, 0, 0], nominal_split="one_vs_rest")
    _, best = tree.candidates(tree.root)
    assert best.threshold == 1 and sides(tree, best) == [[0, 1], [3, 0]]
    assert best.gain == pytest.approx(0.8112781244591328)
    assert best.lead == pytest.approx(0.5)  # value 2: 2, 0 and 1, 1


def test_equal_gains_take_the_lower_threshold_and_attribute():
    tree = learnt([[10, 10], [250, 250]], [0, 1], (0, 0))
    first, second = tree.candidates(tree.root)
    assert first.threshold == second.threshold == 64 and first.gain == second.gain == 1
    assert first.lead == np.inf
    tree = ReferenceVFDT([0, 0], 2, bins=4, grace=2, tau=1, delta=0.9, block=1)
    tree.learn(np.array([[10, 10], [250, 250]], np.uint8), [0, 1])
    assert tree.splits[0][1:4] == (0, "numeric", 64) and tree.splits[0].tie


def test_rounding_does_not_make_gains_unequal(monkeypatch):
    tree = learnt([[0, 0], [200, 1]], [0, 1], (0, 0))
    gains = iter(np.array([[0.1, 0.5, 0.5 + 1e-15], [0.5 + 2e-15, 0.3, 0.2]]))
    monkeypatch.setattr(tree, "_gains", lambda node, sides: next(gains))
    first, second = tree.candidates(tree.root)
    assert first.threshold == 128 and first.lead == pytest.approx(0.4)
    assert second.threshold == 64 and second.lead == pytest.approx(0.2)
    assert best_two([first, second]) == [first, second]


def test_inherited_counts_move_every_gain_alike():
    tree = learnt([[0, 0], [200, 1]], [0, 1])
    before = [c.gain for c in tree.candidates(tree.root)]
    tree.root.inherited[:] = 6, 0
    # I(7, 1) - I(1, 1)
    assert [c.gain for c in tree.candidates(tree.root)] == pytest.approx(
        [gain + 0.5435644431995964 - 1 for gain in before]
    )


@pytest.mark.parametrize(
    "options, message",
    [
        ({"criterion": "entropy"}, "criterion must be one of"),
        ({"bound": "chernoff"}, "bound must be one of"),
        ({"child_counts": "none"}, "child_counts must be one of"),
        ({"nominal_split": "binary"}, "nominal_split must be one of"),
        ({"leaf_prediction": "bayes"}, "leaf_prediction must be one of"),
        ({"ties": "none"}, "ties must be one of"),
        ({"criterion": "kearns_mansour", "classes": 3}, "Kearns-Mansour is for two classes"),
        ({"criterion": "kearns_mansour", "bound": "mcdiarmid"}, "McDiarmid's bound is not known"),
        ({"bound": "confidence", "classes": 3}, "confidence bounds are for two classes"),
        ({"bound": "confidence", "capacities": [3]}, "confidence bounds are for binary splits"),
    ],
)
def test_errors(options, message):
    arguments = {"capacities": [0], "classes": 2, **options}
    with pytest.raises(ValueError, match=message):
        ReferenceVFDT(arguments.pop("capacities"), arguments.pop("classes"), **arguments)


@pytest.mark.parametrize(
    "codes, labels, message",
    [
        ([[0]], [2], "labels must be 0 to 1, not 2 to 2"),
        ([[0]], [-1], "labels must be 0 to 1, not -1 to -1"),
        ([[0, 0]], [1], r"X must be \(1, 1\), not \(1, 2\)"),
        ([[0], [0]], [1], r"X must be \(1, 1\), not \(2, 1\)"),
    ],
)
def test_what_cannot_be_learnt(codes, labels, message):
    with pytest.raises(ValueError, match=message):
        ReferenceVFDT([0], 2).learn(np.array(codes, np.uint8), labels)
