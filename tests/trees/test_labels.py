"""Labels, classes and their weights as users hand them in, of any kind, good and bad."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from bregalad import VFDT, load_tree
from bregalad.estimator.inputs import class_indices
from noisy import stream


@pytest.mark.parametrize(
    "labels, known, want",
    [
        (np.array([3, 4, 3], np.uint8), np.array([2, 3, 4]), [1, 2, 1]),
        (np.array([-1, 1], np.int8), np.arange(-300, 300), [299, 301]),
        (np.array([True, False]), np.array([0, 1]), [1, 0]),
        (np.array([2, 1, 3]), np.array([0, 2, 1, 3]), [1, 2, 3]),  # the last ones have come later
        (np.array([2**63], np.uint64), np.array([2**63 - 1, 2**63], np.uint64), [1]),
        (np.array([-(2**63), 2**63 - 1]), np.array([-(2**63), 2**63 - 1]), [0, 1]),
    ],
)
def test_whole_numbers_are_told_apart(labels, known, want):
    found = class_indices(labels, known)
    assert found.tolist() == want and found.dtype == np.int32


@pytest.mark.parametrize(
    "labels, kind",
    [
        ([1, 0], "i"),
        ([True, False], "b"),
        ([1, 2.0], "f"),
        ([-1, 2**63], "O"),
        ([2**64, 1.7e308], "O"),
        ([1, 2**64], "O"),
        ([2**63, 2**63 + 1], "u"),
        (["a", "b"], "U"),
    ],
)
def test_labels_among_objects(labels, kind, tmp_path):
    X = [[label == labels[0]] for label in labels * 300]
    for y in (labels * 300, np.array(labels * 300, object), pd.Series(labels * 300, dtype=object)):
        tree = VFDT().fit(X, y)
        assert tree.classes_.dtype.kind == kind and tree.classes_.tolist() == sorted(labels)
        tree.save(tmp_path / "tree")
        again = load_tree(tmp_path / "tree")
        assert again.difference(tree) is None and again.classes_.dtype == tree.classes_.dtype
        assert again.predict([[True], [False]]).tolist() == labels


def test_large_labels_that_come_later():
    tree = VFDT()
    for label in (0, 1, 2**63 + 1, -(2**64)) * 20:
        tree.learn_one({"a": label}, label)
    assert tree.classes_.tolist() == [0, 1, 2**63 + 1, -(2**64)]


@pytest.mark.parametrize(
    "labels, classes, message",
    [
        ([True, "x"] * 300, None, "labels must be all of one kind, not bool and str"),
        ([b"a", b"b"] * 300, None, "Unknown label type: bytes.*a label is a string, an integer or a boolean"),
        (np.array(["2020", "2021"] * 300, "M8[s]"), None, "Unknown label type: datetime64"),
        (np.array([1, "a"] * 300, object), None, "labels must be all of one kind, not int and str"),
        (np.array([0.5, 1.5] * 300, object), None, "Unknown label type: continuous"),
        (pd.Series([1, 1.5] * 300, dtype=object), None, "Unknown label type: continuous"),
        ([Decimal("sNaN")] * 600, None, "^Unknown label type: decimal"),
        # A label is not its text: predictions are labels.
        ([1, 2] * 300, ["1", "2"], r"y\[0\] is 1, none of the classes \['1', '2'\]"),
        (np.array([1, 2] * 300, object), ["1", "a"], r"y\[0\] is 1, none of the classes \['1', 'a'\]"),
    ],
)
def test_what_is_no_label(labels, classes, message):
    tree, X = VFDT(), np.zeros((600, 1))
    with pytest.raises(ValueError, match=message):
        tree.fit(X, labels) if classes is None else tree.partial_fit(X, labels, classes=classes)


def test_classes_that_are_missing():
    tree = VFDT().fit([[0], [1]], [0, 1])
    with pytest.raises(ValueError, match="missing"):
        tree.partial_fit([[0]], [0], classes=[pd.NA, 1])


@pytest.mark.parametrize(
    "classes",
    [
        {"no", "yes"},
        frozenset({"no", "yes"}),
        ("yes", "no"),
        {"yes": 1, "no": 2}.keys(),
        pd.Index(["yes", "no"]),
        pd.Categorical(["yes", "no"]),
        np.array(["no", "yes"]),
        (label for label in ("yes", "no", "yes")),
    ],
)
def test_classes_may_be_any_collection(classes):
    X, y = stream(600)
    tree = VFDT().partial_fit(X, np.where(y, "yes", "no"), classes=classes)
    assert tree.classes_.tolist() == ["no", "yes"]
    if isinstance(classes, set):
        tree.partial_fit(X, np.where(y, "yes", "no"), classes=classes)
        with pytest.raises(ValueError, match=r"classes are \['no', 'yes'\] since.*not \['maybe'"):
            tree.partial_fit(X, np.where(y, "yes", "no"), classes=classes | {"maybe"})


@pytest.mark.parametrize("classes", ["yes", 2, {"yes": 1, "no": 2}])
def test_classes_that_name_none(classes):
    X, y = stream(600)
    with pytest.raises(TypeError, match="classes must be all class labels, as a list or a set, no"):
        VFDT().partial_fit(X, y, classes=classes)


def test_class_weights_of_any_type_are_saved(tmp_path):
    X, y = np.arange(40).reshape(20, 2), [0, 1] * 10
    tree = VFDT(class_weight={Decimal(0): Fraction(1, 3), np.int8(1): np.float32(0.5)})
    tree.partial_fit(X, y, classes=[0, 1])
    tree.save(tmp_path / "tree")
    again = load_tree(tmp_path / "tree")
    assert again.difference(tree) is None and again.class_weight == {0: 1 / 3, 1: 0.5}


def test_one_class_is_warned_of():
    with pytest.warns(UserWarning, match="y has one class only, 'a': this is all that will ever be predicted"):
        VFDT().fit(np.ones((4, 2)), ["a"] * 4)
    VFDT().partial_fit(np.ones((4, 2)), ["a"] * 4, ["a", "b"])  # another may come
