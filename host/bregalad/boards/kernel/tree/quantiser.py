"""Rows to codes: a layout's steps taken apart into attributes, and the search among an attribute's edges."""

import numpy as np

from ....geometry import MISSING
from ....protocol.rows import EDGES, KEY_BYTES, KIND_BYTES, ROW_COMMAND, STEP, RowKind, StepFlag
from ..arithmetic import u16, u32
from ..state import compiled, inlined, inner
from .state import (
    BUCKET_BITS,
    FLAGS_AT,
    INDEX,
    LABEL_AT,
    LIMIT,
    OFFSET,
    ORIGIN,
    PART_KIND,
    PARTS,
    PLACE,
    REACH,
    SHIFT,
    STEP_OF,
    STRIDE,
)

__all__ = ["edges_bytes", "encode", "layout_bytes", "take_edges", "take_layout"]

COUNT_AT, LANE_AT, ROW_AT, STRIDE_AT, NEED_AT = map(ROW_COMMAND.offset, ("count", "lane", "row", "stride", "need"))
WINDOW, HEAD, ADVANCE, CHANGE, FIRST, END, STEP_ROW, STEP_KIND, STEP_FLAGS = map(
    STEP.offset, ("window", "head", "advance", "change", "first", "end", "row", "kind", "flags")
)
STEP_BYTES = STEP.size
BEAT, LAST, LABEL, FLAGS = map(int, (StepFlag.BEAT, StepFlag.LAST, StepFlag.LABEL, StepFlag.FLAGS))
CODE, U8, U16, I32, F32 = map(int, (RowKind.CODE, RowKind.U8, RowKind.U16, RowKind.I32, RowKind.F32))
BYTES = np.array([KIND_BYTES[kind] for kind in RowKind], np.int64)
SIGN, ALL, ZERO, ONE = map(np.uint32, (1 << 31, 0xFFFFFFFF, 0, 1))
BUCKETS, LAST_BUCKET = 1 << BUCKET_BITS, np.uint32((1 << BUCKET_BITS) - 1)
INFINITE, BELOW = map(np.uint32, (0xFF800000, 0x007FFFFF))  # keys of both infinities; beyond them is no number


@inlined
def layout_bytes(tree, stream, at):
    return u32(stream, at + COUNT_AT) * STEP_BYTES


@inlined
def edges_bytes(tree, stream, at):
    return u32(stream, at + COUNT_AT) * KEY_BYTES


@inner
def signed(stream, at):
    value = u16(stream, at)
    return value - ((value & 0x8000) << 1)


@inner
def take_layout(at, parts, block, lanes, bus_bytes, searchers, places, stream, head, body):
    """Take a layout's steps apart; what lies outside the row, or belongs to no code, is dropped."""
    stride, need = u16(stream, head + STRIDE_AT), u16(stream, head + NEED_AT)
    at[STRIDE], at[LABEL_AT], at[FLAGS_AT], at[PARTS] = max(stride, 1), -1, -1, 0
    block[:] = MISSING
    base, reach, beat = np.int64(0), np.int64(0), np.int64(0)
    for number in range(u32(stream, head + COUNT_AT)):
        step = body + number * STEP_BYTES
        reach = max(reach, base + need)
        flags, kind = stream[step + STEP_FLAGS], np.int64(stream[step + STEP_KIND])
        first_byte, window = base + signed(stream, step + HEAD), base + signed(stream, step + WINDOW)
        if flags & LABEL and 0 <= first_byte < stride:
            at[LABEL_AT] = first_byte
        if flags & FLAGS and 0 <= first_byte + 1 < stride:
            at[FLAGS_AT] = first_byte + 1
        for lane in range(u16(stream, step + FIRST), min(u16(stream, step + END), lanes)):
            index = beat * lanes + lane
            searcher = lane % searchers
            place = searcher * places + u16(stream, step + STEP_ROW)
            if kind > F32 or index >= block.shape[1]:
                continue
            offset = window + (lane % bus_bytes if kind == CODE else BYTES[kind] * searcher)
            if not 0 <= offset <= stride - BYTES[kind] or at[PARTS] == len(parts):
                continue
            part = at[PARTS]
            parts[part, INDEX], parts[part, PART_KIND], parts[part, OFFSET] = index, kind, offset
            parts[part, PLACE] = min(place, len(parts) - 1)
            at[PARTS] += 1
        if flags & LAST:
            break
        beat += flags & BEAT != 0
        base += u16(stream, step + ADVANCE)
        need += signed(stream, step + CHANGE)
    at[REACH] = reach
    # What lies behind the bytes that the steps ask for might be behind the memory.
    kept = 0
    for part in range(at[PARTS]):
        if parts[part, OFFSET] + BYTES[parts[part, PART_KIND]] <= reach:
            for column in range(parts.shape[1]):
                parts[kept, column] = parts[part, column]
            kept += 1
    at[PARTS] = kept
    for which in (LABEL_AT, FLAGS_AT):
        if at[which] >= reach:
            at[which] = -1


