"""Speed of the emulated board with the driver: test-then-train on one core, one JSON line per run.

The stream is a random RBF (centres with a class each, Gaussian offsets), made and quantised in
memory before the clock starts, unless ``--floats``: then quantising is part of it, by as many
threads as ``--threads`` says.
"""

import argparse
import json
import platform
import time
from importlib.metadata import version

import numpy as np

from ..learners.vfdt import VFDT
from ..predictors import PREDICTORS
from ..words import first_line


def rbf(rng, instances, attributes, centres, classes=2):
    """A random RBF stream: float64 (instances, attributes) and labels (instances,)."""
    where = rng.random((centres, attributes))
    label = rng.integers(classes, size=centres)
    spread = rng.random(centres)
    pick = rng.choice(centres, size=instances, p=(weight := rng.random(centres)) / weight.sum())
    direction = rng.normal(size=(instances, attributes))
    direction *= (spread[pick] * rng.normal(size=instances) / np.linalg.norm(direction, axis=1))[:, None]
    return where[pick] + direction, label[pick]


def measure(X, y, floats, chunk, leaf_prediction, threads):
    """(seconds, accuracy, report) of one prequential run."""
    tree = VFDT(leaf_prediction=leaf_prediction, threads=threads)
    classes = np.unique(y)
    # The first chunk and the compiler are not part of the clock.
    right = int((tree.test_then_train(X[:chunk], y[:chunk], classes) == y[:chunk]).sum())
    X, y = X[chunk:], y[chunk:]
    if floats:
        start = time.perf_counter()
        for at in range(0, len(y), chunk):
            part = slice(at, at + chunk)
            right += int((tree.test_then_train(X[part], y[part]) == y[part]).sum())
    else:
        codes = tree.encode(X)
        labels = y.astype(np.int32)
        start = time.perf_counter()
        for at in range(0, len(y), chunk):
            part = slice(at, at + chunk)
            right += int((tree.learn_codes(codes[part], labels[part]) == labels[part]).sum())
    return time.perf_counter() - start, right / (len(y) + chunk), tree.report()


def main():
    parser = argparse.ArgumentParser(description=first_line(__doc__))
    parser.add_argument("--instances", type=int, default=1_000_000)
    parser.add_argument("--attributes", type=int, nargs="+", default=[10, 50])
    parser.add_argument("--centres", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--chunk", type=int, default=16384, help="instances per call")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--floats", action="store_true", help="count quantising, too")
    parser.add_argument("--leaf-prediction", choices=PREDICTORS, default="mc")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    for attributes, centres in zip(args.attributes, args.centres, strict=True):
        X, y = rbf(np.random.default_rng(args.seed), args.instances, attributes, centres)
        runs = [measure(X, y, args.floats, args.chunk, args.leaf_prediction, args.threads) for _ in range(args.repeats)]
        if len({accuracy for _, accuracy, _ in runs}) > 1:
            raise SystemExit("the runs differ in accuracy: the board is not deterministic")
        seconds = sorted(run[0] for run in runs)
        middle = seconds[len(seconds) // 2]
        counted = args.instances - args.chunk
        print(
            json.dumps(
                {
                    "bench": "prequential",
                    "input": "floats" if args.floats else "codes",
                    "leaf_prediction": args.leaf_prediction,
                    "threads": args.threads,
                    "instances": counted,
                    "attributes": attributes,
                    "classes": 2,
                    "seed": args.seed,
                    "accuracy": round(runs[0][1], 4),
                    "leaves": runs[0][2]["leaves"],
                    "seconds": round(middle, 3),
                    "spread_s": round(seconds[-1] - seconds[0], 3),
                    "million_instances_per_s": round(counted / middle / 1e6, 3),
                    "million_values_per_s": round(counted * attributes / middle / 1e6, 1),
                    "numba": version("numba"),
                    "python": platform.python_version(),
                }
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
