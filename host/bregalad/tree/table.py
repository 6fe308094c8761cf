"""The table of a tree's nodes, a row for each, and what compiled code does to rows."""

from collections import namedtuple

import numpy as np

from ..compiled import njit
from ..geometry import MISSING

LEAF, NUMERIC, MULTIWAY, ONE_VS_REST, FORK = range(5)  # as NodeKind; the first four as CellKind, with leaf for ignored
NO_NODE = -1
NEVER = -(1 << 62)  # of `due_at`: no attempt yet
KEPT = 0  # of `decision`: nothing is to be done

# name: (dtype, value in a new node). One row holds all of a node's fields, so that a step down the
# tree touches one cache line, and so does what every instance changes: those come first.
FIELDS = {
    "kind": (np.int32, LEAF),
    "attribute": (np.int32, -1),  # tested at an inner node
    "threshold": (np.int32, 0),  # numeric: codes below go to child 0; one-vs-rest: the value
    "child": (np.int32, NO_NODE),  # first child; siblings are consecutive
    "width": (np.int32, 0),  # number of children
    "default": (np.int32, 0),  # branch of missing and unknown values
    "parent": (np.int32, NO_NODE),
    "majority": (np.int32, 0),  # class predicted
    "slot": (np.int32, -1),  # -1: nothing is counted on the board
    "period": (np.int32, 0),  # instances between attempts
    "observed": (np.int64, 0),  # a leaf's arrivals that its slot counts, halved when the board halves them
    "since": (np.int64, 0),  # instances since the last attempt
    "right": (np.int64, 0),  # predictions that were right: majority class's minus naive Bayes's
    "due_at": (np.int64, NEVER),  # instances that the tree had learnt when the last attempt was due
    # What that has come to, and has not taken effect yet; also KEPT.
    "decision": (np.int32, KEPT),
    "cell": (np.int32, -1),
    "value": (np.int32, 0),
    "next": (np.int32, -1),  # of rows that are free: the next family's first
    "low": (np.int32, 0),  # codes [low, high) of the parent's numeric attribute that bins cover
    "high": (np.int32, 0),
    "wait": (np.int32, 0),  # observed instances from which on a tie may be broken, where that adapts
    "tried": (np.int32, 0),  # attempts that went into the averages
    # Of trees that forget. Instances that the tree had learnt before the first one that its slot, and its counts, know.
    "born": (np.int64, 0),
    "made": (np.int64, 0),
}
PER_CLASS = (
    "counts",  # classes seen, as a leaf's predictions use them
    "inherited",  # classes that count in n though the board has not seen them
)
PER_ATTRIBUTE = ("gains",)  # sums of gains per instance over the node's attempts
PER_WINDOW = ("windows",)  # a window of ``drift.adwin`` on the errors made at the node and below
PER_ATTEMPT = ("evidence",)  # what the last attempt that decided has measured, and the one that the node's test is of
MATRICES = (*PER_CLASS, *PER_ATTRIBUTE, *PER_WINDOW, *PER_ATTEMPT)
# Elements of `evidence`, from DECIDED and from MADE on: instances of the total counts, 0: there was no such attempt;
# gain; the gain that it was compared with; by how much it had to be larger.
N, GAIN, RIVAL, BOUND = range(4)
DECIDED, MADE, EVIDENCE = 0, 4, 8
DTYPE = np.dtype([(name, dtype) for name, (dtype, _) in FIELDS.items()], align=True)

# Elements of `Nodes.room`: rows in use, how many of them are killed nodes', and from there on, by
# the size of a family, the first row of one that was killed; its "next" names the next one's.
ROWS, VACANT, FAMILIES = range(3)

Tree = namedtuple("Tree", "table matrices room blank style first_cell stack slot_node edits log")
Tree.__doc__ = """A tree and its slots on a board, for compiled code.

table, matrices, room, blank : arrays of ``Nodes``
style : Style
first_cell : int64 array (attributes,)
    Of the ``CellMap``.
stack, slot_node : arrays of ``SlotPool``
edits : int64 array (rows, EDIT)
    What the board is told of slots is written to it.
log : Log
    Of a ``History``, to which events are written.
"""


@njit()
def take_rows(table, room, count):
    """Rows for a family of ``count`` leaves: the first, or -1 if the table must grow before."""
    for size in range(count, len(room) - FAMILIES):
        first = room[FAMILIES + size]
        if first >= 0:
            room[FAMILIES + size] = table[first]["next"]
            room[VACANT] -= size
            if size > count:
                leave_rows(table, room, first + count, size - count)
            return first
    first = room[ROWS]
    if first + count > len(table):
        return np.int64(-1)
    room[ROWS] += count
    return first


@njit()
def leave_rows(table, room, first, count):
    table[first]["next"] = room[FAMILIES + count]
    room[FAMILIES + count] = first
    room[VACANT] += count


@njit()
def forget_attempt(row):
    """A node's statistics are no more: what its last attempt has come to, or will, is void."""
    row["due_at"], row["decision"] = NEVER, KEPT


@njit(inner=True)
def is_alternate(table, node):
    """Whether a node is the alternate of its fork."""
    parent = table[node]["parent"]
    return parent != NO_NODE and table[parent]["kind"] == FORK and table[parent]["child"] != node


