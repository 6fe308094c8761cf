"""What an attempt finds out: gains of splits, an attribute's candidate, the best of all."""

from dataclasses import dataclass, field, replace

from bregalad.criteria import criterion_of
from bregalad.geometry import NONE
from bregalad.protocol.registers import CellKind


@dataclass
class Candidate:
    """An attribute's best split at a slot."""

    cell: int = NONE
    value: int = 0
    gain: int = 0
    left: list = field(default_factory=list)

    @property
    def valid(self):
        return self.cell != NONE


def gain_of(geometry, cell, config, bins, classes):
    """The best candidate of one cell (multiway: its share of the attribute's gain).

    Parameters
    ----------
    geometry : Geometry
    cell : int
    config : Cell
    bins : list of list of int
        Counts of every class in every bin.
    classes : int
        In use; further ones do not matter.
    """
    g = geometry
    if config.kind == CellKind.IGNORED:
        return Candidate()
    numeric = config.kind == CellKind.NUMERIC
    unused = [0] * (g.classes - classes)
    bins = [counts[:classes] for counts in bins]
    total = [sum(counts) & g.count_max for counts in zip(*bins, strict=True)]
    own_values = bins[:-1] if config.other else bins
    if config.kind == CellKind.MULTIWAY:
        gain = _impurity(g, total) if config.first else 0
        for counts in own_values:
            gain -= _impurity(g, counts)
        return Candidate(cell, 0, _wrap(g, gain), [0] * g.classes)
    best = None
    left = [0] * classes
    for value, counts in enumerate(bins[:-1] if numeric else own_values):
        left = [(a + b) & g.count_max for a, b in zip(left, counts, strict=True)] if numeric else counts
        right = [(a - b) & g.count_max for a, b in zip(total, left, strict=True)]
        gain = _wrap(g, _impurity(g, total) - _impurity(g, left) - _impurity(g, right))
        if best is None or gain > best.gain:
            shown = value if numeric else config.base + value & 0xFF
            best = Candidate(cell, shown, gain, left + unused)
    return best


def _impurity(geometry, counts):
    """n times the impurity of the counts, by the criterion."""
    return criterion_of(geometry.criterion).scaled(counts, geometry.count_width)


def _wrap(geometry, gain):
    """Two's complement of ``gain_width`` bits; consistent counts never reach it."""
    half = 1 << geometry.gain_width - 1
    return (gain + half) % (2 * half) - half


def join(geometry, cells, parts):
    """The candidates of attributes from those of their cells.

    Parameters
    ----------
    geometry : Geometry
    cells : list of Cell
    parts : list of Candidate
        One per cell, by `gain_of`.

    Returns
    -------
    list
        Per cell an attribute's candidate at its last cell, None elsewhere.
    """
    found = []
    for config, part in zip(cells, parts, strict=True):
        if found and not config.first and config.kind != CellKind.IGNORED:
            group = found[-1]
            found[-1] = None
            if config.kind == CellKind.MULTIWAY:
                part = replace(group, gain=_wrap(geometry, group.gain + part.gain))
            elif part.gain > group.gain:
                part = replace(part, cell=group.cell)
            else:
                part = group
        found.append(part)
    return found


def top(candidates, current_cell):
    """Best, second best and the current split attribute; ties go to the lower cell."""
    best, second, current = Candidate(), Candidate(), Candidate()
    for candidate in candidates:
        if candidate is None or not candidate.valid:
            continue
        if candidate.cell == current_cell:
            current = candidate
        if not best.valid or candidate.gain > best.gain:
            best, second = candidate, best
        elif not second.valid or candidate.gain > second.gain:
            second = candidate
    return best, second, current
