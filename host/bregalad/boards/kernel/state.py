"""The arrays that a board's state is held in, and what their rows and columns mean."""

from typing import NamedTuple

import numpy as np

from ...compiled import njit
from ...protocol.registers import CONFIGURATION, EVENTS

__all__ = [
    "OPTIONS",
    "State",
    "compiled",
    "inlined",
    "inner",
    "SETTINGS",
    "CELL_SETTINGS",
    "CELLS",
    "CLASSES",
    "ALL",
    "LEAF_GRACE",
    "INNER_GRACE",
    "PREDICTIONS",
    "NEIGHBOURS",
    "KIND",
    "FIRST",
    "OTHER",
    "BASE",
    "N",
    "SINCE",
    "LINK",
    "CURRENT",
    "FLAGS",
    "PERIOD",
    "EXTENT",
    "TERMS",
    "COUNTS",
    "HALTED",
    "LEFT",
    "DONE",
    "IN_MEMORY",
    "ADDRESS",
    "SKIP",
    "USED",
    "ASKED",
    "LOADING",
    "PROGRESS",
    "CELL",
    "VALUE",
    "GAIN",
    "SOURCE",
    "BIN",
    "FOUND",
    "RECORDS",
    "NODES",
    "BEATS",
    "PREDICTED",
    "TRIALS",
    "HALVINGS",
    "CLAMPED",
    "BAD_RECORDS",
]

# Rows and columns of the state's arrays.
SETTINGS = tuple(
    f"{register.name}.{field.name}"
    for register in CONFIGURATION
    if register.name != "cell"
    for field in register.fields
)
CELLS, CLASSES, ALL, LEAF_GRACE, INNER_GRACE, PREDICTIONS, NEIGHBOURS = map(
    SETTINGS.index,
    (
        "cells.count",
        "classes.count",
        "report.all",
        "grace.leaf",
        "inner_grace.inner",
        "report.predictions",
        "report.neighbours",
    ),
)
CELL_SETTINGS = ("cell.kind", "cell.first", "cell.other", "cell.base")
KIND, FIRST, OTHER, BASE = range(len(CELL_SETTINGS))
# Two are not the board's. EXTENT: bins from there on hold nothing, so that nothing need look at
# them. TERMS: whether the slot's ``shares`` are kept up to date, as they are once asked for.
N, SINCE, LINK, CURRENT, FLAGS, PERIOD, EXTENT, TERMS, COUNTS = range(9)
HALTED, LEFT, DONE, IN_MEMORY, ADDRESS, SKIP, USED, ASKED, LOADING, PROGRESS = range(10)
# A candidate's first cell, value and gain; the cell and bin that its left class counts are from.
CELL, VALUE, GAIN, SOURCE, BIN, FOUND = range(6)
RECORDS, NODES, BEATS, PREDICTED, TRIALS, HALVINGS, CLAMPED, BAD_RECORDS = map(
    list(EVENTS).index, ("records", "nodes", "beats", "predictions", "trials", "halvings", "clamped", "bad_records")
)

# The error model spares checks of divisors; none is 0. Nothing here makes an array, so none needs
# its references counted (``_nrt``), which would take longer than the rest. Where it counts,
# functions are inlined: an array handed over is seven words. Commands are not: Numba copies what is
# inlined once more at every level. Numbers are handed to what is not inlined as int64: Numba compiles
# it anew for every type, and for every literal.
OPTIONS = {"nogil": True, "error_model": "numpy", "_nrt": False}
compiled = njit(**OPTIONS)
inner = njit(inner=True, **OPTIONS)  # called by the others only
inlined = njit(**OPTIONS, inline="always")


class State(NamedTuple):
    """A board's state; S slots, D cells, B bins, C classes.

    The cells lie innermost, so that one class of all cells is counted side by side, and the bins
    outermost, so that those which no value falls into cost no cache. A place is where a cell's
    bin has its counter of class 0 among a slot's; that of class k lies k D further on.
    """

    lanes: int
    bus_bytes: int
    count_max: int
    gain_half: int  # gains are wrapped to -gain_half <= gain < gain_half
    reserve: int  # words that the reports of one record or command need at most
    registers: np.ndarray  # int64, by SETTINGS
    config: np.ndarray  # uint8[4, D], by CELL_SETTINGS
    entries: np.ndarray  # int64[S, 8 + C], by N to COUNTS
    counts: np.ndarray  # uint32[S, B, C, D]
    counters: np.ndarray  # the same, uint32[S, B C D]
    shares: np.ndarray  # int16[S, (B + 2) C D], log2 of a counter's term, see `row_of`; S = 0: not wanted
    lo: np.ndarray  # uint8[S, D]
    shift: np.ndarray  # uint8[S, D]
    events: np.ndarray  # int64, by EVENTS
    progress: np.ndarray  # int64[9], by HALTED to LOADING
    found: np.ndarray  # int64[D, 5], a trial's candidates by CELL to BIN
    scratch: np.ndarray  # int64[3, C]
    order: np.ndarray  # int64[D], 0, 1, ...: where a record has the codes of its cells
    wanted: np.ndarray  # bool[D], whose gains a trial computes: all, but for forests, which leave some out
    codes: np.ndarray  # int32[D], an instance's
    places: np.ndarray  # int32[D], those that count it in a slot; -1: none
    scores: np.ndarray  # int64[C], of the last prediction
    logs: np.ndarray  # int32[2, N], terms of naive Bayes for small counts, by SHARE to WHOLE
    bayes_table: np.ndarray
    measure: tuple  # what the board's criterion looks up, by `measure_of`
    memory: np.ndarray  # uint8, read-only
    faults: np.ndarray  # int64[F, 2], bus word address and error code
    out: np.ndarray  # uint32, reports
