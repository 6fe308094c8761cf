"""Ensembles on the command line."""

import json

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
