"""What users hand in: names, values, labels and codes of any kind, good and bad."""

import numpy as np
import pandas as pd
import pytest
from bregalad import VFDT
from bregalad.evaluation import prequential
from noisy import stream
from sklearn.exceptions import NotFittedError


def test_a_fit_with_too_few_labels_keeps_the_older_tree():
    X, y = stream(1000)
    tree = VFDT().fit(X, y)
    before = tree.predict(X)
    with pytest.raises(ValueError, match="X has 1000 instances, y has 5 labels"):
        tree.fit(X, y[:5])
    np.testing.assert_array_equal(tree.predict(X), before)


@pytest.mark.parametrize("names", [[0, 1, 2], [0.5, "b", "c"], ["a", "b", "c"]])
def test_names_of_attributes_may_be_numbers(names):
    """A frame's names become strings; so do those of River's dicts."""
    X, y = stream(1000)
    frame = pd.DataFrame(np.round(X * 3), columns=names)
    tree = VFDT(head=100, nominal=[names[2]])
    for x, label in zip(frame.to_dict("records"), y.tolist(), strict=True):
        tree.learn_one(x, label)
    assert tree.report()["instances"] == 1000
    assert [a.kind for a in tree.schema_.attributes] == ["numeric", "numeric", "nominal"]
    assert tree.predict_one(dict(zip(names, (3, 0, 0), strict=True))) in (False, True)
    batch = VFDT(head=100, nominal=[names[2]]).partial_fit(frame, y, classes=[False, True])
    assert batch.difference(tree) is None


def test_a_name_goes_before_a_position():
    frame = pd.DataFrame(np.round(stream(500)[0] * 3), columns=[0, 1, 2]).drop(columns=0)
    tree = VFDT(nominal=[1]).fit(frame, stream(500)[1])
    assert {a.name: a.kind for a in tree.schema_.attributes} == {"1": "nominal", "2": "numeric"}


@pytest.mark.parametrize("x, y, error, message", [
    ({"a": pd.Timestamp("2020-01-01"), "b": 1}, 1, TypeError, "'a': a nominal value must be"),
    ({"a": np.float32("inf"), "b": 1}, 1, ValueError, "'a': inf is infinite"),
    ({"a": 1, "b": 1}, "x", ValueError, "labels must be all of one kind, not int and str"),
    ({"a": 1, "b": 1}, None, ValueError, "missing"),
])
def test_a_bad_instance_of_the_head_is_not_held(x, y, error, message):
    tree = VFDT(head=10)
    for i in range(20):
        if i in (0, 5):
            if i or y == 1:  # the first label may be of any kind
                with pytest.raises(error, match=message):
                    tree.learn_one(x, y)
        tree.learn_one({"a": float(i), "b": i % 2}, i % 2)
    assert tree.report()["instances"] == 20


@pytest.mark.parametrize("labels, classes", [
    (pd.array([2**53, 2**53 + 1] * 300, "Int64"), [2**53, 2**53 + 1]),
    (pd.array([0, 1] * 300, "UInt8"), [0, 1]),
    (pd.array([0, 1] * 300, "int64[pyarrow]"), [0, 1]),
    ([False, True] * 300, [False, True]),
])
def test_labels_stay_what_they_are(labels, classes):
    tree = VFDT().fit(np.arange(600).reshape(600, 1) % 2, pd.Series(labels))
    assert tree.classes_.dtype.kind in "iub" and tree.classes_.tolist() == classes
    assert tree.predict([[0], [1]]).tolist() == classes


@pytest.mark.parametrize("labels, message", [
    ([True, "x"] * 300, "labels must be all of one kind, not bool and str"),
    ([b"a", b"b"] * 300, "Unknown label type: bytes.*a label is a string, an integer or a boolean"),
    (np.array(["2020", "2021"] * 300, "M8[s]"), "Unknown label type: datetime64"),
])
def test_labels_that_no_file_could_hold(labels, message):
    with pytest.raises(ValueError, match=message):
        VFDT().fit(np.zeros((600, 1)), labels)


def test_too_many_values_of_an_attribute_are_named():
    X = pd.DataFrame({"a": range(300), "b": pd.Categorical([str(i) for i in range(300)])})
    with pytest.raises(ValueError, match="'b' is nominal and has more than 255 values"):
        VFDT().fit(X, X["a"] % 2)
    with pytest.raises(ValueError, match="300 classes, and no board has counters for more than 32"):
        VFDT().fit(X[["a"]], X["b"])


