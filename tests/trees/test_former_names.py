"""What has another name than in the release before is taken by that, too."""

import inspect
import json

import numpy as np
import pytest
from bregalad import EFDT, ITI, VFDT, load_tree
from bregalad.ensemble import OnlineBagging, load_learner
from bregalad.estimator.saving import storage
from bregalad.evaluation import Curve
from noisy import stream

OPTIONS = {"grace": 50, "delta": 0.01}


def write_as_before(file, path):
    """A saved learner as the release before has written it."""
    meta, arrays = storage.read(path)
    for now, old in (("node_decision", "node_verdict"), ("node_observed", "node_own"), ("node_inherited", "node_base")):
        arrays = {name.replace(now, old): array for name, array in arrays.items()}
    text = json.dumps(meta | {"format": 7}).replace('"attempts"', '"trials"').replace('"bin_window"', '"zoom"')
    text = text.replace('"event_counts"', '"tally"')
    storage.write(file, json.loads(text), arrays)


@pytest.mark.parametrize(
    "learner", [EFDT(bin_window="seen", **OPTIONS), ITI(), OnlineBagging(VFDT(**OPTIONS), members=2)]
)
def test_files_of_the_release_before(learner, tmp_path):
    X, y = stream(600 if isinstance(learner, ITI) else 3000)
    learner.fit(X, y).save(tmp_path / "new")
    write_as_before(tmp_path / "old", tmp_path / "new")
    old = load_learner(tmp_path / "old")
    assert old.report() == learner.report() and old.report()["attempts"] > 0
    if isinstance(learner, EFDT):
        assert old.bin_window == "seen"
    old.partial_fit(X, y).save(tmp_path / "again")
    assert load_learner(tmp_path / "again").report() == learner.partial_fit(X, y).report()


def test_zoom_is_taken_with_a_warning(tmp_path):
    message = "zoom is called bin_window now"
    with pytest.warns(UserWarning, match=message):
        tree = VFDT(zoom="seen", **OPTIONS)
    assert tree.bin_window == "seen" and "zoom" not in inspect.signature(VFDT).parameters
    with pytest.warns(UserWarning, match=message):
        assert tree.set_params(zoom="path").bin_window == "path"
    X, y = stream(500)
    tree.fit(X, y).save(tmp_path / "tree")
    with pytest.warns(UserWarning, match=message):
        assert load_tree(tmp_path / "tree", zoom="path").bin_window == "path"
    with pytest.warns(UserWarning, match=message), pytest.raises(TypeError, match="give it once"):
        VFDT(zoom="path", bin_window="seen")
    with pytest.raises(TypeError, match="zoom"):
        ITI(zoom="seen")  # which never had it


def test_zoom_on_the_command_line(tmp_path, cli):
    cli(f"train generator:led --limit 500 --zoom seen --save {tmp_path}/tree --quiet")
    assert load_tree(tmp_path / "tree").bin_window == "seen"


def test_trials_of_reports_and_curves():
    X, y = stream(1000)
    report = VFDT(**OPTIONS).fit(X, y).report()
    with pytest.warns(UserWarning, match="trials is called attempts now"):
        assert report["trials"] == report["attempts"] > 0
    assert "trials" not in report
    with pytest.raises(KeyError):
        report["verdicts"]
    curve = Curve()
    curve.add(np.eye(2, dtype=int), report)
    with pytest.warns(UserWarning, match="trials is called attempts now"):
        assert curve.trials == curve.attempts == [report["attempts"]]


def test_counters_of_boards():
    tree = VFDT(**OPTIONS).fit(*stream(500))
    counters = tree._open_trainer().board.counters()
    with pytest.warns(UserWarning, match="stall_trial is called stall_attempt now"):
        assert counters["stall_trial"] == counters["stall_attempt"] == 0
