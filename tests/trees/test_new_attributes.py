"""Attributes that come while a tree learns one instance at a time."""

import random

import numpy as np
import pandas as pd
import pytest
from bregalad import EFDT, VFDT, Geometry, load_tree
from bregalad_sim.latency import GoldenBoard
from marks import nightly


def growing(count=1500, seed=4):
    """Instances of which more and more attributes are known: a from the first on, the others later."""
    rng = random.Random(seed)
    for i in range(count):
        a, b, c = rng.random(), rng.random(), rng.choice("pqr")
        x = {"a": a}
        if i >= count // 3:
            x["b"] = b
        if i >= count // 2:
            x["c"] = c
        if i >= 2 * count // 3:
            x["d"] = i % 2 == 0
        yield x, (a > 0.5) ^ (i >= count // 3 and b > 0.6) ^ (i >= count // 2 and c == "p")


DECLARED = {"c": ("p", "q", "r"), "d": (False, True)}


def test_what_was_learnt_stays():
    """The tree is that of which all attributes were known from the start, and missing at first."""
    stream = list(growing())
    options = {"delta": 1e-2, "tau": 0.3, "grace": 60, "leaf_prediction": "nba"}
    tree, other = VFDT(**options), VFDT(nominal=DECLARED, **options)
    X = pd.DataFrame([x for x, _ in stream])[["a", "b", "c", "d"]]
    wanted = other.test_then_train(X, np.array([label for _, label in stream]), classes=[False, True])
    tree.learn_one(stream[0][0], False).learn_one(stream[0][0], True).reset()
    found = []
    for x, label in stream:
        found.append(tree.predict_one(x))
        tree.learn_one(x, label)
    assert [each.kind for each in tree.schema_.attributes] == ["numeric", "numeric", "nominal", "nominal"]
    assert tree.n_features_in_ == 4 and tree.feature_names_in_.tolist() == list("abcd")
    first = stream[0][1]
    assert tree.classes_.tolist() == [first, not first]
    assert tree.report()["splits"] and tree.report() | {"slots": 0} == other.report() | {"slots": 0}
    assert np.mean(np.array(found[1:]) == wanted[1:]) > 0.95
    told = [tree.predict_one(x) for x, _ in stream]
    assert (told == other.predict(X)).mean() > 0.95


@pytest.mark.parametrize("variant", ["paper", "kdd2018"])
def test_averaged_gains_stay(variant):
    options = {"grace": 50, "inner_grace": 50, "delta": 1e-9, "tau": 0, "leaf_prediction": "mc"}
    tree = EFDT(gain_average=True, variant=variant, **options)
    stream = list(growing())
    for x, label in stream[:400]:
        tree.learn_one(x, label)
    tried, gains = tree._nodes.tried.copy(), tree._nodes.gains.copy()
    assert tried.any() and gains.any()
    tree.learn_one({"a": 0.5, "z": 1.0}, True)
    assert (tree._nodes.tried == tried).all()
    assert (tree._nodes.gains[:, :1] == gains).all() and not tree._nodes.gains[:, 1:].any()


def test_what_an_attribute_is_its_first_value_says():
    tree = VFDT()
    nothing = [None, float("nan"), pd.NA, pd.NaT]
    for i, value in enumerate(nothing):
        tree.learn_one({"a": value, "b": 1.0}, i % 2)
        assert tree.schema_.names == ("b",)
    tree.learn_one({"a": "p", "b": 2.0}, 1)
    assert [attribute.kind for attribute in tree.schema_.attributes] == ["numeric", "nominal"]
    for value in nothing:
        tree.learn_one({"a": value, "b": 1.0, "c": value}, 0)
        tree.learn_one({"b": value}, 1)
    tree.learn_one({"c": 5}, 0)
    assert [attribute.kind for attribute in tree.schema_.attributes] == ["numeric", "nominal", "numeric"]
    assert tree.report()["instances"] == 14
    codes = tree.quantiser_summary()["attributes"]
    assert codes["a"]["codes"] == 1 and codes["a"]["seen"] == 1


@pytest.mark.parametrize("x, names", [({"a": 2.0, "b": "p"}, ("a", "b")), ({"b": "p"}, ("none yet", "b"))])
def test_a_first_instance_that_says_nothing(x, names, tmp_path):
    """It counts, and the first number takes the place that it has kept."""
    tree, other = VFDT(), VFDT()
    for each in (tree, other):
        for y in (0, 0, 1):
            each.learn_one({} if each is tree else dict.fromkeys(names), y)
        assert each.predict_one({}) == 0 and each.predict_proba_one({}) == {0: 2 / 3, 1: 1 / 3}
    tree.save(tmp_path / "tree")
    for each in (tree, load_tree(tmp_path / "tree")):
        each.learn_one({}, 1)
        each.learn_one(x, 1)
        assert each.schema_.names == names and each.report()["instances"] == 5
        assert list(each.quantiser_summary()["attributes"]) == list(names)
        assert each.predict_one(x) == 1


@pytest.mark.parametrize("options", [{}, *nightly({"board": "golden"})])
def test_attributes_that_come_one_after_another(options):
    """They are taken in where they come, on a board with room for more; the tree is that of a board made for all."""
    rng = random.Random(3)
    words = [f"w{i}" for i in range(60 if options else 300)]
    texts = []
    for i in range(400 if options else 1500):
        x, value = dict.fromkeys(rng.sample(words[: 20 + i // 2], 5), 1), rng.random()
        texts.append((x if i < 100 else x | {"a": value}, i > 0 and value > 0.5))
    frame = pd.DataFrame([x for x, _ in texts])
    geometry = Geometry(lanes=8, passes=-(-len(frame.columns) // 8), bins=16, slots=60, naive_bayes=True)
    parameters = {"delta": 1e-2, "tau": 0.3, "grace": 60}
    tree = VFDT(GoldenBoard(geometry.replace(nodes=256)) if options else "emulated", slots=60, **parameters)
    other = VFDT(geometry=geometry, **parameters).declare(frame, [False, True])
    boards = [None]
    for x, y in texts:
        tree.predict_one(x)
        tree.learn_one(x, y)
        other.learn_one(x, y)
        if tree._trainer.board is not boards[-1]:
            boards.append(tree._trainer.board)
    assert tree.schema_.names == other.schema_.names and len(boards) < 8
    assert tree.difference(other) is None and tree.report()["splits"]
    reports = [each.report() for each in (tree, other)]
    if options:  # a device tells of some attempts only
        assert reports[0].pop("attempts") <= reports[1].pop("attempts")
    assert reports[0] == reports[1]
    assert [tree.predict_proba_one(x) for x, _ in texts] == [other.predict_proba_one(x) for x, _ in texts]


@pytest.mark.parametrize("nominal", [("c",), {"c": (1, 2, 3)}])
def test_a_nominal_attribute_that_is_declared(nominal, tmp_path):
    """It is there from the first instance on, whenever its first value comes."""
    tree = VFDT(nominal=nominal)
    tree.learn_one({"a": 1.0}, 0)
    assert [(each.name, each.kind) for each in tree.schema_.attributes] == [("a", "numeric"), ("c", "nominal")]
    tree.learn_one({"a": 1.0, "c": 2}, 1)
    tree.learn_one({"b": 1.0, "c": 3}, 1)
    tree.save(tmp_path / "tree")
    again = load_tree(tmp_path / "tree")
    for each in (tree, again):
        each.learn_one({"e": "new", "c": 2}, 2)
        assert each.schema_.names == ("a", "c", "b", "e")
        assert each.classes_.tolist() == [0, 1, 2]
    assert again.difference(tree) is None and again.report() == tree.report()


def test_attributes_by_position_are_counted_with_those_that_are_missing():
    tree = VFDT(nominal=(0,))
    tree.learn_one({"a": None, "b": 1.0}, 0)
    tree.learn_one({"a": 7, "b": 1.0}, 0)
    assert [attribute.kind for attribute in tree.schema_.attributes] == ["nominal", "numeric"]


def test_an_attribute_that_is_named_as_the_class_is():
    tree = VFDT()
    for i, name in enumerate(["a", "class", "the class", "class 0"]):
        tree.learn_one({name: 1.0}, i)
    assert tree.schema_.names == ("a", "class", "the class", "class 0")
    assert tree.schema_.class_name not in tree.schema_.names


def test_attributes_that_partial_fit_has_named_are_all():
    tree = VFDT().partial_fit(pd.DataFrame({"a": [1.0, 2.0]}), [0, 1], classes=[0, 1])
    with pytest.raises(ValueError, match="unknown attribute 'b'; there are a$"):
        tree.learn_one({"a": 1.0, "b": None}, 1)
    assert tree.report()["instances"] == 2


def test_more_attributes_than_any_board_takes():
    tree = VFDT()
    tree.learn_one({"a": 1.0}, 0)
    more = {f"x{i}": 1.0 for i in range(31 * 1024)}
    with pytest.raises(ValueError, match="the attributes need 31745 cells, but the board has 31744"):
        tree.learn_one({"a": 1.0, **more}, 1)
    tree.learn_one({"a": 1.0}, 1)
    assert tree.schema_.names == ("a",) and tree.classes_.tolist() == [0, 1]
