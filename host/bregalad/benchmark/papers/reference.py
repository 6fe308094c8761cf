"""The float64 reference learner over a stream, with the calls that ``prequential`` makes."""

from dataclasses import asdict

import numpy as np


class ReferenceTree:
    """``bregalad_sim.reference.ReferenceVFDT`` behind a tree's calls.

    Parameters
    ----------
    schema : Schema
        Nominal attributes declare their values.
    classes : sequence
    options
        Of ``ReferenceVFDT``.
    """

    def __init__(self, schema, classes, **options):
        from bregalad_sim.reference import ReferenceVFDT

        self._attributes = schema.attributes
        self._classes = np.unique(np.asarray(classes))
        capacities = [0 if a.kind == "numeric" else len(a.values) for a in schema.attributes]
        self._tree = ReferenceVFDT(capacities, len(self._classes), block=1, **options)

    def test_then_train(self, X, y, classes=None):
        """Prequential step: predict each instance, then learn it."""
        labels = np.searchsorted(self._classes, np.asarray(y, self._classes.dtype))
        columns = [
            X[a.name].to_numpy(float) if a.kind == "numeric" else _indices(X[a.name], a.values)
            for a in self._attributes
        ]
        return self._classes[self._tree.learn(np.column_stack(columns), labels)]

    def report(self):
        """Sizes and counts, as a tree's."""
        nodes = self._tree.nodes
        leaves = sum(not node.kind for node in nodes)
        return {
            **asdict(self._tree.tally),
            "nodes": len(nodes),
            "leaves": leaves,
            "depth": max(node.height for node in nodes),
        }

    def close(self):
        """Nothing to let go of."""


def _indices(column, values):
    """Positions of nominal values, NaN for missing ones."""
    if hasattr(column, "cat"):
        codes = column.cat.set_categories(list(values)).cat.codes.to_numpy(float)
    else:
        codes = column.map({value: i for i, value in enumerate(values)}).to_numpy(float)
    return np.where(codes < 0, np.nan, codes)