@inner
def take_edges(edges, beginnings, below, searchers, places, stream, head, body):
    """Take an attribute's keys, which rise, and see where a search may begin.

    Keys beyond its places, and of an attribute that there is not, are dropped.
    """
    lane, row = u16(stream, head + LANE_AT), u16(stream, head + ROW_AT)
    if lane >= searchers or row >= places:
        return
    place = lane * places + row
    count = min(u32(stream, head + COUNT_AT), EDGES)
    edges[place] = ALL
    for index in range(count):
        edges[place, index] = u32(stream, body + index * KEY_BYTES)
    origin = np.int64(edges[place, 0]) if count else np.int64(0)
    shift = 0
    while count and (np.int64(edges[place, count - 1]) - origin) >> shift >= BUCKETS:
        shift += 1
    known = first = most = 0
    for index in range(count):
        bucket = min(max(np.int64(edges[place, index]) - origin, 0) >> shift, BUCKETS - 1)
        if bucket >= known:
            below[place, known : bucket + 1] = first = index
            known = bucket + 1
        most = max(most, index - first + 1)
    below[place, known:] = count
    step = 1
    while 2 * step <= most:
        step *= 2
    beginnings[place, ORIGIN], beginnings[place, SHIFT] = origin, shift
    beginnings[place, STEP_OF], beginnings[place, LIMIT] = step, count


@compiled
def encode(tree, first, rows):
    """Codes of the ``rows`` rows from byte ``first`` of memory on; those that the layout does not have are missing.

    Attribute by attribute, a step per loop, since each loop by itself is made vector instructions of.
    """
    at, parts, block, keys, found, data = tree.at, tree.parts, tree.block, tree.keys, tree.found, tree.state.memory
    edges, beginnings, below = tree.edges, tree.beginnings, tree.below
    stride = np.uint64(at[STRIDE])
    for part in range(at[PARTS]):
        kind, index = parts[part, PART_KIND], parts[part, INDEX]
        where = np.uint64(first + parts[part, OFFSET])
        if kind == CODE:
            for row in range(rows):
                block[row, index] = data[where]
                where += stride
            continue
        for row in range(rows):
            key = np.uint32(data[where])
            if kind != U8:
                key |= np.uint32(data[where + np.uint64(1)]) << np.uint32(8)
            if kind == I32 or kind == F32:
                high = np.uint32(data[where + np.uint64(2)]) | np.uint32(data[where + np.uint64(3)]) << np.uint32(8)
                key |= high << np.uint32(16)
            keys[row] = key
            where += stride
        if kind == I32:
            for row in range(rows):
                keys[row] ^= SIGN
        elif kind == F32:
            for row in range(rows):
                keys[row] ^= ALL if keys[row] & SIGN else SIGN
        place = parts[part, PLACE]
        table, starts, beginning = edges[place], below[place], beginnings[place]
        origin, shift, step, limit = beginning[ORIGIN], beginning[SHIFT], beginning[STEP_OF], beginning[LIMIT]
        for row in range(rows):
            key = keys[row]
            found[row] = min((key - origin if key > origin else ZERO) >> shift, LAST_BUCKET)
        for row in range(rows):
            found[row] = starts[found[row]]
        while step:
            for row in range(rows):
                found[row] += step if table[found[row] + step - ONE] <= keys[row] else ZERO
            step >>= ONE
        if kind == F32:
            for row in range(rows):
                code = min(found[row], limit)
                block[row, index] = MISSING if keys[row] > INFINITE or keys[row] < BELOW else code
        else:
            for row in range(rows):
                block[row, index] = min(found[row], limit)
