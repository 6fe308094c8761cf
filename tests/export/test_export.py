"""What exports predict is what the learner does, missing and unknown values included."""

import json

import numpy as np
import pandas as pd
import pytest
from bregalad import CVFDT, EFDT, EFHAT, HAT, ID5R, VFDT, Geometry, PuuVFDT, open_board
from bregalad.ensemble import AdaptiveRandomForest, LeveragingBagging, OnlineBagging
from bregalad_sim.latency import GoldenBoard
from readers import Compiled, Interpreted, run_onnx

FAST = {"grace": 50, "delta": 0.05, "tau": 0.2, "block": 1}
LEARNERS = {
    "mc": lambda: VFDT(leaf_prediction="mc", **FAST),
    "nb": lambda: VFDT(leaf_prediction="nb", **FAST),
    "nba": lambda: VFDT(**FAST),
    "a value and the rest": lambda: VFDT(nominal_split="one_vs_rest", **FAST),
    "unknown is missing": lambda: VFDT(nominal={"colour": list("abcdef")}, nominal_values=6, **FAST),
    "many values": lambda: VFDT(nominal_values=200, leaf_prediction="nb", **FAST),
    "leaves without slots": lambda: VFDT(slots=3, **FAST),
    "efdt": lambda: EFDT(**FAST),
    "hat": lambda: HAT(drift_delta=0.5, **FAST),
    "efhat": lambda: EFHAT(drift_delta=0.5, **FAST),
    "cvfdt": lambda: CVFDT(window=1000, **FAST),
    "bagging": lambda: OnlineBagging(VFDT(**FAST), members=3),
    "leveraging": lambda: LeveragingBagging(VFDT(leaf_prediction="mc", **FAST), members=4),
    "arf": lambda: AdaptiveRandomForest(VFDT(**FAST), members=5),
}
LABELS = ['"on"', "öff, a  b\\", "??/"]


