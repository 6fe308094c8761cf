"""The process of a learner of another library: ``python -m bregalad.benchmark.worker STREAM KIND LEARNER``.

See `Process` for what it answers.
"""

import json
import sys
import time
from functools import partial

import numpy as np

from .streams import read_binary

_WARM = 2000  # instances that get everything compiled and imported
_MLPACK_CHUNK = 10_000  # mlpack predicts and learns arrays only: a call per instance is all call
_RIVER_VALUES = 1_000_000  # attribute values that River gets of a stream: seconds, not hours


class River:
    """River's trees and its forest of ten, instance by instance; the dicts are made beforehand."""

    def __init__(self, table, labels, values, classes, learner):
        from river import forest, tree

        kind, _, prediction = learner.partition("-")
        made = {
            "ht": tree.HoeffdingTreeClassifier,
            "efdt": tree.ExtremelyFastDecisionTreeClassifier,
            "hat": partial(tree.HoeffdingAdaptiveTreeClassifier, seed=1),
            "arf": partial(forest.ARFClassifier, seed=1),
        }[kind]
        names = [f"a{i}" for i in range(len(values))]
        self.make = lambda: made(
            leaf_prediction=prediction or "nba",
            nominal_attributes=[name for name, count in zip(names, values, strict=True) if count],
        )
        table = table[: max(1, _RIVER_VALUES // len(values))]
        self.X = [dict(zip(names, row, strict=True)) for row in table.tolist()]
        self.y = labels[: len(table)].tolist()

    def run(self, count):
        tree, right = self.make(), 0
        start = time.process_time()
        for x, y in zip(self.X[:count], self.y[:count], strict=True):
            right += tree.predict_one(x) == y
            tree.learn_one(x, y)
        return {"right": int(right), "cpu_seconds": time.process_time() - start, "instances": min(count, len(self.y))}


class Mlpack:
    """mlpack's Hoeffding tree by its Python interface, chunk by chunk.

    Defaults but for numeric attributes, which get its histograms: with the default strategy, every
    value of a leaf in a sorted map, leaves that stay pure take ever longer.
    """

    def __init__(self, table, labels, values, classes, learner):
        import pandas as pd
        from mlpack import hoeffding_tree

        self.call = hoeffding_tree
        self.options = {} if all(values) else {"numeric_split_strategy": "domingos"}
        self.X = table
        if any(values):
            columns = enumerate(zip(table.T, values, strict=True))
            kinds = {
                i: pd.Categorical.from_codes(each.astype(int), range(n)) if n else each for i, (each, n) in columns
            }
            self.X = pd.DataFrame(kinds).add_prefix("a")
        self.y = labels.astype(np.int64)

    def run(self, count):
        model, right = {}, 0
        start = time.process_time()
        for at in range(0, count, _MLPACK_CHUNK):
            part = slice(at, min(count, at + _MLPACK_CHUNK))
            if model:
                said = self.call(**model, test=self.X[part])["predictions"]
                right += int((np.asarray(said).ravel() == self.y[part]).sum())
            else:
                right += int((self.y[part] == 0).sum())
            trained = self.call(**model, **({} if model else self.options), training=self.X[part], labels=self.y[part])
            model = {"input_model": trained["output_model"]}
        return {"right": right, "cpu_seconds": time.process_time() - start}


_KINDS = {"river": River, "mlpack": Mlpack}


def main():
    """Answer every line of standard input by a run."""
    path, kind, learner = sys.argv[1:]
    table, labels, values, classes = read_binary(path)
    try:
        made = _KINDS[kind](table, labels, values, classes, learner)
    except ImportError as error:
        sys.exit(f"{error}: pip install 'bregalad[bench]'")
    made.run(min(_WARM, len(labels)))
    print("ready", flush=True)
    for _ in sys.stdin:
        print(json.dumps(made.run(len(labels))), flush=True)


if __name__ == "__main__":
    main()
