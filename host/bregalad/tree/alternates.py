"""Where alternates begin, take over and go: what that does to tree, slots and board, in compiled code."""

import numpy as np

from ..compiled import njit
from .deactivation import activate
from .slots import give_back
from .split import restate
from .table import FORK, ROWS, descendants, fork, has_alternate, join


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
def begin(tree, node, seen):
    """Let an alternate grow beside a node: a leaf that has seen nothing, with a slot if one is free.

    The tree has rows for two, and has learnt ``seen`` instances. Returns the alternate, and how many edits are written.
    """
    alternate = fork(tree, node)
    _follow(tree, np.int64(tree.table[node]["child"]))
    row = tree.table[alternate]
    row["period"], row["wait"] = tree.style.grace, tree.style.first_wait
    used = np.int64(0)
    if tree.stack[0]:
        used = activate(tree, alternate, seen, used)
    return alternate, used


@njit()
def end(tree, node, branch):
    """Let a child of a fork take its place, the alternate (1) or the node beside it; the other goes with all below it.

    Returns how many edits are written.
    """
    table = tree.table
    going = np.int64(table[node]["child"]) + 1 - branch
    below = descendants(table, going, tree.room[0])
    for at in range(len(below) - 1, -1, -1):
        slot = np.int64(table[below[at]]["slot"])
        if slot >= 0:
            give_back(tree.stack, tree.slot_node, slot)
    join(tree, node, branch)
    _follow(tree, node)
    if branch and tree.style.anytime and table[node]["slot"] >= 0:  # what is above counts its instances from now on
        return restate(tree, node, np.int64(0))
    return np.int64(0)


@njit(inner=True)
def _follow(tree, node):
    """Tell the pool of the row that a node has been moved to."""
    slot = tree.table[node]["slot"]
    if slot >= 0:
        tree.slot_node[slot] = node
