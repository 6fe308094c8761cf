"""The commands of a board that holds trees; between any two of them a LEARN goes on as far as it can."""

import numpy as np

from ....choice import choose
from ....geometry import NONE, Geometry
from ....protocol.commands import COMMAND_BYTES, COMMANDS, WITH_PAYLOAD, CommandFlag, Opcode
from ....protocol.layout import Layout
from ....protocol.leaf_rows import RowOp
from ....protocol.reports import EntryFlag, entry_body
from ....protocol.tree import TREE_COMMANDS, TREE_REPORTS, TreeKind, TreeOpcode
from ....protocol.words import putter
from ..arithmetic import u16, u32
from ..commands import (
    ADDRESS_AT,
    COUNT_AT,
    FAR,
    fence_command,
    in_range,
    load_bytes,
    load_command,
    pass_over,
    wrong,
)
from ..reports import DECODE, error, has_room, put
from ..slots import CELL_AT, SLOT_AT, place, put_class_counts, put_entry_row, read, reset, take_entry, write
from ..state import (
    ASKED,
    FLAGS,
    HALTED,
    LOADING,
    OPTIONS,
    PERIOD,
    SKIP,
    USED,
    compiled,
    inner,
)
from .leaf_rows import write_word
from .quantiser import edges_bytes, layout_bytes, take_edges, take_layout
from .records import is_late, mark
from .state import (
    ADDRESS,
    ASK_UP_TO,
    BASE,
    CODED,
    EDITS,
    FIRST_OPEN,
    LEARNING,
    LEFT,
    MORE,
    NEXT,
    NODE,
    NUMBER,
    ONLY,
    OPEN,
    OUT,
    READY,
    ROOT,
    STOPS_ALL,
    TOLD,
    UNTIL,
)
from .walk import MORE_FOLLOWS, NODE_AT, STOP, edit

__all__ = ["execute"]

# Plain integers, since Numba types every enumeration anew.
RESET, LEARN, FENCE, LOAD = map(int, (Opcode.RESET, Opcode.LEARN, Opcode.FENCE, Opcode.LOAD))
LAYOUT, EDGES, TURN = int(TreeOpcode.LAYOUT), int(TreeOpcode.EDGES), int(TreeOpcode.TURN)
MEMORY, KEEP = int(CommandFlag.MEMORY), int(CommandFlag.KEEP)
ROW = int(TreeKind.ROW)
READ_OP, WRITE_OP, MARK_OP, TALLY_OP = map(int, (RowOp.READ, RowOp.WRITE, RowOp.MARK, RowOp.TALLY))
ROOT_AT = COMMANDS[Opcode.LEARN].offset("root")
ROW_NODE_AT, ROW_WORD_AT, ROW_VALUE_AT = map(TREE_COMMANDS[TreeOpcode.ROW].offset, ("node", "word", "value"))
OF_SLOT_AT, OF_NODE_AT, OF_ONLY_AT, OF_BASE_AT, OF_ASK_AT = map(
    TREE_COMMANDS[TreeOpcode.NODE].offset, ("slot", "node", "only", "base", "ask_up_to")
)
PERIOD_SLOT_AT, PERIOD_AT = map(TREE_COMMANDS[TreeOpcode.PERIOD].offset, ("slot", "period"))
TURN_NUMBER_AT = TREE_COMMANDS[TreeOpcode.TURN].offset("number")
_ENTRY = Layout("entry", *entry_body(Geometry(nodes=1)))  # whose class counts come last
FLAGS_AT, UNTIL_AT, CLASS_COUNTS_AT = map(_ENTRY.offset, ("entry_flags", "until", "class_counts"))
IS_OUT = int(EntryFlag.OUT)
_ROW = TREE_REPORTS[TreeKind.ROW]
ROW_WORDS, put_row = _ROW.size // 4, putter(_ROW, "kind", "node", "value")


# Each executes what ``stream`` has at ``at``; its payload, which is all there, is from ``body`` on. Returns whether it
# is not refused.


@inner
def learn_command(tree, stream, at, body):
    """Begin a LEARN; `learn` takes its rows."""
    state, now = tree.state, tree.at
    if not stream[at + 1] & MEMORY or u16(stream, at + ROOT_AT) >= len(tree.nodes):
        return False
    low, high = u32(stream, at + ADDRESS_AT), u32(stream, at + ADDRESS_AT + 4)
    now[LEARNING], now[TOLD] = 1, 0
    now[CODED] = now[NEXT] = 0
    now[READY] = 1
    now[LEFT], now[ROOT], now[ADDRESS] = u32(stream, at + COUNT_AT), u16(stream, at + ROOT_AT), low | high << 32
    if now[LEFT] and high >= FAR >> 32:
        now[LEARNING] = now[LEFT] = 0
        error(state.out, state.progress, np.int64(DECODE), now[ADDRESS] - low % state.bus_bytes, now[NUMBER])
    return True


@inner
def trial_command(tree, stream, at, body):
    """The trial itself is the caller's."""
    tree.state.progress[ASKED] = u16(stream, at + SLOT_AT) + 1
    return True