def stream(seed, count=3000):
    """Numbers and nominal values, some missing; three classes, which some of each tell."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(count, 3)), columns=["width", "*/ height", "depth $x"])
    X["depth $x"] = rng.integers(0, 5, count).astype(float)
    X["colour"] = rng.choice(list("abcdef"), count)
    X["dry"] = rng.random(count) < 0.5
    y = 1 * (X["width"] + X["*/ height"] > 0.3) + ((X["colour"] > "c") ^ X["dry"])
    y = np.where(rng.random(count) < 0.1, rng.integers(0, 3, count), y)
    y[-200:] = 2 - y[-200:]  # so that alternates are on their way
    X = X.astype({"colour": object, "dry": object})
    for name in X:
        X.loc[rng.random(count) < 0.05, name] = None if X[name].dtype == object else np.nan
    return X, np.array(LABELS)[y]


def shown(X, seed):
    """Other instances: with values that were not learnt, and with numbers that a float32 has."""
    rng = np.random.default_rng(seed + 1)
    X = X.copy()
    X.loc[rng.random(len(X)) < 0.05, "colour"] = "new"
    return X.astype({name: np.float32 for name in X if X[name].dtype != object})


@pytest.fixture(scope="module")
def learnt():
    X, y = stream(1)
    return {name: make().partial_fit(X, y, LABELS) for name, make in LEARNERS.items()}, shown(stream(2, 2000)[0], 2)


def test_trees_are_worth_it(learnt):
    """There are splits of all kinds, leaves that predict by either way, and all classes are predicted."""
    nodes = [
        node for tree in learnt[0].values() for each in json.loads(tree.to_json())["trees"] for node in each["nodes"]
    ]
    assert {node["kind"] for node in nodes} == {"numeric", "multiway", "one_vs_rest", "leaf"}
    assert {node.get("default") for node in nodes} >= {0, 1, 2, 3}
    assert sum("bayes" in node for node in nodes) > 20 and sum("class" in node for node in nodes) > 20
    for name, tree in learnt[0].items():
        assert tree.report()["splits"] > 2, name
        assert set(tree.predict(learnt[1])) == set(LABELS), name
    assert learnt[0]["leaves without slots"].report()["inactive_leaves"]
    assert any(learnt[0][name]._nodes.forks for name in ("hat", "efhat", "cvfdt"))


def test_c_predicts_the_same(learnt, tmp_path):
    learners, X = learnt
    program = Compiled(tmp_path, list(learners.values()))
    for number, (name, tree) in enumerate(learners.items()):
        assert program.predict(number, tree.as_numbers(X)) == tree.predict(X).tolist(), name


@pytest.mark.parametrize("name", LEARNERS)
def test_json_and_onnx_predict_the_same(name, learnt):
    tree, X = learnt[0][name], learnt[1]
    numbers, wanted = tree.as_numbers(X), tree.predict(X).tolist()
    assert Interpreted(tree.to_json()).predict(numbers[:500]) == wanted[:500]
    labels, probabilities = run_onnx(tree.to_onnx(), numbers)
    assert labels.tolist() == wanted
    assert np.abs(probabilities - tree.predict_proba(X)).max() < 1e-6


def test_probabilities_of_json(learnt):
    """Of majority classes these are its shares."""
    tree, X = learnt[0]["mc"], learnt[1]
    shares = {tuple(node["shares"]) for node in json.loads(tree.to_json())["trees"][0]["nodes"] if "shares" in node}
    assert set(map(tuple, tree.predict_proba(X).tolist())) <= shares


def test_positive_and_unlabelled(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.random((6000, 2)).astype(np.float32)
    y = np.where((X[:, 0] > 0.5) & (rng.random(6000) < 0.5), 1, 0)
    tree = PuuVFDT(grace=100, delta=0.01).partial_fit(X, y, [0, 1])
    assert tree.report()["splits"]
    labels, probabilities = run_onnx(tree.to_onnx(), tree.as_numbers(X))
    assert labels.tolist() == tree.predict(X).tolist() and set(labels) == {0, 1}
    assert np.abs(probabilities - tree.predict_proba(X)).max() < 1e-6
    assert Compiled(tmp_path, [tree]).predict(0, X) == [str(label) for label in labels]


def test_a_leaf_alone(tmp_path):
    """Before any split, of one class, of two, and where nothing but numbers has been seen."""
    X = np.random.default_rng(1).random((40, 2)).astype(np.float32)
    for prediction in ("mc", "nb"):
        trees = [
            VFDT(leaf_prediction=prediction).partial_fit(X, y, [False, True]) for y in (X[:, 0] > 2, X[:, 0] > 0.5)
        ]
        program = Compiled(tmp_path, trees)
        for number, tree in enumerate(trees):
            labels, _ = run_onnx(tree.to_onnx(), X)
            assert labels.tolist() == tree.predict(X).tolist()
            assert program.predict(number, X) == [str(label) for label in labels.tolist()]


@pytest.mark.parametrize("prediction", ["mc", "nb"])
def test_float32_decides_as_our_own(prediction):
    """At edges, beside them, and where these are beyond all of float32."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(4000, 3)) * [1, 1e-42, 1e39]
    y = (X > 0) @ [1, 2, 4]
    tree = VFDT(leaf_prediction=prediction, **FAST).partial_fit(X, y, range(8))
    tests = [node for node in json.loads(tree.to_json())["trees"][0]["nodes"] if node["kind"] == "numeric"]
    assert {node["attribute"] for node in tests} == {0, 1, 2}
    rows = np.zeros((2000, 3), np.float32)
    for place, attribute in enumerate(json.loads(tree.to_json())["attributes"]):
        with np.errstate(over="ignore"):
            near = np.array(attribute["edges"]).astype(np.float32)
        near = np.concatenate([near, np.nextafter(near, np.float32(-np.inf)), np.nextafter(near, np.float32(np.inf))])
        rows[:, place] = rng.choice(near[np.isfinite(near)], len(rows))
    labels, _ = run_onnx(tree.to_onnx(), rows)
    assert labels.tolist() == tree.predict(rows).tolist() and len(set(labels)) == 8


def test_numbers_that_are_no_codes(learnt, tmp_path):
    """Count as missing."""
    for name in ("nba", "a value and the rest"):
        tree = learnt[0][name]
        rows = tree.as_numbers(learnt[1])[:300]
        odd = rows.copy()
        rows[:, 3], odd[:, 3] = np.nan, np.tile([-1.0, 7.0, 255.0, 1e9, np.nan], 60)
        assert run_onnx(tree.to_onnx(), odd)[0].tolist() == run_onnx(tree.to_onnx(), rows)[0].tolist()
        program = Compiled(tmp_path, [tree])
        assert program.predict(0, odd) == program.predict(0, rows)


def test_a_board_that_is_elsewhere(seed):
    """The same of a tree whose board has it, and after it was saved."""
    X, y = np.random.default_rng(seed).random((2000, 3)).astype(np.float32), np.arange(2000) % 2
    X[:, 1] += 0.5 * y
    geometry = Geometry(lanes=4, passes=1, bins=8, classes=2, slots=64, count_width=16, bus_width=64, naive_bayes=True)
    trees = [
        VFDT(board=board, geometry=None, leaf_prediction="nb", **FAST).partial_fit(X, y, [0, 1])
        for board in (GoldenBoard(geometry.replace(nodes=128), 1 << 16), open_board("emulated", geometry))
    ]
    for tree in trees:
        assert tree.report()["splits"] and '"bayes"' in tree.to_json()
        assert run_onnx(tree.to_onnx(), X)[0].tolist() == tree.predict(X).tolist()


