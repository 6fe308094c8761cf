"""How a board that routes records down the tree is kept learning, in compiled code.

One LEARN after the other, decisions at the ends of blocks, and the reviews of who holds a slot. What takes what a board
knows is asked for first (``queries.request``); `go_on` goes on where the answers are all there.
"""

import numpy as np

from ...compiled import njit
from ...engine.event_counts import INSTANCES, REPLACED, SPLITS, TIES
from ...engine.history import REPLACED as REPLACES
from ...engine.history import SPLIT as DIVIDED
from ...engine.history import record_event
from ...policy.decide import KEEP, SPLIT, TIE
from ...protocol.commands import COMMANDS, CommandFlag, Opcode
from ...protocol.tree import TREE_COMMANDS, TreeOpcode
from ...protocol.words import putter
from ...tree import edits as columns
from ...tree.blocks import length_of, next_of
from ...tree.deactivation import competing, divide, review
from ...tree.split import cells_of, sides_of
from ...tree.table import LEAF
from .node_edits import UNREPORTED
from .queries import CHOICE, DONE, LEAVES, NODE, RUNS, WHOLE, report_changes, request

_LEARN, _MEMORY = int(Opcode.LEARN), int(CommandFlag.MEMORY)
_GO = int(TreeOpcode.GO)
_MOST = (1 << 32) - 1  # rows of a LEARN
_PLACE, _CLEAR = int(Opcode.PLACE), int(Opcode.CLEAR)
_KEEP_FLAG, _INNER_FLAG = int(CommandFlag.KEEP), int(CommandFlag.INNER)
_put_place = putter(
    COMMANDS[Opcode.PLACE], "opcode", "flags", "slot", "parent", "cell", "lo", "shift", "link", "current"
)
_put_learn = putter(COMMANDS[Opcode.LEARN], "opcode", "flags", "root", "count", "address")
_put_go = putter(TREE_COMMANDS[TreeOpcode.GO], "opcode", "flags", "length")


