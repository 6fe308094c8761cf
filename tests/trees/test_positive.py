"""What learners of positive and unlabelled instances keep, and what they refuse."""

import copy
import json
import pickle
import signal

import numpy as np
import pandas as pd
import pytest
from bregalad import Geometry, PuuCVFDT, PuuVFDT, load_tree, open_board
from bregalad.learners.positive import estimator

SMALL = {"positive": "yes", "grace": 100, "delta": 1e-2}
WINDOW = {"window": 1500, "inner_grace": 200, "test_every": 200, "test_length": 100}
LEARNERS = {"stationary": (PuuVFDT, SMALL), "window": (PuuCVFDT, SMALL | WINDOW)}


def made(count=6000, share=0.5, seed=1):
    """The first attribute tells the class, later the second one; what is known of it; some values are missing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 3))
    y = np.where(np.arange(count) < count // 2, X[:, 0] > 0.3, X[:, 1] > 0.3) ^ (rng.random(count) < 0.05)
    X[rng.random(X.shape) < 0.02] = np.nan
    return X, y, np.where(y & (rng.random(count) < share), "yes", "?")


def same(one, other, X):
    assert list(one.trees_) == list(other.trees_)
    for level, tree in one.trees_.items():
        assert tree.difference(other.trees_[level]) is None, level
    assert one.report() == other.report() and (one.predict_proba(X) == other.predict_proba(X)).all()


def test_tags():
    tags = PuuVFDT().__sklearn_tags__()
    assert not tags.classifier_tags.multi_class and tags.input_tags.allow_nan and tags.input_tags.categorical


def test_saves_and_copies_go_on_as_the_learner(tmp_path):
    """Of nine trees; `test_sequences.py` has those of one, and of what is on its way."""
    X, _, known = made()
    tree = PuuVFDT(**SMALL).partial_fit(X[:3330], known[:3330], ["yes", "?"])
    tree.save(tmp_path / "tree")
    others = load_tree(tmp_path / "tree", threads=2), copy.deepcopy(tree)
    others[1].close()
    whole = PuuVFDT(**SMALL).fit(X, known)
    for other in (tree, *others):
        same(other.partial_fit(X[3330:], known[3330:]), whole, X)
    assert others[0].threads == 2 and len(tree.trees_) == 9
    for name, value in (("level", 0.4), ("positive", "?")):
        with pytest.raises(ValueError, match=f"{name} is what the saved trees have learnt with: leave it as it is"):
            load_tree(tmp_path / "tree", **{name: value})
    with pytest.raises(ValueError, match="nine trees take a board each"):
        load_tree(tmp_path / "tree", board="udp:x")


def test_tests_then_trains_by_what_was_known_before():
    X, _, known = made()
    tree, other = PuuVFDT(**SMALL), PuuVFDT(**SMALL)
    assert set(tree.test_then_train(X[:2000], known[:2000], ["yes", "?"])) == {"?"}
    before = other.partial_fit(X[:2000], known[:2000], ["yes", "?"]).predict(X[2000:])
    assert (tree.test_then_train(X[2000:], known[2000:]) == before).all() and "yes" in before
    same(tree, other.partial_fit(X[2000:], known[2000:]), X)
    assert set(PuuVFDT(level=0.6, **SMALL).test_then_train(X, known, ["yes", "?"])) == {"yes"}
    assert tree.test_then_train(X[:0], known[:0]).shape == (0,)


def test_drawn_with_the_labels_that_are_predicted():
    X, _, known = made(share=0.1)
    tree = PuuVFDT(level=0.4, **SMALL).fit(X[:3000], known[:3000])
    leaves = [line.rpartition(": ")[2].split(",")[0] for line in tree.draw().splitlines() if ": " in line]
    assert leaves.count("yes") == len({*tree.tree_.apply(X[tree.predict(X) == "yes"]).tolist()}) > 0
    assert '"yes' in tree.to_graphviz(1) or tree.get_depth() > 1


@pytest.mark.parametrize("kind", LEARNERS)
def test_parameters_that_change_take_effect_with_fit(kind):
    """What was learnt outlives them, and labels that are none of its classes."""
    learner, options = LEARNERS[kind]
    X, y, known = made(3000)
    tree = learner(**options).fit(X, known)
    before = tree.predict_proba(X)
    for name, value, message in (
        ("grace", 150, "grace was 100 when this Puu.* began to learn, and is 150 now"),
        ("positive", "?", "positive was 'yes' when this Puu.* began"),
        ("level", 0.4, "level was None when this Puu.* began to learn, and is 0.4 now.*set it back"),
    ):
        old = getattr(tree, name)
        tree.set_params(**{name: value})
        with pytest.raises(ValueError, match=message):
            tree.partial_fit(X, known)
        tree.set_params(**{name: old})
    with pytest.raises(ValueError, match="none of the classes"):
        tree.partial_fit(X, y)
    assert (tree.predict_proba(X) == before).all()
    assert list(tree.set_params(level=0.4).fit(X, known).trees_) == [0.4]
    tree.set_params(threads=2).partial_fit(X, known)
    assert tree.report()["instances"] == 6000


def test_a_known_level_takes_one_tree_and_an_open_board_which_is_free_again():
    X, _, known = made(2000)
    with open_board("emulated", Geometry(lanes=4, passes=1)) as board:
        with pytest.raises(ValueError, match="nine trees take a board each.*by level"):
            PuuVFDT(board, **SMALL).fit(X, known)
        tree = PuuVFDT(board, level=0.3, **SMALL).fit(X, known)
        assert list(tree.trees_) == [0.3] == [tree.level_]
        assert tree.tree_.difference(PuuVFDT(**SMALL).fit(X, known).trees_[0.3]) is None
        twin = pickle.loads(pickle.dumps(tree))
        assert twin.board == "emulated" and (twin.predict(X) == tree.predict(X)).all()
        tree.fit(X, known)  # on the same board
        tree.close()
        PuuVFDT(board, level=0.4, **SMALL).fit(X, known).close()


def test_weights_are_refused():
    X, _, known = made(300)
    with pytest.raises(ValueError, match="PuuVFDT learns each instance once: leave out sample_weight"):
        PuuVFDT(**SMALL).fit(X, known, sample_weight=np.ones(300))


def test_ctrl_c_leaves_the_trees_abreast(monkeypatch, ctrl_c):
    X, _, known = made(3000)
    monkeypatch.setattr(estimator, "_PART", 1000)
    tree = PuuVFDT(**SMALL).partial_fit(X[:100], known[:100], ["yes", "?"])
    first = tree.trees_[0.5]
    learn = type(first).partial_fit

    def interrupted(self, *args):
        if self is first and self.report()["instances"] == 1100:
            signal.raise_signal(signal.SIGINT)
        return learn(self, *args)

    monkeypatch.setattr(type(first), "partial_fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tree.partial_fit(X[100:], known[100:])
    assert {each.report()["instances"] for each in tree.trees_.values()} == {2100}
    monkeypatch.undo()
    same(tree.partial_fit(X[2100:], known[2100:]), PuuVFDT(**SMALL).fit(X, known), X)


@pytest.fixture(scope="module")
def csv(tmp_path_factory):
    X, _, known = made(5000)
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    table["colour"], table["label"] = np.where(X[:, 2] > 0, "red", "blue"), np.where(known == "yes", 1, 0)
    table.to_csv(path := tmp_path_factory.mktemp("data") / "data.csv", index=False)
    return str(path)


@pytest.mark.parametrize(
    "options", [["puuvfdt"], ["puucvfdt", "--level", "0.3", "--window", "1500", "--inner-grace", "200"]]
)
def test_on_the_command_line(csv, tmp_path, cli, options):
    saved = tmp_path / "tree"
    train = ["train", csv, "--quiet", "--delta", "0.01", "--positive", "1", "--tree", *options]
    out = cli([*train, "--save", saved]).out
    assert out.startswith("instances   5000\n")
    tree = load_tree(saved)
    assert f"\nlevel       {tree.level_}, estimated merit {tree.tree_.merit:.4f}\n" in out
    table = pd.read_csv(csv)
    X, known = table.drop(columns="label"), table["label"].astype(str).to_numpy()
    again = type(tree)(**tree.get_params())
    for at in range(0, 5000, 2000):
        again.partial_fit(X[at : at + 2000], known[at : at + 2000], ["0", "1"])
    same(tree, again, X)
    lines = cli(["predict", csv, "--tree", saved, "--proba"]).out.splitlines()
    assert lines[0] == "prediction,p(0),p(1)" and [line[0] for line in lines[1:]] == tree.predict(X).tolist()
    assert cli(["inspect", saved]).out == f"class label\n{tree.draw()}\n"
    assert f"{'level':16} {tree.level_}\n" in cli(["inspect", saved, "--statistics"]).out
    assert json.loads(cli([*train, "--limit", "3000", "--json"]).out)["parameters"]["positive"] == "1"


def test_a_checkpoint_goes_on(csv, tmp_path, cli):
    train = f"train {csv} --quiet --tree puucvfdt --json"
    whole = json.loads(cli(f"{train} --checkpoint {tmp_path}/kept --every 2000").out)
    assert load_tree(tmp_path / "kept").report()["instances"] == 4000
    again = json.loads(cli(f"{train} --resume {tmp_path}/kept").out)
    assert {**again, "seconds": 0, "compile_seconds": 0} == {**whole, "seconds": 0, "compile_seconds": 0}