@pytest.mark.parametrize("codes, labels, error, message", [
    (np.zeros((2, 3), np.uint8), [0, 7], ValueError, "labels must be 0 to 1"),
    (np.zeros((2, 2), np.uint8), [0, 1], ValueError, r"shape \(2, 3\), not \(2, 2\)"),
    (np.zeros((2, 3)), [0, 1], TypeError, "codes must be uint8"),
    (np.zeros((2, 3), np.uint8), [0.0, 1.0], TypeError, "labels integers"),
])
def test_learn_codes_checks_its_arguments(codes, labels, error, message):
    X, y = stream(1000)
    with pytest.raises(error, match=message):
        VFDT().fit(X, y).learn_codes(codes, labels)


def test_learn_codes_takes_what_encode_can_give():
    X, y = stream(1000)
    frame = pd.DataFrame(X, columns=list("abc"))
    frame["declared"] = pd.Categorical(np.where(y, "x", "y"), categories=["x", "y", "z"])
    frame["open"] = np.where(y, "x", "y")
    tree = VFDT(nominal={"declared": ["x", "y", "z"]}, nominal_values=5).fit(frame, y)
    tree.learn_codes(np.array([[0, 128, 254, 2, 4], [255] * 5], np.uint8), [0, 1])
    learnt = tree.report()["instances"]
    for row, message in (([0, 0, 0, 3, 0], "attribute 3 must be 0 to 2, or 255 .* not 3"),
                         ([0, 0, 0, 0, 5], "attribute 4 must be 0 to 4, or 255 .* not 5")):
        with pytest.raises(ValueError, match=message):
            tree.learn_codes(np.array([[0] * 5, row], np.uint8), [0, 1])
    assert tree.report()["instances"] == learnt


def test_objects_that_are_numbers_are_numeric():
    X, y = stream()
    frame = pd.DataFrame(X, columns=list("abc")).astype(object)
    tree = VFDT(delta=1e-3).fit(frame, y)
    assert [a.kind for a in tree.schema_.attributes] == ["numeric"] * 3
    assert tree.difference(VFDT(delta=1e-3).fit(X, y)) is None


def test_empty_first_batch_fixes_nothing():
    X, y = stream(1000)
    tree = VFDT()
    tree.partial_fit(pd.DataFrame(columns=["a"]), [], classes=[False, True])
    tree.partial_fit(X, y, classes=[False, True])
    assert tree.n_features_in_ == 3


@pytest.mark.parametrize("make, error, message", [
    (lambda X: X.assign(a=pd.Timestamp("2020-01-01")), (TypeError, ValueError), "'a'"),
    (lambda X: X.assign(a=np.inf), ValueError, "'a'.*inf"),
    (lambda X: X.assign(a=10**400), TypeError, "'a'.*numbers"),
    (lambda X: X.set_axis(["a", "b", "b"], axis=1), ValueError, "two columns named 'b'"),
    (lambda X: X.assign(a=pd.cut(X["a"].fillna(0), 3)), TypeError, "'a'"),
])
def test_bad_first_batch_can_be_mended(make, error, message):
    X, y = stream(1000)
    frame = pd.DataFrame(X, columns=list("abc"))
    tree = VFDT()
    with pytest.raises(error, match=message):
        tree.partial_fit(make(frame), y, classes=[False, True])
    tree.partial_fit(frame, y, classes=[False, True])
    assert tree.report()["instances"] >= 500


def test_fit_on_bad_data_keeps_the_old_tree():
    X, y = stream()
    tree = VFDT(delta=1e-3).fit(X, y)
    before = tree.draw()
    with pytest.raises(ValueError, match="inf"):
        tree.fit(np.where(X > 0.9, np.inf, X), y)
    assert tree.draw() == before


def test_frame_first_then_array():
    X, y = stream()
    frame = pd.DataFrame(X, columns=list("abc"))
    tree = VFDT().partial_fit(frame[:100], y[:100], classes=[False, True])
    tree.partial_fit(X[100:], y[100:])
    assert tree.difference(VFDT().partial_fit(frame, y, classes=[False, True])) is None


