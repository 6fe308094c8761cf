"""What users hand in: tables, instances, labels, codes and parameters of any kind, good and bad."""

import io
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse
from bregalad import VFDT
from bregalad.evaluation import prequential
from noisy import stream

ROW = np.zeros((1, 3), np.uint8)
LISTS = pa.DictionaryArray.from_arrays([0], pa.array([[1, 2]]))


@pytest.mark.parametrize(
    "codes, labels, error, message",
    [
        (np.zeros((2, 3), np.uint8), [0, 7], ValueError, "labels must be 0 to 1"),
        (np.zeros((2, 2), np.uint8), [0, 1], ValueError, r"shape \(n, 3\) and labels \(n,\), not \(2, 2\) and \(2,\)"),
        (np.zeros((2, 3)), [0, 1], TypeError, "codes must be uint8"),
        (np.zeros((2, 3), np.uint8), [0.0, 1.0], TypeError, "labels integers"),
        (pa.record_batch({"a": LISTS}), [0], (TypeError, ValueError), "^(codes|labels) must"),
        (ROW, LISTS, (TypeError, ValueError), "^(codes|labels) must"),
        (ROW, 0, (TypeError, ValueError), "^(codes|labels) must"),
        (np.uint8(0), np.array(0), (TypeError, ValueError), "^(codes|labels) must"),
    ],
)
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
    for row, message in (
        ([0, 0, 0, 3, 0], "attribute 3 must be 0 to 2, or 255 .* not 3"),
        ([0, 0, 0, 0, 5], "attribute 4 must be 0 to 4, or 255 .* not 5"),
    ):
        with pytest.raises(ValueError, match=message):
            tree.learn_codes(np.array([[0] * 5, row], np.uint8), [0, 1])
    assert tree.report()["instances"] == learnt


@pytest.mark.parametrize(
    "make, error, message",
    [
        (lambda X: X.assign(a=pd.Categorical([pd.Timestamp("2020")] * len(X))), TypeError, "'a'.*a nominal value must"),
        (lambda X: X.assign(a=np.inf), ValueError, "'a'.*inf"),
        (lambda X: X.assign(a=10**400), TypeError, "'a'.*numbers"),
        (lambda X: X.set_axis(["a", "b", "b"], axis=1), ValueError, "two columns named 'b'"),
        (lambda X: X.assign(a=X["a"] * 1j), TypeError, "'a'.*complex"),
        (lambda X: X.assign(a=[(1, 2)] * len(X)), TypeError, "'a'.*a nominal value must be a string"),
        (lambda X: X.assign(a=Decimal("sNaN")), TypeError, "'a': values must be numbers .*, not a signalling NaN$"),
    ],
)
def test_bad_first_batch_can_be_mended(make, error, message):
    X, y = stream(1000)
    frame = pd.DataFrame(X, columns=list("abc"))
    tree = VFDT()
    with pytest.raises(error, match=message):
        tree.partial_fit(make(frame), y, classes=[False, True])
    tree.partial_fit(frame, y, classes=[False, True])
    assert tree.report()["instances"] >= 500


def test_frame_first_then_array():
    X, y = stream()
    frame = pd.DataFrame(X, columns=list("abc"))
    tree = VFDT().partial_fit(frame[:100], y[:100], classes=[False, True])
    tree.partial_fit(X[100:], y[100:])
    assert tree.difference(VFDT().partial_fit(frame, y, classes=[False, True])) is None


@pytest.mark.parametrize("index", [np.arange(4000.0), np.arange(4000) / 10, np.arange(4000)[::-1], ["x"] * 4000])
def test_a_frames_rows_count_by_position(index):
    """Before pandas 3 slices of a frame are by label if the labels are floats."""
    X, y = stream()
    plain = VFDT().fit(X, y)
    frame = pd.DataFrame(X, columns=list("abc"), index=pd.Index(index))
    tree = VFDT()
    for at in range(0, 4000, 1500):
        tree.partial_fit(frame.iloc[at : at + 1500], y[at : at + 1500], classes=[False, True])
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


def test_masked_arrays():
    """Without a masked value they are arrays; else the error says what to give."""
    X, y = stream(1000, missing=0)
    masked, tree = np.ma.array(X, mask=np.random.default_rng(1).random(X.shape) < 0.1), VFDT()
    for given in ((masked, y), (X, np.ma.array(y, mask=np.arange(1000) == 3))):
        with pytest.raises(TypeError, match=r"has masked values: .\.astype\(float\)\.filled"):
            tree.fit(*given)
    assert tree.fit(np.ma.array(X), np.ma.array(y)).difference(VFDT().fit(X, y)) is None


@pytest.mark.parametrize(
    "cut",
    [
        lambda values: pd.cut(values, 4),
        lambda values: pd.cut(values, [0, 0.2, 0.5, 0.8, 1]),
        lambda values: pd.qcut(values, 4),
        lambda values: pd.cut(values, 4).astype("interval"),
    ],
)
def test_intervals_are_their_texts(cut, tmp_path):
    X, y = stream()
    frame = pd.DataFrame({"a": cut(X[:, 0])})
    expected = VFDT().fit(frame.astype(str).replace("nan", None), y)
    tree = VFDT().fit(frame, y)
    assert tree.score(frame, y) == expected.score(frame, y) > 0.8
    assert all(isinstance(value, str) for value in tree.schema_.attributes[0].values)
    tree.save(tmp_path / "tree")
    again = VFDT.load(tmp_path / "tree")
    np.testing.assert_array_equal(again.predict(frame), tree.predict(frame))
    assert " = (" in again.draw()


