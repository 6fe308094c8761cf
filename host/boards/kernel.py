"""The golden model, compiled: the functions of ``sim/golden.py`` on arrays, under their names.

Everything is in one file because Numba's cache notices changes of the caller's file only.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from ..fixed import (
    ALIGNED_FRACTION,
    BAYES_BITS,
    BAYES_FRACTION,
    BAYES_UNIT,
    CURVE_FRACTION,
    SEGMENT_BITS,
    STEP_BITS,
    UNUSED_CLASS,
)
from ..geometry import CRITERIA, GAIN_FRACTION, MISSING, NONE
from ..protocol.commands import COMMAND_BYTES, COMMANDS, CommandFlag, Opcode, RecordFlag
from ..protocol.registers import EVENTS, CellKind
from ..protocol.reports import EntryFlag, ErrorCode, Kind, SuggestionFlag

__all__ = ["State", "PATH_LIMIT", "execute", "fill_logs", "fill_table"]

PATH_LIMIT = 256

# Rows and columns of the state's arrays.
CELLS, CLASSES, ALL, LEAF_GRACE, INNER_GRACE, PREDICTIONS = range(6)
KIND, FIRST, OTHER, BASE = range(4)
N, SINCE, LINK, CURRENT, FLAGS, PERIOD, COUNTS = range(7)
HALTED, LEFT, DONE, IN_MEMORY, ADDRESS, SKIP, USED, PROGRESS = range(8)
CELL, VALUE, GAIN = range(3)
SHARE, WHOLE = range(2)
ALL_NUMERIC, ALL_NOMINAL, MIXED = range(3)  # what the cells in use count
RECORDS, NODES, BEATS, PREDICTED, TRIALS, HALVINGS, CLAMPED, BAD_RECORDS = map(list(EVENTS).index, (
    "records", "nodes", "beats", "predictions", "trials", "halvings", "clamped", "bad_records"))

# Plain integers, since Numba types every enumeration anew.
INFORMATION_GAIN, GINI, KEARNS_MANSOUR, CLASSIFICATION_ERROR = range(len(CRITERIA))
IGNORED, NUMERIC, MULTIWAY = CellKind.IGNORED, CellKind.NUMERIC, CellKind.MULTIWAY
LEARN, TRIAL, CLEAR, PLACE, READ, WRITE, FENCE, RESET = map(int, (
    Opcode.LEARN, Opcode.TRIAL, Opcode.CLEAR, Opcode.PLACE, Opcode.READ, Opcode.WRITE,
    Opcode.FENCE, Opcode.RESET))
MEMORY, INNER_COMMAND, KEEP = map(int, (CommandFlag.MEMORY, CommandFlag.INNER, CommandFlag.KEEP))
MINUS, TEST = int(RecordFlag.MINUS), int(RecordFlag.TEST)
HALVED, UNDERFLOW, INNER = map(int, (EntryFlag.HALVED, EntryFlag.UNDERFLOW, EntryFlag.INNER))
REQUESTED = int(SuggestionFlag.REQUESTED)
SUGGESTION, GAINS, STATISTICS, ENTRY, FENCED, ERROR, PREDICTION, SCORES = map(int, (
    Kind.SUGGESTION, Kind.GAINS, Kind.STATISTICS, Kind.ENTRY, Kind.FENCE, Kind.ERROR,
    Kind.PREDICTION, Kind.SCORES))
BAD_COMMAND, DECODE = int(ErrorCode.COMMAND), int(ErrorCode.DECODE)
RECORD_HEAD = 4

COUNT_AT = COMMANDS[Opcode.LEARN].offset("count")
ADDRESS_AT = COMMANDS[Opcode.LEARN].offset("address")
SLOT_AT = COMMANDS[Opcode.PLACE].offset("slot")
PARENT_AT, PLACE_CELL_AT, LO_AT, SHIFT_AT, LINK_AT, CURRENT_AT, PERIOD_AT = map(
    COMMANDS[Opcode.PLACE].offset,
    ("parent", "cell", "lo", "shift", "link", "current", "period"))
CELL_AT = COMMANDS[Opcode.READ].offset("cell")
TOKEN_AT = COMMANDS[Opcode.FENCE].offset("token")

FAR = 1 << 62  # no memory reaches here; below it, addresses do not overflow

# The error model spares checks of divisors; none is 0.
compiled = njit(cache=True, nogil=True, error_model="numpy")
# A call that takes arrays counts references; here that would take longer than the rest.
inlined = njit(cache=True, nogil=True, error_model="numpy", inline="always")


class State(NamedTuple):
    """A board's state; S slots, D cells, B bins, C classes."""

    lanes: int
    bus_bytes: int
    count_max: int
    gain_half: int  # gains are wrapped to -gain_half <= gain < gain_half
    criterion: int  # by CRITERIA
    reserve: int  # words that the reports of one record or command need at most
    registers: np.ndarray  # int64[6], by CELLS to PREDICTIONS
    config: np.ndarray  # uint8[4, D], by KIND to BASE
    entries: np.ndarray  # int64[S, 6 + C], by N to COUNTS
    counts: np.ndarray  # uint32[S, D, B, C]
    shares: np.ndarray  # int32[S, D, B, C], log2 of a counter's term, at leaves; S = 0: not wanted
    lo: np.ndarray  # uint8[S, D]
    shift: np.ndarray  # uint8[S, D]
    events: np.ndarray  # int64, by EVENTS
    progress: np.ndarray  # int64[7], by HALTED to USED
    found: np.ndarray  # int64[D, 3], a trial's candidates by CELL to GAIN
    left: np.ndarray  # uint32[D, C], their left class counts
    scratch: np.ndarray  # int64[2, C]
    scores: np.ndarray  # int64[C], of the last prediction
    logs: np.ndarray  # int32[2, N], terms of naive Bayes for small counts, by SHARE to WHOLE
    bayes_table: np.ndarray
    table: np.ndarray  # int64, x log2 x of small x
    curve_base: np.ndarray  # what the criterion interpolates
    curve_slope: np.ndarray
    memory: np.ndarray  # uint8, read-only
    faults: np.ndarray  # int64[F, 2], bus word address and error code
    out: np.ndarray  # uint32, reports


