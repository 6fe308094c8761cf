"""Runs that are stopped or killed, and go on."""

import copy
import os
import re
import signal

import numpy as np
import pandas as pd
import pytest
from bregalad import load_tree
from bregalad.estimator.saving import storage
from bregalad.interrupt import Stopped, deferred_interrupt, status_of, stopping
from marks import nightly
from processes import lasting, start, wait_until

_STREAM = "generator:agrawal,seed=3,noise=0.05"
_OPTIONS = "--quiet --delta 0.001 --grace 100"
_PATIENCE = 240  # seconds


class Killed(BaseException):
    """As if the process were gone."""


@pytest.fixture
def csv(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"size": rng.random(9000), "colour": rng.choice(list("rgb"), 9000)})
    wrong = rng.random(9000) < 0.1
    table["label"] = np.where((table["size"] > 0.5) ^ (table["colour"] == "r") ^ wrong, "a", "b")
    table.to_csv(tmp_path / "data.csv", index=False)
    return str(tmp_path / "data.csv")


def killed_after(monkeypatch, saves):
    """Raise Killed when a checkpoint would be written for one time more."""
    left, save = [saves], storage.save

    def counting(tree, path, kept):
        if "run" in kept:
            if not left[0]:
                raise Killed
            left[0] -= 1
        save(tree, path, kept)

    monkeypatch.setattr(storage, "save", counting)


@pytest.mark.parametrize(
    "options, saves",
    [
        ("--tree vfdt --leaf-prediction nba", 1),
        ("--tree efdt --inner-grace 300", 2),
        ("--tree vfdt --slots 8 --review-period 700 --limit 8500", 2),
        ("--tree efdt --variant moa --gain-average --leaf-prediction mc --class-weight a=1.5", 1),
    ],
)
def test_a_run_that_is_killed_goes_on_as_if_it_had_not_been(csv, tmp_path, cli, monkeypatch, options, saves):
    kept, whole, again, *curves = (tmp_path / name for name in ("kept", "whole", "again", "one.csv", "other.csv"))
    command = f"train {csv} {_OPTIONS} {options}"
    expected = lasting(cli(f"{command} --save {whole} --curve {curves[0]}").out)
    with monkeypatch.context() as patch:
        killed_after(patch, saves)
        with pytest.raises(Killed):
            cli(f"{command} --checkpoint {kept} --every 2000")
    seen = load_tree(kept).report()["instances"]
    assert 0 < seen < 9000 or "a=1.5" in options
    assert lasting(cli(f"{command} --resume {kept} --save {again} --curve {curves[1]}").out) == expected
    assert load_tree(again).difference(load_tree(whole)) is None
    tables = [pd.read_csv(path).drop(columns=["seconds", "memory"]) for path in curves]
    pd.testing.assert_frame_equal(*tables)


@pytest.mark.parametrize("name", ["SIGTERM", *nightly("SIGINT", "SIGHUP")])
def test_what_stops_a_run_saves_the_tree(tmp_path, name):
    number = getattr(signal, name)
    saved, kept = str(tmp_path / "saved"), str(tmp_path / "kept")
    train = f"train {_STREAM} --limit 50000000 {_OPTIONS} --save {saved} --checkpoint {kept} --every 10000"
    process = start(*train.split())
    wait_until(lambda: os.path.exists(kept), process)
    process.send_signal(number)
    out, err = process.communicate(timeout=_PATIENCE)
    assert process.returncode == 128 + number
    count = int(re.match(r"interrupted after (\d+) instances", out)[1])
    assert load_tree(saved).report()["instances"] == count and err == ""


@pytest.mark.parametrize("name", ["SIGINT", *nightly("SIGTERM", "SIGHUP")])
def test_a_run_that_is_stopped_before_it_has_learnt(tmp_path, name):
    number = getattr(signal, name)
    os.mkfifo(tmp_path / "pipe")
    process = start(*f"train {tmp_path}/pipe --classes a,b --quiet --save {tmp_path}/saved".split())
    with open(tmp_path / "pipe", "w") as pipe:  # which waits until it is opened there, too
        pipe.write("x,y\n1,a\n")
        pipe.flush()
        process.send_signal(number)
        out, err = process.communicate(timeout=_PATIENCE)
    assert process.returncode == 128 + number
    assert (out, err) == ("", "bregalad train: interrupted\n")
    assert not (tmp_path / "saved").exists()