def test_lists_that_mix_kinds():
    rows = [[0.5, "u", 1, True], [1.5, "v", 2, False], [None, "u", 3, True]] * 40
    tree = VFDT(nominal={1: (), 3: (False, True)}).fit(rows, [0, 1, 0] * 40)
    expected = VFDT(nominal=["s", "b"]).fit(pd.DataFrame(rows, columns=["a", "s", "i", "b"]), [0, 1, 0] * 40)
    np.testing.assert_array_equal(tree.encode(rows), expected.encode(pd.DataFrame(rows, columns=["a", "s", "i", "b"])))
    assert (
        tree.predict([(1, "v", 2, False)]).tolist()
        == expected.predict(pd.DataFrame([(1, "v", 2, False)], columns=["a", "s", "i", "b"])).tolist()
    )
    with pytest.raises(TypeError, match="'x1': values must be numbers"):
        VFDT().fit(rows, [0, 1, 0] * 40)
    with pytest.raises(ValueError, match="inhomogeneous"):
        VFDT().fit([[1, 2], [3]], [0, 1])


@pytest.mark.parametrize(
    "X, error, message",
    [
        ("flights.csv", TypeError, "X is the text 'flights.csv'; a file is read by pandas.read_csv"),
        (Path("flights.csv"), TypeError, "X is the text 'flights.csv'; a file is read"),
        ({"a": [1, 2]}, TypeError, "X is a dict: give pandas.DataFrame"),
        (np.array([[1j], [2]]), ValueError, "Complex data not supported"),
        ([[1j], [2]], ValueError, "Complex data not supported"),
        (LISTS, ValueError, "^X must be an array or a list"),
        ([{"a": 1}, {"a": 2}], TypeError, "X is a list of dicts: give pandas.DataFrame"),
        ([1, 2], ValueError, "Expected 2D array, got 1D array instead"),
        (np.ma.array([1, 2]), ValueError, "Expected 2D array, got 1D array instead"),
        (np.zeros((2, 2, 2)), ValueError, "Found array with dim 3"),
        (scipy.sparse.csr_matrix(np.eye(2)), TypeError, "X.*Sparse data was passed.*toarray"),
        (7, ValueError, "Expected 2D array, got scalar array"),
        ([[np.inf, 1], [1, 2]], ValueError, "inf"),
    ],
)
def test_what_is_no_table_is_refused_in_one_line(X, error, message):
    """What has been learnt is kept."""
    tree = VFDT().fit([[1, 2], [3, 4]], [0, 1])
    for call in (tree.predict, lambda X: tree.fit(X, [0, 1]), lambda X: VFDT().fit(X, [0, 1])):
        with pytest.raises(error, match=message) as refused:
            call(X)
        assert "\n" not in str(refused.value)
    assert tree.predict([[1, 2]]) == [0] and tree.report()["instances"] == 2


def test_objects_that_are_numbers_are_numeric():
    X, y = stream(1000)
    frame = pd.DataFrame(np.round(X, 2), columns=list("abc"))
    exact = frame.astype(object).map(lambda v: Decimal(str(v)) if v == v else None)
    exact.iloc[5, 0] = 0.25  # among others
    frame.iloc[5, 0] = 0.25
    plain = VFDT().fit(frame, y)
    for numbers in (frame.astype(object), exact):
        tree = VFDT().fit(numbers, y)
        assert [a.kind for a in tree.schema_.attributes] == ["numeric"] * 3
        assert tree.difference(plain) is None
    named = VFDT(nominal=["a"], nominal_values=200).fit(exact, y)
    assert named.difference(VFDT(nominal=["a"], nominal_values=200).fit(frame, y)) is None
    assert (named.predict(exact) == named.predict(frame)).all()


@pytest.mark.parametrize("read", [{"dtype": {"code": str}}, {}])
def test_a_column_whose_type_changes_between_chunks(read):
    rng = np.random.default_rng(1)
    code = np.r_[rng.choice(["1", "2", "3", "A"], 4000), rng.choice(["1", "2", "3"], 4000)]
    table = pd.DataFrame({"code": code, "z": rng.normal(size=8000), "class": np.where(code == "1", "hi", "lo")})
    tree, right = VFDT(), []
    for chunk in pd.read_csv(io.StringIO(table.to_csv(index=False)), chunksize=4000, **read):
        predicted = tree.test_then_train(chunk[["code", "z"]], chunk["class"], ["hi", "lo"])
        right.append((predicted == chunk["class"]).mean())
    assert right[1] == 1
    assert tree.quantiser_summary()["attributes"]["code"]["codes"] == 4


def test_what_is_refused_after_an_instance():
    tree = VFDT()
    tree.learn_one({"a": 1.0, "b": 2.0}, "p")
    bad = pd.DataFrame({"a": [1.0], "c": [1.0]})
    for call in (
        lambda: tree.test_then_train(bad, ["p"], classes=["p"]),
        lambda: tree.apply(bad),
        lambda: tree.partial_fit(bad, ["p"]),
    ):
        with pytest.raises(ValueError, match="X lacks column 'b'"):
            call()
    for i in range(20):
        tree.learn_one({"a": float(i), "b": 2.0}, "pqr"[i % 3])  # more classes, so none has been fixed
    assert tree.report()["instances"] == 21
