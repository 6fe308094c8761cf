"""What a node without a slot is given with one, in compiled code: statistics that begin anew, commands."""

import numpy as np

from ...compiled import njit
from ...geometry import NONE
from ...protocol.commands import COMMANDS, CommandFlag, Opcode
from .slots import take_slot
from .split import level, place, zoom_of
from .table import LEAF, forget_trial

__all__ = ["activate", "begin_anew", "rezoom", "role_period"]

_CLEAR, _KEEP = int(Opcode.CLEAR), int(CommandFlag.KEEP)
_SLOT_AT, _CELL_AT = COMMANDS[Opcode.CLEAR].offset("slot"), COMMANDS[Opcode.PLACE].offset("cell")


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
    """Write the commands that set a cleared slot's zoom to what its node's path asks for: one per attribute at most.

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
        for before in range(begun, at, style.command_bytes):  # nearer to the node
            told |= np.int64(out[before + _CELL_AT]) | np.int64(out[before + _CELL_AT + 1]) << 8 == cell
        if not told:
            at = place(table, style, first_cell, node, slot, np.int64(_KEEP), cell, lo, shift, out, at)
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
    out[at : at + style.command_bytes] = 0
    out[at] = _CLEAR
    out[at + _SLOT_AT], out[at + _SLOT_AT + 1] = slot & 0xFF, slot >> 8
    at = rezoom(table, style, first_cell, node, out, at + style.command_bytes)
    return place(
        table,
        style,
        first_cell,
        node,
        slot,
        np.int64(_KEEP),
        np.int64(NONE),
        np.int64(0),
        np.int64(0),
        out,
        at,
    )
