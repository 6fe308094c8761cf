"""The board: clocks from the simulated RTL's counters, and the clock that was placed and routed."""

import numpy as np

from ..boards import open_board
from ..geometry import Geometry
from ..tree.cells import CellMap
from .streams import read_binary

__all__ = ["DEVICE", "LANES", "LEVELS", "fitting", "kept_clock", "measure", "reports", "with_levels"]

LANES = 32
DEVICE = "LFE5U-85F"
LEVELS = "ecpix5-85f-levels"  # the kept build that counts the nodes of a path together
# Two classes: bits of the bus and of a counter, by the most lanes that they are for.
_WIDTHS = {LANES: (256, 16), 2 * LANES: (512, 12)}
# More classes: the same; a tie between 23 classes takes counts of 17 bits.
_MANY = 128, 17
_FEWEST = 16, 6, 2  # slots, below which fewer lanes are better, if any leave room for so many
_LOGIC = 46  # lanes times classes at most: 8 lanes of 10 were placed with 654,000 of wire
_BLOCKS = 208 - 16  # block RAMs of the device, less those of buffers, slot table and link
_BLOCK = 512, 36  # words and bits of one
_SNAPSHOTS = 1  # blocks deep, in a lane's gain unit
_TABLE = 1  # block for a lane's table of logarithms, or half of one
_ZOOMS = 1  # block for a lane's zooms, unless they are few
_WARM = 2048  # instances that the code books are learnt from
_PREFIX = 50_000  # instances whose clocks are counted


def fitting(cells, classes, lanes=LANES, bins=16):
    """The geometry for a stream that fits the LFE5U-85F's block RAMs, None if none does.

    Of two classes: ``lanes`` lanes, and the slots that there is room for. Of more classes, whose
    lanes and words are wider: as many lanes as leave room for 16 slots (or 6, or 2), not too many
    of so many classes, and no more of these than its passes need; and naive Bayes, as kept builds.

    Parameters
    ----------
    cells, classes : int
        Of the stream.
    lanes : int
        At most.
    """
    if classes == 2:
        bus_width, count_width = next(widths for most, widths in _WIDTHS.items() if lanes <= most)
        return _fitting(cells, lanes, bins, classes, bus_width, count_width, 2)
    for fewest in _FEWEST:
        most = min(lanes, _LOGIC // classes)
        while most:
            least = -(-cells // -(-cells // most))
            if found := _fitting(cells, least, bins, classes, *_MANY, fewest):
                return found.replace(banks=1, naive_bayes=True)
            most //= 2
    return None


def _fitting(cells, lanes, bins, classes, bus_width, count_width, fewest):
    """The geometry of so many lanes and passes enough, None if it has too few slots."""
    from bregalad_hw.array.processor import FEW_ROWS

    wide = -(-classes * count_width // _BLOCK[1])

    def rows_beside(others):
        return ((_BLOCKS // lanes - others) // wide - _SNAPSHOTS) * _BLOCK[0] // bins

    passes = -(-cells // lanes)
    rows = max(min(rows_beside(_TABLE), FEW_ROWS), rows_beside(_TABLE + _ZOOMS))
    slots = rows >> (passes - 1).bit_length()
    if slots < fewest:
        return None
    # A block is not divided between two banks.
    banks = 1 if slots << (passes - 1).bit_length() & (2 * _BLOCK[0] // bins - 1) else 2
    return Geometry(
        lanes=lanes,
        passes=passes,
        bins=bins,
        classes=classes,
        slots=slots,
        count_width=count_width,
        bus_width=bus_width,
        banks=banks,
    )


def with_levels(cells, classes):
    """The geometry for a stream on the kept board of several levels, None for another's classes."""
    kept = Geometry(**reports()[LEVELS]["geometry"])
    if classes != kept.classes:
        return None
    passes = -(-cells // kept.lanes)
    rows = kept.slots << (kept.passes - 1).bit_length()
    return kept.replace(passes=passes, slots=rows >> (passes - 1).bit_length())


def reports():
    """The kept place-and-route reports, by name."""
    from bregalad_hw.reports import kept

    return kept()


def kept_clock(geometry, board=None):
    """As ``bregalad_hw.reports.clock_of``, of the kept reports."""
    from bregalad_hw.reports import clock_of

    return clock_of(reports(), geometry, board)


def measure(file, learner, fit, most=_PREFIX):
    """Clocks of the stream's beginning, and the accuracy of all of it.

    The accuracy is the emulated board's with the same geometry, which is that of the RTL to the
    bit, in a thousandth of the time.

    Parameters
    ----------
    file : StreamFile
    learner : str
        ``vfdt-mc`` or ``efdt-mc``.
    fit : callable
        Gives the geometry for so many cells and classes, or None, as ``fitting`` does.
    most : int
        Instances whose clocks are counted.

    Returns
    -------
    dict
        ``geometry`` None if the device has no room for the stream.
    """
    from .. import EFDT, VFDT

    table, labels, values, classes = read_binary(file.path)
    cells = len(CellMap.build(values, 16))
    geometry = fit(cells, classes)
    if geometry is None:
        return {"geometry": None, "cells": cells}
    kind = {"vfdt-mc": VFDT, "efdt-mc": EFDT}[learner]
    options = {"delta": 1e-7, "nominal": {i: tuple(range(count)) for i, count in enumerate(values) if count}}
    known, labels = np.arange(classes), labels.astype(np.int32)
    tree = kind(board=open_board("emulated", geometry), **options)
    right = sum(
        int((tree.test_then_train(table[part], labels[part], known) == labels[part]).sum())
        for part in (slice(at, at + 65_536) for at in range(0, len(labels), 65_536))
    )
    found = {
        "accuracy": right / len(labels),
        "instances": len(labels),
        "cells": cells,
        "leaves": int(tree.report()["leaves"]),
        "geometry": geometry.as_dict(),
    }
    with open_board("simulated", geometry) as board:
        tree = kind(board=board, **options)
        tree.test_then_train(table[:_WARM], labels[:_WARM], known)
        part = slice(_WARM, _WARM + most)
        codes = tree.encode(table[part])
        board.settle()
        board.clear_counters()
        tree.learn_codes(codes, labels[part])
        board.settle()
        counters = board.counters()
    count = len(codes)
    return found | {
        "counted": count,
        "clocks_per_instance": counters["clocks"] / count,
        "learning_per_instance": counters["learning"] / count,
        "nodes_per_instance": counters["nodes"] / count,
        "counters": counters,
    }
