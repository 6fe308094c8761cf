"""What the nodes have counted, in arrays; one row per node that counts."""

from collections import namedtuple

import numpy as np

__all__ = ["Arrays", "Statistics"]

Arrays = namedtuple("Arrays", "base own table zoom edges used moments limits capacities")
Arrays.__doc__ = """Arrays of the statistics, rows first.

base, own : (rows, classes): classes given by the split above, and of the instances counted
table : (rows, attributes, bins or values, classes): the n_ijk
zoom : (rows, attributes, 3): low, high and shift of zoomed bins
edges, used : (rows, attributes, bins), (rows, attributes): first values of VFML's bins; how many
moments : (rows, attributes, classes, 5): weight, mean, sum of squared deviations, min, max
limits : (attributes, 2): of fixed-width bins
capacities : (attributes,): 0 is numeric
"""


class Statistics:
    """Rows of statistics, taken and given back.

    Parameters
    ----------
    capacities : sequence of int
    classes : int
    observer : observer
        What numeric attributes need, see ``observers``.
    """

    def __init__(self, capacities, classes, observer):
        self.capacities = np.array(capacities, np.int64)
        d = len(self.capacities)
        self._shapes = {
            "base": ((classes,), np.float64),
            "own": ((classes,), np.int64),
            "table": ((d, max([observer.table_width, *self.capacities]), classes), np.int64),
            "zoom": ((d if observer.name == "zoomed" else 0, 3), np.int64),
            "edges": ((d if observer.name == "vfml" else 0, observer.table_width), np.float64),
            "used": ((d if observer.name == "vfml" else 0,), np.int64),
            "moments": ((d if observer.name == "gaussian" else 0, classes, 5), np.float64),
        }
        self._free = []
        self.arrays = Arrays(
            *(np.zeros((0, *shape), dtype) for shape, dtype in self._shapes.values()),
            limits=np.zeros((d, 2)),
            capacities=self.capacities,
        )

    def take(self):
        """A row of zeros."""
        if not self._free:
            self._grow()
        row = self._free.pop()
        for name in self._shapes:
            getattr(self.arrays, name)[row] = 0
        return row

    def give_back(self, row):
        """Forget a row."""
        self._free.append(row)

    def _grow(self):
        rows = len(self.arrays.own)
        more = max(4, rows)
        self.arrays = self.arrays._replace(
            **{
                name: np.concatenate([getattr(self.arrays, name), np.zeros((more, *shape), dtype)])
                for name, (shape, dtype) in self._shapes.items()
            }
        )
        self._free = list(range(rows + more - 1, rows - 1, -1))
