"""One instance at a time: learnt, predicted and counted as by ``partial_fit`` and ``predict``."""

import random
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from bregalad import EFDT, VFDT, BoardError, CorrHTree, CTree, load_tree
from bregalad.boards.engine import Engine
from bregalad.driver import checkpoint
from bregalad.geometry import Geometry
from marks import nightly_but

CLASSES = ["no", "perhaps", "yes"]


def stream(seed, count=2500):
    """Numbers whose range grows, nominal values that come later, missing ones, three classes."""
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=count) * np.exp(np.arange(count) / 400),
            "b": rng.integers(0, 40, count).astype(float),
            "c": rng.choice(["p", "q", "r", "s", "t"], count),
            "d": rng.random(count),
        }
    )
    frame.loc[:1200, "c"] = frame["c"].replace({"s": "p", "t": "q"})
    score = (frame["b"] > 20) * (1 + (frame["c"] == "q")) + (frame["d"] > 0.9) * (frame["b"] < 9)
    labels = np.array(CLASSES)[np.where(rng.random(count) < 0.05, rng.integers(0, 3, count), score)]
    frame["c"] = frame["c"].astype(object)
    gone = rng.random(frame.shape) < 0.04
    return frame.mask(gone), labels


def as_dicts(frame, rng):
    """Instances as dicts, in any order of names, with what is missing absent, None or NaN."""
    for row in frame.to_dict("records"):
        items = []
        for name, value in row.items():
            if not pd.isna(value):
                items.append((name, value))
            elif rng.random() < 0.7:
                items.append((name, rng.choice([None, float("nan"), pd.NA])))
        rng.shuffle(items)
        yield dict(items)


def held(tree):
    """All that learning has left on the board, and in the tree."""
    statistics = checkpoint.read(tree._open_trainer())
    nodes = tree._nodes.state()
    del nodes["due_at"]  # which instance of a call
    return [*statistics.values(), *nodes.values()]


TREES = {
    "vfdt": (VFDT, {}),
    "few slots": (VFDT, {"slots": 4, "review_period": 250, "grace": 60}),
    "one against the rest": (VFDT, {"nominal_split": "one_vs_rest"}),
    "adaptive": (VFDT, {"adaptive_grace": True}),
    "efdt": (EFDT, {"grace": 60}),
    "efdt, few slots": (EFDT, {"grace": 60, "slots": 12, "review_period": 300}),
    "tree-wide": (EFDT, {"variant": "kdd2018", "grace": 60}),
    "corrhtree": (CorrHTree, {}),
}


QUICK = [*((kind, "nba") for kind in TREES), *((kind, leaf) for kind in ("vfdt", "efdt") for leaf in ("mc", "nb"))]


@pytest.mark.parametrize(
    "kind, prediction", nightly_but(QUICK, [(kind, leaf) for kind in TREES for leaf in ("mc", "nb", "nba")])
)
def test_as_in_batches(kind, prediction):
    cls, options = TREES[kind]
    frame, labels = stream(len(kind))
    rng = random.Random(5)
    options = {"delta": 1e-2, "tau": 0.2, "leaf_prediction": prediction, **options}
    single, batch = cls(**options), cls(**options)
    rows = list(as_dicts(frame, rng))
    single.partial_fit(frame[:400], labels[:400], classes=CLASSES)
    batch.partial_fit(frame[:400], labels[:400], classes=CLASSES)
    at = 400
    while at < len(frame):
        end = at + rng.choice([1, 3, 120])
        for x, y in zip(rows[at:end], labels[at:end].tolist(), strict=True):
            assert single.learn_one(x, y) is single
        batch.partial_fit(frame[at:end], labels[at:end])
        at = min(end, len(frame))
        asked = rng.randrange(len(frame))
        row = frame[asked : asked + 1]
        assert single.predict_one(rows[asked]) == batch.predict(row)[0]
        shares = single.predict_proba_one(rows[asked])
        assert list(shares.values()) == batch.predict_proba(row)[0].tolist()
        assert list(shares) == CLASSES
    assert single.report() == batch.report() and batch.report()["splits"] > 2
    assert single.quantiser_summary() == batch.quantiser_summary()
    assert single.counters() == batch.counters()
    assert single.difference(batch) is None
    for mine, theirs in zip(held(single), held(batch), strict=True):
        assert np.array_equal(mine, theirs)