# Arithmetic


@compiled
def leading(x):
    """Where the leading one is; 0 for 0."""
    exponent = 0
    for step in (32, 16, 8, 4, 2, 1):
        if x >> exponent + step:
            exponent += step
    return exponent


@compiled
def interpolate(base, slope, bits):
    segment, step = bits >> STEP_BITS, bits & ((1 << STEP_BITS) - 1)
    return base[segment] + ((slope[segment] * step + (1 << STEP_BITS - 1)) >> STEP_BITS)


@compiled
def mantissa_bits(x, exponent):
    return ((x << 31 - exponent) & 0x7FFFFFFF) >> 31 - SEGMENT_BITS - STEP_BITS


@compiled
def log2_fixed(x, log_base, log_slope):
    exponent = leading(x)
    bits = mantissa_bits(x, exponent)
    return (exponent << GAIN_FRACTION) + interpolate(log_base, log_slope, bits)


@compiled
def fill_table(table, log_base, log_slope):
    """``table[x]`` = x log2 x."""
    table[0] = 0
    for x in range(1, table.size):
        table[x] = x * log2_fixed(x, log_base, log_slope)


@inlined
def xlog2x(x, table, log_base, log_slope):
    return table[np.uint64(x)] if x < table.size else x * log2_fixed(x, log_base, log_slope)


@compiled
def bayes_log2(x, bayes_table):
    exponent = leading(x)
    mantissa = (x << BAYES_BITS >> exponent) - (1 << BAYES_BITS)
    return (exponent << BAYES_FRACTION) + bayes_table[mantissa]


@compiled
def fill_logs(logs, bayes_table):
    """``logs[SHARE, n]``: log2 of a count's term, ``logs[WHOLE, n]``: of a class count, n > 0."""
    logs[:, 0] = 0
    for n in range(1, logs.shape[1]):
        logs[SHARE, n] = bayes_log2(BAYES_UNIT * n + 1, bayes_table)
        logs[WHOLE, n] = bayes_log2(n, bayes_table)


@inlined
def share_log(n, logs, bayes_table):
    small = n < logs.shape[1]
    return (np.int64(logs[SHARE, np.uint64(n)]) if small
            else bayes_log2(BAYES_UNIT * n + 1, bayes_table))


@inlined
def whole_log(n, logs, bayes_table):
    small = n < logs.shape[1]
    return np.int64(logs[WHOLE, np.uint64(n)]) if small else bayes_log2(n, bayes_table)


@compiled
def wrap(gain, half):
    return ((gain + half) & (2 * half - 1)) - half


@compiled
def u16(data, at):
    return np.int64(data[at]) | np.int64(data[at + 1]) << 8


@compiled
def u32(data, at):
    return u16(data, at) | u16(data, at + 2) << 16


# Reports


@compiled
def put(state, word):
    state.out[state.progress[USED]] = word & 0xFFFFFFFF
    state.progress[USED] += 1


@compiled
def head(state, kind, flags, slot):
    put(state, kind | flags << 8 | slot << 16)


@compiled
def has_room(state):
    return state.progress[USED] + state.reserve <= state.out.size


@compiled
def error(state, code, address_low, address_high, count):
    head(state, ERROR, code, 0)
    put(state, address_low)
    put(state, address_high)
    put(state, count)
    state.progress[HALTED] = 1


# LEARN


@compiled
def failing_word(state, address, length):
    """``(bus word, error code)`` of the first word that memory does not answer, or (-1, 0)."""
    bus = state.bus_bytes
    inside = state.memory.size - state.memory.size % bus
    if not len(state.faults) and address + length <= inside:
        return -1, 0
    for word in range(address - address % bus, address + length, bus):
        for i in range(len(state.faults)):
            if state.faults[i, 0] == word:
                return word, state.faults[i, 1]
        if word >= inside:
            return word, DECODE
    return -1, 0


