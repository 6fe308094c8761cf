"""One instance at a time: our VFDT beside River's HoeffdingTreeClassifier, in turns, on one core; rows of Markdown.

    python -m bregalad.benchmark.one_by_one

Each instance is predicted (``predict_one``), then learnt (``learn_one``). Records are of numbers, or mixed: numbers,
strings, truth values and integers in turn. A turn is of some thousand instances of either, one after the other; the
first instances and the compiler are before the clock. Processor time, medians of the turns; accuracies are
prequential, over all turns.
"""

import argparse
import statistics
import time
from itertools import product

import numpy as np
from river.tree import HoeffdingTreeClassifier

from ..learners.vfdt import VFDT
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


class Pairs:
    """A learner that predicts and learns one by one."""

    def __init__(self, tree):
        self.tree, self.right, self.rates = tree, 0, []

    def turn(self, rows, labels):
        """Instances of a turn."""
        tree, right = self.tree, 0
        start = time.process_time()
        for x, y in zip(rows, labels, strict=True):
            right += tree.predict_one(x) == y
            tree.learn_one(x, y)
        self.rates.append(len(rows) / max(time.process_time() - start, 1e-9))
        self.right += right


def measure(attributes, prediction, records, turns, instances):
    """A row: instances per second and accuracy of both."""
    count = HEAD + turns * instances
    rows, labels = stream(attributes, count, records == "mixed")
    learners = [Pairs(kind(leaf_prediction=prediction)) for kind in (VFDT, HoeffdingTreeClassifier)]
    for start in (0, *range(HEAD, count, instances)):
        part = slice(start, start + instances if start else HEAD)
        for each in learners:
            each.turn(rows[part], labels[part])
    ours, theirs = (statistics.median(each.rates[1:]) for each in learners)
    cells = attributes, prediction, records, f"{ours / 1e3:.1f}", f"{theirs / 1e3:.1f}", f"{ours / theirs:.1f}"
    return f"| {' | '.join(map(str, (*cells, *(f'{each.right / count:.3f}' for each in learners))))} |"


def main():
    """The command line."""
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
