"""Exports of trees and forests beside scikit-learn's trees: equal predictions, size, time; a page's table in Markdown.

    python -m bregalad.benchmark.export

A learner takes a stream but for its last 100,000 instances, which it predicts then, and so do its exports: C from
float64, ONNX from float32. Sizes are of C its code and tables as an object file, of others the file. Times are of a
core, per row, the least of three turns: C's over all rows, onnxruntime's and our own in batches of 1000. scikit-learn's
is a tree of as many leaves, learnt from the same rows; m2cgen makes C of it, skl2onnx ONNX.
"""

import argparse
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from ..ensemble.adaptive import AdaptiveRandomForest
from ..learners.vfdt import VFDT
from ..words import first_line
from .page import table
from .streams import load, nominal

STREAMS = ("KDD", "Skin shuffled", "rt5n_1M", "led_1M", "generator:agrawal")
ROWS, BATCH, TURNS = 100_000, 1000, 3
HEAD = ("stream", "learner", "leaves", "equal in C", "in ONNX", "C, kB", "ONNX, kB", "JSON, kB")
TIMES = ("C, ns a row", "ONNX", "Python")
_HARNESS = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
%(include)s
int main(void)
{
    static double x[%(rows)d][%(width)d];
    static unsigned found[%(rows)d];
    double least = 1e9;
    if (fread(x, sizeof x, 1, stdin) != 1)
        return 1;
    for (int turn = 0; turn < %(turns)d; turn++) {
        const clock_t start = clock();
        for (int i = 0; i < %(rows)d; i++)
            %(predict)s
        const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        least = seconds < least ? seconds : least;
    }
    fprintf(stderr, "%%g", least);
    fwrite(found, sizeof found, 1, stdout);
    return 0;
}
"""
_SCORES = """{
                double scores[%d];
                score(x[i], scores);
                found[i] = 0;
                for (unsigned k = 1; k < %d; k++)
                    found[i] = scores[k] > scores[found[i]] ? k : found[i];
            }"""


def in_c(text, predict, rows):
    """Class indices by C, bytes of code and tables, and ns per row."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "tree.h").write_text(text)
        whole = {"include": '#include "tree.h"', "rows": len(rows), "width": rows.shape[1]}
        (folder / "main.c").write_text(_HARNESS % (whole | {"turns": TURNS, "predict": predict}))
        called = "unsigned predict(double *x) { return model_predict(x); }" if "model_predict" in text else ""
        (folder / "tree.c").write_text(f'#include "tree.h"\n{called}\n')
        cc = shutil.which("cc") or "gcc"
        subprocess.run([cc, "-std=c99", "-O2", "main.c", "-o", "main"], cwd=folder, check=True)
        subprocess.run([cc, "-std=c99", "-Os", "-c", "tree.c"], cwd=folder, check=True)
        said = subprocess.run(["size", "tree.o"], cwd=folder, check=True, capture_output=True, text=True).stdout
        done = subprocess.run([folder / "main"], input=rows.tobytes(), capture_output=True, check=True)
    found = np.frombuffer(done.stdout, np.uint32)
    return found, sum(map(int, said.splitlines()[1].split()[:2])), float(done.stderr) * 1e9 / len(rows)


def timed(predict, rows):
    """What is predicted batch by batch, and ns per row."""
    least = np.inf
    for _ in range(TURNS):
        start = time.process_time()
        found = [predict(rows[at : at + BATCH]) for at in range(0, len(rows), BATCH)]
        least = min(least, time.process_time() - start)
    return np.concatenate(found), least * 1e9 / len(rows)


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


def ours(learner, X):
    """Cells of a learner's row, the stream and its name left out."""
    rows = learner.as_numbers(X)
    labels, python = timed(learner.predict, X)
    single = X.astype({name: np.float32 for name in X if X[name].dtype.kind in "fiu" and name not in learner.nominal})
    found, size, c = in_c(learner.to_c(), "found[i] = model_predict(x[i]);", rows)
    told, whole, onnx = in_onnx(learner.to_onnx(), rows.astype(np.float32))
    equal = (learner.classes_[found] == labels).sum(), (told == learner.predict(single)).sum()
    sizes = size, whole, len(learner.to_json().encode())
    return [
        learner.report()["leaves"],
        *equal,
        *(f"{each / 1000:.1f}" for each in sizes),
        *map(round, (c, onnx, python)),
    ]


def theirs(rows, y, test, leaves):
    """The same of scikit-learn's tree with so many leaves."""
    from m2cgen import export_to_c
    from skl2onnx import to_onnx
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(max_leaf_nodes=max(2, leaves), random_state=1).fit(rows, y)
    labels, python = timed(tree.predict, test)
    count = len(tree.classes_)
    found, size, c = in_c(export_to_c(tree), _SCORES % (count, count), test)
    told, whole, onnx = in_onnx(to_onnx(tree, rows[:1].astype(np.float32)), test.astype(np.float32))
    equal = (tree.classes_[found] == labels).sum(), (told == tree.predict(test.astype(np.float32))).sum()
    return [
        tree.get_n_leaves(),
        *equal,
        f"{size / 1000:.1f}",
        f"{whole / 1000:.1f}",
        "",
        *map(round, (c, onnx, python)),
    ]


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=first_line(__doc__))
    parser.add_argument("--streams", nargs="+", default=STREAMS)
    parser.add_argument("--instances", type=int, default=200_000, help="of a stream, at most")
    args = parser.parse_args()
    found = []
    for stream in args.streams:
        X, y, schema = load(stream, args.instances)
        if len(X) <= ROWS:
            raise SystemExit(f"{stream} has {len(X)} instances: the last {ROWS} are predicted, so more are needed")
        learnt = slice(0, len(X) - ROWS)
        known, test = nominal(X, schema), X.iloc[-ROWS:].reset_index(drop=True)
        for name, make in {
            "VFDT, majority class": lambda given: VFDT(nominal=given, leaf_prediction="mc"),
            "VFDT": lambda given: VFDT(nominal=given),
            "forest of 10": lambda given: AdaptiveRandomForest(VFDT(nominal=given, delta=0.01, grace=50, tau=0.03)),
        }.items():
            learner = make(known).partial_fit(X[learnt], y[learnt], classes=sorted(set(y.tolist())))
            found.append([stream, name, *ours(learner, test)])
            if name == "VFDT, majority class":
                numbers = [learner.as_numbers(part) for part in (X[learnt], test)]
                found.append([stream, "scikit-learn", *theirs(numbers[0], y[learnt], numbers[1], found[-1][2])])
    print(table((*HEAD, *TIMES), found))


if __name__ == "__main__":
    main()
