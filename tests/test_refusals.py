"""What the command line refuses, and what it keeps of a run that fails: one clear line, no file lost."""

import errno
import os
import signal
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from bregalad import TREES, load_tree
from bregalad.cli import main
from bregalad.options.table import LEARNERS
from processes import python

TO_FILES = ("--save", "--plot", "--curve", "--checkpoint", "--resume")


@pytest.mark.parametrize(
    "arguments, message",
    [
        ("train missing.csv", "train: missing.csv: No such file or directory"),
        ("train CSV --slots 1", "slots must be 2 to 32768, not 1"),
        ("train CSV --tree efdt --inner-grace 0", "--inner-grace must be 1 to"),
        ("train CSV --scale 0.1", "--scale has no effect without --bound confidence-prac"),
        ("train CSV --ties htdt --tie-increment 9", "no effect without --ties htat"),
        ("train CSV --slots 8 --geometry tiny", "--slots is for a board without --ge"),
        ("train CSV --class 7", "the class column 7 is unknown; the columns are"),
        ("train CSV --board imagined", "no board 'imagined'; there are emulated"),
        ("train CSV --limit 0", "--limit must be 1 or more, not 0"),
        ("train CSV --save nowhere/tree", "there is no folder"),
        ("train CSV --plot plot.doc", "plots can be"),
        ("train CSV --save one.png --plot one.png", "is named twice"),
        ("train CSV --curve curve.txt", "curves are written as .csv, .parquet or .pq"),
        ("generate foo", "no generator 'foo'; there are tree, rbf, led, sea,"),
        ("generate sea", "--out must name the file to write"),
        ("generate sea --out s.csv", "the stream does not end: say how much of it"),
        ("generate sea --out s.doc --limit 5", "streams are written as .arff"),
        ("generate sea --out nowhere/s.csv --limit 5 --quiet", "nowhere/s.csv: No such file"),
        ("generate sea --limit 0", "--limit must be 1 or more, not 0"),
        *((f"train CSV {option} -", "- is standard output, which has the report") for option in TO_FILES),
        # What options must be, and which contradict each other.
        ("train CSV --delta 2", "--delta must be between 0 and 1"),
        ("train CSV --tree ctree --bound hoeffding", "VFDT takes the others"),
        ("train CSV --class-weight maybe=2", "class_weight names 'maybe', none of the classes"),
        ("train CSV --class-weight in=0.5", "train predicts each instance as it learns it, so each must be learnt"),
        # Labels that are asked for.
        ("train CSV --budget 0.2", "--budget has no effect without --ask"),
        ("train CSV --seed 2", "--seed has no effect without --ask or --learner bagging, leveraging or arf"),
        ("train CSV --ask rnd", "--ask needs the share of labels that it may ask for: --budget 0.3 is 30 %"),
        ("train CSV --ask rnd --budget 30", "--budget must be 0 to 1 (0.3 is 30 %), not 30.0"),
        ("train CSV --ask rnd --budget 0.3 --checkpoint c", "leave out --checkpoint and --resume"),
        ("inspect CSV", "no saved tree, or a damaged one"),
        ("predict CSV --tree nothing", "predict: nothing: No such file or directory"),
        ("warm-up vfdt nothing", "no learner 'nothing'; there are vfdt, efdt"),
        # Of ensembles.
        ("train CSV --learner arf --tree id5r", "--learner arf is of trees that learn on a board, not of id5r"),
        ("train CSV --members 3", "--members is an option of --learner bagging, leveraging and arf, not of tree"),
        ("train CSV --learner bagging --warning 0.1", "--warning is an option of --learner arf, not of bagging"),
        ("train CSV --learner arf --ask rnd --budget 0.1", "--ask is for one tree, not for --learner arf"),
        # Of trees that learn in another way.
        ("train CSV --tree puuvfdt", "train: positive=1 is none of the labels ['in', 'out']: choose one of them"),
        ("train CSV --tree puuvfdt --positive yes", "train: positive='yes' is none of the labels ['in', 'out']"),
        ("train CSV --tree puuvfdt --level 1.5", "train: --level must be between 0 and 1, both excluded, or None for"),
        ("train CSV --tree puuvfdt --window 5000", "--window is an option of --tree cvfdt and puucvfdt, not of puuvf"),
        ("train CSV --tree vfdt --positive 1", "--positive is an option of --tree puuvfdt and puucvfdt, not of vfdt"),
        ("train CSV --tree puuvfdt --learner arf", "--learner arf is of trees that know all labels, not of puuvfdt"),
        ("train CSV --tree puuvfdt --ask rnd --budget 0.3", "--ask asks for labels, which puuvfdt does without"),
        ("train CSV --tree puuvfdt --wave x.fst", "train: --wave is for one tree, not for --tree puuvfdt"),
        ("train CSV --tree iti --max-instances 100", "train: ITI keeps every instance: it has 0, and 2000 more"),
        ("train CSV --tree iti --board simulated", "iti learns on the host: --board and --geometry are for vfdt, "),
        ("train CSV --tree iti --grace 100", f"--grace is an option of --tree {', '.join(LEARNERS)}, puuvfdt and"),
        # Of what takes long, before it begins.
        ("build ulx4s", "no board 'ulx4s' to build for; there are ulx3s-12f"),
        ("build ulx3s-12f --geometry huge", "no geometry 'huge'; there are tiny"),
        ("build ulx3s-12f --geometry width=3", "no size 'width'; there are lanes"),
        ("build ulx3s-12f --geometry lanes=many", "lanes must be an integer, not 'many'"),
        ("build ulx3s-12f --geometry lanes=3 lanes=4", "lanes is given twice"),
        ("build ulx3s-12f --geometry classes=33", "classes must be 2 to 32 in hardware, not 33;"),
        ("build arty-a7-35 --geometry classes=33", "classes must be 2 to 32 in hardware, not 33;"),
        ("verilog --geometry classes=33", "classes must be 2 to 32 in hardware, not 33;"),
        ("virtual ulx3s-12f --geometry classes=33", "classes must be 2 to 32 in hardware, not 33;"),
        ("build ulx3s-12f --seeds 0", "--seeds must be 1 or more, not 0"),
        ("build arty-a7-35 --seeds 2", "Vivado places arty-a7-35, and takes no --aim,"),
        ("build arty-a7-35 --placer static", "takes no --aim, --placer, --seed or --seeds"),
        ("build ulx3s-12f --aim 40", "--aim must be the clock, 50, to 400 MHz, not 40"),
        ("build ulx3s-12f --clock 1000", "--clock must be 1 to 400 MHz, not 1000"),
        ("build ulx3s-12f --ip 10.0.0.1", "--ip is for boards with Ethernet; ulx3s-12f has"),
        ("build ecpix5-85f --ip 10.0.0", "ip must be a board's IPv4 address like 192.168.1"),
        ("virtual ulx3s-12f --port 5", "--port is for boards with Ethernet; ulx3s-12f has"),
        ("virtual ecpix5-85f --port 70000", "--port must be 0 (any) to 65535, not 70000"),
        ("program ulx3s-12f --output nowhere", "bregalad build ulx3s-12f makes it"),
        ("verilog --package core --output core.sv", "--package takes no --output: it writes the core"),
        ("verilog --package core --interface streams", "--package takes no --interface streams: it writes"),
        ("build ulx3s-12f --clock nan", "--clock must be 1 to 400 MHz, not nan"),
        ("demo --simulated -1", "--simulated must be 0 (leave it out) or more, not -1"),
        ("demo --plot plot.xyz", "plots can be"),
        ("reproduce efdt-figures --runs 0", "--runs must be 1 or more, not 0"),
        ("reproduce efdt-figures --out CSV", "File exists"),
        ("bench --repeats 0", "--repeats must be 1 or more, not 0"),
        ("bench --others weka", "no learner 'weka'; there are moa:LEARNER"),
        ("bench --core 4096", "--core must be one of"),
    ],
)
def test_errors_are_one_line(csv, tmp_path, monkeypatch, cli, arguments, message):
    monkeypatch.chdir(tmp_path)
    before = signal.getsignal(signal.SIGTERM)
    arguments = arguments.replace("CSV", str(csv)).split()
    captured = cli([*arguments, *["--quiet"] * (arguments[0] == "train")], 1)
    assert message in captured.err
    assert captured.err.startswith(f"bregalad {arguments[0]}: ")
    assert captured.err.count("\n") == 1 and "Traceback" not in captured.err
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "the following arguments are required: COMMAND"),
        (["trian"], "argument COMMAND: invalid choice: 'trian' (choose from"),
        (["train"], "the following arguments are required: file"),
        (["train", "CSV", "--grace", "x"], "argument --grace: invalid int value: 'x'"),
        (["train", "CSV", "--tree", "oak"], "argument --tree: invalid choice: 'oak' (choose from"),
        (["train", "CSV", "--class-weight", "yes"], "'yes' is not LABEL=X, a class and its weight"),
        (["train", "CSV", "--class-weight", "yes=many"], "'yes=many' is not LABEL=X"),
        (["predict", "CSV", "--tree", "t", "a\nb"], "unrecognized arguments: a b"),
        (["train", "CSV", "--graec", "9"], "train: unrecognized arguments: --graec 9; did you mean --grace (see"),
    ],
)
def test_what_is_wrong_comes_without_the_usage(csv, capsys, arguments, message):
    with pytest.raises(SystemExit) as stopped:
        main([str(csv) if word == "CSV" else word for word in arguments])
    said = capsys.readouterr().err
    assert stopped.value.code == 2 and message in said and said.count("\n") == 1
    assert said.startswith("bregalad") and said.endswith(" --help)\n")


