"""Ensembles on the command line."""

import json

import pytest
from bregalad.cli import main

STREAM = "generator:sea,period=2500,noise=0.1"


def train(*options, limit=5000):
    return main(["train", STREAM, "--limit", str(limit), "--quiet", *options])


def test_a_forest_is_trained_stopped_saved_and_used(tmp_path, capsys):
    forest = str(tmp_path / "forest")
    options = ("--learner", "arf", "--members", "3", "--seed", "4", "--threads", "2", "--drift", "0.05")
    assert train(*options, "--json", "--save", forest) == 0
    whole = json.loads(capsys.readouterr().out)
    assert whole["members"] == 3 and whole["accuracy"] > 0.8
    assert whole["parameters"]["tree__grace"] == 50 and whole["parameters"]["drift"] == 0.05
    assert train(*options, "--checkpoint", f"{forest}.part", "--every", "2000", "--save", f"{forest}.2") == 0
    assert "3 members" in capsys.readouterr().out
    assert train(*options, "--resume", f"{forest}.part", "--json") == 0
    resumed = json.loads(capsys.readouterr().out)
    assert all(resumed[name] == whole[name] for name in ("accuracy", "nodes", "warnings", "drifts"))
    assert main(["predict", STREAM, "--limit", "100", "--tree", forest, "--proba"]) == 0
    assert "of 100 labels met" in capsys.readouterr().err
    assert main(["inspect", forest, "--statistics"]) == 0
    assert "members          3" in capsys.readouterr().out
    assert main(["inspect", forest]) == 1
    assert "an ensemble, which has no one tree to show" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options, message",
    [
        ("--learner arf --tree id5r", "--learner arf is of trees that learn on a board, not of id5r"),
        ("--members 3", "--members is an option of --learner bagging, leveraging and arf, not of tree"),
        ("--learner bagging --warning 0.1", "--warning is an option of --learner arf, not of bagging"),
        ("--learner arf --members 0", "--members must be 1 to 10000, not 0"),
        ("--learner arf --ask rnd --budget 0.1", "--ask is for one tree, not for --learner arf"),
        ("--learner arf --board simulated --geometry tiny", "the board has 16 slots, 20 trees that share it take 40"),
        ("--seed 1", "--seed has no effect without --ask"),
    ],
)
def test_wrong_options_are_refused(options, message, capsys):
    assert train(*options.split(), limit=10) == 1
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
