"""LEARN: records, counted along their paths or tested."""

import numpy as np

from ...geometry import BYTE_CLASSES, NONE
from ...protocol.commands import LABEL_HIGH, PATH_LIMIT, RECORD_HEADER, RecordFlag
from .arithmetic import u16
from .bayes import predict, prediction_words
from .bins import gather, locate, mixture
from .counting import INNER, add, count_places, halve, take_off
from .reports import DECODE, RECORD_HEAD, error, has_room
from .state import (
    ADDRESS,
    BAD_RECORDS,
    BEATS,
    CELLS,
    CLAMPED,
    COUNTS,
    DONE,
    FLAGS,
    IN_MEMORY,
    INNER_GRACE,
    LEAF_GRACE,
    LEFT,
    LINK,
    NODES,
    PERIOD,
    PREDICTIONS,
    RECORDS,
    SINCE,
    USED,
    N,
    compiled,
    inlined,
    inner,
)
from .trials import trial

__all__ = ["MINUS", "TEST", "count", "due", "failing_word", "learn"]

MINUS, TEST = int(RecordFlag.MINUS), int(RecordFlag.TEST)
SLOT_AT, LABEL_AT, FLAGS_AT = map(RECORD_HEADER.offset, ("slot", "label", "flags"))


@inner
def label_of(data, at, classes):
    """The class of the record at ``at``."""
    label = np.int64(data[at + LABEL_AT])
    if classes > BYTE_CLASSES:
        label |= np.int64(data[at + FLAGS_AT]) >> LABEL_HIGH << 8
    return label


@inner
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
    where, codes, places = state.order[:cells], state.codes[:cells], state.places[:cells]
    data = state.memory if progress[IN_MEMORY] else stream
    while progress[LEFT] and has_room(state):
        number = progress[LEFT]
        if progress[IN_MEMORY]:
            at_record = progress[ADDRESS]
            word, code = failing_word(state, at_record, size)
            if word >= 0:
                error(state.out, progress, code, word, progress[DONE])
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
            number = min(
                number,
                1
                + (state.out.size - progress[USED] - state.reserve) // prediction_words(state.registers, state.counts),
            )
        done = plain_records(
            state.entries,
            state.counts,
            state.counters,
            state.shares,
            state.lo,
            state.shift,
            state.config,
            state.events,
            mix,
            state.lanes,
            state.count_max,
            state.registers,
            state.scores,
            state.logs,
            state.bayes_table,
            state.out,
            progress,
            data,
            at_record,
            where,
            codes,
            places,
            number,
        )
        if done < number:
            record(state, data, at_record + done * size, where, codes, places, mix)
            done += 1
        progress[LEFT] -= done
        progress[DONE] += done
        if progress[IN_MEMORY]:
            progress[ADDRESS] += done * size
        else:
            at += done * size
    return at


@inner
def plain_records(
    entries,
    counts,
    counters,
    shares,
    lo,
    shift,
    config,
    events,
    mix,
    lanes,
    count_max,
    registers,
    scores,
    logs,
    bayes_table,
    out,
    progress,
    data,
    at,
    where,
    codes,
    places,
    number,
):
    """Count or test up to ``number`` records and stop before the first that needs `record`.

    Such a record is bad, has weight -1, or makes a node on its path halve or start a trial. Loops
    with a call that takes the whole state would count references of all its arrays each time.
    There must be room for all predictions. Returns the records done.
    """
    shape = counts.shape
    cells = registers[CELLS]
    leaf_grace, inner_grace = registers[LEAF_GRACE], registers[INNER_GRACE]
    nodes = clamped = tests = 0
    done = 0
    while done < number:
        first, label, flags = u16(data, at + SLOT_AT), label_of(data, at, shape[2]), data[at + FLAGS_AT]
        if first >= shape[0] or label >= shape[2]:
            break
        test = flags & TEST != 0
        depth = 0
        if not test:
            if flags & MINUS:
                break
            slot = first
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
        rows = gather(mix, shape, data, at + RECORD_HEAD, where, codes, places)
        if registers[PREDICTIONS]:
            predict(
                entries,
                counts,
                counters,
                shares,
                lo,
                shift,
                config,
                events,
                mix,
                registers,
                scores,
                logs,
                bayes_table,
                out,
                progress,
                first,
                codes,
                places,
            )
        slot = NONE if test else first
        while slot != NONE:
            locate(config, lo, shift, mix, shape, slot, codes, places)
            clamped += add(
                entries, counters, shares, shape[3], lanes, count_max, 1, logs, bayes_table, slot, label, places, rows
            )
            slot = entries[slot, LINK]
        tests += test
        nodes += 1 if test else depth
        at += RECORD_HEAD + cells
        done += 1
    events[RECORDS] += done - tests
    events[NODES] += nodes
    events[BEATS] += nodes * ((cells + lanes - 1) // lanes)
    events[CLAMPED] += clamped
    return done


@inlined
def record(state, data, at, where, codes, places, mix):
    """Count a record that `plain_records` leaves; never one with TEST, unless it is bad."""
    slot, label = u16(data, at + SLOT_AT), label_of(data, at, state.counts.shape[2])
    if slot >= state.counts.shape[0] or label >= state.counts.shape[2]:
        state.events[BAD_RECORDS] += 1
        return
    minus = data[at + FLAGS_AT] & MINUS != 0
    shape = state.counts.shape
    rows = gather(mix, shape, data, at + RECORD_HEAD, where, codes, places)
    if state.registers[PREDICTIONS]:
        predict(
            state.entries,
            state.counts,
            state.counters,
            state.shares,
            state.lo,
            state.shift,
            state.config,
            state.events,
            mix,
            state.registers,
            state.scores,
            state.logs,
            state.bayes_table,
            state.out,
            state.progress,
            slot,
            codes,
            places,
        )
    state.events[RECORDS] += 1
    for _ in range(PATH_LIMIT):
        locate(state.config, state.lo, state.shift, mix, shape, slot, codes, places)
        count(state, slot, label, minus, places, rows)
        if due(state.entries, state.registers, slot) and not minus:
            trial(state, np.int64(slot), np.int64(0))
        slot = state.entries[slot, LINK]
        if slot == NONE:
            break


@inlined
def due(entries, registers, slot):
    """Whether a slot's grace period is over."""
    grace = registers[INNER_GRACE if entries[slot, FLAGS] & INNER else LEAF_GRACE]
    grace = entries[slot, PERIOD] or grace
    return grace and entries[slot, SINCE] >= grace


@inlined
def count(state, slot, label, minus, places, rows):
    """Update one node with an instance."""
    entries, shape = state.entries, state.counts.shape
    if not minus:
        if entries[slot, N] == state.count_max:
            halve(entries, shape, state.counters, state.events, slot)
        entries[slot, N] += 1
        entries[slot, COUNTS + label] = (entries[slot, COUNTS + label] + 1) & state.count_max
        entries[slot, SINCE] = (entries[slot, SINCE] + 1) & 0xFFFFFF
    else:
        take_off(entries, slot, label)
    limit, step = (0, -1) if minus else (state.count_max, 1)
    state.events[CLAMPED] += count_places(
        entries,
        state.counters,
        state.shares,
        shape[3],
        state.lanes,
        limit,
        step,
        state.logs,
        state.bayes_table,
        slot,
        label,
        places,
        rows,
    )
    state.events[BEATS] += (len(places) + state.lanes - 1) // state.lanes
    state.events[NODES] += 1
