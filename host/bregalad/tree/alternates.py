"""Where alternates begin, take over and go: what that does to tree, slots and board, in compiled code."""

import numpy as np

from ..compiled import njit
from ..geometry import NONE
from .activation import activate
from .edits import KEEP
from .slots import give_back
from .split import place
from .table import FORK, ROWS, descendants, fork, has_alternate, join

__all__ = ["begin", "end", "may_begin", "ways"]


@njit()
def ways(table, rows, beside):
    """How many alternates a record goes down at most, if one more begins beside a node; -1: none does."""
    found = np.zeros(rows, np.int64)  # from each node on
    nodes = descendants(table, 0, rows)
    for at in range(len(nodes) - 1, -1, -1):
        node = nodes[at]
        row = table[node]
        most = np.int64(0)
        for branch in range(row["width"]):
            below = found[row["child"] + branch]
            most = most + below + branch if row["kind"] == FORK else max(most, below)
        found[node] = most + (node == beside)
    return found[0]


@njit()
def may_begin(table, room, style, node):
    """Whether the board has room for an alternate beside a node, which may have one that goes before."""
    if room[ROWS] > style.most_rows:
        return False
    return has_alternate(table, node) or ways(table, room[ROWS], node) <= style.most_alternates


@njit()
def begin(table, matrices, room, blank, style, first_cell, stack, slot_node, node, seen, out):
    """Let an alternate grow beside a node: a leaf that has seen nothing, with a slot if one is free.

    Parameters
    ----------
    table, matrices, room, blank : arrays of ``Nodes``
        With room for two.
    stack, slot_node : arrays of ``SlotPool``
    node : int
    seen : int
        Instances that the tree has learnt.
    out : int64 array (rows, EDIT)
        Is given the edits of slots.

    Returns
    -------
    alternate, used : int
        The latter are rows of ``out``.
    """
    alternate = fork(table, matrices, room, blank, node)
    _follow(table, slot_node, np.int64(table[node]["child"]))
    row = table[alternate]
    row["period"], row["wait"] = style.grace, style.first_wait
    used = np.int64(0)
    if stack[0]:
        used = activate(table, matrices, style, first_cell, stack, slot_node, alternate, seen, out, used)
    return alternate, used


@njit()
def end(table, matrices, room, blank, style, first_cell, stack, slot_node, node, branch, out):
    """Let a child of a fork take its place, the alternate (1) or the node beside it; the other goes with all below it.

    No slot of what goes has a link that the board would go on following. Others as for `begin`; returns ``used``.
    """
    going = np.int64(table[node]["child"]) + 1 - branch
    below = descendants(table, going, room[0])
    for at in range(len(below) - 1, -1, -1):
        slot = np.int64(table[below[at]]["slot"])
        if slot >= 0:
            give_back(stack, slot_node, slot)
    join(table, matrices, room, blank, node, branch)
    _follow(table, slot_node, node)
    slot = np.int64(table[node]["slot"])
    if branch and style.anytime and slot >= 0:  # what is above it counts its instances from now on
        none, zero = np.int64(NONE), np.int64(0)
        return place(table, style, first_cell, node, slot, np.int64(KEEP), none, zero, zero, out, zero)
    return np.int64(0)


@njit(inner=True)
def _follow(table, slot_node, node):
    """Tell the pool of the row that a node has been moved to."""
    slot = table[node]["slot"]
    if slot >= 0:
        slot_node[slot] = node
