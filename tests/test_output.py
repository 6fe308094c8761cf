"""Who reads what the command line prints: terminals, pipes that close, programs."""

import importlib.metadata
import json
import signal
from unittest.mock import Mock

import numpy as np
import pytest
from bregalad import VFDT
from bregalad.cli import main
from marks import nightly
from processes import python, start


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with a stream and a tree learnt from it."""
    folder = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(1)
    X = rng.random((3000, 2))
    y = np.where(X[:, 0] > 0.5, "in", "out")
    VFDT(delta=1e-3).fit(X, y).save(folder / "tree")
    np.savetxt(
        folder / "things.csv", np.column_stack([X.astype("U8"), y]), "%s", ",", header="x0,x1,class", comments=""
    )
    return folder


def test_version(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"bregalad {importlib.metadata.version('bregalad')}\n"


@pytest.mark.parametrize(
    "command",
    [
        ["boards"],
        ["generate"],
        *nightly(["inspect", "tree"], ["inspect", "tree", "--dot"], ["train", "things.csv", "--json"]),
        *nightly(["inspect", "tree", "--statistics"], ["predict", "things.csv", "--tree", "tree"]),
        ["train", "things.csv"],
        ["--help"],
        ["--version"],
    ],
    ids=" ".join,
)
def test_nobody_reads_on(command, files):
    """As with `| head`, which leaves when it has what it wants."""
    with start(*command, cwd=files) as process:
        process.stdout.close()
        said = process.stderr.read()
    assert [line for line in said.splitlines() if "compiling" not in line] == []
    if command[0].startswith("--"):  # argparse takes no notice
        assert process.returncode in (0, 128 + signal.SIGPIPE)
    else:
        assert process.returncode == 128 + signal.SIGPIPE


def test_a_broken_pipe_elsewhere_is_an_error(monkeypatch, cli):
    error = BrokenPipeError(32, "Broken pipe: the board")
    monkeypatch.setattr("bregalad.cli.commands.boards.run", Mock(side_effect=error))
    assert "Broken pipe: the board" in cli(["boards"], 1).err


def test_no_progress_bar_but_on_a_terminal(files, capfd):
    assert main(["train", str(files / "things.csv")]) == 0
    assert main(["generate", "sea", "--limit", "1000", "--out", str(files / "sea.csv")]) == 0
    err = capfd.readouterr().err
    assert [line for line in err.splitlines() if "compiling" not in line] == []


def test_json(files, cli):
    found = json.loads(cli(["train", str(files / "things.csv"), "--json"]).out)
    assert found["instances"] == 3000 and found["accuracy"] > 0.9 and found["tree"] == "VFDT"
    assert found["parameters"]["grace"] == 200 and found["seconds"] > 0
    assert found["compile_seconds"] >= 0 and found["nodes"] == 2 * found["leaves"] - 1


def test_json_of_what_is_not_finite(files, tmp_path, cli):
    """Cohen's kappa of a single class is no number, and JSON has none for that."""
    path = tmp_path / "one.csv"
    path.write_text("a,b\n" + "1,x\n2,x\n" * 10)
    out = cli(["train", path, "--classes", "x,y", "--json"]).out
    assert "NaN" not in out and json.loads(out)["kappa"] is None


def test_a_folder_of_that_name_hides_nothing(tmp_path):
    """As a checkout that lies beside a script, which Python looks through first."""
    (tmp_path / "bregalad" / "host" / "bregalad").mkdir(parents=True)
    (tmp_path / "bregalad" / "README.md").touch()
    script = tmp_path / "script.py"
    script.write_text("import bregalad\nprint(bregalad.VFDT.__name__)\n")
    for words in ([script], ["-c", script.read_text()]):
        said = python(*words, cwd=tmp_path)
        assert said.stdout == "VFDT\n", said.stderr
