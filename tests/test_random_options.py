"""Command lines with anything in them, at random: each works, or ends with a status and one clear line.

As many as are wanted: ``COMMANDS=10000 python -m pytest -m slow tests/test_random_options.py``.
"""

import argparse
import contextlib
import io
import os
import random
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest
from bregalad.cli import main
from bregalad.geometry import PRESETS

COMMANDS = {
    name: import_module(f"bregalad.cli.commands.{name}")
    for name in ("train", "predict", "inspect", "export", "generate", "boards")
}
# What would run for minutes is asked for what there is not.
LONG = {
    name: import_module(f"bregalad.cli.commands.{name}")
    for name in ("bench", "build", "program", "reproduce", "verilog", "virtual")
}
WORDS = [
    *("", "-", " ", "0", "1", "2", "-1", "3", "40", "0.5", "1e-3", "1e999", "nan", "inf", "-inf", "abc", "a", "k"),
    *("label", "p", "p,q", "p=2", "p=x", "=", "q=", "=1", "p=nan", "p=1e9", ",", "a,b", "a,a", "é", "\udcff", "a\nb"),
    *("x" * 300, "x" * 5000, ".", "..", "/", "nowhere/x", "9" * 400, "0x10", "1_0", "\u0661", "yes", "no", "none"),
    *("True", "None", "vfdt", "efdt", "ctree", "corrhtree", "tiny", "fine", "many-classes", "emulated", "serial:"),
    *("serial:nowhere", "serial:nowhere,baud=x", "udp:", "udp:a:b", "mc", "nb", "nba", "gini", "zero", "stream"),
    *("memory", "htat", "things.csv", "things.csv.gz", "things.arff", "tree", "damaged", "folder", "out.csv"),
    *("out.parquet", "out.png", "out.json", "out.arff", "out.csv.gz", "kept"),
]
FILES = [
    *("things.csv", "things.csv", "things.csv", "things.arff", "damaged", "folder", "nowhere.csv", "", "tree"),
    *("generator:", "generator:led", "generator:sea,seed=1", "generator:nothing", "generator:sea,noise=x"),
    *("generator:sea,noise=7", "generator:sea,=", "generator:drift", "generator:drift,first=(sea"),
    "generator:rts,seed=-1",
]


SECOND_FILES = {  # how often a command is given one, its option, and which
    "train": (0.1, "--from", ("tree", "tree", "damaged", "folder", "things.csv")),
    "predict": (0.9, "--tree", ("tree",)),
    "generate": (0.9, "--out", ("out.csv",)),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i % 7},{'uvw'[i % 3]},{'pq'[i % 2]}\n" for i in range(60))
    Path("things.csv").write_text(f"a,k,label\n{rows}")
    Path("things.arff").write_text(
        f"@relation r\n@attribute a numeric\n@attribute k {{u,v,w}}\n@attribute label {{p,q}}\n@data\n{rows}"
    )
    Path("damaged").write_bytes(b"PK\x03\x04 is no tree")
    Path("folder").mkdir()
    assert spoken(["train", "things.csv", "--quiet", "--save", "tree"])[0] == 0


def spoken(words):
    """The exit status of a command line, and what it writes to standard error."""
    error = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(error):
        try:
            status = main(words)
        except SystemExit as end:
            status = end.code
    return status, error.getvalue()


def flags(command):
    """A command's options, and which of them take a value."""
    parser = argparse.ArgumentParser()
    (COMMANDS | LONG)[command].add_arguments(parser)
    return {
        action.option_strings[-1]: (action.nargs != 0, action.choices)
        for action in parser._actions
        if action.option_strings
        and action.option_strings[-1] not in ("--help", "--check", *(["--geometry"] if command in LONG else []))
    }


def line(rng):
    """A command line; mostly one that is wrong somewhere."""
    command = rng.choice(("train", "train", "train", "predict", "inspect", "export", "generate", "boards"))
    if rng.random() < 0.1:
        command = rng.choice(list(LONG))
    words = [command]
    if command in LONG:
        words += ["--geometry"] if command == "verilog" else []
        words.append(rng.choice([word for word in WORDS if word and word not in PRESETS]))
    file = {"inspect": "tree", "export": "tree", "generate": "sea"}.get(command, "things.csv")
    if rng.random() < 0.4:
        file = rng.choice(FILES)
    if command == "generate":
        file = file.removeprefix("generator:")
    words += [] if command in ("boards", *LONG) else [file]
    chance, option, others = SECOND_FILES.get(command, (0, None, None))
    if rng.random() < chance:
        words += [option, rng.choice(others)]
    known = flags(command)
    for flag in rng.sample(sorted(known), min(len(known), rng.choice((0, 1, 1, 1, 2, 3)))):
        takes, choices = known[flag]
        words.append(flag)
        if takes:
            word = str(rng.choice(list(choices))) if choices and rng.random() < 0.7 else rng.choice(WORDS)
            # Else it would take as long as it says.
            words.append("50" if flag == "--limit" and word == "9" * 400 else word)
    if rng.random() < 0.05:
        words.append(rng.choice(WORDS))
    if "--limit" not in words and command in ("train", "predict", "generate"):
        words += ["--limit", "50"]
    return words


def run(seed, count):
    rng = random.Random(seed)
    found = Counter()
    for i in range(count):
        words = line(rng)
        told = f"command {i} of seed {seed}: {words!r}"
        try:
            status, error = spoken(words)
        except BaseException as failure:
            raise AssertionError(f"{told}: {type(failure).__name__}: {failure}") from failure
        lines = error.splitlines()
        assert status in (0, 1, 2), f"{told}: {status}"
        assert "Traceback" not in error, f"{told}: {error}"
        # Besides the error there may be a warning, or what is being compiled.
        assert all(each.startswith("bregalad") for each in lines), f"{told}: {error}"
        assert all(len(each) < 12_100 for each in lines), f"{told}: {error[:2000]}"
        if status == 2:
            assert len(lines) == 1, f"{told}: {error}"
        if status == 1:
            assert 1 <= len([each for each in lines if not each.startswith("bregalad: ")]) <= 2, f"{told}: {error}"
        found[f"{status} {lines[-1] if status else ''}"] += 1
    print(f"{count} command lines, {found['0 ']} worked, {len(found) - 1} messages")
    return found


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_random_command_lines(seed):
    assert run(seed, int(os.environ.get("COMMANDS", 10_000)))["0 "]