@njit(inner=True)
def go_on(answers, used, anytime):  # noqa: C901 (compiled)
    """Go on until the board is to answer, all is done, or the driver has to see to a decision; ``at["state"]`` says.

    Decisions but splits are the driver's. A split for which the node table has no room is none. ``used`` as in
    `request`, which also says what is returned; ``anytime`` as in `take`.
    """
    at, tree, event_counts = answers.at[0], answers.tree, answers.event_counts
    table = tree.table
    while not at["waiting"] and not at["at_work"]:
        if at["reviewing"]:  # by what `request` has brought
            at["reviewing"] = 0
            changed, written = review(tree, event_counts[INSTANCES])
            used = put_edits(tree.edits, written, answers.step, answers.out, used)
            if changed:
                used = report_changes(answers, WHOLE, used)
        at["state"] = RUNS
        if at["running"] and not at["waits"]:
            break
        if at["waits"]:
            node = next_of(table, tree.room[0], at["made"])
            if node < 0:
                at["batch"] = at["waits"] = 0
                length = length_of(answers.rule, table, tree.room[0])
                used = _put_go(answers.out, used, answers.step, (_GO, 0, length - 1))
                continue
            if table[node]["decision"] != SPLIT and table[node]["decision"] != TIE:
                at["batch"] = 0  # the driver asks for what it needs
                at["state"] = LEAVES
                break
            if tree.room[0] > tree.style.most_rows:
                table[node]["decision"] = KEEP
                continue
            place = _place(answers, node)
            if place >= 0:
                used = _decide(answers, node, place, used, anytime)
                continue
            free = tree.stack[0]
            few = free < answers.branches
            _gather(answers, node, np.int64(1) if few else free // answers.branches)
            used = request(answers, CHOICE if few else NODE, node, 1, used)
            continue
        if at["ended"]:
            at["ended"] = 0
            if at["reviews"] and event_counts[INSTANCES] % at["reviews"] == 0 and competing(table, tree.room):
                at["reviewing"] = 1
                used = request(answers, CHOICE, 0, 0, used)
                continue
        if not at["left"]:
            at["state"] = DONE
            break
        used = _learn(answers, used)
    return used


@njit(inner=True)
def _learn(answers, used):
    """Have the board learn rows, up to a review."""
    at = answers.at[0]
    count = min(at["left"], _MOST)
    if at["reviews"]:
        count = min(count, at["reviews"] - answers.event_counts[INSTANCES] % at["reviews"])
    used = _put_learn(answers.out, used, answers.step, (_LEARN, _MEMORY, answers.first_node, count, at["address"]))
    at["running"] = 1
    at["left"] -= count
    at["address"] += count * at["stride"]
    return used


@njit(inner=True)
def _gather(answers, node, most):
    """Which decisions are asked for at once: a node's, and others as long as there are slots for all they make."""
    table, at, batch = answers.tree.table, answers.at[0], answers.batch
    batch[0, 0], at["batch"] = node, 1
    for other in range(answers.tree.room[0]):
        row = table[other]
        splits = row["decision"] == SPLIT or row["decision"] == TIE
        if splits and row["due_at"] <= at["made"] and other != node and at["batch"] < min(most, len(batch)):
            batch[at["batch"], 0] = other
            at["batch"] += 1


@njit(inner=True)
def _place(answers, node):
    """Where in the batch a node is, whose statistics have come; -1: nowhere."""
    for place in range(answers.at[0]["batch"]):
        if answers.batch[place, 0] == node:
            return np.int64(place)
    return np.int64(-1)


@njit(inner=True)
def _decide(answers, node, place, used, anytime):
    """Split a node as its last attempt has decided, by what `request` has brought, and tell the board."""
    tree, event_counts = answers.tree, answers.event_counts
    row = tree.table[node]
    cell, value, tie = np.int64(row["cell"]), np.int64(row["value"]), row["decision"] == TIE
    kind = np.int64(answers.kind[cell])
    attribute, _, cells = cells_of(tree.first_cell, answers.form.attribute, cell)
    each = answers.bins.shape[1] - (cells > 1)  # a cell of several has a bin for other values
    first = answers.batch[place, 1]
    answers.batch[place, 0] = -1
    values = np.empty((cells * each, answers.bins.shape[2]), np.int64)
    for part in range(cells):
        values[part * each : (part + 1) * each] = answers.bins[first + part, :each]
    row["decision"] = KEEP
    event_counts[SPLITS if row["kind"] == LEAF else REPLACED] += 1
    event_counts[TIES] += tie
    event = DIVIDED if row["kind"] == LEAF else REPLACES
    sides, observed = sides_of(values, kind, value), answers.observed[place].copy()
    written = divide(tree, node, attribute, kind, value, values, sides, observed, tie, anytime, 1)
    record_event(tree, event, node, event_counts[INSTANCES])
    used = put_edits(answers.tree.edits, written, answers.step, answers.out, used)
    first = np.int64(row["child"])
    answers.reported[first : first + row["width"], 0] = UNREPORTED  # new, whatever stood there
    return report_changes(answers, WHOLE if answers.at[0]["scope"] == CHOICE else node, used)


@njit()
def put_edits(edits, count, step, out, used):
    """Write the first ``count`` edits of slots as commands of ``step`` words; words of ``out`` with commands then."""
    for i in range(count):
        edit = edits[i]
        if edit[columns.WHAT] == columns.CLEAR:
            used = _put_place(out, used, step, (_CLEAR, 0, edit[columns.SLOT], 0, 0, 0, 0, 0, 0))
        else:
            flags = _KEEP_FLAG * (edit[columns.FLAGS] & columns.KEEP != 0) | _INNER_FLAG * (
                edit[columns.FLAGS] & columns.INNER != 0
            )
            place = (
                edit[columns.SLOT],
                edit[columns.PARENT],
                edit[columns.CELL],
                edit[columns.LO],
                edit[columns.SHIFT],
                edit[columns.LINK],
                edit[columns.CURRENT],
            )
            used = _put_place(out, used, step, (_PLACE, flags, *place))
    return used
