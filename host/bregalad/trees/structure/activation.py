"""What a node without a slot is given with one, in compiled code: statistics that begin anew, edits."""

import numpy as np

from ...compiled import njit
from ...geometry import NONE
from .edits import CELL, CLEAR, KEEP, SLOT, WHAT
from .slots import take_slot
from .split import level, place, zoom_of
from .table import LEAF, forget_trial

__all__ = ["activate", "begin_anew", "rezoom", "role_period"]


@njit()
def role_period(table, style, node):
    """Instances between trials of a node, where it has no period of its own."""
    return style.grace if table[node]["kind"] == LEAF else style.inner_period


@njit()
def begin_anew(table, gains, style, node):
    """All that is known of a node from its statistics begins anew."""
    row = table[node]
    row["since"] = row["own"] = row["tried"] = 0
    gains[node] = 0
    row["period"] = role_period(table, style, node)
    forget_trial(row)


@njit()
def rezoom(table, style, first_cell, node, out, at):
    """Write the edits that set a cleared slot's zoom to what its node's path asks for: one per attribute at most.

    Parameters
    ----------
    out, at
        As in ``split.place``, which also says what is returned.
    """
    slot = np.int64(table[node]["slot"])
    begun, step = at, np.int64(node)
    while table[step]["parent"] >= 0:
        cell, lo, shift = zoom_of(table, style, first_cell, step)
        told = cell == NONE
        for before in range(begun, at):  # nearer to the node
            told |= out[before, CELL] == cell
        if not told:
            at = place(table, style, first_cell, node, slot, np.int64(KEEP), cell, lo, shift, out, at)
        step = np.int64(table[step]["parent"])
    return at


@njit()
def activate(table, matrices, style, first_cell, stack, slot_node, node, seen, out, at):
    """Give a node without a slot a free one; its statistics start anew.

    Parameters
    ----------
    table, matrices : arrays of ``Nodes``
    stack, slot_node : arrays of ``SlotPool``
    node : int
    seen : int
        Instances that the tree has learnt.
    out, at
        As in ``split.place``, which also says what is returned.
    """
    counts, base, gains, _ = matrices
    row = table[node]
    wanted = level(table, style.levels, style.links, stack, node)
    row["slot"] = slot = take_slot(stack, slot_node, node, wanted, style.levels)
    begin_anew(table, gains, style, node)
    row["born"] = seen
    if row["kind"] == LEAF and style.inherit:
        base[node] = counts[node]
    else:
        base[node] = 0
    out[at, WHAT], out[at, SLOT] = CLEAR, slot
    at = rezoom(table, style, first_cell, node, out, at + 1)
    return place(
        table,
        style,
        first_cell,
        node,
        slot,
        np.int64(KEEP),
        np.int64(NONE),
        np.int64(0),
        np.int64(0),
        out,
        at,
    )
