"""Slots set up, read and written by commands."""

import numpy as np

from ...geometry import NONE, Geometry
from ...protocol.commands import COMMANDS, CommandFlag, Opcode
from ...protocol.layout import Layout
from ...protocol.reports import Kind, entry_body, statistics_layout
from ...protocol.words import putter, words_before
from .arithmetic import u16, u32
from .counting import HALVED, INNER, UNDERFLOW, clear
from .reports import head, put
from .state import (
    COUNTS,
    CURRENT,
    EXTENT,
    FLAGS,
    LINK,
    PERIOD,
    SINCE,
    TERMS,
    USED,
    N,
    inlined,
    inner,
)

__all__ = [
    "CLASS_COUNTS_AT",
    "SLOT_AT",
    "CELL_AT",
    "obey",
    "place",
    "put_class_counts",
    "put_entry_row",
    "read",
    "reset",
    "take_entry",
    "write",
]

CLEARS = int(Opcode.CLEAR)
KEEP, INNER_COMMAND = int(CommandFlag.KEEP), int(CommandFlag.INNER)
ENTRY, STATISTICS = int(Kind.ENTRY), int(Kind.STATISTICS)
SLOT_AT = COMMANDS[Opcode.PLACE].offset("slot")
PARENT_AT, PLACE_CELL_AT, LO_AT, SHIFT_AT, LINK_AT, CURRENT_AT, PERIOD_AT = map(
    COMMANDS[Opcode.PLACE].offset, ("parent", "cell", "lo", "shift", "link", "current", "period")
)
CELL_AT = COMMANDS[Opcode.READ].offset("cell")
ENTRY_BODY = Layout("entry", *entry_body(Geometry()))  # whose class counts come last
ENTRY_WORDS = words_before(ENTRY_BODY, "class_counts")
put_entry = putter(ENTRY_BODY, "n", "since", "link", "current", "entry_flags", "period")
_STATISTICS = statistics_layout(Geometry())  # whose counts come last
STATISTICS_WORDS, put_statistics = words_before(_STATISTICS, "counts"), putter(_STATISTICS, "kind", "slot", "cell")
(N_AT, SINCE_AT, ENTRY_LINK_AT, ENTRY_CURRENT_AT, ENTRY_FLAGS_AT, ENTRY_PERIOD_AT, CLASS_COUNTS_AT) = map(
    ENTRY_BODY.offset, ("n", "since", "link", "current", "entry_flags", "period", "class_counts")
)


@inner
def reset(entries, counts, counters, shares, lo, shift, slot):
    """Forget a slot, and let its bins cover all codes."""
    clear(entries, counts, counters, shares, slot)
    whole, bins = 8, counts.shape[1]
    while bins > 1:
        bins >>= 1
        whole -= 1
    lo[slot] = 0
    shift[slot] = whole


@inner
def place(entries, counts, counters, shares, lo, shift, stream, at):
    """Execute the command PLACE that lies in ``stream`` from ``at`` on."""
    slot, parent, cell = (u16(stream, at + SLOT_AT), u16(stream, at + PARENT_AT), u16(stream, at + PLACE_CELL_AT))
    if stream[at + 1] & KEEP and cell != NONE:
        lo[slot, cell] = stream[at + LO_AT]
        shift[slot, cell] = stream[at + SHIFT_AT] & 7
        return
    if not stream[at + 1] & KEEP:
        clear(entries, counts, counters, shares, slot)
        for each in range(lo.shape[1]):
            lo[slot, each] = lo[parent, each]
            shift[slot, each] = shift[parent, each]
        if cell != NONE:
            lo[slot, cell] = stream[at + LO_AT]
            shift[slot, cell] = stream[at + SHIFT_AT] & 7
    entries[slot, SINCE] = 0
    entries[slot, LINK] = u16(stream, at + LINK_AT)
    entries[slot, CURRENT] = u16(stream, at + CURRENT_AT)
    entries[slot, PERIOD] = u16(stream, at + PERIOD_AT)
    flags = entries[slot, FLAGS] & ~INNER
    entries[slot, FLAGS] = flags | (INNER if stream[at + 1] & INNER_COMMAND else 0)
    entries[slot, TERMS] = 0


@inner
def obey(entries, counts, counters, shares, lo, shift, stream, used, size):
    """Execute commands CLEAR and PLACE of so many bytes each, ``used`` in all."""
    for at in range(0, used, size):
        if stream[at] == CLEARS:
            reset(entries, counts, counters, shares, lo, shift, u16(stream, at + SLOT_AT))
        else:
            place(entries, counts, counters, shares, lo, shift, stream, at)


@inner
def put_entry_row(entries, out, progress, slot, flags):
    """An ENTRY, up to what only boards with a node table tell."""
    head(out, progress, np.int64(ENTRY), np.int64(0), slot)
    put_entry(
        out,
        progress[USED],
        (
            entries[slot, N],
            entries[slot, SINCE],
            entries[slot, LINK],
            entries[slot, CURRENT],
            flags,
            entries[slot, PERIOD],
        ),
    )
    progress[USED] += ENTRY_WORDS


@inner
def put_class_counts(entries, out, progress, slot, classes):
    for k in range(classes):
        put(out, progress, entries[slot, COUNTS + k])


@inlined
def read(state, slot, cell):
    entries, out, progress = state.entries, state.out, state.progress
    bins, classes = state.counts.shape[1:3]
    if cell == NONE:
        put_entry_row(entries, out, progress, slot, entries[slot, FLAGS])
        put_class_counts(entries, out, progress, slot, classes)
    else:
        put_statistics(out, progress[USED], (np.int64(STATISTICS), slot, cell))
        progress[USED] += STATISTICS_WORDS
        for index in range(bins):
            for k in range(classes):
                put(out, progress, np.int64(state.counts[slot, index, k, cell]))


@inner
def take_entry(entries, shape, count_max, slot, stream, at, counts_at):
    """Set an entry to the one that ``stream`` has at ``at``, its class counts at ``counts_at``."""
    link, current = u16(stream, at + ENTRY_LINK_AT), u16(stream, at + ENTRY_CURRENT_AT)
    entries[slot, N] = u32(stream, at + N_AT) & count_max
    entries[slot, SINCE] = u32(stream, at + SINCE_AT) & 0xFFFFFF
    entries[slot, LINK] = link if link < shape[0] else NONE
    entries[slot, CURRENT] = current if current < shape[3] else NONE
    entries[slot, FLAGS] = stream[at + ENTRY_FLAGS_AT] & (HALVED | UNDERFLOW | INNER)
    entries[slot, PERIOD] = u16(stream, at + ENTRY_PERIOD_AT)
    for k in range(shape[2]):
        entries[slot, COUNTS + k] = u32(stream, counts_at + 4 * k) & count_max
    entries[slot, TERMS] = 0


@inlined
def write(state, slot, cell, stream, at):
    bins, classes = state.counts.shape[1:3]
    entries = state.entries
    if cell == NONE:
        take_entry(entries, state.counts.shape, state.count_max, slot, stream, at, at + CLASS_COUNTS_AT)
    else:
        entries[slot, EXTENT] = bins
        for index in range(bins):
            for k in range(classes):
                state.counts[slot, index, k, cell] = u32(stream, at) & state.count_max
                at += 4
        entries[slot, TERMS] = 0
