"""Learners of other libraries that are called in this process; MOA's has one of its own.

Each is made of the name of a learner and of a stream as `streams.coded` gives it. ``measure`` predicts and learns it
from nothing on: a dict as `Process.measure` returns it.
"""

import time
from functools import partial

import numpy as np

from ..extras import needing

_MLPACK_CHUNK = 10_000  # mlpack predicts and learns arrays only: a call per instance is all call
_RIVER_VALUES = 1_000_000  # attribute values that River gets of a stream: seconds, not hours


class River:
    """River's trees and its forest of ten, instance by instance; the dicts are made beforehand."""

    def __init__(self, learner, table, labels, values, classes):
        with needing("River", "bench"):
            from river import forest, tree

        kind, _, prediction = learner.partition("-")
        kinds = {
            "ht": tree.HoeffdingTreeClassifier,
            "efdt": tree.ExtremelyFastDecisionTreeClassifier,
            "hat": partial(tree.HoeffdingAdaptiveTreeClassifier, seed=1),
            "arf": partial(forest.ARFClassifier, seed=1),
        }
        if kind not in kinds:
            raise RuntimeError(f"no learner river:{learner}; there are {', '.join(kinds)}")
        names = [f"a{i}" for i in range(len(values))]
        self.make = lambda: kinds[kind](
            leaf_prediction=prediction or "nba",
            nominal_attributes=[name for name, count in zip(names, values, strict=True) if count],
        )
        table = table[: max(1, _RIVER_VALUES // len(values))]
        self.X = [dict(zip(names, row, strict=True)) for row in table.tolist()]
        self.y = labels[: len(table)].tolist()

    def measure(self):
        tree, right = self.make(), 0
        start = time.process_time()
        for x, y in zip(self.X, self.y, strict=True):
            right += tree.predict_one(x) == y
            tree.learn_one(x, y)
        seconds = time.process_time() - start
        return {"accuracy": right / len(self.y), "cpu_seconds": seconds, "instances": len(self.y)}


class Mlpack:
    """mlpack's Hoeffding tree by its Python interface, chunk by chunk.

    Defaults but for numeric attributes, which get its histograms: with the default strategy, every
    value of a leaf in a sorted map, leaves that stay pure take ever longer.
    """

    def __init__(self, learner, table, labels, values, classes):
        import pandas as pd

        with needing("mlpack", "bench"):
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

    def measure(self):
        model, right, count = {}, 0, len(self.y)
        start = time.process_time()
        for at in range(0, count, _MLPACK_CHUNK):
            part = slice(at, at + _MLPACK_CHUNK)
            if model:
                said = self.call(**model, test=self.X[part])["predictions"]
                right += int((np.asarray(said).ravel() == self.y[part]).sum())
            else:
                right += int((self.y[part] == 0).sum())
            trained = self.call(**model, **({} if model else self.options), training=self.X[part], labels=self.y[part])
            model = {"input_model": trained["output_model"]}
        return {"accuracy": right / count, "cpu_seconds": time.process_time() - start, "instances": count}


PEERS = {"river": River, "mlpack": Mlpack}