def test_other_options_or_another_file_are_refused(csv, tmp_path, cli):
    kept, tree, longer, same = (tmp_path / name for name in ("kept", "tree", "longer.csv", "same.csv"))
    cli(f"train {csv} {_OPTIONS} --checkpoint {kept} --every 2000 --save {tree}")
    longer.write_text((tmp_path / "data.csv").read_text() + "0.5,r,a\n")
    same.write_bytes((tmp_path / "data.csv").read_bytes())
    cli(f"train {same} {_OPTIONS} --resume {kept}")
    for words, message in (
        (f"{csv} --quiet --resume {kept}", "is of a run with --delta 0.001, not without --delta"),
        (f"{csv} {_OPTIONS} --resume {kept} --class colour", "a run without --class, not with --class colour"),
        (f"{csv} {_OPTIONS} --resume {kept} --tree efdt", "is of a run with --tree vfdt, not with --tree efdt"),
        (f"{longer} {_OPTIONS} --resume {kept}", "is of a run on another stream, or its file has changed"),
        (f"{csv} {_OPTIONS} --resume {tree}", "is a saved tree, but no checkpoint"),
        (f"{csv} {_OPTIONS} --resume {same}", "no saved tree"),
        (f"{csv} {_OPTIONS} --every 5", "--every has no effect"),
        (f"{csv} {_OPTIONS} --every 0 --resume {kept}", "--every must be 2000 or more"),
        (f"{csv} {_OPTIONS} --every 1999 --resume {kept}", "--every must be 2000 or more"),
    ):
        out, err = cli(f"train {words}", 1)
        assert not out and err.startswith("bregalad train: ") and err.count("\n") == 1 and message in err


def test_a_pipe_cannot_be_gone_on_with(tmp_path, cli):
    os.mkfifo(tmp_path / "pipe")
    end = os.open(tmp_path / "pipe", os.O_RDWR)
    os.write(end, b"x,y\n1,a\n2,b\n")
    said = cli(f"train {tmp_path}/pipe --classes a,b --limit 2 --quiet --checkpoint {tmp_path}/kept", 1).err
    os.close(end)
    assert "is read once, so a run cannot go on with it" in said


def test_a_forged_checkpoint_is_refused(csv, tmp_path, cli):
    kept = str(tmp_path / "kept")
    cli(f"train {csv} {_OPTIONS} --checkpoint {kept} --every 2000")
    tree, (meta, _) = load_tree(kept), storage.read(kept)
    for damage in (
        lambda run: run.pop("curve"),
        lambda run: run.update(every=0),
        lambda run: run.update(curve=1),
        lambda run: run["curve"].update(instances=[5]),
        lambda run: run["curve"].pop("kappa"),
        lambda run: run["curve"].update(confusion=[[1]]),
        lambda run: run.update(options=3),
        lambda run: run["curve"].update(confusion="x"),
    ):
        run = copy.deepcopy(meta["run"])
        damage(run)
        tree.save(kept, run=run)
        err = cli(f"train {csv} {_OPTIONS} --resume {kept}", 1).err
        assert kept in err and err.count("\n") == 1


def test_signals_come_once_and_wait_as_ctrl_c_does():
    # Who runs the tests may ignore one, and Ray, in this process since another test, handles the other.
    inherited = [signal.signal(number, signal.SIG_DFL) for number in (signal.SIGTERM, signal.SIGHUP)]
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)]
    for number in (signal.SIGTERM, signal.SIGHUP):
        with pytest.raises(Stopped) as error, stopping():
            signal.raise_signal(number)
        assert status_of(error.value) == 128 + number
        done = []
        with stopping():
            with pytest.raises(Stopped), deferred_interrupt():
                signal.raise_signal(number)
                done.append(1)
            signal.raise_signal(signal.SIGTERM)  # as a shell does that ends: what is saved now
            with deferred_interrupt():  # goes on
                signal.raise_signal(signal.SIGHUP)
            done.append(2)
        assert done == [1, 2]
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)] == before
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # nohup
    try:
        with stopping():
            signal.raise_signal(signal.SIGHUP)
    finally:
        for number, handler in zip((signal.SIGTERM, signal.SIGHUP), inherited, strict=True):
            signal.signal(number, handler)
