"""The arrays that a board's state is held in, and what their rows and columns mean."""

from typing import NamedTuple

import numpy as np

from ...compiled import njit
from ...protocol.registers import EVENTS

# Rows and columns of the state's arrays.
KIND, FIRST, OTHER, BASE = range(4)  # how a cell counts, as its registers have it
# Two are not the board's. EXTENT: bins from there on hold nothing, so that nothing need look at
# them. TERMS: whether the slot's ``shares`` are kept up to date, as they are once asked for.
N, SINCE, LINK, CURRENT, FLAGS, PERIOD, EXTENT, TERMS, COUNTS = range(9)
CELL, VALUE, GAIN, FOUND = range(4)  # a candidate's first cell, value and gain
RECORDS, NODES, BEATS, PREDICTED, ATTEMPTS, HALVINGS, CLAMPED = map(
    list(EVENTS).index, ("records", "nodes", "beats", "predictions", "attempts", "halvings", "clamped")
)

# The error model spares checks of divisors; none is 0. Nothing here makes an array, so none needs
# its references counted (``_nrt``), which would take longer than the rest. Where it counts,
# functions are inlined: an array handed over is seven words. Commands are not: Numba copies what is
# inlined once more at every level. Numbers are handed to what is not inlined as int64: Numba compiles
# it anew for every type, and for every literal.
OPTIONS = {"nogil": True, "_nrt": False}
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
    count_max: int
    gain_half: int  # gains are wrapped to -gain_half <= gain < gain_half
    config: np.ndarray  # uint8[4, D], by KIND to BASE
    entries: np.ndarray  # int64[S, 8 + C], by N to COUNTS
    counts: np.ndarray  # uint32[S, B, C, D]
    counters: np.ndarray  # the same, uint32[S, B C D]
    shares: np.ndarray  # int16[S, (B + 2) C D], log2 of a counter's term, see `row_of`; S = 0: not wanted
    lo: np.ndarray  # uint8[S, D]
    shift: np.ndarray  # uint8[S, D]
    events: np.ndarray  # int64, by EVENTS
    found: np.ndarray  # int64[D, 3], a split attempt's candidates by CELL to GAIN
    scratch: np.ndarray  # int64[3, C]
    wanted: np.ndarray  # bool[D], whose gains a split attempt computes: all, but for forests, which leave some out
    codes: np.ndarray  # int32[D], an instance's
    places: np.ndarray  # int32[D], those that count it in a slot; -1: none
    scores: np.ndarray  # int64[C], of the last prediction
    logs: np.ndarray  # int32[2, N], terms of naive Bayes for small counts, by SHARE to WHOLE
    bayes_table: np.ndarray
    measure: tuple  # what the board's criterion looks up, by `measure_of`


class Slots(NamedTuple):
    """What instances are counted in and predicted by: parts of a `State`, and the shape of its counts."""

    entries: np.ndarray
    counters: np.ndarray
    shares: np.ndarray
    config: np.ndarray
    lo: np.ndarray
    shift: np.ndarray
    scores: np.ndarray
    logs: np.ndarray
    bayes_table: np.ndarray
    shape: tuple
    lanes: int
    count_max: int


@inlined
def slots_of(state):
    """The `Slots` of a state."""
    return Slots(
        state.entries,
        state.counters,
        state.shares,
        state.config,
        state.lo,
        state.shift,
        state.scores,
        state.logs,
        state.bayes_table,
        state.counts.shape,
        state.lanes,
        state.count_max,
    )
