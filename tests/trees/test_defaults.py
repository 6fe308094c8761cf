"""What leaves predict by if nothing is said: the best that the board has."""

import logging

import numpy as np
import pytest
from bregalad import EFDT, VFDT, CorrHTree, CTree, Geometry, load_tree, open_board

BARE = Geometry(lanes=4, slots=512)


def stream(count=3000):
    """Two classes that naive Bayes tells better than a tree's first leaves do."""
    rng = np.random.default_rng(4)
    X = rng.integers(0, 40, (count, 4)).astype(float)
    return X, X.sum(axis=1) + rng.normal(0, 8, count) > 78


@pytest.mark.parametrize(
    "tree", [VFDT, EFDT, *(pytest.param(kind, marks=pytest.mark.slow) for kind in (CTree, CorrHTree))]
)
def test_naive_bayes_where_it_has_been_right_more_often(tree):
    X, y = stream()
    learnt = tree().fit(X, y)
    assert learnt.leaf_prediction is None and learnt.leaf_prediction_ == "nba"
    assert learnt.report()["leaf_prediction"] == "nba"
    assert (learnt.predict(X) == tree(leaf_prediction="nba").fit(X, y).predict(X)).all()
    assert learnt.score(X, y) > tree(leaf_prediction="mc").fit(X, y).score(X, y)


@pytest.mark.parametrize("options", [{"geometry": "tiny"}, {"geometry": BARE}, {"board": BARE}], ids=str)
def test_a_board_without_it_predicts_the_majority(options, caplog):
    X, y = stream()
    if "board" in options:
        options = {"board": open_board("emulated", options["board"])}
    with caplog.at_level(logging.WARNING, "bregalad"):
        tree = VFDT(**options).partial_fit(X, y, classes=[False, True]).partial_fit(X, y)
        tree.close()
        tree.partial_fit(X, y)
    said = [record.getMessage() for record in caplog.records if "naive Bayes" in record.message]
    assert len(said) == 1 and "leaf_prediction='mc'" in said[0]
    assert tree.leaf_prediction_ == tree.report()["leaf_prediction"] == "mc"
    caplog.clear()
    tree.close()
    meant = VFDT(**options | {"leaf_prediction": "mc"})
    meant.partial_fit(X, y, classes=[False, True]).partial_fit(X, y).partial_fit(X, y)
    assert meant.difference(tree) is None
    assert not [record for record in caplog.records if "naive Bayes" in record.message]


def test_a_saved_tree_keeps_what_it_was_made_with(tmp_path):
    X, y = stream()
    rich = BARE.replace(naive_bayes=True)
    for geometry, prediction in ((None, "nba"), (rich, "nba"), (BARE, "mc")):
        tree = VFDT(geometry=geometry).fit(X, y)
        tree.save(tmp_path / "tree")
        loaded = load_tree(tmp_path / "tree")
        assert loaded.leaf_prediction is None and loaded.leaf_prediction_ == prediction
        assert (loaded.predict(X) == tree.predict(X)).all()
    assert load_tree(tmp_path / "tree", geometry=rich).leaf_prediction_ == "mc"
    VFDT().fit(X, y).save(tmp_path / "tree")
    for asked in (
        lambda: load_tree(tmp_path / "tree", geometry=BARE),
        lambda: VFDT(geometry=BARE, leaf_prediction="nba").fit(X, y),
    ):
        with pytest.raises(ValueError, match="takes a board with naive Bayes"):
            asked()
    assert load_tree(tmp_path / "tree", geometry=BARE, leaf_prediction="mc").leaf_prediction_ == "mc"
