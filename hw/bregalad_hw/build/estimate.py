"""What a geometry takes of a board's device, told before synthesis: beside a kept build of that board."""

from bregalad.geometry import Geometry

from ..array.processor import FEW_ROWS
from ..reports import kept
from .report import NOUNS

__all__ = ["estimate"]

_BLOCK = 512, 36  # words and bits of a block RAM
_MULTIPLIER = 18  # bits


def estimate(board, geometry):
    """What a geometry is expected to take, from the kept build of the board that is nearest to it.

    It is what that build takes, and about what the sizes add.

    Returns
    -------
    dict
        ``(expected, of the device)`` by noun; empty where no build of the board is kept.
    name : str or None
        The kept report's.
    """
    reports = {name: report for name, report in kept().items() if report["board"] == board.name}
    if not reports:
        return {}, None
    bases = {name: Geometry.from_dict(report["geometry"]) for name, report in reports.items()}
    name = min(bases, key=lambda each: (abs(_luts(geometry) - _luts(bases[each])), _differing(geometry, bases[each])))
    base, found = bases[name], {}
    for cell, (used, there) in reports[name]["use"].items():
        if (noun := NOUNS.get(cell)) in _JUDGED:
            expected = used + _JUDGED[noun](geometry) - _JUDGED[noun](base)
            if noun == "block RAMs" and board.block_rams:  # some are taken only where there are enough
                expected = min(expected, there)
            found[noun] = expected, there
    return {noun: found[noun] for noun in _JUDGED}, name


def _differing(one, other):
    """How many sizes differ."""
    return len(one.as_dict().items() - other.as_dict().items())


def _luts(g):
    """LUT4 of an ECP5 but for what all sizes take, fitted to kept reports."""
    return (
        g.lanes * g.count_width * (69 + 22 * (g.classes - 2))
        + g.naive_bayes * (2000 + 570 * g.classes)
        + 7000
        + 500 * g.searchers
        + 460 * g.lanes
    )


def _block_rams(g):
    """Those of lanes, with counters and a snapshot as wide as the classes' counts, and of a tree's front."""
    rows = g.slots << (g.passes - 1).bit_length()
    words, bits = _BLOCK
    wide = -(-g.classes * g.count_width // bits)
    lane = (-(-rows * g.bins // words) + 1) * wide + 1 + (rows > FEW_ROWS)
    return g.lanes * lane + 24 + 4 * g.searchers + g.nodes // 108


def _multipliers(g):
    least = 2 if g.count_width <= _MULTIPLIER else 3
    return g.lanes * least + g.naive_bayes * (g.classes + g.classes % 2)


_JUDGED = {"LUT4": _luts, "block RAMs": _block_rams, "multipliers": _multipliers}
