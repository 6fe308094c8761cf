"""The command line as a user meets it: what each command reads, prints and writes."""

import json
import os

import numpy as np
import pandas as pd
import pytest
from bregalad import TREES, load_tree
from bregalad.cli.learner import OPTIONS
from bregalad.files import replacing
from bregalad.geometry import PRESETS
from bregalad.options.option import FLAG
from bregalad.options.table import LEARNERS, POSITIVE
from bregalad_hw.boards import BOARDS
from marks import nightly
from processes import lasting


def test_train_inspect_predict(csv, tmp_path, cli):
    saved, plot, curve = tmp_path / "tree", tmp_path / "plot.png", tmp_path / "curve.csv"
    options = "--delta 0.001 --grace 100 --block 1"  # of exclusive or the first split is a lottery
    out = cli(f"train {csv} --quiet {options} --save {saved} --plot {plot} --curve {curve}").out
    assert "instances   3000" in out and "accuracy" in out and "splits" in out
    assert "kappa" in out and "seconds" in out
    assert plot.read_bytes().startswith(b"\x89PNG")
    points = pd.read_csv(curve)
    assert points["instances"].iloc[-1] == 3000 and points["accuracy"].between(0, 1).all()
    assert points["kappa"].iloc[-1] > 0.3 and points["seconds"].iloc[-1] > 0

    assert "width" in cli(["inspect", saved]).out
    assert "splits" in cli(["inspect", saved, "--statistics"]).out
    assert cli(["inspect", saved, "--dot"]).out.startswith("digraph")

    some, answers = tmp_path / "some.csv", tmp_path / "answers.csv"
    table = pd.read_csv(csv)
    table.loc[::2, "label"] = np.nan  # which need not be known
    table.to_csv(some, index=False)
    assert "of 1500 labels met" in cli(["predict", some, "--tree", saved, "--proba", "--output", answers]).err
    table = pd.read_csv(answers)
    assert list(table) == ["prediction", "p(in)", "p(out)"] and len(table) == 3000


@pytest.mark.parametrize(
    "tree, options",
    [
        ("vfdt", "--ties htat --tie-increment 100 --bin-window seen --slots 64"),
        ("vfdt", "--bound mcdiarmid --child-counts zero"),
        ("vfdt", "--adaptive-grace --review-period 1000"),
        *nightly(("efdt", "--delta 0.001 --grace 100 --inner-grace 300 --gain-average --same-attribute replace")),
        ("efdt", "--variant kdd2018 --grace 100 --nominal-split one_vs_rest --leaf-prediction mc"),
        ("efhat", "--switch-width 100 --inner-grace 500 --same-attribute replace"),
        ("hat", "--switch-width 100 --drift-delta 0.01 --grace 100"),
        ("ctree", ""),
        ("corrhtree", ""),
    ],
)
def test_every_tree_is_trained_inspected_and_predicts(csv, tmp_path, cli, tree, options):
    saved, options = tmp_path / "tree", options.split()
    out = cli(["train", csv, "--quiet", "--tree", tree, *options, "--save", saved]).out
    assert " replaced, " in out and " pruned; " in out and " tie-broken (" in out and "%)" in out
    assert " in use, " in out
    assert "width" in cli(["inspect", saved, "--statistics"]).out
    assert "of 3000 labels met" in cli(["predict", csv, "--tree", saved, "--output", tmp_path / "answers.csv"]).err
    params = load_tree(saved).get_params()
    assert type(load_tree(saved)) is TREES[tree]
    given = {option.name: params[option.name] for option in OPTIONS if option.flag in options}
    words = iter(options)
    for word in words:
        name = word.removeprefix("--").replace("-", "_")
        assert str(given[name]) == ("True" if given[name] is True else next(words))


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_an_option_of_another_tree_is_refused(csv, cli, option):
    value = [] if option.kind is FLAG else [*option.kind.choices, "1"][:1]
    for tree in set(LEARNERS) - set(option.defaults):
        error = cli(["train", csv, "--quiet", "--tree", tree, option.flag, *value], 1).err
        assert error.startswith(f"bregalad train: {option.flag} is an option of --tree ")
        assert error.endswith(f", not of {tree}\n") and error.count("\n") == 1
        assert all(other in error for other in set(option.defaults) - set(POSITIVE))


