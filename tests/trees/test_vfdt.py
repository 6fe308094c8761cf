"""The public interface: scikit-learn's calls, River's calls, bad input, saving, drawing."""

import numpy as np
import pandas as pd
import pytest
from bregalad import ITI, VFDT, Geometry, open_board
from bregalad.estimator.saving import storage
from bregalad.learners.catalogue import TREES
from sklearn.utils.estimator_checks import parametrize_with_checks


def failing(tree):
    """Checks that a tree cannot pass, and why; ITI passes all."""
    if isinstance(tree, ITI):
        return {}
    if tree.leaf_prediction == "nba":
        return {
            "check_sample_weight_equivalence_on_dense_data": "shuffles one of two samples: where naive Bayes "
            "has been right more often than the majority class depends on a stream's order"
        }
    if tree.__sklearn_tags__().classifier_tags.multi_class:
        return {
            "check_classifiers_train": "asks for 83 % on 300 instances of three classes; Hoeffding's bound "
            "allows a first split after some 600, and majority classes have a third until then"
        }
    return {}


@parametrize_with_checks(
    [VFDT(leaf_prediction="mc"), *(tree(leaf_prediction="nba") for tree in TREES.values()), ITI()],
    expected_failed_checks=failing,
)
@pytest.mark.filterwarnings("ignore")
def test_sklearn_conventions(estimator, check):
    """Of each class once; how leaves predict is the same code in all."""
    check(estimator)


def mixed(count=6000, seed=1):
    """A data frame with numeric, nominal, boolean and missing values, and string labels."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "width": rng.normal(size=count),
            "colour": pd.Categorical(rng.choice(["red", "green", "blue"], count)),
            "city": rng.choice([f"c{i}" for i in range(20)], count),
            "open": rng.random(count) < 0.5,
        }
    )
    y = np.where((X["width"] > 0.3) & (X["colour"] != "red") | X["open"] & (X["width"] < -1), "yes", "no")
    X.loc[rng.random(count) < 0.05, "width"] = np.nan
    X.loc[rng.random(count) < 0.05, "city"] = None
    return X, y


def test_counters_too_narrow_for_ties_are_warned_of(recwarn):
    rng = np.random.default_rng(1)
    X, y = rng.integers(2, size=(300, 3)), np.arange(300) % 10
    narrow, wide = (Geometry(classes=10, count_width=width) for width in (12, 16))
    VFDT(geometry=wide).partial_fit(X, y, range(10))
    VFDT(geometry=narrow, tau=1e-3).partial_fit(X, y, range(10))
    assert not recwarn.list
    with open_board("emulated", narrow) as board:  # as one that tells its geometry itself
        for tree in (VFDT(geometry=narrow), VFDT(board=board)):
            with pytest.warns(UserWarning, match="at 4095 instances.*count_width >= 16, or a gre"):
                tree.partial_fit(X, y, range(10))


@pytest.mark.parametrize("learnt", [5, 1500])
def test_bad_input_changes_nothing(learnt):
    X, y = mixed(3000)
    tree = VFDT().partial_fit(X[:learnt], y[:learnt], classes=["no", "yes"])
    twin = VFDT().partial_fit(X[:learnt], y[:learnt], classes=["no", "yes"])
    bad = X[1500:1600].copy()
    bad.loc[1520, "width"] = np.inf
    labels = y[1500:1600]
    wrong = labels.copy()
    wrong[3] = "ma"
    text = X[1500:1600].astype({"width": object})
    text.loc[1533, "width"] = "broad"
    for data, target, message in [
        (bad, labels, "width.*inf"),
        (X[1500:1600], wrong, r"y\[3\] is 'ma', none of the classes \['no', 'yes'\]"),
        (X[1500:1600].drop(columns="open"), labels, "lacks column 'open'"),
        (X[1500:1600].assign(extra=1), labels, "unknown column 'extra'"),
        (X[1500:1600][list(X)[::-1]], labels, "another order: expected width, colour.*found open, city"),
        (text, labels, "width.*numbers"),
        (X[1500:1600], labels[:50], "X has 100 instances, y has 50 labels"),
        (X[1500:1600], [None] * 100, r"y\[0\] is missing"),
        (np.zeros((100, 9)), labels, "9 features.*expecting 4"),
    ]:
        for call in (tree.partial_fit, tree.test_then_train):
            with pytest.raises((ValueError, TypeError), match=message):
                call(data, target)
    with pytest.raises(ValueError, match="classes are"):
        tree.partial_fit(X[:1], y[:1], classes=["no", "yes", "perhaps"])
    for call in (tree.predict, tree.apply, tree.encode, tree.decision_path):
        for data in (bad, text, X[1500:1600].drop(columns="open")):
            with pytest.raises((ValueError, TypeError), match="width.*(inf|numbers)|lacks column 'open'"):
                call(data)
    for one in (tree, twin):
        one.partial_fit(X[1500:], y[1500:])
    assert tree.difference(twin) is None
    assert tree.report() == twin.report() and tree.quantiser_summary() == twin.quantiser_summary()


def test_geometry_too_small():
    X, y = mixed(50)
    with pytest.raises(ValueError, match="8 cells, but the board has 6 .*lanes x passes >= 8"):
        VFDT(geometry=Geometry(lanes=3, passes=2)).fit(X, y)
    with pytest.raises(ValueError, match="3 classes, but the board has counters for 2"):
        VFDT(geometry="small").partial_fit(X, y, classes=["no", "perhaps", "yes"])
    with pytest.raises(ValueError, match="2000 classes, and no board has counters for more than 1024"):
        VFDT().partial_fit(X[:1], [0], classes=range(2000))
    for options in ({"board": "simulated"}, {"board": "udp:192.168.1.50"}, {"geometry": "many-classes"}):
        with pytest.raises(ValueError, match="counters for 32: .*classes >= 40 on the emulated board, hardware takes"):
            VFDT(**options).partial_fit(X[:1], [0], classes=range(40))
    board = open_board("emulated", "tiny")
    with pytest.raises(ValueError, match="cells, but the board has 4"):
        VFDT(board=board).fit(X, y)


def test_another_format(tmp_path):
    X, y = mixed(1000)
    path = tmp_path / "tree"
    VFDT(leaf_prediction="mc").fit(X, y).save(path)
    meta, arrays = storage.read(path)
    storage.write(path, meta | {"format": 99}, arrays)
    with pytest.raises(ValueError, match="saved in format 99, this release reads 8"):
        VFDT.load(path)


def test_drawing():
    X, y = mixed()
    tree = VFDT(delta=1e-3).fit(X, y)
    text = tree.draw()
    assert "width < " in text and "colour = red" in text and "or missing" in text
    assert sum(f"of {n}" in text for n in range(6001)) >= 2
    dot = tree.to_graphviz()
    assert dot.startswith("digraph tree {") and dot.count("->") == tree.report()["nodes"] - 1
    assert "..." in tree.draw(max_depth=1)


def test_a_drawn_leaf_tells_how_far_it_is():
    X, y = mixed()
    tree = VFDT(grace=300).fit(X[:500], y[:500])
    leaf, words = tree.draw().splitlines()
    assert leaf.endswith(" of 500")
    said = "No split yet: 500 instances, 1 attempt, one every 300 (grace). The leaf predicts "
    assert words == f"{said}by naive Bayes (nba)."
    tree = VFDT(grace=300, leaf_prediction="mc").fit(X[:500], y[:500])
    assert tree.draw(0).splitlines()[1:] == [f"{said}its majority class (mc)."]
