"""One instance at a time: our VFDT beside River's HoeffdingTreeClassifier, in turns, on one core; rows of Markdown.

    python -m bregalad.benchmark.one_by_one

Each instance is predicted (``predict_one``), then learnt (``learn_one``). Records are of numbers, or mixed: numbers,
strings, truth values and integers in turn. A turn is of some thousand instances of either, one after the other; the
first instances and the compiler are before the clock. Processor time, medians of the turns; accuracies are
prequential, over all turns.
"""

import argparse
import time
from itertools import product

import numpy as np
from river.tree import HoeffdingTreeClassifier

from ..learners.hoeffding import VFDT
from ..words import first_line

HEAD = 1000  # instances before the clock
MIXED = (float, lambda value: f"v{int(8 * value)}", lambda value: value > 0.5, lambda value: int(100 * value))
ROW = "| attributes | leaves | records | ours, k/s | River's, k/s | times River's | accuracy, ours | River's |"


def stream(attributes, count, mixed):
    """Records of uniform numbers; the class is told by a line in two of them, with noise."""
    rng = np.random.default_rng(1)
    X = rng.random((count, attributes))
    y = (X[:, 0] + X[:, 1] / 2 > 0.75) ^ (rng.random(count) < 0.05)
    kinds = [MIXED[place % len(MIXED)] if mixed else float for place in range(attributes)]
    rows = [{f"x{i}": kind(value) for i, (kind, value) in enumerate(zip(kinds, row, strict=True))} for row in X]
    return rows, y.tolist()


def turn(tree, rows, labels):
    """How many instances of a turn a learner predicts rightly, and instances per second."""
    right, start = 0, time.process_time()
    for x, y in zip(rows, labels, strict=True):
        right += tree.predict_one(x) == y
        tree.learn_one(x, y)
    return right, len(rows) / max(time.process_time() - start, 1e-9)


def measure(attributes, prediction, records, turns, instances):
    """A row: instances per second and accuracy of both."""
    count = HEAD + turns * instances
    rows, labels = stream(attributes, count, records == "mixed")
    learners = [kind(leaf_prediction=prediction) for kind in (VFDT, HoeffdingTreeClassifier)]
    parts = [slice(0, HEAD), *(slice(at, at + instances) for at in range(HEAD, count, instances))]
    found = np.array([[turn(each, rows[part], labels[part]) for each in learners] for part in parts])
    ours, theirs = np.median(found[1:, :, 1], axis=0) / 1e3
    accuracies = (f"{right / count:.3f}" for right in found[:, :, 0].sum(axis=0))
    cells = attributes, prediction, records, f"{ours:.1f}", f"{theirs:.1f}", f"{ours / theirs:.1f}", *accuracies
    return f"| {' | '.join(map(str, cells))} |"


def main():
    parser = argparse.ArgumentParser(description=first_line(__doc__))
    parser.add_argument("--predictions", nargs="+", default=["mc", "nba"])
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--instances", type=int, default=3000, help="of a turn")
    args = parser.parse_args()
    print(ROW, "|---" * 8 + "|", sep="\n")
    for kind in product((2, 10, 50), args.predictions, ("numbers", "mixed")):
        print(measure(*kind, args.turns, args.instances), flush=True)


if __name__ == "__main__":
    main()
