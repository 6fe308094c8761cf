"""Exports of trees and forests beside scikit-learn's trees: equal predictions, size, time; a page's table in Markdown.

    python -m bregalad.benchmark.export

A learner takes a stream but for its last 100,000 instances, which it predicts then, and so do its exports: C from
float64, ONNX from float32. Sizes are of C its code and tables as an object file, of others the file. Times are of a
core, per row, the least of three turns: C's over all rows, onnxruntime's and our own in batches of 1000. scikit-learn's
is a tree of as many leaves, learnt from the same rows; m2cgen makes C of it, skl2onnx ONNX.
"""

import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from ..ensemble.bagging import AdaptiveRandomForest
from ..learners.hoeffding import VFDT
from .page import table
from .streams import load, nominal

STREAMS = ("KDD", "Skin shuffled", "rt5n_1M", "led_1M", "generator:agrawal")
INSTANCES = 200_000  # of a stream, at most
ROWS, BATCH, TURNS = 100_000, 1000, 3
HEAD = ("stream", "learner", "leaves", "equal in C", "in ONNX", "C, kB", "ONNX, kB", "JSON, kB")
TIMES = ("C, ns a row", "ONNX", "Python")
_LOOP = """#include "tree.h"
void predict(double *x, unsigned *found)
{
    for (int i = 0; i < %d; i++, x += %d)
        %s
}
"""
_OURS = "found[i] = model_predict(x);"
_SCORES = """{
            double scores[%(classes)d];
            score(x, scores);
            found[i] = 0;
            for (unsigned k = 1; k < %(classes)d; k++)
                found[i] = scores[k] > scores[found[i]] ? k : found[i];
        }"""


def in_c(text, predict, rows):
    """Class indices by C, bytes of code and tables, and ns per row."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "tree.h").write_text(text)
        called = "unsigned predict(double *x) { return model_predict(x); }" if predict == _OURS else ""
        (folder / "tree.c").write_text(f'#include "tree.h"\n{called}\n')
        (folder / "loop.c").write_text(_LOOP % (*rows.shape, predict))
        for options in ("-Os -c tree.c", "-O2 -shared -fPIC loop.c -o loop.so"):
            subprocess.run(["cc", "-std=c99", *options.split()], cwd=folder, check=True)
        said = subprocess.run(["size", "tree.o"], cwd=folder, check=True, capture_output=True, text=True).stdout
        loop = np.ctypeslib.load_library("loop", name).predict
        found = np.empty(len(rows), np.uint32)
        loop.argtypes = [np.ctypeslib.ndpointer(flags="C")] * 2
        least = min(_seconds(lambda: loop(rows, found)) for _ in range(TURNS))
    return found, sum(map(int, said.splitlines()[1].split()[:2])), least * 1e9 / len(rows)


def timed(predict, rows):
    """What is predicted batch by batch, and ns per row."""

    def run():
        return [predict(rows[at : at + BATCH]) for at in range(0, len(rows), BATCH)]

    return np.concatenate(run()), min(_seconds(run) for _ in range(TURNS)) * 1e9 / len(rows)


def _seconds(work):
    start = time.process_time()
    work()
    return time.process_time() - start


def in_onnx(model, rows):
    """Labels by onnxruntime, bytes of the file, and ns per row."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    whole = model.SerializeToString()
    session = onnxruntime.InferenceSession(whole, options)
    name = session.get_inputs()[0].name
    found, took = timed(lambda batch: session.run([session.get_outputs()[0].name], {name: batch})[0], rows)
    return found, len(whole), took


def row_of(learner, leaves, X, single, rows, exports, call):
    """Cells of a learner's row, the stream and its name left out.

    ``X`` are the instances as the learner takes them, ``single`` the same of float32, ``rows`` as C does; ``exports``
    are C, ONNX, and JSON if there is any.
    """
    labels, python = timed(learner.predict, X)
    text, model, *json = exports
    found, size, c = in_c(text, call, rows)
    predicted, whole, onnx = in_onnx(model, rows.astype(np.float32))
    equal = (learner.classes_[found] == labels).sum(), (predicted == learner.predict(single)).sum()
    sizes = [f"{each / 1000:.1f}" for each in (size, whole, *(len(text.encode()) for text in json))]
    return [leaves, *equal, *sizes, *[""] * (not json), *map(round, (c, onnx, python))]


def ours(learner, X):
    """The row of one of our learners."""
    single = X.astype({name: np.float32 for name in X if X[name].dtype.kind in "fiu" and name not in learner.nominal})
    exports = learner.to_c(), learner.to_onnx(), learner.to_json()
    return row_of(learner, learner.report()["leaves"], X, single, learner.as_numbers(X), exports, _OURS)


def theirs(rows, y, test, leaves):
    """The row of scikit-learn's tree with so many leaves."""
    from m2cgen import export_to_c
    from skl2onnx import to_onnx
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(max_leaf_nodes=max(2, leaves), random_state=1).fit(rows, y)
    exports = export_to_c(tree), to_onnx(tree, rows[:1].astype(np.float32))
    call = _SCORES % {"classes": len(tree.classes_)}
    return row_of(tree, tree.get_n_leaves(), test, test.astype(np.float32), test, exports, call)


def main():
    found = []
    for stream in STREAMS:
        X, y, schema = load(stream, INSTANCES)
        learnt = slice(0, len(X) - ROWS)
        known, test = nominal(X, schema), X.iloc[-ROWS:].reset_index(drop=True)
        for name, make in {
            "VFDT, majority class": lambda names: VFDT(nominal=names, leaf_prediction="mc"),
            "VFDT": lambda names: VFDT(nominal=names),
            "forest of 10": lambda names: AdaptiveRandomForest(VFDT(nominal=names, delta=0.01, grace=50, tau=0.03)),
        }.items():
            learner = make(known).partial_fit(X[learnt], y[learnt], classes=sorted(set(y.tolist())))
            found.append([stream, name, *ours(learner, test)])
            if name == "VFDT, majority class":
                numbers = [learner.as_numbers(part) for part in (X[learnt], test)]
                found.append([stream, "scikit-learn", *theirs(numbers[0], y[learnt], numbers[1], found[-1][2])])
    print(table((*HEAD, *TIMES), found))


if __name__ == "__main__":
    main()