def test_what_is_learnt_before_a_bad_line_is_kept(tmp_path, cli):
    """A file is read in chunks of 65,536 lines, ARFF without a look at all of it before."""
    rng = np.random.default_rng(1)
    lines = [f"{x:.3f},{'in' if x > 0.5 else 'out'}" for x in rng.random(65_600)]
    bad, saved, curve = tmp_path / "bad.arff", tmp_path / "tree", tmp_path / "curve.csv"
    head = ["@relation r", "@attribute a numeric", "@attribute c {in,out}", "@data"]
    bad.write_text("\n".join([*head, *lines, "0.5"]))
    captured = cli(["train", bad, "--quiet", "--save", saved, "--curve", curve], 1)
    told = [line for line in captured.err.splitlines() if "compiling, since " not in line]
    assert told == [f"bregalad train: {bad}, line 65605: 1 field, but 2 columns"]
    assert "stopped after 65536 instances" in captured.out and "accuracy    0.9" in captured.out
    assert load_tree(saved).report()["instances"] == 65_536
    assert pd.read_csv(curve)["instances"].iloc[-1] == 65_536


def test_a_report_that_nobody_reads_costs_no_tree(csv, tmp_path, monkeypatch, cli):
    monkeypatch.setattr("bregalad.cli.report.print_report", Mock(side_effect=BrokenPipeError(32, "Broken pipe")))
    cli(["train", csv, "--quiet", "--save", tmp_path / "tree"], 1)
    assert load_tree(tmp_path / "tree").report()["instances"] == 3000


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["train", "CSV", "--quiet", "--save", "CSV"], "is what is read; name another file"),
        (["train", "CSV", "--quiet", "--curve", "CSV"], "is what is read; name another file"),
        (["train", "CSV", "--quiet", "--save", "FOLDER"], "is a folder, not a file"),
        (["predict", "CSV", "--tree", "TREE", "--output", "CSV"], "is what is read"),
        (["predict", "RAGGED", "--tree", "TREE", "--output", "OLD"], "line 2000: 2 fields, but 3"),
        (["predict", "CSV", "--tree", "TREE", "--class", "width"], "--class width is an attribute of"),
        (["predict", "CSV", "--tree", "TREE", "--class", "0"], "--class 0 is an attribute of the tree"),
        (["generate", "sea", "--limit", "5", "--out", "a\nb"], "a b: streams are written as"),
        (["predict", "CSV", "--tree", "TREE", "--classes", "in"], "predict takes no --classes"),
    ],
)
def test_no_file_is_lost_to_a_command_that_fails(csv, tmp_path, cli, arguments, message):
    files = {
        "CSV": csv,
        "FOLDER": tmp_path,
        "TREE": tmp_path / "tree",
        "OLD": tmp_path / "old",
        "RAGGED": tmp_path / "ragged.csv",
    }
    lines = csv.read_text().splitlines()
    files["RAGGED"].write_text("\n".join([*lines[:1999], "0.5,red"]))
    files["OLD"].write_text("old")
    cli(["train", csv, "--quiet", "--save", files["TREE"]])
    before = {path: path.read_bytes() for path in sorted(tmp_path.iterdir())}
    error = cli([files.get(word, word) for word in arguments], 1).err
    assert message in error and error.count("\n") == 1
    assert {path: path.read_bytes() for path in sorted(tmp_path.iterdir())} == before


