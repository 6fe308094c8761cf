"""What a node without a slot is given with one, in compiled code: statistics that begin anew, edits."""

import numpy as np

from ..compiled import njit
from ..geometry import NONE
from .edits import CELL, CLEAR, KEEP, SLOT, WHAT
from .slots import take_slot
from .split import place, restate, zoom_of
from .table import LEAF, forget_trial


@njit()
def role_period(tree, node):
    """Instances between trials of a node, where it has no period of its own."""
    return tree.style.grace if tree.table[node]["kind"] == LEAF else tree.style.inner_period


@njit()
def begin_anew(tree, node):
    """All that is known of a node from its statistics begins anew."""
    gains, row = tree.matrices[2], tree.table[node]
    row["since"] = row["own"] = row["tried"] = 0
    gains[node] = 0
    row["period"] = role_period(tree, node)
    forget_trial(row)


@njit()
def rezoom(tree, node, at):
    """Write the edits that set a cleared slot's zoom to what its node's path asks for: one per attribute at most.

    ``at`` as in ``split.place``, which also says what is returned.
    """
    table, edits = tree.table, tree.edits
    slot = np.int64(table[node]["slot"])
    begun, step = at, np.int64(node)
    while table[step]["parent"] >= 0:
        cell, lo, shift = zoom_of(tree, step)
        told = cell == NONE
        for before in range(begun, at):  # nearer to the node
            told |= edits[before, CELL] == cell
        if not told:
            at = place(tree, node, slot, np.int64(KEEP), cell, lo, shift, at)
        step = np.int64(table[step]["parent"])
    return at


@njit()
def activate(tree, node, seen, at):
    """Give a node without a slot a free one; its statistics start anew, with so many instances ``seen`` by the tree.

    ``at`` as in ``split.place``, which also says what is returned.
    """
    counts, base, _, _, _ = tree.matrices
    row = tree.table[node]
    row["slot"] = slot = take_slot(tree.stack, tree.slot_node, node)
    begin_anew(tree, node)
    row["born"] = seen
    if row["kind"] == LEAF and tree.style.inherit:
        base[node] = counts[node]
    else:
        base[node] = 0
    tree.edits[at, WHAT], tree.edits[at, SLOT] = CLEAR, slot
    return restate(tree, node, rezoom(tree, node, at + 1))
