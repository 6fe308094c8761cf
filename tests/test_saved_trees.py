"""Saved trees on the command line: the columns that they know, and going on from one."""

import numpy as np
import pandas as pd
import pytest
from bregalad import VFDT, load_tree
from bregalad.ensemble import load_learner


@pytest.fixture
def table():
    """4000 customers; the class stands in the midst, free text at the end."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {"id": np.arange(4000), "age": rng.random(4000).round(4), "plan": rng.choice(list("abc"), 4000)}
    )
    table["churn"] = np.where((table["age"] > 0.5) ^ (table["plan"] == "a"), "yes", "no")
    table["text"] = [f"a word and {i}" for i in range(4000)]
    return table


@pytest.fixture(autouse=True)
def written(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table.to_csv("churn.csv", index=False)


TRAIN = "train churn.csv --quiet --class churn --ignore text,0 --save tree"
PREDICT = "predict churn.csv --tree tree --output answers.csv"


@pytest.mark.parametrize(
    "learner", ["vfdt", "iti --limit 500", "puuvfdt --positive yes --level 0.5", "vfdt --learner bagging --members 2"]
)
def test_a_saved_tree_knows_its_class_column(learner, table, cli):
    cli(f"{TRAIN} --tree {learner}")
    said = cli(PREDICT).err
    right = int((pd.read_csv("answers.csv")["prediction"] == table["churn"]).sum())
    met = f"{right} of 4000 labels met ({right / 4000:.4f}), those of 'churn'"
    assert said == f"bregalad predict: {met}; left out as in training: id, text\n"
    load_learner("tree").save("again")  # what goes on in Python keeps it
    assert load_learner("again")._columns == {"class": "churn", "ignored": ["id", "text"]}
    tree = load_learner("again").fit(table[["age", "plan"]], table["churn"])
    assert tree._columns is None  # it has learnt another file


def test_what_a_file_lacks(table, cli):
    cli(TRAIN)

    def predicted(frame, options="", status=0):
        frame.to_csv("new.csv", index=False)
        said = cli(f"predict new.csv --tree tree --output answers.csv {options}", status).err
        return said.removeprefix("bregalad predict: ").strip()

    assert predicted(table[["age", "plan"]]) == ""
    assert predicted(table[["text", "age", "plan"]].assign(other="no")) == (
        "no labels of 'churn' to compare with; --class names another column; left out as in training: text; "
        "left out, for the tree does not know it: other"
    )
    said = predicted(table.rename(columns={"churn": "left"}), "--class left")
    assert "of 4000 labels met" in said and "those of 'left'" in said
    assert predicted(table[["id", "churn"]], status=1) == (
        "new.csv lacks 2 columns that the tree needs: 'age', 'plan'; it has id, churn, the tree's attributes are age, "
        "plan"
    )
    assert cli("inspect tree").out.startswith("class churn; ignored id, text\n")
    assert cli("inspect tree --dot").out.startswith("digraph")


def test_a_tree_from_python_compares_nothing_by_guess(table, cli):
    VFDT().fit(table[["age"]], table["churn"]).save("tree")
    said = cli(PREDICT).err
    assert "labels met" not in said and "no labels of 'class' to compare with; --class names another column" in said


@pytest.mark.parametrize("learner", ["--tree vfdt", "--learner bagging --members 2"])
def test_going_on_from_a_saved_tree(learner, table, cli):
    """Two days, one after the other, make the tree of both."""
    table[:2000].to_csv("one.csv", index=False)
    table[["churn", "plan", "id", "age"]][2000:].to_csv("two.csv", index=False)  # in another order
    cli(f"{TRAIN} {learner}")
    cli(f"train one.csv --quiet --class churn --ignore text,id {learner} --save day")
    said = cli("train two.csv --quiet --from day --save day").out
    assert "instances   4000, 2000 of them before this run\n" in said
    whole, parts = load_learner("tree"), load_learner("day")
    assert parts.report() == whole.report() and parts._columns == {"class": "churn", "ignored": ["id"]}
    assert (parts.predict_proba(table[["age", "plan"]]) == whole.predict_proba(table[["age", "plan"]])).all()
    cli("train one.csv --quiet --from day --checkpoint kept --every 2000")
    cli("train one.csv --quiet --from day --resume kept")
    assert "of a run with --from day, not without --from" in cli("train one.csv --quiet --resume kept", 1).err


def test_labels_of_python_go_on_from_a_file(table, cli):
    VFDT().fit(table[["age"]], table["churn"] == "yes").save("tree")
    table["churn"] = table["churn"] == "yes"
    table.to_csv("more.csv", index=False)
    cli("train more.csv --quiet --from tree --class churn --save tree")
    tree = load_tree("tree")
    assert tree.report()["instances"] == 8000 and tree.classes_.tolist() == [False, True]
    told = "bregalad train: churn.csv, column 'churn': the saved tree knows the classes False, True, not no, yes\n"
    assert cli("train churn.csv --quiet --from tree", 1).err.endswith(told)


@pytest.mark.parametrize(
    "options, message",
    [
        ("--from tree --grace 100", "--grace is for a new tree; one that goes on has its own: leave out --grace, or"),
        ("--from tree --tree vfdt", "--tree is for a new tree"),
        ("--from tree --learner arf", "--learner is for a new tree"),
        ("--from tree --seed 3", "--seed is for a new tree"),
        ("--from tree --classes yes,no", "--classes is for a new tree"),
        ("--from tree --class age", "--class age is an attribute of the tree; its attributes are age, plan"),
        ("--from tree --ignore churn", "churn.csv has no column 'churn', the class that the tree has learnt"),
        ("--from nothing", "nothing: No such file or directory"),
        ("--from churn.csv", "churn.csv: no saved tree, or a damaged one"),
        ("--resume tree --class churn", "no checkpoint of a run: --checkpoint writes those; --from goes on with any"),
    ],
)
def test_what_cannot_go_on(options, message, cli):
    cli(f"{TRAIN} --limit 500")
    out, err = cli(f"train churn.csv --quiet {options}", 1)
    assert not out and message in err and err.count("\n") == 1


def test_a_file_of_the_emulated_board_goes_on_in_hardware(tmp_path):
    """Which has lanes of a power of two, and a node table."""
    X = np.random.default_rng(1).random((300, 3))
    VFDT(slots=40).fit(X, X[:, 0] > 0.5).save(tmp_path / "tree")
    geometry = VFDT.load(tmp_path / "tree", board="simulated")._kept_geometry
    geometry.check_hardware()
    assert (geometry.lanes, geometry.nodes) == (4, 80)
