"""Saved trees on the command line: the columns that they know, and going on from one."""

import numpy as np
import pandas as pd
import pytest
from bregalad import VFDT, load_tree
from bregalad.cli import main
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


@pytest.fixture
def written(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table.to_csv("churn.csv", index=False)
    return tmp_path


def learn(*options, file="churn.csv", status=0):
    assert main(["train", file, "--quiet", *options]) == status


LEARNT = ("--class", "churn", "--ignore", "text,0", "--save", "tree")


@pytest.mark.usefixtures("written")
@pytest.mark.parametrize(
    "learner",
    [
        "--tree vfdt",
        "--tree iti --limit 500",
        "--tree puuvfdt --positive yes --level 0.5",
        "--learner bagging --members 2",
    ],
)
def test_a_saved_tree_knows_its_class_column(learner, table, capsys):
    learn(*LEARNT, *learner.split())
    capsys.readouterr()
    assert main(["predict", "churn.csv", "--tree", "tree", "--output", "answers.csv"]) == 0
    right = int((pd.read_csv("answers.csv")["prediction"] == table["churn"]).sum())
    assert capsys.readouterr().err == (
        f"bregalad predict: {right} of 4000 labels met ({right / 4000:.4f}), those of 'churn'; "
        "left out as in training: id, text\n"
    )
    load_learner("tree").save("again")  # what goes on in Python keeps it
    assert load_learner("again")._columns == {"class": "churn", "ignored": ["id", "text"]}
    tree = load_learner("again").fit(table[["age", "plan"]], table["churn"])
    assert tree._columns is None  # it has learnt another file


@pytest.mark.usefixtures("written")
def test_what_a_file_lacks(table, capsys):
    learn(*LEARNT)
    capsys.readouterr()

    def predicted(frame, *options):
        frame.to_csv("new.csv", index=False)
        status = main(["predict", "new.csv", "--tree", "tree", "--output", "answers.csv", *options])
        return status, capsys.readouterr().err.removeprefix("bregalad predict: ").strip()

    assert predicted(table[["age", "plan"]]) == (0, "")
    assert predicted(table[["text", "age", "plan"]].assign(other="no")) == (
        0,
        "no labels of 'churn' to compare with; --class names another column; left out as in training: text; "
        "left out, for the tree does not know it: other",
    )
    status, said = predicted(table.rename(columns={"churn": "left"}), "--class", "left")
    assert status == 0 and "of 4000 labels met" in said and "those of 'left'" in said
    assert predicted(table[["id", "churn"]]) == (
        1,
        "new.csv lacks 2 columns that the tree needs: 'age', 'plan'; it has id, churn, the tree's attributes are age, "
        "plan",
    )
    assert main(["inspect", "tree"]) == 0
    assert capsys.readouterr().out.startswith("class churn; ignored id, text\n")
    assert main(["inspect", "tree", "--dot"]) == 0
    assert capsys.readouterr().out.startswith("digraph")


@pytest.mark.usefixtures("written")
def test_a_tree_from_python_compares_nothing_by_guess(table, capsys):
    VFDT().fit(table[["age"]], table["churn"]).save("tree")
    assert main(["predict", "churn.csv", "--tree", "tree", "--output", "answers.csv"]) == 0
    said = capsys.readouterr().err
    assert "labels met" not in said and "no labels of 'class' to compare with; --class names another column" in said


@pytest.mark.usefixtures("written")
@pytest.mark.parametrize("learner", ["--tree vfdt", "--learner bagging --members 2"])
def test_going_on_from_a_saved_tree(learner, table, capsys):
    """Two days, one after the other, make the tree of both."""
    table[:2000].to_csv("one.csv", index=False)
    table[["churn", "plan", "id", "age"]][2000:].to_csv("two.csv", index=False)  # in another order
    learn(*LEARNT, *learner.split())
    learn("--class", "churn", "--ignore", "text,id", *learner.split(), "--save", "day", file="one.csv")
    capsys.readouterr()
    learn("--from", "day", "--save", "day", file="two.csv")
    assert "instances   4000, 2000 of them before this run\n" in capsys.readouterr().out
    whole, parts = load_learner("tree"), load_learner("day")
    assert parts.report() == whole.report() and parts._columns == {"class": "churn", "ignored": ["id"]}
    assert (parts.predict_proba(table[["age", "plan"]]) == whole.predict_proba(table[["age", "plan"]])).all()
    learn("--from", "day", "--checkpoint", "kept", "--every", "2000", file="one.csv")
    learn("--from", "day", "--resume", "kept", file="one.csv")
    learn("--resume", "kept", file="one.csv", status=1)
    assert "is of a run with --from day, not without --from" in capsys.readouterr().err


@pytest.mark.usefixtures("written")
def test_labels_of_python_go_on_from_a_file(table, capsys):
    VFDT().fit(table[["age"]], table["churn"] == "yes").save("tree")
    table["churn"] = table["churn"] == "yes"
    table.to_csv("more.csv", index=False)
    learn("--from", "tree", "--class", "churn", "--save", "tree", file="more.csv")
    tree = load_tree("tree")
    assert tree.report()["instances"] == 8000 and tree.classes_.tolist() == [False, True]
    learn("--from", "tree", file="churn.csv", status=1)
    assert capsys.readouterr().err.endswith(
        "bregalad train: churn.csv, column 'churn': the saved tree knows the classes False, True, not no, yes\n"
    )


@pytest.mark.usefixtures("written")
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
        (
            "--resume tree --class churn",
            "but no checkpoint of a run: --checkpoint writes those; --from goes on with any",
        ),
    ],
)
def test_what_cannot_go_on(options, message, capsys):
    learn(*LEARNT, "--limit", "500")
    capsys.readouterr()
    learn(*options.split(), status=1)
    said = capsys.readouterr()
    assert not said.out and message in said.err and said.err.count("\n") == 1


def test_a_file_of_the_emulated_board_goes_on_in_hardware(tmp_path):
    """Which has lanes of a power of two, and a node table."""
    X = np.random.default_rng(1).random((300, 3))
    VFDT(slots=40).fit(X, X[:, 0] > 0.5).save(tmp_path / "tree")
    geometry = VFDT.load(tmp_path / "tree", board="simulated")._kept_geometry
    geometry.check_hardware()
    assert (geometry.lanes, geometry.nodes) == (4, 80)