def test_plain_values_of_every_type_in_one_step():
    """Predicted, then learnt: truth values, texts and numbers of Python and NumPy, and what is missing."""
    rng = random.Random(12)
    makes = {
        "a": [float, np.float32, Decimal, Fraction, lambda value: None],
        "b": [bool, np.bool_, lambda value: float(value > 0.5)],
        "c": [lambda value: f"{value:.1f}", lambda value: np.str_(f"{value:.1f}")],
        "d": [lambda value: int(9 * value), lambda value: np.int8(9 * value), lambda value: 9 * value // 1],
        "e": [float, np.float64],
    }
    first = {"a": 0.5, "b": True, "c": "0.5", "d": 1, "e": 0.5}
    rows, labels = [first], [False]
    for _ in range(1500):
        drawn = {name: np.float32(rng.random()).item() for name in makes}
        rows.append({name: rng.choice(kinds)(drawn[name]) for name, kinds in makes.items()})
        rows[-1]["b"] = rng.choice([bool, np.bool_, float])(drawn["b"] > 0.5)
        labels.append((drawn["a"] > 0.5) ^ (drawn["c"] > 0.7))
    options = {"delta": 1e-2, "tau": 0.2, "nominal": ("b", "c", "d")}
    tree, batch = VFDT(**options), VFDT(**options)
    for x, y in zip(rows, labels, strict=True):
        tree.predict_one(x if rng.random() < 0.8 else rng.choice(rows))  # not always what is learnt then
        tree.learn_one(x, y)
    frame = pd.DataFrame({name: pd.Series([row[name] for row in rows], dtype=object) for name in makes})
    batch.partial_fit(frame, labels, classes=[False, True])
    assert tree.difference(batch) is None and tree.report() == batch.report() and tree.report()["splits"]
    assert tree.quantiser_summary() == batch.quantiser_summary()
    row = tree._alone().row
    assert all(
        row._encode_whole(x, True) == (not {type(None), Decimal, Fraction} & set(map(type, x.values()))) for x in rows
    )


def test_weights_that_are_refused_or_saved_up():
    x = {"a": 1.0}
    tree = VFDT().learn_one(x, "yes", w=0.5)
    for w in (-1, 10_001, float("nan"), float("inf"), None, "2", np.array([1, 2]), np.timedelta64(1, "s")):
        with pytest.raises(ValueError, match="w is .*: an instance is learnt as often as it "):
            tree.learn_one(x, "yes", w=w)
    assert tree.report()["instances"] == 0
    assert tree.learn_one(x, "yes", w=0.5).report()["instances"] == 1


@pytest.mark.parametrize("class_weight", [None, {"no": 0.4, "yes": 2}])
def test_weights_that_are_not_whole(class_weight):
    frame, labels = stream(6, 900)
    rng = random.Random(8)
    weights = [rng.choice([0, 0.5, 1, 1.3, 4]) for _ in labels]
    options = {"grace": 50, "tau": 0.3, "class_weight": class_weight}
    single, batch = VFDT(**options), VFDT(**options)
    for tree in (single, batch):
        tree.partial_fit(frame[:200], labels[:200], classes=CLASSES)
    batch.partial_fit(frame[200:], labels[200:], sample_weight=weights[200:])
    for x, y, w in list(zip(as_dicts(frame, rng), labels.tolist(), weights, strict=True))[200:]:
        single.predict_one(x)
        single.learn_one(x, y, w=w)
    assert single.report() == batch.report() and batch.report()["splits"]
    assert single.difference(batch) is None


FINE = [({"a": 1.0, "b": "p"}, 0), ({"a": 2.0, "b": "q"}, 1)]


@pytest.mark.parametrize(
    "x, y, message",
    [
        ({"a": float("inf"), "b": "p"}, 1, "'a': inf is infinite"),
        ({"a": 10**400, "b": "p"}, 1, "'a': values must be numbers that a float can hold"),
        ({1: 2.0, "1": 3.0}, 1, "two attributes are named '1'"),
        ({"a": 1.0, "": 2}, 1, "an attribute's name must not be empty"),
        ({"a": 1.0, "\ud800": 2}, 1, "an attribute's name: .* is no Unicode text"),
        ({"a": 1.0, "b": "\udc80"}, 1, "attribute 'b': .* is no Unicode text"),
        ({"a": [1.0], "b": "p"}, 1, "'a': .*not \\[1.0\\]"),
        ({"a": 1.0, "b": {}}, 1, "'b': a nominal value must be .* not {}"),
        *(
            ({"a": value, "b": "p"}, 1, "'a'")
            for value in (
                *((1,), {}, np.array([1.0]), np.array([1.0, 2.0]), np.array(3), 1j, complex("nan"), pd.Interval(0, 1)),
                *(np.complex64("nan"), b"1", np.float32("-inf"), Decimal("sNaN")),
            )
        ),
        *(({"a": 1.0, "b": value}, 1, "'b'") for value in ([1, 2], np.array(["p"]), np.array(3), b"p")),
        ([1.0, 2.0], 1, "x must be a dict of an instance's values by attribute, not a list"),
        ({"a": 1.0, "b": "p"}, ["p"], "labels must be all of one kind|must be"),
        ({"a": 1.0, "b": "p"}, 2, "'confidence-practical' is for two classes, the stream has 3"),
        ({"a": 1.0, "b": "p"}, "yes", "labels must be all of one kind"),
        ({"a": 1.0, "b": "p"}, None, "y.* is missing"),
        ({"a": 1.0, "b": "p"}, 0.5, "Unknown label type"),
        ({"a": 1.0, "b": "p", **{f"x{i}": 0.0 for i in range(9)}}, 1, "the board has 10"),
        ({"a": 1.0, "new": float("inf")}, 1, "attribute 'new': inf is infinite"),
        ({"a": float("-inf"), "new": 1.0}, 1, "'a': -inf is infinite"),
        ({"a": 1.0, "new": 1.0, "newer": {}}, 1, "attribute 'newer'"),
        ({"a": 1.0, "new": 1.0}, "yes", "labels must be all of one kind"),
        ({"a": 1.0, "new": 1.0}, 2, "'confidence-practical' is for two classes, the stream has 3"),
    ],
)
@pytest.mark.parametrize("place, on_board", [(0, False), (2, False), (11, True)])
def test_whatever_is_refused_changes_nothing(x, y, message, place, on_board):
    """Be it the first instance; what comes later is learnt."""
    geometry = Geometry(lanes=2, passes=5, criterion="gini", naive_bayes=True)
    boards = ({"board": Engine(geometry)} if on_board else {"geometry": geometry} for _ in range(2))
    tree, other = (CTree(nominal_values=10, **board) for board in boards)
    for i in range(40):
        if i == place and (i or "one kind" not in message and "two classes" not in message):
            if not i and ("'a': val" in message or "'a': .*not" in message):
                message = "'a'"  # alone it is taken for a nominal one
            with pytest.raises((TypeError, ValueError), match=message):
                tree.learn_one(x, y, w=1 + i)
            if i and message.startswith("'a'"):
                with pytest.raises((TypeError, ValueError), match="'a'"):
                    tree.predict_one(x)
        tree.learn_one(*FINE[i % 2])
        other.learn_one(*FINE[i % 2])
        if i < 11:
            assert tree.predict_proba_one({}) == other.predict_proba_one({})
    assert tree.report() == other.report() and tree.report()["instances"] == 40
    assert tree.quantiser_summary() == other.quantiser_summary() and tree.counters() == other.counters()
    assert tree.schema_ == other.schema_ and tree.classes_.tolist() == other.classes_.tolist()


def test_a_board_that_is_not_there_takes_nothing():
    tree = VFDT("serial:/dev/nothing")
    for x, y in [*FINE, *[FINE[0]] * 3]:
        try:
            tree.learn_one(x, y)
        except (BoardError, ImportError, OSError):
            continue
    assert tree.predict_one({}) is None and tree.predict_proba_one({}) == {}
    tree.set_params(board="emulated")
    tree.learn_one(*FINE[0])
    assert tree.report()["instances"] == 1


def later(classes, **options):
    """A tree that meets one more class every 600 instances, and what it has been given."""
    tree = VFDT(delta=1e-2, tau=0.3, grace=50, **options)
    rng = random.Random(7)
    for i in range(600 * len(classes)):
        value = rng.random() * min(len(classes), 1 + i // 600)
        tree.predict_one({"v": value})
        tree.learn_one({"v": value}, classes[int(value)])
    return tree


@pytest.mark.parametrize("prediction", ["mc", "nba"])
@pytest.mark.parametrize("classes", [["b", "a", "longer", "Z"], [5, 4, 3, 2, 1], [True, False]])
def test_classes_that_come_later(classes, prediction, tmp_path):
    tree = later(classes, leaf_prediction=prediction)
    assert tree.classes_.tolist() == classes == list(tree.schema_.classes)
    told = [tree.predict_one({"v": k + 0.5}) for k in range(len(classes))]
    assert told[:-1] == classes[:-1]
    frame = pd.DataFrame({"v": [k + 0.5 for k in range(len(classes))]})
    assert tree.predict(frame).tolist() == told
    shares = tree.predict_proba_one({"v": len(classes) - 0.5})
    assert list(shares) == classes and shares[classes[-1]] > 0.2
    assert tree.predict_proba(frame)[-1].tolist() == list(shares.values())
    before = tree.report()
    tree.save(tmp_path / "tree.npz")
    other = load_tree(tmp_path / "tree.npz")
    assert other.difference(tree) is None and other.report() == before
    more = "new" if isinstance(classes[0], str) else 77 if len(classes) > 2 else None
    for each in (tree, other):
        each.partial_fit(frame, classes, classes=classes)
        if more is not None:
            each.learn_one({"v": 0.1}, more)
            assert each.classes_.tolist() == [*classes, more]
    assert other.difference(tree) is None


def test_more_room_for_classes_changes_nothing():
    """Nodes and statistics are those of a board that had the room from the start."""
    geometry = Geometry(lanes=1, passes=1, classes=8, slots=1024, count_width=24, bus_width=256, naive_bayes=True)
    options = {"leaf_prediction": "nba"}
    small, large = later(list("abcde"), **options), later(list("abcde"), geometry=geometry, **options)
    assert small.difference(large) is None and small.report() == large.report()
    assert small._trainer.board.geometry == large._trainer.board.geometry


def test_more_classes_than_can_be_learnt():
    geometry = Geometry(lanes=1, passes=1, classes=3)
    tree = VFDT(geometry=geometry)
    for i in range(40):
        tree.learn_one({"a": float(i)}, i % 2)
    tree.learn_one({"a": 1.0}, 7)
    before = tree.report()
    with pytest.raises(ValueError, match="the stream has 4 classes.*choose a geometry with classes >= 4"):
        tree.learn_one({"a": 1e9}, 8)
    assert tree.report() == before and tree.classes_.tolist() == [0, 1, 7]
    many = VFDT()
    for i in range(1024):
        many.learn_one({"a": float(i)}, i)
    assert many._trainer.board.geometry.classes == 1024
    with pytest.raises(ValueError, match="there are 1025 classes, and no board has counters for more than 1024"):
        many.learn_one({"a": 1e9}, 1024)
    assert many.report()["instances"] == 1024


def test_a_parameter_that_changes_between_instances():
    tree = VFDT().learn_one({"a": 1.0}, "p").learn_one({"a": 2.0}, "p")
    assert tree.predict_one({"a": 1.0}) == tree.set_params(threads=2).predict_one({"a": 1.0}) == "p"