def test_a_saved_tree_and_a_closed_one(learnt, tmp_path):
    tree = learnt[0]["nba"]
    tree.save(tmp_path / "tree.npz")
    before = tree.to_json()
    assert VFDT.load(tmp_path / "tree.npz").to_json() == before
    tree.close()
    assert tree.to_json() == before


def test_every_opset(learnt):
    """That onnxruntime takes, too; older and newer ones are refused."""
    onnx, runtime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    tree, X = learnt[0]["arf"], learnt[1][:50]
    rows, newest, taken = tree.as_numbers(X), onnx.defs.onnx_opset_version(), 0
    for opset in range(13, newest + 1):
        model = tree.to_onnx(opset=opset)
        assert model.opset_import[0].version == opset
        try:
            labels, _ = run_onnx(model, rows)
        except runtime.capi.onnxruntime_pybind11_state.Fail:
            assert opset > 20  # it guarantees fewer
            continue
        taken += labels.tolist() == tree.predict(X).tolist()
    assert taken > 6
    for opset in (12, newest + 1, 99):
        with pytest.raises(ValueError, match=f"^opset must be 13 to {newest}, not {opset}$"):
            tree.to_onnx(opset=opset)
    with pytest.raises(TypeError, match="^opset must be an integer, not '17'$"):
        tree.to_onnx(opset="17")


def test_labels(tmp_path):
    """Of any kind come back as they are; integers that ONNX has not are refused by name."""
    X = np.random.default_rng(1).random((500, 2)).astype(np.float32)
    for classes in ([3, -7], [True, False], ["a", "b"], [2**40, 1], [2.0, 4.0]):
        tree = VFDT(**FAST).partial_fit(X, np.array(classes)[1 * (X[:, 0] > 0.5)], classes)
        labels, _ = run_onnx(tree.to_onnx(), X)
        assert labels.tolist() == tree.predict(X).tolist() and type(labels.tolist()[0]) is type(classes[0])
    tree = VFDT().partial_fit(X, np.full(500, 2**63, np.uint64), [1, 2**63])
    with pytest.raises(ValueError, match="^to_onnx: .* 64 bits with a sign, and the label 9223372036854775808 needs"):
        tree.to_onnx()
    assert str(2**63) in tree.to_c() and str(2**63) in tree.to_json()


def test_what_has_learnt_nothing_is_refused():
    for tree in (VFDT(), AdaptiveRandomForest(), PuuVFDT(), ID5R()):
        for call in (tree.to_onnx, tree.to_c, tree.to_json, lambda tree=tree: tree.as_numbers([[1.0]])):
            with pytest.raises(ValueError, match=f"^this {type(tree).__name__} has not learnt anything yet"):
                call()
    tree = VFDT().declare(np.zeros((1, 2)), [0, 1])
    with pytest.raises(ValueError, match="^this VFDT has learnt no instance yet: there is nothing to export$"):
        tree.to_c()


def test_what_cannot_be_exported_is_named(tmp_path):
    tree = ID5R(nominal=[0]).fit([["a"], ["b"]], [0, 1])
    with pytest.raises(ValueError, match="^ID5R keeps its instances, and is not exported: VFDT, EFDT and others are$"):
        tree.to_onnx()
    tree = VFDT().fit([[1.0], [2.0]], [0, 1])
    for name in ("2x", "a-b", "", "é", None):
        with pytest.raises(ValueError, match="^name must be one of C's, letters, digits and _, not "):
            tree.to_c(name=name)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        tree.to_c(tmp_path / "none" / "tree.h")


def test_command(learnt, tmp_path, cli):
    """Writes what the methods do; one line says what is wrong."""
    tree, saved, out = learnt[0]["arf"], tmp_path / "tree.npz", tmp_path / "it"
    tree.save(saved)
    assert cli(f"export {saved} --format c --name m").out == tree.to_c(name="m")
    cli(f"export {saved} --format json --output {out}")
    assert out.read_text("utf-8") == tree.to_json()
    cli(f"export {saved} --format onnx --opset 15 --output {out}")
    assert out.read_bytes() == tree.to_onnx(opset=15).SerializeToString()
    for more, words in {
        "onnx": "onnx is binary: name the file to write by --output",
        "json --name m": "--name is for --format c",
        "c --opset 15": "--opset is for --format onnx",
        f"onnx --opset 7 --output {out}": "opset must be 13 to ",
        f"c --output {saved}": f"{saved} is what is read; name another file to write",
    }.items():
        said = cli(f"export {saved} --format {more}", 1).err
        assert said.startswith(f"bregalad export: {words}") and said.count("\n") == 1