def test_one_bad_instance_by_one():
    X, y = stream(1000)
    rows = pd.DataFrame(X, columns=list("abc")).to_dict("records")
    tree = VFDT(head=200, delta=1e-3)
    for i, (x, label) in enumerate(zip(rows, y.tolist(), strict=True)):
        if i == 50:
            with pytest.raises(ValueError, match="'a'.*infinite"):
                tree.learn_one({**x, "a": float("inf")}, label)
        if i == 700:
            with pytest.raises(ValueError, match="unknown attribute 'd'"):
                tree.learn_one({**x, "d": 1.0}, label)
            with pytest.raises(ValueError, match="y is 'maybe', none of the classes"):
                tree.learn_one(x, "maybe")
        tree.learn_one(x, label)
    batch = VFDT(head=200, delta=1e-3).partial_fit(pd.DataFrame(rows), y, classes=[False, True])
    assert tree.report() == batch.report()


def test_one_by_one_then_batches():
    X, y = stream(1000)
    frame = pd.DataFrame(X, columns=list("abc"))
    tree = VFDT()
    for x, label in zip(frame[:100].to_dict("records"), y[:100].tolist(), strict=True):
        tree.learn_one(x, label)
    tree.partial_fit(frame[100:], y[100:], classes=[False, True])
    assert tree.difference(VFDT().partial_fit(frame, y, classes=[False, True])) is None


def test_an_instance_that_is_refused_leaves_nothing_behind():
    tree = VFDT(head=50, nominal=["c"])
    for i in range(100):
        tree.learn_one({"a": i / 100, "c": "x"}, i % 2)
    before = tree.quantiser_summary()
    tree.set_params(tau=0.3)
    with pytest.raises(ValueError, match="tau was"):
        tree.learn_one({"a": 5.0, "c": "new"}, 1)
    assert tree.quantiser_summary() == before


@pytest.mark.parametrize("value", [2**64, np.float32(0.5), True])
def test_numbers_of_any_kind_one_by_one(value):
    """As before the head was full, so after it."""
    tree = VFDT(head=20)
    for i in range(40):
        tree.learn_one({"a": value + i}, i % 2)
    assert tree.report()["instances"] == 40
    with pytest.raises(TypeError, match="'a': values must be numbers that a float can hold"):
        tree.learn_one({"a": 10**400}, 1)


def test_what_is_missing_while_the_head_has_no_names_yet():
    tree = VFDT(head=200)
    for i in range(100):
        tree.learn_one({"a": i}, i % 2)
    for call in (tree.report, lambda: tree.predict([[1]])):
        with pytest.raises(NotFittedError, match=r"holds its first 100 instances of 200.*"
                                                 r"end_warm_up\(\) makes do"):
            call()
    tree.end_warm_up()
    assert tree.report()["instances"] == 100


@pytest.mark.parametrize("index", [
    np.arange(4000.0), np.arange(4000) / 10, np.arange(4000)[::-1], ["x"] * 4000])
def test_a_frames_rows_count_by_position(index):
    """Before pandas 3 slices of a frame are by label if the labels are floats."""
    X, y = stream()
    plain = VFDT().fit(X, y)
    frame = pd.DataFrame(X, columns=list("abc"), index=pd.Index(index))
    tree = VFDT()
    for at in range(0, 4000, 1500):
        tree.partial_fit(frame.iloc[at:at + 1500], y[at:at + 1500], classes=[False, True])
    assert tree.difference(plain) is None
    curve = prequential(VFDT(), [(frame, y)], [False, True], every=700)
    assert curve.table()["instances"].iloc[-1] == 4000


@pytest.mark.parametrize("kind", [">i4", ">f8", ">u2"])
def test_byte_order_is_no_matter(kind):
    X, y = stream(1000, missing=0)
    X = np.floor(4 * X)
    plain = VFDT(nominal=[1]).fit(X, y.astype(int))
    other = VFDT(nominal=[1]).fit(X.astype(kind), y.astype(kind))
    assert other.difference(plain) is None
    assert other.score(X.astype(kind), y.astype(kind)) == plain.score(X, y.astype(int))


def test_labels_of_two_kinds():
    X, _ = stream(4)
    with pytest.raises(ValueError, match="labels must be all of one kind, not int and str"):
        VFDT().fit(X, np.array([1, "a", 1, "a"], object))
    with pytest.raises(ValueError, match=r"y\[0\] is 1, none of the classes \['1', 'a'\]"):
        VFDT().partial_fit(X, np.array([1, 2, 1, 2], object), classes=["1", "a"])
