"""Attributes that are nominal: how they are named, and what values they have or declare."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from bregalad import VFDT, load_tree
from noisy import stream


@pytest.mark.parametrize("names", [[0, 1, 2], [0.5, "b", "c"], ["a", "b", "c"]])
def test_names_of_attributes_may_be_numbers(names):
    """A frame's names become strings; so do those of River's dicts."""
    X, y = stream(1000)
    frame = pd.DataFrame(np.round(X * 3), columns=names)
    tree = VFDT(nominal=[names[2]])
    for x, label in zip(frame.to_dict("records"), y.tolist(), strict=True):
        tree.learn_one(x, label)
    assert tree.report()["instances"] == 1000
    assert [a.kind for a in tree.schema_.attributes] == ["numeric", "numeric", "nominal"]
    assert tree.predict_one(dict(zip(names, (3, 0, 0), strict=True))) in (False, True)
    batch = VFDT(nominal=[names[2]]).partial_fit(frame, y, classes=[False, True])
    assert batch.report() == tree.report() and batch.quantiser_summary() == tree.quantiser_summary()


def test_a_name_goes_before_a_position():
    frame = pd.DataFrame(np.round(stream(500)[0] * 3), columns=[0, 1, 2]).drop(columns=0)
    tree = VFDT(nominal=[1]).fit(frame, stream(500)[1])
    assert {a.name: a.kind for a in tree.schema_.attributes} == {"1": "nominal", "2": "numeric"}


def test_too_many_values_of_an_attribute_are_named():
    X = pd.DataFrame({"a": range(1030), "b": pd.Categorical([str(i) for i in range(1030)])})
    with pytest.raises(ValueError, match="more than 255 values.*: 'b'; leave them out .--ignore b., gr"):
        VFDT().fit(X, X["a"] % 2)
    both = X.assign(**{"the c": X["b"]})
    with pytest.raises(ValueError, match=r": 'b', 'the c'; .*out \(--ignore 'b,the c'\), group"):
        VFDT().fit(both, X["a"] % 2)
    with pytest.raises(ValueError, match="1030 classes, and no board has counters for more than 1024"):
        VFDT().fit(X[["a"]], X["b"])


@pytest.mark.parametrize("X", [[[1, "x"], [2, "y"]], np.array([["1", "x"], ["2", "y"]])])
def test_words_among_numbers_name_the_remedy(X):
    first = 0 if isinstance(X, np.ndarray) else 1
    message = (
        rf"attribute 'x{first}': values must be numbers.* \(an attribute of words is declared with nominal=.'x{first}'"
    )
    with pytest.raises(TypeError, match=message):
        VFDT().partial_fit(X, [0, 1], classes=[0, 1])
    VFDT(nominal=["x0", "x1"][first:]).partial_fit(X, [0, 1], classes=[0, 1])


def test_long_doubles_are_held_with_strings():
    tree = VFDT(nominal=[0])
    tree.partial_fit(np.array([["u"]] * 3, object), [0, 1, 0], classes=[0, 1])
    tree.partial_fit(np.full((9, 1), 2, np.longdouble), [0, 1, 0] * 3)
    assert tree.report()["instances"] == 12 and tree._quantiser.books[0].values == ["u", 2]


def test_what_names_no_attribute():
    for nominal in (["nose"], [7], np.array([0], "timedelta64[s]")):
        with pytest.raises(ValueError, match="nominal names the attribute"):
            VFDT(nominal=nominal).fit(np.ones((4, 2)), [0, 1, 0, 1])
    with pytest.raises(ValueError, match="nominal: .* is no Unicode text"):  # another one could come yet
        VFDT(nominal=["\ud800"]).learn_one({"b": 1.0}, 1)


@pytest.mark.parametrize("value", [Decimal("sNaN"), ([1],)])
def test_values_that_cannot_be_looked_up(value):
    X = pd.DataFrame({"k": pd.Series(["a", value], dtype=object)})
    with pytest.raises(TypeError, match="^attribute 'k': a nominal value must be a string.*, not [(D]"):
        VFDT(nominal=["k"]).fit(X, [0, 1])


@pytest.mark.parametrize("values", [["a", "?", "b"], ["?", "b", "a"], ["?"]])
def test_a_category_that_stands_for_a_missing_value(values, tmp_path):
    k = pd.Series(values * 120, dtype=pd.CategoricalDtype(values))
    tree = VFDT().fit(pd.DataFrame({"k": k, "x": range(len(k))}), [0, 1] * (len(k) // 2))
    assert tree.schema_.attributes[0].values == tuple(value for value in values if value != "?")
    tree.save(tmp_path / "tree")
    assert load_tree(tmp_path / "tree").difference(tree) is None


def test_declared_values_of_any_type_of_number(tmp_path):
    frame, y = pd.DataFrame({"k": [1, 2, 3] * 40, "x": range(120)}), [0, 1, 0] * 40
    tree = VFDT(nominal={"k": [Decimal(1), np.int8(2), 3.0]}).fit(frame, y)
    tree.save(tmp_path / "tree")
    assert load_tree(tmp_path / "tree").difference(tree) is None


@pytest.mark.parametrize("name", [pd.Timestamp("2020"), 0.5, ("a", "b"), Decimal(1), np.int64(1), np.bool_(True), 1j])
@pytest.mark.parametrize("declared", [False, True])
def test_names_of_any_type_are_saved(name, declared, tmp_path):
    frame = pd.DataFrame([["u", 1.0], ["v", 2.0]] * 20)
    frame.columns = pd.Index([name, "x"], tupleize_cols=False)
    tree = VFDT(nominal={name: ["u", "v"]} if declared else [name]).fit(frame, [0, 1] * 20)
    tree.save(tmp_path / "tree")
    again = load_tree(tmp_path / "tree")
    assert again.difference(tree) is None
    assert again.fit(frame, [0, 1] * 20).difference(tree) is None
