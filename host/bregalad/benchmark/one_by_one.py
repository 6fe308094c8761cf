"""One instance at a time: our VFDT beside River's HoeffdingTreeClassifier, in turns, on one core.

    python -m bregalad.benchmark.one_by_one              JSON lines
    python -m bregalad.benchmark.one_by_one --markdown   the table of docs/performance.md

Each instance is predicted (``predict_one``), then learnt (``learn_one``); ``partial_fit`` has the
same instances in chunks of 1 and 10, without predictions. Records are of numbers, or mixed: numbers, strings, truth
values and integers in turn. A turn is of some thousand instances of
either, one after the other; the first instances and the compiler are before the clock. Processor time, medians
of the turns; accuracies are prequential, over all turns. Last, ``predict_proba_one`` and ``predict_one`` have the same
instances, in turns, too.
"""

import argparse
import json
import platform
import statistics
import time
from importlib.metadata import version
from itertools import product

import numpy as np
import pandas as pd
from river.tree import HoeffdingTreeClassifier

from ..learners.vfdt import VFDT

HEAD = 1000  # instances before the clock
CHUNKS = (1, 10)
CLASSES = [False, True]
MIXED = (float, lambda value: f"v{int(8 * value)}", lambda value: value > 0.5, lambda value: int(100 * value))


def stream(attributes, count, seed):
    """Uniform numbers; the class is told by a line in two of them, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.random((count, attributes))
    return X, (X[:, 0] + X[:, 1] / 2 > 0.75) ^ (rng.random(count) < 0.05)


def mixed(row):
    """The numbers of an instance as values of several types."""
    return [MIXED[place % len(MIXED)](value) for place, value in enumerate(row)]


class Pairs:
    """A learner that predicts and learns one by one."""

    def __init__(self, tree, rows, labels):
        self.tree, self.rows, self.labels = tree, rows, labels
        self.right, self.rates = 0, []

    def turn(self, part):
        tree, right = self.tree, 0
        start = time.process_time()
        for x, y in zip(self.rows[part], self.labels[part], strict=True):
            right += tree.predict_one(x) == y
            tree.learn_one(x, y)
        seconds = time.process_time() - start
        self.right += right
        self.rates.append((part.stop - part.start) / max(seconds, 1e-9))


class Chunks:
    """A learner that gets chunks of an array."""

    def __init__(self, tree, X, y, size):
        self.tree, self.X, self.y, self.size = tree, X, y, size
        self.rates = []

    def turn(self, part):
        start = time.process_time()
        for at in range(part.start, part.stop, self.size):
            chunk = slice(at, at + self.size)
            self.tree.partial_fit(self.X[chunk], self.y[chunk], CLASSES)
        self.rates.append((part.stop - part.start) / max(time.process_time() - start, 1e-9))


def seconds_of(call, rows):
    start = time.process_time()
    for x in rows:
        call(x)
    return time.process_time() - start


def measure(attributes, prediction, records, turns, instances, seed):
    """Instances per second of every learner, and the accuracies."""
    X, y = stream(attributes, HEAD + turns * instances, seed)
    names = [f"x{i}" for i in range(attributes)]
    rows = [dict(zip(names, mixed(row) if records == "mixed" else row, strict=True)) for row in X.tolist()]
    X = pd.DataFrame(rows) if records == "mixed" else X
    labels = y.tolist()
    learners = {
        "ours": Pairs(VFDT(leaf_prediction=prediction), rows, labels),
        "river": Pairs(HoeffdingTreeClassifier(leaf_prediction=prediction), rows, labels),
        **{f"partial_fit {size}": Chunks(VFDT(leaf_prediction=prediction), X, y, size) for size in CHUNKS},
    }
    for learner in learners.values():
        learner.turn(slice(0, HEAD))
        learner.rates.clear()
    for turn in range(turns):
        start = HEAD + turn * instances
        for learner in learners.values():
            learner.turn(slice(start, start + instances))
    tree, asked = learners["ours"].tree, rows[-instances:]
    shares = [seconds_of(tree.predict_proba_one, asked) / seconds_of(tree.predict_one, asked) for _ in range(turns)]
    found = {name: round(statistics.median(learner.rates)) for name, learner in learners.items()}
    return {
        "bench": "one_by_one",
        "attributes": attributes,
        "leaf_prediction": prediction,
        "records": records,
        "seed": seed,
        **found,
        "ratio": round(found["ours"] / found["river"], 2),
        "predict_proba_one": round(statistics.median(shares), 2),
        **{f"accuracy {name}": round(learners[name].right / len(labels), 4) for name in ("ours", "river")},
        "river version": version("river"),
        "python": platform.python_version(),
    }


def row_of(found):
    """A row of the page's table."""
    cells = (
        found["attributes"],
        found["leaf_prediction"],
        found["records"],
        *(f"{found[name] / 1000:.1f}" for name in ("ours", "river")),
        f"{found['ratio']:.1f}",
        f"{found['predict_proba_one']:.2f}",
        *(f"{found[f'partial_fit {size}'] / 1000:.1f}" for size in CHUNKS),
        f"{found['accuracy ours']:.3f}",
        f"{found['accuracy river']:.3f}",
    )
    return f"| {' | '.join(map(str, cells))} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attributes", type=int, nargs="+", default=[2, 10, 50])
    parser.add_argument("--predictions", nargs="+", default=["mc", "nba"])
    parser.add_argument("--records", nargs="+", choices=["numbers", "mixed"], default=["numbers", "mixed"])
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--instances", type=int, default=3000, help="of a turn, a multiple of 10")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    if args.markdown:
        print(
            "| attributes | leaves | records | ours, k/s | River's, k/s | times River's "
            "| `predict_proba_one`, times `predict_one` "
            "| `partial_fit`, chunks of 1, k/s | of 10, k/s | accuracy, ours | River's |\n"
            "|---|---|---|---|---|---|---|---|---|---|---|"
        )
    for attributes in args.attributes:
        for prediction, records in product(args.predictions, args.records):
            found = measure(attributes, prediction, records, args.turns, args.instances, args.seed)
            print(row_of(found) if args.markdown else json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
