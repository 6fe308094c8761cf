"""The command line as a user meets it: output, files, exit status, and errors without traceback."""

import errno
import gzip
import os

import numpy as np
import pandas as pd
import pytest
from bregalad import TREES, load_tree
from bregalad.cli import main
from bregalad.cli.learner import OPTIONS
from bregalad.files import replacing
from bregalad.reproduce.runs import computes
from bregalad.trees.options import LEARNERS


@pytest.fixture
def csv(tmp_path):
    """A CSV file of 3000 instances."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"width": rng.random(3000), "colour": rng.choice(["red", "blue"], 3000)})
    table["label"] = np.where((table["width"] > 0.5) ^ (table["colour"] == "red"), "in", "out")
    path = tmp_path / "things.csv"
    table.to_csv(path, index=False)
    return path


def test_train_inspect_predict(csv, tmp_path, capsys):
    saved, plot, curve = tmp_path / "tree", tmp_path / "plot.png", tmp_path / "curve.csv"
    assert (
        main(
            [
                "train",
                str(csv),
                "--quiet",
                "--delta",
                "0.001",
                "--grace",
                "100",
                "--save",
                str(saved),
                "--plot",
                str(plot),
                "--curve",
                str(curve),
            ]
        )
        == 0
    )
    out = capsys.readouterr().out
    assert "instances   3000" in out and "accuracy" in out and "splits" in out
    assert "kappa" in out and "seconds" in out
    assert plot.read_bytes().startswith(b"\x89PNG")
    points = pd.read_csv(curve)
    assert points["instances"].iloc[-1] == 3000 and points["accuracy"].between(0, 1).all()
    assert points["kappa"].iloc[-1] > 0.3 and points["seconds"].iloc[-1] > 0

    assert main(["inspect", str(saved)]) == 0
    assert "width" in capsys.readouterr().out
    assert main(["inspect", str(saved), "--statistics"]) == 0
    assert "splits" in capsys.readouterr().out
    assert main(["inspect", str(saved), "--dot"]) == 0
    assert capsys.readouterr().out.startswith("digraph")

    answers = tmp_path / "answers.csv"
    assert main(["predict", str(csv), "--tree", str(saved), "--proba", "--output", str(answers)]) == 0
    assert "of 3000 labels met" in capsys.readouterr().err
    table = pd.read_csv(answers)
    assert list(table) == ["prediction", "p(in)", "p(out)"] and len(table) == 3000


@pytest.mark.parametrize(
    "tree, options",
    [
        ("vfdt", ["--ties", "htat", "--tie-increment", "100", "--zoom", "seen", "--slots", "64"]),
        ("vfdt", ["--bound", "mcdiarmid", "--child-counts", "zero", "--feed", "memory"]),
        ("vfdt", ["--adaptive-grace", "--head", "100", "--review-period", "1000"]),
        (
            "efdt",
            [
                "--delta",
                "0.001",
                "--grace",
                "100",
                "--inner-grace",
                "300",
                "--gain-average",
                "--same-attribute",
                "replace",
                "--nominal-split",
                "one_vs_rest",
            ],
        ),
        ("efdt", ["--variant", "kdd2018", "--grace", "100"]),
    ],
)
def test_every_tree_is_trained_inspected_and_predicts(csv, tmp_path, capsys, tree, options):
    saved = tmp_path / "tree"
    assert main(["train", str(csv), "--quiet", "--tree", tree, *options, "--save", str(saved)]) == 0
    out = capsys.readouterr().out
    assert " replaced, " in out and " pruned; " in out and " tie-broken (" in out and "%)" in out
    assert " slots in use" in out
    assert main(["inspect", str(saved), "--statistics"]) == 0
    assert "width" in capsys.readouterr().out
    assert main(["predict", str(csv), "--tree", str(saved), "--output", str(tmp_path / "answers.csv")]) == 0
    assert "of 3000 labels met" in capsys.readouterr().err
    params = load_tree(saved).get_params()
    assert type(load_tree(saved)) is TREES[tree]
    given = {option.name: params[option.name] for option in OPTIONS if option.flag in options}
    words = iter(options)
    for word in words:
        name = word.removeprefix("--").replace("-", "_")
        assert str(given[name]) == ("True" if given[name] is True else next(words))


@pytest.mark.parametrize("tree", ["ctree", "corrhtree"])
def test_trees_of_two_classes(csv, tmp_path, capsys, tree):
    """They need a board with their criterion; without it that is what they say."""
    saved = tmp_path / "tree"
    status = main(["train", str(csv), "--quiet", "--tree", tree, "--save", str(saved)])
    captured = capsys.readouterr()
    if not computes("emulated", TREES[tree]()._policy().criterion):
        assert status == 1 and "criterion" in captured.err and captured.err.count("\n") == 1
        return
    assert status == 0 and "splits" in captured.out
    assert type(load_tree(saved)) is TREES[tree]
    assert main(["inspect", str(saved)]) == 0


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_an_option_of_another_tree_is_refused(csv, capsys, option):
    value = [] if option.kind is bool else [option.choices[0] if option.choices else "1"]
    for tree in set(LEARNERS) - set(option.defaults):
        assert main(["train", str(csv), "--quiet", "--tree", tree, option.flag, *value]) == 1
        error = capsys.readouterr().err
        assert error.startswith(f"bregalad train: {option.flag} is an option of --tree ")
        assert error.endswith(f", not of {tree}\n") and error.count("\n") == 1
        assert all(other in error for other in option.defaults)


@pytest.mark.parametrize("labels", [("no", "yes"), (0, 1), ("a=b", "c d")])
def test_class_weights(tmp_path, capsys, labels):
    """Labels are named as the file has them, be they numbers or have equals signs."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"x": rng.random(900)})
    table["class"] = np.where(table["x"] > 0.9, labels[1], labels[0])
    for path in (tmp_path / "data.csv", tmp_path / "data.parquet"):
        table.to_csv(path, index=False) if path.suffix == ".csv" else table.to_parquet(path)
        assert (
            main(
                [
                    "train",
                    str(path),
                    "--quiet",
                    "--class-weight",
                    f"{labels[1]}=9",
                    "--class-weight",
                    f"{labels[0]}=1",
                    "--save",
                    str(tmp_path / "tree"),
                ]
            )
            == 0
        )
        rare = int((table["x"] > 0.9).sum())
        assert f"instances   {900 + 8 * rare}\n" in capsys.readouterr().out
        assert list(load_tree(tmp_path / "tree").class_weight.values()) == [9, 1]