@inner
def forget(extra, slot):
    """What a slot's node has beside: nothing."""
    extra[slot] = 0
    extra[slot, ONLY] = NONE


@inner
def clear_command(tree, stream, at, body):
    state, slot = tree.state, u16(stream, at + SLOT_AT)
    reset(state.entries, state.counts, state.counters, state.shares, state.lo, state.shift, slot)
    forget(tree.extra, slot)
    return True


@inner
def place_command(tree, stream, at, body):
    state = tree.state
    place(state.entries, state.counts, state.counters, state.shares, state.lo, state.shift, stream, at)
    if not stream[at + 1] & KEEP:
        forget(tree.extra, u16(stream, at + SLOT_AT))
    return True


@inner
def read_command(tree, stream, at, body):
    state, slot, cell = tree.state, u16(stream, at + SLOT_AT), u16(stream, at + CELL_AT)
    if cell != NONE:
        read(state, slot, cell)
        return True
    entries, out, progress = state.entries, state.out, state.progress
    put_entry_row(entries, out, progress, slot, entries[slot, FLAGS] | (IS_OUT if tree.extra[slot, OUT] else 0))
    put(out, progress, tree.extra[slot, UNTIL])
    put_class_counts(entries, out, progress, slot, state.counts.shape[2])
    return True


@inner
def write_command(tree, stream, at, body):
    state, slot, cell = tree.state, u16(stream, at + SLOT_AT), u16(stream, at + CELL_AT)
    if cell != NONE:
        write(state, slot, cell, stream, body)
        return True
    counts_at = body + CLASS_COUNTS_AT
    take_entry(state.entries, state.counts.shape, state.count_max, slot, stream, body, counts_at)
    forget(tree.extra, slot)
    tree.extra[slot, UNTIL] = u32(stream, body + UNTIL_AT)
    tree.extra[slot, OUT] = stream[body + FLAGS_AT] & IS_OUT != 0
    return True


@inner
def fence(tree, stream, at, body):
    fence_command(tree.state, stream, at, body)
    return True


@inner
def nothing(tree, stream, at, body):
    """RESET of a board that has not halted; LOAD is another's."""
    return True


@inner
def edit_command(tree, stream, at, body):
    now, shape = tree.at, tree.state.counts.shape
    is_late(tree)  # as of before
    now[STOPS_ALL] = stream[at + 1] & STOP != 0
    now[MORE] = stream[at + 1] & MORE_FOLLOWS != 0
    if not edit(tree.nodes, shape[3], shape[0], stream, at):
        return False
    withdraw(now, tree.open, u16(stream, at + NODE_AT))
    now[EDITS] += 1
    now[TOLD], now[READY] = 0, 1
    return True


@inner
def withdraw(now, proposals, node):
    """Proposals of a node that have not locked it yet will not."""
    kept, room = 0, len(proposals)
    for index in range(now[OPEN]):
        place = (now[FIRST_OPEN] + index) % room
        if proposals[place, 0] != node:
            goes = (now[FIRST_OPEN] + kept) % room
            proposals[goes, 0], proposals[goes, 1] = proposals[place, 0], proposals[place, 1]
            kept += 1
    now[OPEN] = kept


@inner
def node_command(tree, stream, at, body):
    slot, node, most = u16(stream, at + OF_SLOT_AT), u16(stream, at + OF_NODE_AT), tree.state.count_max
    if slot >= len(tree.extra) or node >= len(tree.nodes):
        return False
    tree.extra[slot, NODE], tree.extra[slot, ONLY] = node, u16(stream, at + OF_ONLY_AT)
    tree.extra[slot, BASE] = min(u32(stream, at + OF_BASE_AT), most)
    tree.extra[slot, ASK_UP_TO] = min(u32(stream, at + OF_ASK_AT), most)
    return True


@inner
def period_command(tree, stream, at, body):
    slot = u16(stream, at + PERIOD_SLOT_AT)
    if slot >= len(tree.extra):
        return False
    tree.state.entries[slot, PERIOD] = u16(stream, at + PERIOD_AT)
    return True


@inner
def turn_command(tree, stream, at, body):
    now = tree.at
    is_late(tree)  # as of before
    now[OPEN] = now[MORE] = now[EDITS] = 0
    now[STOPS_ALL] = stream[at + 1] & STOP != 0
    now[NUMBER] = u32(stream, at + TURN_NUMBER_AT)
    return True


@inner
def row_command(tree, stream, at, body):
    state = tree.state
    knows = np.int64(len(state.shares) > 0)
    return access(tree.rows, tree.tallies, tree.at, state.out, state.progress, knows, stream, at)


@inner
def access(rows, tallies, now, out, progress, knows_bayes, stream, at):
    """Do something with a leaf row or the counters of predictions; whether there is such a thing."""
    op, node, word = stream[at + 1], u16(stream, at + ROW_NODE_AT), u16(stream, at + ROW_WORD_AT)
    classes = len(tallies)
    if op == READ_OP or op == WRITE_OP:
        if node >= len(rows) or word >= rows.shape[1]:
            return False
        if op == READ_OP:
            put_row(out, progress[USED], (np.int64(ROW), node, rows[node, word]))
            progress[USED] += ROW_WORDS
        else:
            write_word(rows, classes, knows_bayes, node, word, u32(stream, at + ROW_VALUE_AT))
    elif op == MARK_OP:
        mark(out, progress, now)
    elif op == TALLY_OP:
        if max(node, word) >= classes:
            return False
        put_row(out, progress[USED], (np.int64(ROW), node, tallies[node, word]))
        progress[USED] += ROW_WORDS
        tallies[node, word] = 0
    else:
        return False
    return True


