"""What a first use compiles, says and reports, from an empty cache."""

import json
import os
from functools import partial

import pytest
from processes import python

LEARN = """
import json, sys, time
import numpy as np
from numba.core import event
compiled = []

class Listener(event.Listener):
    def on_start(self, event):
        function = event.data["dispatcher"].py_func
        compiled.append(f"{function.__module__}.{function.__name__}")

    def on_end(self, event):
        pass

event.register("numba:compile", Listener())
from bregalad import TREES
from bregalad.compiled import compile_seconds
from bregalad.evaluation import prequential
X = np.random.default_rng(1).random((4000, 3))
began = time.perf_counter()
curve = prequential(TREES[sys.argv[1]](**json.loads(sys.argv[2])), [(X, X[:, 0] > 0.5)],
                    [False, True])
print(json.dumps({"compiled": compiled, "seconds": curve.seconds[-1], "splits": curve.splits[-1],
                  "compiling": compile_seconds(), "all": time.perf_counter() - began}))
"""
# What no tree needs that learns on the emulated board, file by file or function by function.
ELSEWHERE = ["bregalad.data.generators", "bregalad.data.nominal", "bregalad.driver.devices"]
INNER = ["decide._decide_inner", "decide.change", "split.enter_role"]
BAYES = ["bayes.classify", "counting.restate", "arrivals.choose"]
ENTROPY = ["arithmetic.xlog2x", "arithmetic.log2_fixed"]
OTHER = ["decide._rank_all"]  # averages


def learn(cache, tree, **parameters):
    """(what the run has told, what was on standard error)"""
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    environment |= {"BREGALAD_CACHE": str(cache)}
    said = python("-c", LEARN, tree, json.dumps(parameters), check=True, env=environment)
    return json.loads(said.stdout), said.stderr


def unused(compiled, names):
    return [name for name in compiled for part in names if part in name]


@pytest.mark.slow
@pytest.mark.parametrize(
    "tree, parameters, needed, needless",
    [
        ("vfdt", {"leaf_prediction": "mc"}, ENTROPY, [*ELSEWHERE, *INNER, *BAYES, *OTHER, "gini", "kearns_mansour"]),
        (
            "efdt",
            {"leaf_prediction": "nba", "criterion": "gini"},
            [*INNER, *BAYES, "arithmetic.gini"],
            [*ELSEWHERE, *ENTROPY, *OTHER, "kearns_mansour"],
        ),
    ],
)
def test_only_what_the_tree_needs_is_compiled(tree, parameters, needed, needless, tmp_path):
    found, said = learn(tmp_path, tree, **parameters)
    assert found["splits"]
    assert not unused(found["compiled"], needless)
    for name in needed:
        assert unused(found["compiled"], [name]), name
    assert said.count("\n") == 1 and "compiling, since " in said
    assert 0 < found["compiling"] <= found["all"] - found["seconds"]

    found, said = learn(tmp_path, tree, **parameters)
    assert found["compiled"] == [] and said == "" and found["compiling"] == 0


@pytest.mark.slow  # all is compiled twice
def test_warm_up_compiles_what_train_needs(tmp_path):
    """From a CSV file with text; what is compiled already it says, too."""
    lines = [f"{i % 50},{'rst'[i % 3]},{'xy'[i % 50 > 20]}" for i in range(1000)]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,class", *lines]))
    run = partial(python, "-m", "bregalad", cwd=tmp_path, check=True)
    run("warm-up")
    said = run("warm-up", "vfdt").stdout.splitlines()
    assert said[:2] == [f"vfdt with leaf_prediction {name}: compiled already" for name in ("nba", "mc")]
    for name in ("nba", "mc"):
        assert run("train", "rows.csv", "--quiet", "--leaf-prediction", name).stderr == ""