def test_one_result_that_cannot_be_written_takes_no_other_along(csv, tmp_path, monkeypatch, cli):
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    monkeypatch.setattr(TREES["vfdt"], "save", Mock(side_effect=full))
    saved, curve = tmp_path / "tree", tmp_path / "curve.csv"
    captured = cli(["train", csv, "--quiet", "--save", saved, "--curve", curve], 1)
    unwritten = f"bregalad train: {saved} is not written: No space left on device\n"
    assert captured.err == unwritten
    assert "accuracy" in captured.out
    assert pd.read_csv(curve)["instances"].iloc[-1] == 3000
    lines = csv.read_text().splitlines()
    csv.write_text("\n".join([*lines, *70 * lines[1:1000], "0.5,red"]))
    captured = cli(["train", csv, "--quiet", "--save", saved, "--ignore", "colour", "--classes", "in,out"], 1)
    assert captured.err.startswith(unwritten) and "2 fields, but 3 columns" in captured.err
    assert "stopped after 65536 instances" in captured.out


@pytest.mark.parametrize("command", [["train"], ["predict", "--tree", "tree"], ["inspect"]], ids=lambda words: words[0])
def test_a_file_that_is_not_there_is_told_before_long_imports(tmp_path, command):
    code = (
        "import sys; from bregalad.cli import main; status = main(sys.argv[1:]); "
        "print(status, {'pandas', 'numba', 'sklearn'} & set(sys.modules))"
    )
    said = python("-c", code, command[0], "nothing.csv", *command[1:], cwd=tmp_path, check=True)
    assert said.stdout == "1 set()\n"
    assert said.stderr.endswith("nothing.csv: No such file or directory\n") and said.stderr.count("\n") == 1
