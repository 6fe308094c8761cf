"""Which leaves hold a slot where there are more leaves than slots, in compiled code.

The least promising leaf, by the share of instances that reach it times its error, is the first to lose its slot
(Domingos and Hulten 2000, section 3.3).
"""

import numpy as np

from ..compiled import njit
from ..geometry import NONE
from .activation import activate, begin_anew
from .edits import KEEP
from .slots import give_back
from .split import enter_role, hand_out, place_slot, sprout
from .table import FORK, LEAF, descendants, kill

__all__ = ["clear_below", "competing", "deactivate", "divide", "free_slot", "review"]


@njit(inner=True)
def _leaves(table, room):
    """All leaves from left to right, those of alternates, too, and how many nodes have a test."""
    nodes = descendants(table, 0, room[0])
    count = inner = 0
    for node in nodes:
        if table[node]["kind"] == LEAF:
            nodes[count] = node
            count += 1
        else:
            inner += table[node]["kind"] != FORK
    return nodes[:count], inner


@njit()
def competing(table, room):
    """Whether leaves are without a slot."""
    for node in descendants(table, 0, room[0]):
        if table[node]["kind"] == LEAF and table[node]["slot"] < 0:
            return True
    return False


@njit(inner=True)
def _most_promising(counts, leaves, places):
    """Which of some leaves, given from left to right, get one of the places; bool array."""
    chosen = np.ones(len(leaves), np.bool_)
    if len(leaves) <= places:
        return chosen
    # Instances that a leaf's majority class gets wrong, negative, and its place. Of equals the left one stays: node
    # numbers depend on when reports arrived. Keys are sorted, since places by keys would take seconds more to compile.
    keys = np.empty(len(leaves), np.int64)
    for i in range(len(leaves)):
        most = total = np.int64(0)
        for k in range(counts.shape[1]):
            most = max(most, counts[leaves[i], k])
            total += counts[leaves[i], k]
        keys[i] = (most - total) * len(leaves) + i
    keys.sort()
    for key in keys[max(0, places) :]:
        chosen[key % len(leaves)] = False
    return chosen


@njit(inner=True)
def _places(style, slots, inner):
    """Slots that leaves may hold: inner nodes that count have theirs."""
    return slots - inner if style.anytime else slots


@njit()
def _give_up(table, style, stack, slot_node, node, out, at):
    """Free a node's slot, those of the nodes below before it; others as for `deactivate`."""
    row = table[node]
    slot = np.int64(row["slot"])
    # Where a link leads to a slot that is taken anew, a board of several levels goes through all.
    if style.links is not None:
        none, zero = np.int64(NONE), np.int64(0)
        at = place_slot(slot, slot, np.int64(KEEP), none, zero, zero, none, none, out, at)
    give_back(stack, slot_node, slot)
    row["slot"] = -1
    return at


@njit()
def deactivate(table, gains, style, stack, slot_node, leaf, out, at):
    """Take a leaf's slot away.

    Parameters
    ----------
    table, gains : arrays of ``Nodes``
    style : Style
    stack, slot_node : arrays of ``SlotPool``
    leaf : int
    out, at
        As in ``split.place``, which also says what is returned.
    """
    at = _give_up(table, style, stack, slot_node, leaf, out, at)
    begin_anew(table, gains, style, leaf)
    return at


@njit(inner=True)
def _deactivate_others(table, gains, style, stack, slot_node, leaves, chosen, out, at):
    """Take the slots of leaves that are not chosen away, in the order of their rows."""
    losers = leaves[~chosen]
    losers.sort()
    for leaf in losers:
        if table[leaf]["slot"] >= 0:
            at = deactivate(table, gains, style, stack, slot_node, leaf, out, at)
    return at


@njit(inner=True)
def _holders(table, leaves, first, width):
    """Those of the leaves that hold a slot, and a family of new ones."""
    held = np.empty(len(leaves), np.int64)
    count = 0
    for leaf in leaves:
        if table[leaf]["slot"] >= 0 or first <= leaf < first + width:
            held[count] = leaf
            count += 1
    return held[:count]