@inner
def layout_command(tree, stream, at, body):
    state = tree.state
    take_layout(
        tree.at,
        tree.parts,
        tree.block,
        state.lanes,
        state.bus_bytes,
        tree.searchers,
        tree.places,
        stream,
        at,
        body,
    )
    return True


@inner
def edges_command(tree, stream, at, body):
    take_edges(tree.edges, tree.beginnings, tree.below, tree.searchers, tree.places, stream, at, body)
    return True


@inner
def _unknown(opcode, tree, stream, at, body):
    return False


@inner
def _no_payload(opcode, tree, stream, at):
    return np.int64(0)


@inner
def learn_bytes(tree, stream, at):
    return np.int64(0)  # rows come from memory


@inner
def write_bytes(tree, stream, at):
    bins, classes = tree.state.counts.shape[1:3]
    return np.int64(
        4 * classes + CLASS_COUNTS_AT if u16(stream, at + CELL_AT) == NONE else 4 * bins * classes,
    )


@inner
def load_payload(tree, stream, at):
    return load_bytes(tree.state, stream, at)


_payload = choose(
    WITH_PAYLOAD,
    {Opcode.LEARN: learn_bytes, Opcode.WRITE: write_bytes, Opcode.LOAD: load_payload},
    __file__,
    choose(
        (TreeOpcode.LAYOUT, TreeOpcode.EDGES),
        {TreeOpcode.LAYOUT: layout_bytes, TreeOpcode.EDGES: edges_bytes},
        __file__,
        _no_payload,
        **OPTIONS,
    ),
    **OPTIONS,
)
_execute = choose(
    Opcode,
    {
        Opcode.LEARN: learn_command,
        Opcode.TRIAL: trial_command,
        Opcode.CLEAR: clear_command,
        Opcode.PLACE: place_command,
        Opcode.READ: read_command,
        Opcode.WRITE: write_command,
        Opcode.FENCE: fence,
        Opcode.RESET: nothing,
        Opcode.LOAD: nothing,
    },
    __file__,
    choose(
        TreeOpcode,
        {
            TreeOpcode.EDIT: edit_command,
            TreeOpcode.NODE: node_command,
            TreeOpcode.ROW: row_command,
            TreeOpcode.LAYOUT: layout_command,
            TreeOpcode.EDGES: edges_command,
            TreeOpcode.PERIOD: period_command,
            TreeOpcode.TURN: turn_command,
        },
        __file__,
        _unknown,
        **OPTIONS,
    ),
    **OPTIONS,
)
IS_TREES = np.array([number in set(TreeOpcode) for number in range(256)])
WAITS = np.array([number in (LEARN, FENCE, LOAD, LAYOUT, EDGES, TURN) for number in range(256)])  # for a LEARN's end


@inner
def command(tree, stream, at, head_bytes):
    """Execute a command; bytes consumed, 0 if it is not all there."""
    state = tree.state
    progress, opcode = state.progress, stream[at]
    payload = _payload(opcode, tree, stream, at)
    whole = head_bytes + payload + -payload % state.bus_bytes
    if progress[HALTED]:
        progress[HALTED] = opcode != RESET
        tree.at[READY] = 1
        progress[SKIP] = whole - head_bytes
        return head_bytes
    fine = not (tree.at[LEARNING] and WAITS[opcode])  # for ever
    fine = fine and (IS_TREES[opcode] or in_range(state.counts.shape[0], state.counts.shape[3], stream, at))
    if fine and opcode == LOAD:
        return load_command(state, stream, at, at + head_bytes)
    if fine:
        if at + whole > stream.size:
            return np.int64(0)
        fine = _execute(opcode, tree, stream, at, at + head_bytes)
        if fine:
            return whole
    wrong(state, stream, at)
    progress[SKIP] = whole - head_bytes
    return head_bytes


@compiled
def execute(tree, stream):
    """Execute commands until ``stream`` holds no whole one or there is no room for reports; the bytes consumed.

    Also until a LEARN may go on (``at[READY]``), a slot is to be tried (``progress[ASKED]``) or bytes go to memory
    (``progress[LOADING]``). That is done by whoever calls: compiling all in one takes longest.
    """
    state = tree.state
    progress = state.progress
    head_bytes = max(COMMAND_BYTES, state.bus_bytes)
    at = np.int64(0)
    while not progress[LOADING] and not progress[ASKED] and not (tree.at[LEARNING] and tree.at[READY]):
        if not has_room(state):
            return at
        at = pass_over(progress, stream, at)
        if at + head_bytes > stream.size:
            return at
        step = command(tree, stream, at, head_bytes)
        if not step:
            return at
        at += step
    return at
