"""What the report of a run says: what took how long, and what makes the tree worse than may be thought."""

import pytest
from bregalad import VFDT
from bregalad.building import build_seconds, building
from bregalad.cli import main
from bregalad.ensemble import OnlineBagging
from bregalad.evaluation.prequential import _clock


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def notes(capsys, table, *options):
    """What is said on standard error beside what is compiled; the report is whole by then."""
    table.to_csv("data.csv", index=False)
    assert main(["train", "data.csv", "--quiet", "--class", "label", *options]) == 0
    out, err = capsys.readouterr()
    assert "splits  " in out
    return [line.partition(": ")[2] for line in err.splitlines() if "compiling" not in line]


def test_one_class(table, capsys):
    told = notes(capsys, table.assign(label="yes"))
    assert told == ["all labels are 'yes': there is nothing to tell apart, and kappa is not defined"]
    table.assign(label="yes").to_csv("data.csv", index=False)
    assert main(["train", "data.csv", "--quiet"]) == 0
    assert "accuracy    1.0000, kappa undefined (prequential)" in capsys.readouterr().out


def test_nothing_to_say(table, capsys):
    assert notes(capsys, table) == []


@pytest.mark.parametrize("learner", [(), ("--learner", "bagging", "--members", "3")])
def test_a_geometry_without_naive_bayes_is_told_once(table, capsys, learner):
    assert notes(capsys, table, "--geometry", "tiny", *learner) == [
        "the geometry of board emulated has no naive Bayes, so leaves predict their majority class, which is mostly "
        "less accurate: choose another geometry, or say by leaf_prediction='mc' that this is meant"
    ]
    assert notes(capsys, table, "--geometry", "tiny", "--leaf-prediction", "mc", *learner) == []


def test_members_of_a_forest_do_not_repeat_it(table, caplog):
    OnlineBagging(VFDT(geometry="tiny"), members=3).fit(table[["width"]], table["label"]).close()
    assert sum("no naive Bayes" in record.message for record in caplog.records) == 1


def test_text_is_no_attribute(table, capsys):
    words = [f"word {i % 200}" for i in range(3000)]
    assert notes(capsys, table.assign(words=words)) == [
        "attribute 'words' has 200 values, and 15 instances for each: a split on it leaves little to learn from; group "
        "its values, or leave it out by --ignore"
    ]


def test_building_is_not_learning():
    began, built = _clock(), build_seconds()
    with building():
        sum(range(3_000_000))
    assert _clock() - began < (build_seconds() - built) / 2