@njit()
def free_slot(table, counts, gains, room, style, stack, slot_node, out):
    """Free the slot of the least promising leaf, if any has one; edits written."""
    leaves, _ = _leaves(table, room)
    active = _holders(table, leaves, 0, 0)
    chosen = _most_promising(counts, active, len(active) - 1)
    return _deactivate_others(table, gains, style, stack, slot_node, active, chosen, out, np.int64(0))


@njit()
def review(table, matrices, room, style, first_cell, stack, slot_node, seen, out, at):
    """Let all leaves compete for the slots.

    Parameters
    ----------
    seen, out, at
        As in `activate`.

    Returns
    -------
    changed, at : int
        Leaves that have got a slot; where the next edit goes.
    """
    counts, _, gains, _ = matrices
    leaves, inner = _leaves(table, room)
    chosen = _most_promising(counts, leaves, _places(style, len(stack) - 1, inner))
    at = _deactivate_others(table, gains, style, stack, slot_node, leaves, chosen, out, at)
    changed = 0
    for leaf in leaves[chosen]:
        if table[leaf]["slot"] < 0:
            at = activate(table, matrices, style, first_cell, stack, slot_node, leaf, seen, out, at)
            changed += 1
    return changed, at


@njit()
def clear_below(table, room, style, stack, slot_node, node, out, at):
    """Forget all below a node, which becomes a leaf; others as for `deactivate`."""
    below = descendants(table, node, room[0])
    for turn in range(len(below) - 1, 0, -1):
        if table[below[turn]]["slot"] >= 0:
            at = _give_up(table, style, stack, slot_node, below[turn], out, at)
    kill(table, room, node)
    return at


@njit()
def divide(
    table,
    matrices,
    room,
    blank,
    style,
    first_cell,
    stack,
    slot_node,
    node,
    attribute,
    kind,
    value,
    values,
    sides,
    own,
    tie,
    out,
    anytime,
    competes,
):
    """Turn a leaf into a test, or replace an inner node's test and all below; the most promising leaves get slots.

    Parameters
    ----------
    own : int64 array (classes,)
        The board's class counts of the node.
    out : int64 array (rows, EDIT)
        The edits of slots are written to it.
    anytime : int or None
        Of the style; None as an argument: what it leaves out is not compiled.
    competes : int or None
        Whether leaves may have to compete for the slots; None: there are enough for all, and nothing is compiled for
        that.

    Others as in `sprout` and `hand_out`; there are rows enough.

    Returns
    -------
    int
        Edits written.
    """
    counts, base, gains, windows = matrices
    used, width = np.int64(0), len(sides)
    if anytime is not None and table[node]["kind"] != LEAF:
        used = clear_below(table, room, style, stack, slot_node, node, out, used)
    child = sprout(
        table, counts, base, gains, windows, room, blank, style, node, attribute, kind, value, values, sides, own, tie
    )
    if anytime is not None:
        used = enter_role(table, style, first_cell, node, out, used)
    family = np.arange(child, child + width)
    slot = np.int64(table[node]["slot"])
    handed = 0 if style.anytime else 1  # a leaf's own slot
    if competes is not None and width > stack[0] + handed:
        leaves, inner = _leaves(table, room)
        leaves = _holders(table, leaves, child, width)
        chosen = _most_promising(counts, leaves, _places(style, len(stack) - 1, inner))
        used = _deactivate_others(table, gains, style, stack, slot_node, leaves, chosen, out, used)
        family = leaves[chosen & (leaves >= child) & (leaves < child + width)]
        family.sort()
        if handed and not len(family):
            give_back(stack, slot_node, slot)
            table[node]["slot"] = -1
    return hand_out(table, style, first_cell, stack, slot_node, node, family, out, used)
