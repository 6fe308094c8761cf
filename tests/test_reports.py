"""What the report of a run says: what took how long, and what makes the tree worse than may be thought."""

import pytest
from bregalad.building import build_seconds, building
from bregalad.evaluation.prequential import _clock


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def notes(cli, table, options=""):
    """What is said on standard error beside what is compiled; the report is whole by then."""
    table.to_csv("data.csv", index=False)
    out, err = cli(f"train data.csv --quiet --class label {options}")
    assert "splits  " in out
    return [line.partition(": ")[2] for line in err.splitlines() if "compiling" not in line]


def test_one_class(table, cli):
    told = notes(cli, table.assign(label="yes"))
    assert told == ["all labels are 'yes': there is nothing to tell apart, and kappa is not defined"]
    table.assign(label="yes").to_csv("data.csv", index=False)
    assert "accuracy    1.0000, kappa undefined (prequential)" in cli("train data.csv --quiet").out


def test_nothing_to_say(table, cli):
    assert notes(cli, table) == []


@pytest.mark.parametrize("learner", ["", "--learner bagging --members 3"])
def test_a_geometry_without_naive_bayes_is_told_once(table, cli, learner):
    assert notes(cli, table, f"--geometry tiny {learner}") == [
        "the geometry of board emulated has no naive Bayes, so leaves predict their majority class, which is mostly "
        "less accurate: choose another geometry, or say by leaf_prediction='mc' that this is meant"
    ]
    assert notes(cli, table, f"--geometry tiny --leaf-prediction mc {learner}") == []


def test_text_is_no_attribute(table, cli):
    words = [f"word {i % 200}" for i in range(3000)]
    assert notes(cli, table.assign(words=words)) == [
        "attribute 'words' has 200 values, and 15 instances for each: a split on it leaves little to learn from; group "
        "its values, or leave it out by --ignore"
    ]


def test_building_is_not_learning():
    began, built = _clock(), build_seconds()
    with building():
        sum(range(3_000_000))
    assert _clock() - began < (build_seconds() - built) / 2