@compiled
def learn(state, stream, at):
    """Count records until none is left, there, or there is room; where ``stream`` is at then."""
    progress = state.progress
    cells = state.registers[CELLS]
    size = RECORD_HEAD + cells
    mix = mixture(state.config, cells)
    where = np.arange(cells)
    data = state.memory if progress[IN_MEMORY] else stream
    while progress[LEFT] and has_room(state):
        number = progress[LEFT]
        if progress[IN_MEMORY]:
            at_record = progress[ADDRESS]
            word, code = failing_word(state, at_record, size)
            if word >= 0:
                error(state, code, word, word >> 32, progress[DONE])
                progress[LEFT] = 0
                break
            inside = data.size - data.size % state.bus_bytes
            number = 1 if len(state.faults) else min(number, (inside - at_record) // size)
        else:
            at_record = at
            number = min(number, (stream.size - at) // size)
            if not number:
                break
        if state.registers[PREDICTIONS]:
            number = min(number, 1 + (state.out.size - progress[USED] - state.reserve)
                         // prediction_words(state.registers, state.counts))
        done = plain_records(
            state.entries, state.counts, state.shares, state.lo, state.shift, state.config,
            state.events, mix, state.lanes, state.count_max, state.registers, state.scores,
            state.logs, state.bayes_table, state.out, progress, data, at_record, where, number)
        if done < number:
            record(state, data, at_record + done * size, where, mix)
            done += 1
        progress[LEFT] -= done
        progress[DONE] += done
        if progress[IN_MEMORY]:
            progress[ADDRESS] += done * size
        else:
            at += done * size
    return at


@compiled
def mixture(config, cells):
    """Whether the cells in use are all numeric, all nominal and counted from code 0, or mixed."""
    numeric = nominal = 0
    for cell in range(cells):
        kind = config[KIND, cell]
        numeric += kind == NUMERIC
        nominal += (kind != NUMERIC and kind != IGNORED and not config[BASE, cell]
                    and not config[OTHER, cell])
    return ALL_NUMERIC if numeric == cells else ALL_NOMINAL if nominal == cells else MIXED


@compiled
def plain_records(entries, counts, shares, lo, shift, config, events, mix, lanes, count_max,
                  registers, scores, logs, bayes_table, out, progress, data, at, where, number):
    """Count or test up to ``number`` records and stop before the first that needs `record`.

    Such a record is bad, has weight -1, or makes a node on its path halve or start a trial. Loops
    with a call that takes the whole state would count references of all its arrays each time.
    There must be room for all predictions. Returns the records done.
    """
    slots, classes = counts.shape[0], counts.shape[3]
    cells = registers[CELLS]
    leaf_grace, inner_grace = registers[LEAF_GRACE], registers[INNER_GRACE]
    nodes = clamped = tests = 0
    done = 0
    while done < number:
        first, label, flags = u16(data, at), np.int64(data[at + 2]), data[at + 3]
        if first >= slots or label >= classes:
            break
        if flags & TEST:
            if registers[PREDICTIONS]:
                predict(entries, counts, shares, lo, shift, config, events, mix, registers, scores,
                        logs, bayes_table, out, progress, first, data, at + RECORD_HEAD, where)
            tests += 1
            at += RECORD_HEAD + cells
            done += 1
            continue
        if flags & MINUS:
            break
        slot, depth = first, 0
        while slot != NONE and depth < PATH_LIMIT:
            grace = inner_grace if entries[slot, FLAGS] & INNER else leaf_grace
            grace = entries[slot, PERIOD] or grace
            since = (entries[slot, SINCE] + 1) & 0xFFFFFF
            if entries[slot, N] == count_max or grace and since >= grace:
                break
            slot = entries[slot, LINK]
            depth += 1
        if slot != NONE:
            break
        if registers[PREDICTIONS]:
            predict(entries, counts, shares, lo, shift, config, events, mix, registers, scores,
                    logs, bayes_table, out, progress, first, data, at + RECORD_HEAD, where)
        slot = first
        while slot != NONE:
            clamped += add(entries, counts, shares, lo, shift, config, mix, lanes, count_max,
                           logs, bayes_table, slot, label, data, at + RECORD_HEAD, where)
            slot = entries[slot, LINK]
        nodes += depth
        at += RECORD_HEAD + cells
        done += 1
    nodes += tests
    events[RECORDS] += done - tests
    events[NODES] += nodes
    events[BEATS] += nodes * ((cells + lanes - 1) // lanes)
    events[CLAMPED] += clamped
    return done


@inlined
def add(entries, counts, shares, lo, shift, config, mix, lanes, count_max, logs, bayes_table,
        slot, label, data, at, where):
    """Count an instance in a slot that is not full; beats in which a counter was.

    The code of cell c is ``data[at + where[c]]``.
    """
    slot = np.uint64(slot)
    row = np.uint64(COUNTS + label)
    entries[slot, N] += 1
    entries[slot, SINCE] = (entries[slot, SINCE] + 1) & 0xFFFFFF
    entries[slot, row] = (entries[slot, row] + 1) & count_max
    return count_codes(counts, shares, keeps_shares(entries, shares, slot), lo, shift, config, mix,
                       lanes, count_max, 1, logs, bayes_table, slot, label, data, at, where)


@inlined
def keeps_shares(entries, shares, slot):
    """Whether a slot's ``shares`` are up to date: those of inner nodes are made when asked for."""
    return len(shares) and not entries[slot, FLAGS] & INNER


@compiled
def record(state, data, at, where, mix):
    """Count a record that `plain_records` leaves; never one with TEST, unless it is bad."""
    slot, label = u16(data, at), np.int64(data[at + 2])
    if slot >= state.counts.shape[0] or label >= state.counts.shape[3]:
        state.events[BAD_RECORDS] += 1
        return
    minus = data[at + 3] & MINUS != 0
    if state.registers[PREDICTIONS]:
        predict(state.entries, state.counts, state.shares, state.lo, state.shift, state.config,
                state.events, mix, state.registers, state.scores, state.logs, state.bayes_table,
                state.out, state.progress, slot, data, at + RECORD_HEAD, where)
    state.events[RECORDS] += 1
    for _ in range(PATH_LIMIT):
        count(state, slot, label, minus, data, at + RECORD_HEAD, where, mix)
        slot = state.entries[slot, LINK]
        if slot == NONE:
            break


@compiled
def count(state, slot, label, minus, data, at, where, mix):
    """Update one node with an instance; try it if its grace period is over."""
    entries = state.entries
    if not minus:
        if entries[slot, N] == state.count_max:
            halve(entries, state.counts, state.shares, state.events, state.logs,
                  state.bayes_table, slot)
        entries[slot, N] += 1
        entries[slot, COUNTS + label] = (entries[slot, COUNTS + label] + 1) & state.count_max
        entries[slot, SINCE] = (entries[slot, SINCE] + 1) & 0xFFFFFF
    elif entries[slot, COUNTS + label] and entries[slot, N]:
        entries[slot, N] -= 1
        entries[slot, COUNTS + label] -= 1
    else:
        entries[slot, FLAGS] |= UNDERFLOW
    limit, step = (0, -1) if minus else (state.count_max, 1)
    state.events[CLAMPED] += count_codes(
        state.counts, state.shares, keeps_shares(entries, state.shares, slot), state.lo,
        state.shift, state.config, mix, state.lanes, limit, step, state.logs, state.bayes_table,
        slot, label, data, at, where)
    state.events[BEATS] += (len(where) + state.lanes - 1) // state.lanes
    state.events[NODES] += 1
    grace = state.registers[INNER_GRACE if entries[slot, FLAGS] & INNER else LEAF_GRACE]
    grace = entries[slot, PERIOD] or grace
    if not minus and grace and entries[slot, SINCE] >= grace:
        trial(state, slot, 0)


@compiled
def count_codes(counts, shares, keep, lo, shift, config, mix, lanes, limit, step, logs,
                bayes_table, slot, label, data, at, where):
    """Add ``step`` to the counter of each code that is not at ``limit``; beats with one that is."""
    last = counts.shape[2] - 1
    clamped, stuck_beat = 0, -1
    slot, label = np.uint64(slot), np.uint64(label)
    for cell in range(len(where)):
        # Unsigned, since an index that may be negative is tested for it.
        code = np.int64(data[np.uint64(at + where[cell])])
        index = bin_of(config, lo, shift, last, mix, slot, cell, code)
        if index < 0:
            continue
        old = counts[slot, cell, np.uint64(index), label]
        if old != limit:
            counts[slot, cell, np.uint64(index), label] = old + step
            if keep:
                shares[slot, cell, np.uint64(index), label] = share_log(
                    old + step, logs, bayes_table)
        elif cell // lanes != stuck_beat:
            stuck_beat = cell // lanes
            clamped += 1
    return clamped


@inlined
def bin_of(config, lo, shift, last, mix, slot, cell, code):
    """The bin that counts a code, -1 if it is not counted; ``mix``: as ``mixture`` gives it."""
    if code == MISSING:
        return -1
    if mix == ALL_NUMERIC:
        return min(max(code - lo[slot, cell], 0) >> shift[slot, cell], last)
    if mix == ALL_NOMINAL:
        return code if code <= last else -1
    return mixed_bin(config, lo, shift, last, slot, cell, code)


@compiled
def mixed_bin(config, lo, shift, last, slot, cell, code):
    kind = config[KIND, cell]
    if kind == IGNORED:
        return -1
    if kind == NUMERIC:
        return min(max(code - lo[slot, cell], 0) >> shift[slot, cell], last)
    value = code - config[BASE, cell]
    other = config[OTHER, cell]
    if 0 <= value <= (last - 1 if other else last):
        return value
    return last if other else -1


# Naive Bayes


@compiled
def prediction_words(registers, counts):
    return 1 if registers[PREDICTIONS] == 1 else 1 + counts.shape[3]


@compiled
def predict(entries, counts, shares, lo, shift, config, events, mix, registers, scores, logs,
            bayes_table, out, progress, slot, data, at, where):
    """Report a record's naive Bayes prediction from the statistics of its slot."""
    if entries[slot, FLAGS] & INNER:
        restate(counts, shares, logs, bayes_table, slot)
    width = shares.shape[3]
    classes = min(registers[CLASSES], width)
    label = classify(entries, shares, lo, shift, config, mix, classes, scores, logs,
                     bayes_table, slot, data, at, where)
    used = progress[USED]
    kind = PREDICTION if registers[PREDICTIONS] == 1 else SCORES
    out[used] = kind | label << 8 | slot << 16
    used += 1
    if kind == SCORES:
        for k in range(width):
            out[used] = (scores[k] if k < classes else UNUSED_CLASS) & 0xFFFFFFFF
            used += 1
    progress[USED] = used
    events[PREDICTED] += 1


@compiled
def classify(entries, shares, lo, shift, config, mix, classes, scores, logs, bayes_table, slot,
             data, at, where):
    """The class that naive Bayes predicts; ``scores``: log2 of every one's share, less a constant.

    The code of cell c is ``data[at + where[c]]``.
    """
    last = shares.shape[2] - 1
    known = 0
    slot = np.uint64(slot)
    scores[:] = 0
    for cell in range(len(where)):
        code = np.int64(data[np.uint64(at + where[cell])])
        index = bin_of(config, lo, shift, last, mix, slot, cell, code)
        # A wide attribute's last bin counts the values that other cells score.
        if index < 0 or mix == MIXED and index == last and is_shared(config, cell):
            continue
        known += 1
        for k in range(classes):
            scores[k] += shares[slot, cell, np.uint64(index), k]
    for k in range(classes):
        n = entries[slot, COUNTS + k]
        if n:
            scores[k] += whole_log(n, logs, bayes_table)
            scores[k] -= known * whole_log(n + 1, logs, bayes_table)
        else:
            scores[k] = UNUSED_CLASS
    label = 0
    for k in range(1, classes):
        if scores[k] > scores[label]:
            label = k
    return label


@compiled
def is_shared(config, cell):
    """Whether a cell's last bin counts the values of other cells."""
    return config[OTHER, cell] and config[KIND, cell] != NUMERIC


@compiled
def halve(entries, counts, shares, events, logs, bayes_table, slot):
    entries[slot, N] >>= 1
    for k in range(counts.shape[3]):
        entries[slot, COUNTS + k] >>= 1
    entries[slot, FLAGS] |= HALVED
    row = counts[slot].reshape(-1)
    for i in range(row.size):
        row[i] >>= 1
    events[HALVINGS] += 1
    restate(counts, shares, logs, bayes_table, slot)


@compiled
def restate(counts, shares, logs, bayes_table, slot):
    """Work out the terms of a slot's counters anew, if they are wanted."""
    cells, bins, classes = counts.shape[1:]
    for cell in range(len(shares) and cells):
        for index in range(bins):
            for k in range(classes):
                shares[slot, cell, index, k] = share_log(counts[slot, cell, index, k], logs,
                                                         bayes_table)


# Trials


@compiled
def trial(state, slot, requested):
    all_gains = state.registers[ALL]
    head(state, GAINS if all_gains else SUGGESTION, state.entries[slot, FLAGS] | requested, slot)
    state.progress[USED] = put_trial(
        state.entries, state.counts, state.config, state.found, state.left, state.scratch,
        state.table, state.curve_base, state.curve_slope, slot, state.registers[CELLS],
        min(state.registers[CLASSES], state.counts.shape[3]), state.count_max, state.gain_half,
        state.criterion, all_gains, state.out, state.progress[USED])
    state.entries[slot, SINCE] = 0
    state.entries[slot, FLAGS] &= ~(HALVED | UNDERFLOW)
    state.events[TRIALS] += 1


@compiled
def put_trial(entries, counts, config, found, left, scratch, table, base, slope, slot, cells,
              classes, count_max, gain_half, criterion, all_gains, out, used):
    """Compute a slot's gains and write what its report says of them; the words used then.

    Array by array, as calls and loops with the whole state would count references of all.
    """
    for cell in range(cells):
        gain(config, counts, slot, cell, classes, count_max, gain_half, found, left, scratch,
             criterion, table, base, slope)
        if cell and not config[FIRST, cell] and config[KIND, cell] != IGNORED:
            join(config, found, left, cell, gain_half)
    width = counts.shape[3]
    out[used] = entries[slot, N]
    used += 1
    for k in range(width):
        out[used + k] = entries[slot, COUNTS + k]
    used += width
    if all_gains:
        for cell in range(cells):
            used = put_candidate(found, cell, out, used)
        return used
    best, second, current = top(found, cells, entries[slot, CURRENT])
    for cell in (best, second, current):
        used = put_candidate(found, cell, out, used)
    for k in range(width):
        out[used + k] = left[best, k] if best >= 0 else 0
    return used + width


@compiled
def put_candidate(found, cell, out, used):
    """Write a cell's candidate, an empty one if it has none or ``cell`` is negative."""
    valid = cell >= 0 and found[cell, CELL] != NONE
    best = found[cell, GAIN] if valid else 0
    out[used] = found[cell, CELL] | found[cell, VALUE] << 16 | 1 << 24 if valid else NONE
    out[used + 1] = best & 0xFFFFFFFF
    out[used + 2] = best >> 32 & 0xFFFFFFFF
    return used + 3


@compiled
def join(config, found, left, cell, gain_half):
    """Make a later cell's candidate that of the attribute up to it; none at the cell before."""
    group = cell - 1
    multiway = config[KIND, cell] == MULTIWAY
    before = found[group, GAIN]
    if multiway:
        before = wrap(before + found[cell, GAIN], gain_half)
    if multiway or found[cell, GAIN] <= before:
        found[cell, GAIN], found[cell, VALUE] = before, found[group, VALUE]
        for k in range(left.shape[1]):
            left[cell, k] = left[group, k]
    found[cell, CELL] = found[group, CELL]
    found[group, CELL] = NONE


@compiled
def top(found, cells, current_cell):
    """Cells of the best, second best and current attribute, -1 for none; ties to the lower."""
    best = second = current = -1
    for cell in range(cells):
        if found[cell, CELL] == NONE:
            continue
        if found[cell, CELL] == current_cell:
            current = cell
        if best < 0 or found[cell, GAIN] > found[best, GAIN]:
            best, second = cell, best
        elif second < 0 or found[cell, GAIN] > found[second, GAIN]:
            second = cell
    return best, second, current


@compiled
def gain(config, counts, slot, cell, classes, count_max, gain_half, found, left, scratch,
         criterion, table, base, slope):
    """Set a cell's candidate (multiway: its share of the attribute's gain)."""
    kind = config[KIND, cell]
    own_values = counts.shape[2] - config[OTHER, cell]
    found[cell, CELL] = NONE if kind == IGNORED else cell
    found[cell, VALUE] = found[cell, GAIN] = 0
    for k in range(left.shape[1]):
        left[cell, k] = 0
    if kind == MULTIWAY:
        found[cell, GAIN] = gain_multiway(
            counts, slot, cell, classes, own_values, config[FIRST, cell], count_max, gain_half,
            scratch, criterion, table, base, slope)
    elif kind != IGNORED:
        numeric = kind == NUMERIC
        value, best = gain_binary(
            counts, slot, cell, classes, counts.shape[2] - 1 if numeric else own_values, numeric,
            count_max, gain_half, scratch, left, criterion, table, base, slope)
        first_code = 0 if numeric else np.int64(config[BASE, cell])
        found[cell, VALUE] = (first_code + value) & 0xFF
        found[cell, GAIN] = best


@compiled
def gain_multiway(counts, slot, cell, classes, own_values, first, count_max, gain_half, scratch,
                  criterion, table, base, slope):
    total, row = scratch[0], scratch[1]
    share = 0
    if first:
        sum_bins(counts, slot, cell, classes, count_max, total)
        share = impurity(total, classes, count_max, criterion, table, base, slope)
    for value in range(own_values):
        for k in range(classes):
            row[k] = counts[slot, cell, value, k]
        share -= impurity(row, classes, count_max, criterion, table, base, slope)
    return wrap(share, gain_half)


@compiled
def gain_binary(counts, slot, cell, classes, values, numeric, count_max, gain_half, scratch,
                shown_left, criterion, table, base, slope):
    """Value and gain of the best threshold (numeric), or value against the rest."""
    total, left = scratch[0], scratch[1]
    sum_bins(counts, slot, cell, classes, count_max, total)
    whole = impurity(total, classes, count_max, criterion, table, base, slope)
    for k in range(classes):
        left[k] = 0
    best_value, best = -1, 0
    entropy = criterion == INFORMATION_GAIN
    for value in range(values):
        if numeric and best_value >= 0 and is_empty(counts, slot, cell, value, classes):
            continue  # the same sides as before
        # The sides' impurities, beside the loop that finds the sides: twice as fast as by calls.
        n_left = n_right = squares_left = squares_right = parts = 0
        for k in range(classes):
            side = np.int64(counts[slot, cell, value, k])
            left[k] = (left[k] + side) & count_max if numeric else side
            right = (total[k] - left[k]) & count_max
            n_left += left[k]
            n_right += right
            if entropy:
                parts -= xlog2x(left[k], table, base, slope)
                parts -= xlog2x(right, table, base, slope)
            else:
                squares_left += left[k] * left[k]
                squares_right += right * right
        if entropy:
            parts += xlog2x(n_left & count_max, table, base, slope)
            parts += xlog2x(n_right & count_max, table, base, slope)
        elif criterion == GINI:
            parts = (gini(n_left & count_max, squares_left, count_max, base, slope)
                     + gini(n_right & count_max, squares_right, count_max, base, slope))
        elif criterion == CLASSIFICATION_ERROR:
            parts = 0
            for n, side in ((n_left, 0), (n_right, 1)):
                most = 0
                for k in range(classes):
                    most = max(most, (total[k] - left[k]) & count_max if side else left[k])
                parts += max(0, (n & count_max) - most) << GAIN_FRACTION
        elif classes == 2:
            parts = (kearns_mansour(left[0], left[1], base, slope)
                     + kearns_mansour((total[0] - left[0]) & count_max, right, base, slope))
        candidate = wrap(whole - parts, gain_half)
        if best_value < 0 or candidate > best:
            best_value, best = value, candidate
            for k in range(classes):
                shown_left[cell, k] = left[k]
    return best_value, best


@compiled
def is_empty(counts, slot, cell, value, classes):
    for k in range(classes):
        if counts[slot, cell, value, k]:
            return False
    return True


@compiled
def sum_bins(counts, slot, cell, classes, count_max, total):
    for k in range(classes):
        n = 0
        for value in range(counts.shape[2]):
            n += counts[slot, cell, value, k]
        total[k] = n & count_max


@inlined
def impurity(counts, classes, count_max, criterion, table, base, slope):
    """n times the impurity of the counts, by the criterion."""
    n = squares = parts = most = 0
    for k in range(classes):
        n += counts[k]
        if criterion == INFORMATION_GAIN:
            parts += xlog2x(counts[k], table, base, slope)
        else:
            squares += counts[k] * counts[k]
            most = max(most, counts[k])
    n &= count_max
    if criterion == INFORMATION_GAIN:
        return xlog2x(n, table, base, slope) - parts
    if criterion == GINI:
        return gini(n, squares, count_max, base, slope)
    if criterion == CLASSIFICATION_ERROR:
        return max(0, n - most) << GAIN_FRACTION
    return kearns_mansour(counts[0], counts[1], base, slope) if classes == 2 else 0


@compiled
def gini(n, squares, count_max, base, slope):
    """n - squares / n, 0 if n = 0; ``squares`` may have wrapped at 64 bits."""
    if not n:
        return 0
    # Without a sign: at W = 32, all bits are needed.
    pairs = np.uint64(n * n - squares) & np.uint64(count_max) * np.uint64(count_max + 2)
    exponent = leading(n)
    if exponent >= ALIGNED_FRACTION:
        aligned = pairs >> np.uint64(exponent - ALIGNED_FRACTION)
    else:
        aligned = pairs << np.uint64(ALIGNED_FRACTION - exponent)
    aligned &= np.uint64((count_max + 1 << ALIGNED_FRACTION + 1) - 1)
    reciprocal = interpolate(base, slope, mantissa_bits(n, exponent))
    return np.int64(aligned) * reciprocal >> ALIGNED_FRACTION + CURVE_FRACTION - GAIN_FRACTION


@compiled
def kearns_mansour(one, other, base, slope):
    i, j = leading(one) >> 1, leading(other) >> 1
    low = 32 - SEGMENT_BITS - STEP_BITS
    a = interpolate(base, slope, (one << 30 - 2 * i) >> low)
    b = interpolate(base, slope, (other << 30 - 2 * j) >> low)
    return (a * b >> 2 * CURVE_FRACTION - GAIN_FRACTION) << i + j


# Slots


@compiled
def clear(state, slot):
    """Forget a slot, except for its zoom."""
    state.entries[slot] = 0
    state.entries[slot, LINK] = state.entries[slot, CURRENT] = NONE
    state.counts[slot] = 0
    if len(state.shares):
        state.shares[slot] = 0  # log2 of 1


@compiled
def place(state, stream, at):
    slot, parent, cell = (u16(stream, at + SLOT_AT), u16(stream, at + PARENT_AT),
                          u16(stream, at + PLACE_CELL_AT))
    if not stream[at + 1] & KEEP:
        clear(state, slot)
        state.lo[slot] = state.lo[parent]
        state.shift[slot] = state.shift[parent]
        if cell != NONE:
            state.lo[slot, cell] = stream[at + LO_AT]
            state.shift[slot, cell] = stream[at + SHIFT_AT] & 7
    state.entries[slot, SINCE] = 0
    state.entries[slot, LINK] = u16(stream, at + LINK_AT)
    state.entries[slot, CURRENT] = u16(stream, at + CURRENT_AT)
    state.entries[slot, PERIOD] = u16(stream, at + PERIOD_AT)
    if state.entries[slot, FLAGS] & INNER:
        restate(state.counts, state.shares, state.logs, state.bayes_table, slot)
    flags = state.entries[slot, FLAGS] & ~INNER
    state.entries[slot, FLAGS] = flags | (INNER if stream[at + 1] & INNER_COMMAND else 0)


@compiled
def read(state, slot, cell):
    entries = state.entries
    if cell == NONE:
        head(state, ENTRY, 0, slot)
        put(state, entries[slot, N])
        put(state, entries[slot, SINCE])
        put(state, entries[slot, LINK] | entries[slot, CURRENT] << 16)
        put(state, entries[slot, FLAGS] | entries[slot, PERIOD] << 16)
        for k in range(state.counts.shape[3]):
            put(state, entries[slot, COUNTS + k])
    else:
        head(state, STATISTICS, 0, slot)
        put(state, cell)
        for counts in state.counts[slot, cell]:
            for value in counts:
                put(state, np.int64(value))


@compiled
def write(state, slot, cell, stream, at):
    store(state, slot, cell, stream, at)
    restate(state.counts, state.shares, state.logs, state.bayes_table, slot)


@compiled
def store(state, slot, cell, stream, at):
    slots, cells, bins, classes = state.counts.shape
    entries = state.entries
    if cell == NONE:
        link, current = u16(stream, at + 8), u16(stream, at + 10)
        entries[slot, N] = u32(stream, at) & state.count_max
        entries[slot, SINCE] = u32(stream, at + 4) & 0xFFFFFF
        entries[slot, LINK] = link if link < slots else NONE
        entries[slot, CURRENT] = current if current < cells else NONE
        entries[slot, FLAGS] = stream[at + 12] & (HALVED | UNDERFLOW | INNER)
        entries[slot, PERIOD] = u16(stream, at + 14)
        for k in range(classes):
            entries[slot, COUNTS + k] = u32(stream, at + 16 + 4 * k) & state.count_max
    else:
        for index in range(bins):
            for k in range(classes):
                state.counts[slot, cell, index, k] = u32(stream, at) & state.count_max
                at += 4


# Commands


@compiled
def execute(state, stream):
    """Execute commands until ``stream`` holds no whole one or there is no room for reports.

    A LEARN is taken record by record, so its beginning is executed before its end is there.
    Returns the bytes consumed.
    """
    progress = state.progress
    head_bytes = max(COMMAND_BYTES, state.bus_bytes)
    at = 0
    while True:
        if progress[LEFT]:
            at = learn(state, stream, at)
            if progress[LEFT]:
                return at
        if progress[SKIP]:
            step = min(progress[SKIP], stream.size - at)
            progress[SKIP] -= step
            at += step
            if progress[SKIP]:
                return at
        if at + head_bytes > stream.size or not has_room(state):
            return at
        step = command(state, stream, at, head_bytes)
        if not step:
            return at
        at += step


@compiled
def payload_bytes(state, stream, at):
    """Bytes behind a command's head, without padding."""
    opcode = stream[at]
    if opcode == LEARN and not stream[at + 1] & MEMORY:
        return u32(stream, at + COUNT_AT) * (RECORD_HEAD + state.registers[CELLS])
    if opcode == WRITE:
        bins, classes = state.counts.shape[2:]
        return 4 * (4 + classes if u16(stream, at + CELL_AT) == NONE else bins * classes)
    return 0


@compiled
def in_range(state, stream, at):
    """Is the opcode known, and does every slot and cell of the command exist?"""
    slots, cells = state.counts.shape[:2]
    opcode = stream[at]
    if opcode in (LEARN, FENCE, RESET):
        return True
    if opcode in (TRIAL, CLEAR):
        return u16(stream, at + SLOT_AT) < slots
    if opcode in (READ, WRITE):
        cell = u16(stream, at + CELL_AT)
        return u16(stream, at + SLOT_AT) < slots and (cell < cells or cell == NONE)
    if opcode != PLACE:
        return False
    link, cell, current = (u16(stream, at + LINK_AT), u16(stream, at + PLACE_CELL_AT),
                           u16(stream, at + CURRENT_AT))
    return (u16(stream, at + SLOT_AT) < slots and u16(stream, at + PARENT_AT) < slots
            and (link < slots or link == NONE) and (cell < cells or cell == NONE)
            and (current < cells or current == NONE))


@compiled
def command(state, stream, at, head_bytes):
    """Execute one command, LEARN up to its records; bytes consumed, 0 if it is not all there."""
    progress = state.progress
    opcode, flags, slot = stream[at], stream[at + 1], u16(stream, at + SLOT_AT)
    payload = payload_bytes(state, stream, at)
    padding = -payload % state.bus_bytes
    if progress[HALTED]:
        progress[HALTED] = opcode != RESET
        progress[SKIP] = payload + padding
    elif not in_range(state, stream, at):
        error(state, BAD_COMMAND, u32(stream, at), u32(stream, at + 4), 0)
        progress[SKIP] = payload + padding
    elif opcode == LEARN:
        progress[LEFT] = u32(stream, at + COUNT_AT)
        progress[DONE] = 0
        progress[IN_MEMORY] = flags & MEMORY
        progress[SKIP] = padding
        high = u32(stream, at + ADDRESS_AT + 4)
        low = u32(stream, at + ADDRESS_AT)
        progress[ADDRESS] = low | high << 32
        if progress[IN_MEMORY] and progress[LEFT] and high >= FAR >> 32:
            error(state, DECODE, low - low % state.bus_bytes, high, 0)
            progress[LEFT] = 0
    elif opcode == TRIAL:
        trial(state, slot, REQUESTED)
    elif opcode == CLEAR:
        clear(state, slot)
        state.lo[slot] = 0
        state.shift[slot] = root_shift(state)
    elif opcode == PLACE:
        place(state, stream, at)
    elif opcode == READ:
        read(state, slot, u16(stream, at + CELL_AT))
    elif opcode == WRITE:
        if at + head_bytes + payload + padding > stream.size:
            return 0
        write(state, slot, u16(stream, at + CELL_AT), stream, at + head_bytes)
        return head_bytes + payload + padding
    elif opcode == FENCE:
        head(state, FENCED, 0, 0)
        put(state, u32(stream, at + TOKEN_AT))
    return head_bytes


@compiled
def root_shift(state):
    shift, bins = 8, state.counts.shape[2]
    while bins > 1:
        bins >>= 1
        shift -= 1
    return shift
