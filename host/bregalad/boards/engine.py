"""The board as the engine: compiled code in this process, bit-exact, without any hardware."""

from functools import cache
from math import prod
from mmap import ACCESS_COPY, mmap

import numpy as np

from ..compiled import COMPILES
from ..criteria import criterion_of
from ..engine.statistics.arithmetic import fill_logs, fill_table
from ..engine.statistics.gains import measure_of
from ..engine.statistics.state import COUNTS, CURRENT, FIRST, FOUND, LINK, State
from ..fixed import BAYES_TABLE, LOG_BASE, LOG_SLOPE
from ..geometry import NONE
from ..protocol.registers import EVENTS, TIMINGS
from .base import Board

_TABLE_SIZE = 1 << 16
_LOGS_SIZE = 1 << 14
_bayes_table = np.array(BAYES_TABLE, np.int64)


@cache
def _table():
    """x log2 x of small x; computed when the first board is opened."""
    table = np.empty(_TABLE_SIZE, np.int64)
    fill_table(table, np.array(LOG_BASE, np.int64), np.array(LOG_SLOPE, np.int64))
    return table


@cache
def _bayes_logs():
    """Naive Bayes terms of small counts; computed when the first board is opened."""
    logs = np.empty((2, _LOGS_SIZE), np.int32)
    fill_logs(logs, _bayes_table)
    return logs


def _zeros(shape, kind):
    """Zeros in memory that comes as it is touched: NumPy writes all of what it takes from its freed arrays.

    A process that is forked has a copy of it, as of any other memory.
    """
    size = prod(shape) * np.dtype(kind).itemsize
    return np.frombuffer(mmap(-1, size, access=ACCESS_COPY), kind).reshape(shape) if size else np.zeros(shape, kind)


class Engine(Board):
    """The golden model on arrays, compiled by Numba at its first use on a machine, and kept on disk.
    ImportError if there is no Numba, MemoryError if there is no memory for so many slots.

    Source: sim/bregalad_sim/golden/.
    """

    name = "emulated"
    instant = True

    def __init__(self, geometry):
        if not COMPILES:
            raise ImportError(
                "the emulated board, by which naive Bayes is predicted for boards that hold the tree, too, needs the "
                "package numba, which is not installed: pip install numba, where there are wheels of it"
            )
        super().__init__(geometry)
        g = geometry
        cells, classes, criterion = g.max_cells, g.classes, criterion_of(g.criterion)
        tables = [np.array(part, np.int64) for part in criterion.curve or ()]
        if criterion.name == "information_gain":
            tables.insert(0, _table())
        try:
            counts = _zeros((g.slots, g.bins, classes, cells), np.uint32)
            shares = _zeros((g.slots * g.naive_bayes, (g.bins + 2) * classes * cells), np.int16)
        except (MemoryError, OSError, OverflowError):
            raise MemoryError(
                f"emulated: there is no memory for {g.slots} slots of {g.bins} bins, {classes} classes and {cells} "
                "cells: take fewer slots"
            ) from None
        self.state = State(
            lanes=g.lanes,
            count_max=g.count_max,
            gain_half=1 << g.gain_width - 1,
            config=np.zeros((4, cells), np.uint8),
            entries=np.zeros((g.slots, COUNTS + classes), np.int64),
            counts=counts,
            counters=counts.reshape(g.slots, -1),
            shares=shares,
            lo=np.zeros((g.slots, cells), np.uint8),
            shift=np.full((g.slots, cells), g.root_shift, np.uint8),
            events=np.zeros(len(EVENTS), np.int64),
            found=np.zeros((cells, FOUND), np.int64),
            scratch=np.zeros((3, classes), np.int64),
            wanted=np.ones(cells, np.bool_),
            codes=np.zeros(cells, np.int32),
            places=np.zeros(cells, np.int32),
            scores=np.zeros(classes, np.int64),
            logs=_bayes_logs(),
            bayes_table=_bayes_table,
            measure=measure_of(criterion, *tables),
        )
        self.state.entries[:, [LINK, CURRENT]] = NONE
        self.state.config[FIRST] = 1

    def counters(self):
        counted = (int(count) & 0xFFFFFFFF for count in self.state.events)
        return dict(zip(EVENTS, counted, strict=True)) | dict.fromkeys(TIMINGS, 0)
