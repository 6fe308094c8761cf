"""Which cells of the board count which attribute."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..geometry import MISSING
from ..options import table as options
from .table import MULTIWAY, NUMERIC, ONE_VS_REST

_BLOCK = 64  # instances; see `_highest`
_NOMINAL_KINDS = {"multiway": MULTIWAY, "one_vs_rest": ONE_VS_REST}


@dataclass(frozen=True)
class CellMap:
    """Configuration of the cells in use; every array has one element per cell.

    A numeric attribute takes one cell, and so does a nominal one of up to B values. One with more
    values takes several: B - 1 values each, the last bin counts the values of the other cells, so
    that each cell knows the attribute's class counts (design, section 4).
    """

    attribute: np.ndarray  # index of the attribute that the cell counts
    kind: np.ndarray  # NUMERIC, MULTIWAY or ONE_VS_REST
    first: np.ndarray  # 1 in an attribute's first cell
    other: np.ndarray  # 1 if the last bin counts all other values
    base: np.ndarray  # code that bin 0 counts (nominal)
    first_cell: np.ndarray  # per attribute
    capacities: tuple  # per attribute: 0 if numeric, else how many values it may have

    @classmethod
    def build(cls, capacities, bins, nominal_split="multiway"):
        """The map of attributes on a board with so many bins.

        A capacity is 0 of a numeric attribute, else how many values it may have, 1 to 255; ValueError for others, or
        another ``nominal_split``.
        """
        options.check("nominal_split", nominal_split)
        rows, first_cell = [], []
        for attribute, capacity in enumerate(capacities):
            if not 0 <= capacity <= MISSING:
                raise ValueError(f"attribute {attribute}: at most {MISSING} values, not {capacity}")
            first_cell.append(len(rows))
            if capacity == 0:
                rows.append((attribute, NUMERIC, 1, 0, 0))
                continue
            kind = _NOMINAL_KINDS[nominal_split]
            step = bins if capacity <= bins else bins - 1
            rows += [(attribute, kind, base == 0, step < bins, base) for base in range(0, capacity, step)]
        columns = np.array(rows, np.int64).reshape(-1, 5).T
        return cls(
            *(np.ascontiguousarray(column) for column in columns), np.array(first_cell, np.int64), tuple(capacities)
        )

    def __len__(self):
        return len(self.attribute)

    @property
    def has_numbers(self):
        """Whether an attribute is numeric."""
        return 0 in self.capacities

    def cells_of(self, attribute):
        """The cells of an attribute, in order."""
        return np.flatnonzero(self.attribute == attribute)

    @cached_property
    def most_branches(self):
        """Most children that a split can have."""
        multiway = MULTIWAY in self.kind
        return max(2, max(self.capacities)) if multiway else 2

    def check(self, codes):
        """ValueError for codes that no value of their attribute has; C-contiguous uint8 array (n, attributes)."""
        limits = self._limits
        if (limits == MISSING).all():
            return
        highest = _highest(codes + np.uint8(1))  # MISSING becomes 0
        wrong = np.flatnonzero(highest > limits)
        if len(wrong):
            attribute = wrong[0]
            raise ValueError(
                f"codes of attribute {attribute} must be 0 to "
                f"{limits[attribute] - 1}, or {MISSING} for missing values, "
                f"not {highest[attribute] - 1}"
            )

    @cached_property
    def _limits(self):
        """Per attribute, how many codes it may have besides MISSING."""
        return np.array([capacity or MISSING for capacity in self.capacities])

    def values(self, attribute, counts):
        """Class counts of an attribute's values, int array (values, classes), from a list of its cells' bins."""
        if len(counts) == 1:
            return counts[0]
        return np.concatenate([bins[:-1] for bins in counts])


def _highest(codes):
    """The highest code of every attribute."""
    # Rows of few attributes are slow to compare, so a block of them is taken for one.
    count, attributes = codes.shape
    whole = count - count % _BLOCK
    rows = codes[:whole].reshape(-1, _BLOCK * attributes).max(axis=0, initial=0)
    return np.concatenate([rows.reshape(_BLOCK, attributes), codes[whole:]]).max(axis=0)


def check_cells(geometry, cells):
    """Refuse with a ValueError more cells than a board has."""
    if cells > geometry.max_cells:
        raise ValueError(
            f"the attributes need {cells} cells, but the board has "
            f"{geometry.max_cells} ({geometry.lanes} lanes x {geometry.passes} "
            f"passes): choose a geometry with lanes x passes >= {cells}"
        )