@pytest.mark.parametrize("labels", [("no", "yes"), (0, 1), ("a=b", "c d")])
def test_class_weights(tmp_path, cli, labels):
    """Labels are named as the file has them, be they numbers or have equals signs."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"x": rng.random(900)})
    table["class"] = np.where(table["x"] > 0.9, labels[1], labels[0])
    for path in (tmp_path / "data.csv", tmp_path / "data.parquet"):
        table.to_csv(path, index=False) if path.suffix == ".csv" else table.to_parquet(path)
        weights = ["--class-weight", f"{labels[1]}=9", "--class-weight", f"{labels[0]}=1"]
        rare = int((table["x"] > 0.9).sum())
        said = cli(["train", path, "--quiet", *weights, "--save", tmp_path / "tree"]).out
        assert f"instances   {900 + 8 * rare}\n" in said
        assert list(load_tree(tmp_path / "tree").class_weight.values()) == [9, 1]


@pytest.mark.parametrize("ask", ["conftree", "rnd", "varun", "rndvar", "selsamp", "split", "splitconftree"])
def test_labels_asked_for(csv, tmp_path, cli, ask):
    if "split" in ask:
        pytest.importorskip("river")
    saved, curve = tmp_path / "tree", tmp_path / "curve.csv"
    command = f"train {csv} --tree ctree --ask {ask} --budget 0.2 --quiet --save {saved}"
    out = cli(f"{command} --curve {curve}").out
    labels = pd.read_csv(curve)["labels"].iloc[-1]
    assert 450 < labels <= 600 and f"labels      {labels} of 3000 asked for" in out
    assert ask == "split" or load_tree(saved).report()["instances"] == labels  # less if that began anew
    assert json.loads(cli(f"{command} --seed 1 --json").out)["labels"] == labels


def test_predict_uses_the_trees_kinds_and_needs_no_labels(tmp_path, cli):
    """A nominal attribute whose values in the new file all look like numbers."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"size": rng.random(3000), "code": rng.choice(list("123A"), 3000)})
    table["label"] = np.where(table["code"].isin(["1", "A"]), "in", "out")
    old, new, tree = tmp_path / "old.csv", tmp_path / "new.csv", tmp_path / "tree"
    table.to_csv(old, index=False)
    cli(["train", old, "--quiet", "--delta", "0.001", "--save", tree])
    table[table["code"] != "A"].drop(columns="label").to_csv(new, index=False)
    captured = cli(["predict", new, "--tree", tree])
    predictions = captured.out.split()[1:]
    expected = table.loc[table["code"] != "A", "label"]
    assert (np.array(predictions) == expected.to_numpy()).mean() > 0.95
    assert "labels met" not in captured.err
    table.assign(extra=1).to_csv(new, index=False)
    assert "of 3000 labels met" in cli(["predict", new, "--tree", tree, "--class", "label"]).err


def test_values_that_come_late_have_codes(tmp_path, cli):
    """A file is read in chunks; what values it has is known before the first is learnt."""
    path = tmp_path / "late.csv"
    rows = [f"{i % 7},{'rgbk'[(i % 2) + 2 * (i >= 66_000)]},{(i + (i >= 66_000)) % 2}\n" for i in range(70_000)]
    path.write_text("size,colour,label\n" + "".join(rows))
    out = cli(["train", path, "--quiet", "--delta", "0.001"]).out
    assert "0.00% of nominal values have none" in out
    accuracy = float(out.partition("accuracy")[2].partition(",")[0])
    assert accuracy > 0.99


