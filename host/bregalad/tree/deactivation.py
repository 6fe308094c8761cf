"""Which leaves hold a slot where there are more leaves than slots, and what a node is given with one, in compiled code.

The least promising leaf, by the share of instances that reach it times its error, is the first to lose its slot
(Domingos and Hulten 2000, section 3.3).
"""

import numpy as np

from ..compiled import njit
from ..geometry import NONE
from .edits import CELL, CLEAR, KEEP, SLOT, WHAT
from .slots import give_back, take_slot
from .split import bin_window_of, enter_role, hand_out, place, restate, sprout
from .table import FORK, LEAF, descendants, forget_attempt, kill


@njit()
def role_period(tree, node):
    """Instances between attempts of a node, where it has no period of its own."""
    return tree.style.grace if tree.table[node]["kind"] == LEAF else tree.style.inner_period


@njit()
def begin_anew(tree, node):
    """All that is known of a node from its statistics begins anew."""
    gains, row = tree.matrices[2], tree.table[node]
    row["since"] = row["observed"] = row["tried"] = 0
    gains[node] = 0
    row["period"] = role_period(tree, node)
    forget_attempt(row)


@njit()
def set_bin_windows(tree, node, at):
    """Write the edits that set a cleared slot's bin window to what its node's path asks for: one per attribute at most.

    ``at`` as in ``split.place``, which also says what is returned.
    """
    table, edits = tree.table, tree.edits
    slot = np.int64(table[node]["slot"])
    begun, step = at, np.int64(node)
    while table[step]["parent"] >= 0:
        cell, lo, shift = bin_window_of(tree, step)
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
    counts, inherited, _, _, _ = tree.matrices
    row = tree.table[node]
    row["slot"] = slot = take_slot(tree.stack, tree.slot_node, node)
    begin_anew(tree, node)
    row["born"] = seen
    if row["kind"] == LEAF and tree.style.inherit:
        inherited[node] = counts[node]
    else:
        inherited[node] = 0
    tree.edits[at, WHAT], tree.edits[at, SLOT] = CLEAR, slot
    return restate(tree, node, set_bin_windows(tree, node, at + 1))


@njit(inner=True)
def _leaves(tree):
    """All leaves from left to right, those of alternates, too, and how many nodes have a test."""
    nodes = descendants(tree.table, 0, tree.room[0])
    count = inner = 0
    for node in nodes:
        if tree.table[node]["kind"] == LEAF:
            nodes[count] = node
            count += 1
        else:
            inner += tree.table[node]["kind"] != FORK
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
def _places(tree, inner):
    """Slots that leaves may hold: inner nodes that count have theirs."""
    slots = len(tree.stack) - 1
    return slots - inner if tree.style.anytime else slots


@njit()
def _give_up(tree, node):
    """Free a node's slot, those of the nodes below before it."""
    row = tree.table[node]
    give_back(tree.stack, tree.slot_node, np.int64(row["slot"]))
    row["slot"] = -1


@njit(inner=True)
def _deactivate_others(tree, leaves, chosen):
    """Take the slots of leaves that are not chosen away, in the order of their rows."""
    losers = leaves[~chosen]
    losers.sort()
    for leaf in losers:
        if tree.table[leaf]["slot"] >= 0:
            _give_up(tree, leaf)
            begin_anew(tree, leaf)


@njit(inner=True)
def _with_slots(table, leaves, first, width):
    """Those of the leaves that hold a slot, and a family of new ones."""
    held = np.empty(len(leaves), np.int64)
    count = 0
    for leaf in leaves:
        if table[leaf]["slot"] >= 0 or first <= leaf < first + width:
            held[count] = leaf
            count += 1
    return held[:count]


@njit()
def free_slot(tree):
    """Free the slot of the least promising leaf, if any has one."""
    leaves, _ = _leaves(tree)
    active = _with_slots(tree.table, leaves, 0, 0)
    chosen = _most_promising(tree.matrices[0], active, len(active) - 1)
    _deactivate_others(tree, active, chosen)


@njit()
def review(tree, seen):
    """Let all leaves compete for the slots, with ``seen`` instances learnt; how many get one, and edits written."""
    leaves, inner = _leaves(tree)
    chosen = _most_promising(tree.matrices[0], leaves, _places(tree, inner))
    _deactivate_others(tree, leaves, chosen)
    changed, used = 0, np.int64(0)
    for leaf in leaves[chosen]:
        if tree.table[leaf]["slot"] < 0:
            used = activate(tree, leaf, seen, used)
            changed += 1
    return changed, used


@njit()
def clear_below(tree, node):
    """Forget all below a node, which becomes a leaf."""
    below = descendants(tree.table, node, tree.room[0])
    for turn in range(len(below) - 1, 0, -1):
        if tree.table[below[turn]]["slot"] >= 0:
            _give_up(tree, below[turn])
    kill(tree.table, tree.room, node)


@njit()
def divide(tree, node, attribute, kind, value, values, sides, observed, tie, anytime, competes):
    """Turn a leaf into a test, or replace an inner node's test and all below; the most promising leaves get slots.

    ``anytime`` is of the style; None as an argument: what it leaves out is not compiled. ``competes`` says whether
    leaves may have to compete for the slots; None: there are enough for all, and nothing is compiled for that. Others
    are as in `sprout`; there are rows enough. Returns how many edits are written.
    """
    table, used, width = tree.table, np.int64(0), len(sides)
    if anytime is not None and table[node]["kind"] != LEAF:
        clear_below(tree, node)
    child = sprout(tree, node, attribute, kind, value, values, sides, observed, tie)
    if anytime is not None:
        used = enter_role(tree, node, used)
    family = np.arange(child, child + width)
    slot = np.int64(table[node]["slot"])
    handed = 0 if tree.style.anytime else 1  # a leaf's own slot
    if competes is not None and width > tree.stack[0] + handed:
        leaves, inner = _leaves(tree)
        leaves = _with_slots(table, leaves, child, width)
        chosen = _most_promising(tree.matrices[0], leaves, _places(tree, inner))
        _deactivate_others(tree, leaves, chosen)
        family = leaves[chosen & (leaves >= child) & (leaves < child + width)]
        family.sort()
        if handed and not len(family):
            give_back(tree.stack, tree.slot_node, slot)
            table[node]["slot"] = -1
    return hand_out(tree, node, family, used)