@njit()
def has_alternate(table, node):
    """Whether a node, no fork, stands beside an alternate."""
    parent = table[node]["parent"]
    return parent != NO_NODE and table[parent]["kind"] == FORK and table[parent]["child"] == node


@njit()
def above(table, node):
    """The next node above that counts the instances that a node counts, NO_NODE: there is none.

    Forks count nothing, and what is above an alternate does not count for it.
    """
    parent = table[node]["parent"]
    while parent != NO_NODE and table[parent]["kind"] == FORK:
        if table[parent]["child"] != node:
            return np.int32(NO_NODE)
        node, parent = parent, table[parent]["parent"]
    return parent


@njit()
def standing(table, node):
    """A node, or of a fork the node that predicts."""
    while table[node]["kind"] == FORK:
        node = table[node]["child"]
    return node


@njit()
def code_range(table, node, attribute):
    """The codes ``[low, high)`` of a numeric attribute that a node's bins cover."""
    above = table[node]["parent"]
    while above != NO_NODE:
        if table[above]["kind"] == NUMERIC and table[above]["attribute"] == attribute:
            return table[node]["low"], table[node]["high"]
        node, above = above, table[above]["parent"]
    return np.int32(0), np.int32(MISSING)  # codes 0..254 are values


@njit()
def _place(table, row, new):
    """Give a row other contents, but for what it says of its place in the tree."""
    parent, low, high = table[row]["parent"], table[row]["low"], table[row]["high"]
    table[row] = new
    table[row]["parent"], table[row]["low"], table[row]["high"] = parent, low, high


@njit()
def _move(tree, node, row):
    """Take a node to another row, whose place in the tree it gets; what its last attempt has come to is void."""
    table, (counts, inherited, gains, windows, evidence) = tree.table, tree.matrices
    _place(table, row, table[node])
    counts[row], inherited[row], gains[row], windows[row] = counts[node], inherited[node], gains[node], windows[node]
    evidence[row] = evidence[node]
    forget_attempt(table[row])
    for branch in range(table[row]["width"]):
        table[table[row]["child"] + branch]["parent"] = row


@njit()
def _clear(tree, row):
    """Make a row that of a new node in the same place."""
    counts, inherited, gains, windows, evidence = tree.matrices
    _place(tree.table, row, tree.blank[0])
    counts[row], inherited[row], gains[row], windows[row], evidence[row] = 0, 0, 0, 0, 0


@njit()
def predicting(table, rows):
    """The nodes that predictions pass, parents first, and how far each is from the root; no forks, no alternates."""
    found, depth = np.empty(rows, np.int64), np.empty(rows, np.int64)
    count, at = 1, 0
    found[0], depth[0] = standing(table, 0), 0
    while at < count:
        row = table[found[at]]
        for branch in range(row["width"]):
            found[count], depth[count] = standing(table, row["child"] + branch), depth[at] + 1
            count += 1
        at += 1
    return found[:count], depth[:count]


@njit()
def descendants(table, top, rows):
    """A node and all below it, alternates and what is below them, too, parents first, from left to right."""
    found = np.empty(rows, np.int64)
    stack = np.empty(rows, np.int64)
    stack[0] = top
    height, count = 1, 0
    while height:
        height -= 1
        node = stack[height]
        found[count] = node
        count += 1
        for branch in range(table[node]["width"] - 1, -1, -1):
            stack[height] = table[node]["child"] + branch
            height += 1
    return found[:count]


@njit()
def kill(table, room, node):
    """Forget all below a node, which becomes a leaf."""
    killed = descendants(table, node, room[ROWS])[1:]
    for below in killed:
        row = table[below]
        if row["width"]:
            leave_rows(table, room, np.int64(row["child"]), np.int64(row["width"]))
        row["slot"], row["width"] = -1, 0
        forget_attempt(row)
    row = table[node]
    if row["width"]:
        leave_rows(table, room, np.int64(row["child"]), np.int64(row["width"]))
    row["kind"], row["attribute"], row["child"], row["width"] = LEAF, -1, NO_NODE, 0


@njit()
def fork(tree, node):
    """Make a node a fork of itself and an alternate, a leaf without counts; return the row of the alternate.

    There are rows for two in the table.
    """
    table = tree.table
    first = take_rows(table, tree.room, 2)
    for row in (first, first + 1):
        table[row]["parent"], table[row]["low"], table[row]["high"] = node, table[node]["low"], table[node]["high"]
        _clear(tree, row)
    table[first + 1]["majority"] = table[node]["majority"]
    _move(tree, node, first)
    _clear(tree, node)
    row = table[node]
    row["kind"], row["attribute"], row["child"], row["width"] = FORK, 0, first, 2
    return first + 1


@njit()
def join(tree, node, branch):
    """Let a child of a fork take its place; the other one goes with all below it."""
    first = np.int64(tree.table[node]["child"])
    kill(tree.table, tree.room, first + 1 - branch)
    _move(tree, first + branch, node)
    for row in (first, first + 1):
        _clear(tree, row)
    leave_rows(tree.table, tree.room, first, 2)