def test_generate_train_predict(tmp_path, cli):
    out = cli(["generate"]).out
    assert "rrbfc" in out and "centres=1000" in out
    path, tree, curve = tmp_path / "s.arff", tmp_path / "tree", tmp_path / "curve.parquet"
    assert cli(["generate", "sea,noise=0", "--limit", "3000", "--out", path, "--quiet"]).out == ""
    options = ["--quiet", "--limit", "3000", "--delta", "0.001", "--curve", str(curve)]
    written = cli(["train", path, *options]).out
    generated = cli(["train", "generator:sea,noise=0", *options, "--save", tree]).out
    assert lasting(generated) == lasting(written)
    assert pd.read_parquet(curve)["instances"].iloc[-1] == 3000
    predict = f"predict generator:sea,noise=0,seed=2 --limit 1000 --tree {tree} --output {tmp_path}/answers.csv"
    assert "of 1000 labels met" in cli(predict).err


def test_boards(cli):
    """Their geometries in columns of their own."""
    out = cli(["boards"]).out
    assert "emulated" in out and "simulated" in out
    _, head, *lines = out.rpartition("\n\n")[2].splitlines()
    assert head.split() == ["geometry", *PRESETS["tiny"].as_dict()]
    for line, (name, geometry) in zip(lines, PRESETS.items(), strict=True):
        assert line.split() == [name, *map(str, geometry.as_dict().values())] and len(line) == len(head)
    memory = next(line for line in out.splitlines() if line.startswith("ecpix5-85f-ddr3")).split()
    assert memory[1:3] == ["LFE5UM5G-85F", "Gigabit"] and memory[4:9] == ["8", "16", "2", "2048", "4096"]
    assert memory[-3:] == ["32", "3.47", "14.5"]  # M rows/s: the link's bytes, and what was measured
    (small,) = (line for line in out.splitlines() if line.startswith("ulx3s-12f "))
    assert small.split()[-2:] == ["0.03", "-"] and all(f"\n{name} " in out for name in BOARDS)


def test_links_and_devices_stay_what_they_are(csv, tmp_path, cli):
    """A file is replaced where a link leads; what is no file is written, not replaced."""
    target, link, pipe = tmp_path / "target", tmp_path / "link", tmp_path / "pipe"
    target.write_text("old")
    link.symlink_to(target)
    cli(["train", csv, "--quiet", "--save", link])
    assert link.is_symlink() and load_tree(target).report()["instances"] == 3000
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    cli(["predict", csv, "--tree", link, "--limit", "3", "--output", pipe])
    assert os.read(end, 100).decode().splitlines()[0] == "prediction"
    os.close(end)
    assert pipe.is_fifo() and not [*tmp_path.glob("*.part")]


def test_values_of_a_stream_without_an_end(cli):
    assert "instances   1000" in cli("train generator:agrawal --nominal age --quiet --limit 1000").out
    for asked, name in (("--nominal age", "age"), ("--class salary", "salary")):
        told = f"the values of '{name}' are looked for beforehand, but the stream does not end: say how much of it with"
        assert f"{told} --limit" in cli(f"train generator:agrawal {asked} --quiet", 1).err
    assert "more than 255 values" in cli("train generator:rrbfs --nominal 0 --limit 1000 --quiet", 1).err


def test_what_is_written_to_a_pipe_without_a_name():
    reading, writing = os.pipe()
    with replacing(f"/dev/fd/{writing}", "w") as file:
        file.write("all of it")
    os.close(writing)
    with open(reading) as file:
        assert file.read() == "all of it"


def test_one_thing_is_told_in_the_singular(tmp_path, cli):
    (tmp_path / "data.csv").write_text("x,y\n1,a\n2,b\n")
    told = "tree        1 node, 1 leaf, depth 0; 1 slot in use, 0 leaves without one"
    assert told in cli(f"train {tmp_path}/data.csv --quiet").out


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name, options, told", [("id", [], 1), ("id", ["--ignore", "id"], 0), (None, [], 0)])
def test_an_index_with_a_name_is_not_left_out_in_silence(tmp_path, cli, name, options, told):
    table = pd.DataFrame({"x": [1.0, 2.0], "y": ["a", "b"]}, index=pd.Index(["p", "q"], name=name))
    table.to_parquet(tmp_path / "data.parquet")
    error = cli(["train", tmp_path / "data.parquet", "--quiet", *options]).err
    assert error.count("'id' is left out, as the index of the data frame") == error.count("left out") == told