@pytest.mark.parametrize(
    "given, status, message",
    [
        ("yes", 2, "'yes' is not LABEL=X, a class and its weight"),
        ("yes=many", 2, "'yes=many' is not LABEL=X"),
        ("maybe=2", 1, "class_weight names 'maybe', none of the classes"),
        ("yes=-1", 1, "class_weight of 'yes' must be 0 to 10000, not -1"),
        ("in=0.5", 1, "class_weight must be 1 or more"),
    ],
)
def test_what_is_no_class_weight(csv, capsys, given, status, message):
    try:
        found = main(["train", str(csv), "--quiet", "--class-weight", given])
    except SystemExit as end:
        found = end.code
    error = capsys.readouterr().err
    assert found == status and message in error and "Traceback" not in error


def test_limit(csv, capsys):
    assert main(["train", str(csv), "--quiet", "--limit", "777"]) == 0
    assert "instances   777" in capsys.readouterr().out


def test_predict_uses_the_trees_kinds_and_needs_no_labels(tmp_path, capsys):
    """A nominal attribute whose values in the new file all look like numbers."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"size": rng.random(3000), "code": rng.choice(list("123A"), 3000)})
    table["label"] = np.where(table["code"].isin(["1", "A"]), "in", "out")
    old, new, tree = tmp_path / "old.csv", tmp_path / "new.csv", tmp_path / "tree"
    table.to_csv(old, index=False)
    assert main(["train", str(old), "--quiet", "--delta", "0.001", "--save", str(tree)]) == 0
    table[table["code"] != "A"].drop(columns="label").to_csv(new, index=False)
    capsys.readouterr()
    assert main(["predict", str(new), "--tree", str(tree)]) == 0
    captured = capsys.readouterr()
    predictions = captured.out.split()[1:]
    expected = table.loc[table["code"] != "A", "label"]
    assert (np.array(predictions) == expected.to_numpy()).mean() > 0.95
    assert "labels met" not in captured.err
    table.assign(extra=1).to_csv(new, index=False)
    assert main(["predict", str(new), "--tree", str(tree), "--class", "label"]) == 0
    assert "of 3000 labels met" in capsys.readouterr().err


def test_values_that_come_late_have_codes(tmp_path, capsys):
    """A file is read in chunks; what values it has is known before the first is learnt."""
    path = tmp_path / "late.csv"
    rows = [f"{i % 7},{'rgbk'[(i % 2) + 2 * (i >= 66_000)]},{(i + (i >= 66_000)) % 2}\n" for i in range(70_000)]
    path.write_text("size,colour,label\n" + "".join(rows))
    assert main(["train", str(path), "--quiet", "--delta", "0.001"]) == 0
    out = capsys.readouterr().out
    assert "0.00% of nominal values had no code" in out
    accuracy = float(out.partition("accuracy")[2].partition(",")[0])
    assert accuracy > 0.99


def test_generate_train_predict(tmp_path, capsys):
    assert main(["generate"]) == 0
    out = capsys.readouterr().out
    assert "rrbfc" in out and "centres=1000" in out
    path, tree, curve = tmp_path / "s.arff", tmp_path / "tree", tmp_path / "curve.parquet"
    assert main(["generate", "sea,noise=0", "--limit", "3000", "--out", str(path), "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    options = ["--quiet", "--limit", "3000", "--delta", "0.001", "--curve", str(curve)]
    assert main(["train", str(path), *options]) == 0
    written = capsys.readouterr().out
    assert main(["train", "generator:sea,noise=0", *options, "--save", str(tree)]) == 0
    generated = capsys.readouterr().out

    def without_times(text):
        return [line for line in text.splitlines() if not line.startswith("seconds")]

    assert without_times(generated) == without_times(written)
    assert pd.read_parquet(curve)["instances"].iloc[-1] == 3000
    assert (
        main(
            [
                "predict",
                "generator:sea,noise=0,seed=2",
                "--limit",
                "1000",
                "--tree",
                str(tree),
                "--output",
                str(tmp_path / "answers.csv"),
            ]
        )
        == 0
    )
    assert "of 1000 labels met" in capsys.readouterr().err


def test_boards(capsys):
    assert main(["boards"]) == 0
    out = capsys.readouterr().out
    assert "emulated" in out and "simulated" in out and "many-classes" in out


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["train", "missing.csv"], "train: missing.csv: No such file or directory"),
        (["train", "CSV", "--class", "size"], "'size' is unknown; the columns are width, colour"),
        (["train", "CSV", "--delta", "2"], "delta must be between 0 and 1, both excluded, not 2.0"),
        (["train", "CSV", "--tree", "ctree", "--bound", "hoeffding"], "VFDT takes the others"),
        (["train", "CSV", "--ties", "htat", "--adaptive-grace"], "choose one of the two"),
        (["train", "CSV", "--slots", "1"], "slots must be 2 to 32768, not 1"),
        (["train", "CSV", "--tree", "efdt", "--inner-grace", "0"], "inner_grace must be 1 to"),
        (["train", "CSV", "--scale", "0.1"], "--scale has no effect without --bound confidence-prac"),
        (["train", "CSV", "--ties", "htdt", "--tie-increment", "9"], "no effect without --ties htat"),
        (["train", "CSV", "--slots", "8", "--geometry", "tiny"], "--slots is for a board without --ge"),
        (["train", "CSV", "--class", "7"], "the class column 7 is unknown; the columns are"),
        (["train", "generator:drift"], "first and second must be given, generators in brackets: drift"),
        (["train", "CSV", "--board", "imagined"], "no board 'imagined'; there are emulated"),
        (["train", "CSV", "--geometry", "huge"], "no geometry 'huge'; there are tiny"),
        (["train", "CSV", "--limit", "0"], "--limit must be 1 or more, not 0"),
        (["train", "CSV", "--classes", "in,maybe"], "'out' is not declared; allowed are in, maybe"),
        (["train", "CSV", "--save", "nowhere/tree"], "there is no folder"),
        (["train", "CSV", "--plot", "plot.doc"], "plots can be"),
        (["train", "CSV", "--curve", "curve.txt"], "curves are written as .csv, .parquet or .pq"),
        (["train", "generator:trees"], "no generator 'trees'; there are tree, rbf"),
        (["train", "generator:tree,width=3"], "no option 'width'; there are classes, nominals"),
        (["generate", "foo"], "no generator 'foo'; there are tree, rbf, led, sea,"),
        (["generate", "sea"], "--out must name the file to write"),
        (["generate", "sea", "--out", "s.csv"], "the stream does not end: say how much of it"),
        (["generate", "sea", "--out", "s.doc", "--limit", "5"], "streams are written as .arff"),
        (["generate", "sea", "--out", "nowhere/s.csv", "--limit", "5", "--quiet"], "nowhere/s.csv: No such file"),
        (["generate", "see", "--out", "s.csv", "--limit", "5"], "no generator 'see'"),
        (["generate", "sea", "--limit", "0"], "--limit must be 1 or more, not 0"),
        (["inspect", "CSV"], "no saved tree, or a damaged one"),
        (["predict", "CSV", "--tree", "nothing"], "predict: nothing: No such file or directory"),
    ],
)
def test_errors_are_one_line(csv, capsys, arguments, message):
    arguments = [str(csv) if word == "CSV" else word for word in arguments]
    assert main([*arguments, *(["--quiet"] if arguments[0] == "train" else [])]) == 1
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.startswith(f"bregalad {arguments[0]}: ")
    assert captured.err.count("\n") == 1 and "Traceback" not in captured.err


def test_what_is_learnt_before_a_bad_line_is_kept(tmp_path, capsys):
    """A file is read in chunks of 65,536 lines, ARFF without a look at all of it before."""
    rng = np.random.default_rng(1)
    lines = [f"{x:.3f},{'in' if x > 0.5 else 'out'}" for x in rng.random(65_600)]
    bad, saved, curve = tmp_path / "bad.arff", tmp_path / "tree", tmp_path / "curve.csv"
    head = ["@relation r", "@attribute a numeric", "@attribute c {in,out}", "@data"]
    bad.write_text("\n".join([*head, *lines, "0.5"]))
    assert main(["train", str(bad), "--quiet", "--save", str(saved), "--curve", str(curve)]) == 1
    captured = capsys.readouterr()
    assert captured.err == f"bregalad train: {bad}, line 65605: 1 fields, but 2 columns\n"
    assert "stopped after 65536 instances" in captured.out and "accuracy    0.9" in captured.out
    assert load_tree(saved).report()["instances"] == 65_536
    assert pd.read_csv(curve)["instances"].iloc[-1] == 65_536


def test_a_report_that_nobody_reads_costs_no_tree(csv, tmp_path, monkeypatch, capsys):
    def closed(*_):
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr("bregalad.cli.train.print_report", closed)
    assert main(["train", str(csv), "--quiet", "--save", str(tmp_path / "tree")]) == 1
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
        (["predict", "CSV", "--tree", "TREE", "--classes", "in"], "predict takes no --classes"),
    ],
)
def test_no_file_is_lost_to_a_command_that_fails(csv, tmp_path, capsys, arguments, message):
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
    assert main(["train", str(csv), "--quiet", "--save", str(files["TREE"])]) == 0
    before = {path: path.read_bytes() for path in sorted(tmp_path.iterdir())}
    capsys.readouterr()
    assert main([str(files.get(word, word)) for word in arguments]) == 1
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
    assert {path: path.read_bytes() for path in sorted(tmp_path.iterdir())} == before


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["demo", "--simulated", "-1"], "--simulated must be 0 (leave it out) or more, not -1"),
        (["demo", "--plot", "FOLDER/plot.xyz"], "plots can be"),
        (["virtual", "ulx3s-12f", "--clock", "inf"], "--clock must be 1 to 400 MHz, not inf"),
        (["virtual", "ulx3s-12f", "--clock", "nan"], "--clock must be 1 to 400 MHz, not nan"),
    ],
)
def test_long_commands_check_before_they_begin(tmp_path, capsys, arguments, message):
    assert main([word.replace("FOLDER", str(tmp_path)) for word in arguments]) == 1
    assert message in capsys.readouterr().err


def test_a_table_with_an_index_is_refused_as_such(csv, tmp_path, capsys):
    """pandas writes the index without a name; the header is one nevertheless."""
    pd.read_csv(csv).to_csv(tmp_path / "index.csv")
    assert main(["train", str(tmp_path / "index.csv"), "--quiet"]) == 1
    assert "index.csv, line 1: column 0 has no name" in capsys.readouterr().err


def test_links_and_devices_stay_what_they_are(csv, tmp_path):
    """A file is replaced where a link leads; what is no file is written, not replaced."""
    target, link, pipe = tmp_path / "target", tmp_path / "link", tmp_path / "pipe"
    target.write_text("old")
    link.symlink_to(target)
    assert main(["train", str(csv), "--quiet", "--save", str(link)]) == 0
    assert link.is_symlink() and load_tree(target).report()["instances"] == 3000
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert main(["predict", str(csv), "--tree", str(link), "--limit", "3", "--output", str(pipe)]) == 0
    assert os.read(end, 100).decode().splitlines()[0] == "prediction"
    os.close(end)
    assert pipe.is_fifo() and not [*tmp_path.glob("*.part")]


def test_truncated_gzip_and_bad_value(csv, tmp_path, capsys):
    whole = gzip.compress(csv.read_bytes())
    cut = tmp_path / "cut.csv.gz"
    cut.write_bytes(whole[: len(whole) // 2])
    assert main(["train", str(cut), "--quiet"]) == 1
    assert "cut.csv.gz" in capsys.readouterr().err
    lines = csv.read_text().splitlines()
    lines[1234] = "wide,red,in"
    bad = tmp_path / "bad.csv"
    bad.write_text("\n".join(lines))
    assert main(["train", str(bad), "--quiet", "--numeric", "width"]) == 1
    error = capsys.readouterr().err
    assert "bad.csv" in error and "1235" in error and "width" in error


def test_inspect_of_another_archive(tmp_path, capsys):
    np.savez(tmp_path / "other.npz", meta=np.frombuffer(b'{"format": 1}', np.uint8))
    np.save(tmp_path / "one.npy", np.zeros(3))
    for name in ("other.npz", "one.npy"):
        assert main(["inspect", str(tmp_path / name)]) == 1
        assert "no saved tree, or a damaged one" in capsys.readouterr().err


def test_wrong_usage_is_status_2(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["train"])
    assert stop.value.code == 2
    assert "file" in capsys.readouterr().err


def test_a_stream_that_stops_midway_leaves_the_older_file(tmp_path, monkeypatch):
    path = tmp_path / "led.csv"
    assert main(["generate", "led", "--limit", "100", "--quiet", "--out", str(path)]) == 0
    older = path.read_bytes()

    def interrupted(bar, count):
        raise KeyboardInterrupt

    monkeypatch.setattr("tqdm.tqdm.update", interrupted)
    assert main(["generate", "sea", "--limit", "100", "--quiet", "--out", str(path)]) == 130
    assert path.read_bytes() == older and list(tmp_path.iterdir()) == [path]


def test_predict_takes_instances_without_labels(csv, tmp_path, capsys):
    saved, some = tmp_path / "tree", tmp_path / "some.csv"
    assert main(["train", str(csv), "--quiet", "--save", str(saved)]) == 0
    table = pd.read_csv(csv)
    table.loc[::2, "label"] = np.nan
    table.to_csv(some, index=False)
    capsys.readouterr()
    assert main(["predict", str(some), "--tree", str(saved), "--output", str(tmp_path / "answers.csv")]) == 0
    assert "of 1500 labels met" in capsys.readouterr().err
    assert len(pd.read_csv(tmp_path / "answers.csv")) == 3000


def test_values_of_a_stream_without_an_end(capsys):
    assert main(["train", "generator:agrawal", "--nominal", "age", "--quiet", "--limit", "1000"]) == 0
    assert "instances   1000" in capsys.readouterr().out
    for asked, name in ((["--nominal", "age"], "age"), (["--class", "salary"], "salary")):
        assert main(["train", "generator:agrawal", *asked, "--quiet"]) == 1
        assert (
            f"the values of '{name}' are looked for beforehand, but the stream does not end: "
            "say how much of it with --limit"
        ) in capsys.readouterr().err
    assert main(["train", "generator:rrbfs", "--nominal", "0", "--limit", "1000", "--quiet"]) == 1
    assert "more than 255 values" in capsys.readouterr().err


def test_one_result_that_cannot_be_written_takes_no_other_along(csv, tmp_path, monkeypatch, capsys):
    def full(tree, path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(TREES["vfdt"], "save", full)
    saved, curve = tmp_path / "tree", tmp_path / "curve.csv"
    assert main(["train", str(csv), "--quiet", "--save", str(saved), "--curve", str(curve)]) == 1
    captured = capsys.readouterr()
    unwritten = f"bregalad train: {saved} is not written: No space left on device\n"
    assert captured.err == unwritten
    assert "accuracy" in captured.out
    assert pd.read_csv(curve)["instances"].iloc[-1] == 3000
    lines = csv.read_text().splitlines()
    csv.write_text("\n".join([*lines, *70 * lines[1:1000], "0.5,red"]))
    assert main(["train", str(csv), "--quiet", "--save", str(saved), "--ignore", "colour", "--classes", "in,out"]) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith(unwritten) and "2 fields, but 3 columns" in captured.err
    assert "stopped after 65536 instances" in captured.out


def test_two_results_in_one_file(csv, tmp_path, capsys):
    one = str(tmp_path / "one.png")
    assert main(["train", str(csv), "--quiet", "--save", one, "--plot", one]) == 1
    assert "is named twice" in capsys.readouterr().err
    assert not os.path.exists(one)


def test_a_picture_is_no_saved_tree(tmp_path, capsys):
    (tmp_path / "one.png").write_bytes(b"\x89PNG" + bytes(100))
    assert main(["inspect", str(tmp_path / "one.png")]) == 1
    error = capsys.readouterr().err
    assert "no saved tree, or a damaged one" in error and "pickle" not in error


def test_what_is_written_to_a_pipe_without_a_name():
    reading, writing = os.pipe()
    with replacing(f"/dev/fd/{writing}", "w") as file:
        file.write("all of it")
    os.close(writing)
    with open(reading) as file:
        assert file.read() == "all of it"


def test_what_names_an_attribute_for_the_class_or_has_line_breaks_is_one_line(csv, tmp_path, capsys):
    tree = tmp_path / "tree"
    assert main(["train", str(csv), "--quiet", "--save", str(tree)]) == 0
    capsys.readouterr()
    assert main(["predict", str(csv), "--tree", str(tree), "--class", "0"]) == 1
    assert "--class 0 is an attribute of the tree" in capsys.readouterr().err
    assert main(["generate", "sea", "--limit", "5", "--out", "a\nb"]) == 1
    assert capsys.readouterr().err.startswith("bregalad generate: a b: streams are written as")
