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
def _give_up(tree, node, at):
    """Free a node's slot, those of the nodes below before it; others as for `deactivate`."""
    row = tree.table[node]
    slot = np.int64(row["slot"])
    # Where a link leads to a slot that is taken anew, a board of several levels goes through all.
    if tree.style.links is not None:
        none, zero = np.int64(NONE), np.int64(0)
        at = place_slot(slot, slot, np.int64(KEEP), none, zero, zero, none, none, tree.edits, at)
    give_back(tree.stack, tree.slot_node, slot)
    row["slot"] = -1
    return at


@njit()
def deactivate(tree, leaf, at):
    """Take a leaf's slot away; ``at`` as in ``split.place``, which also says what is returned."""
    at = _give_up(tree, leaf, at)
    begin_anew(tree, leaf)
    return at


@njit(inner=True)
def _deactivate_others(tree, leaves, chosen, at):
    """Take the slots of leaves that are not chosen away, in the order of their rows."""
    losers = leaves[~chosen]
    losers.sort()
    for leaf in losers:
        if tree.table[leaf]["slot"] >= 0:
            at = deactivate(tree, leaf, at)
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
def free_slot(tree):
    """Free the slot of the least promising leaf, if any has one; edits written."""
    leaves, _ = _leaves(tree)
    active = _holders(tree.table, leaves, 0, 0)
    chosen = _most_promising(tree.matrices[0], active, len(active) - 1)
    return _deactivate_others(tree, active, chosen, np.int64(0))


@njit()
def review(tree, seen):
    """Let all leaves compete for the slots.

    Parameters
    ----------
    tree : Tree
    seen : int
        Instances that the tree has learnt.

    Returns
    -------
    changed, used : int
        Leaves that have got a slot; edits written.
    """
    leaves, inner = _leaves(tree)
    chosen = _most_promising(tree.matrices[0], leaves, _places(tree, inner))
    used = _deactivate_others(tree, leaves, chosen, np.int64(0))
    changed = 0
    for leaf in leaves[chosen]:
        if tree.table[leaf]["slot"] < 0:
            used = activate(tree, leaf, seen, used)
            changed += 1
    return changed, used


@njit()
def clear_below(tree, node, at):
    """Forget all below a node, which becomes a leaf; others as for `deactivate`."""
    below = descendants(tree.table, node, tree.room[0])
    for turn in range(len(below) - 1, 0, -1):
        if tree.table[below[turn]]["slot"] >= 0:
            at = _give_up(tree, below[turn], at)
    kill(tree.table, tree.room, node)
    return at


@njit()
def divide(tree, node, attribute, kind, value, values, sides, own, tie, anytime, competes):
    """Turn a leaf into a test, or replace an inner node's test and all below; the most promising leaves get slots.

    Parameters
    ----------
    own : int64 array (classes,)
        The board's class counts of the node.
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
    table, used, width = tree.table, np.int64(0), len(sides)
    if anytime is not None and table[node]["kind"] != LEAF:
        used = clear_below(tree, node, used)
    child = sprout(tree, node, attribute, kind, value, values, sides, own, tie)
    if anytime is not None:
        used = enter_role(tree, node, used)
    family = np.arange(child, child + width)
    slot = np.int64(table[node]["slot"])
    handed = 0 if tree.style.anytime else 1  # a leaf's own slot
    if competes is not None and width > tree.stack[0] + handed:
        leaves, inner = _leaves(tree)
        leaves = _holders(table, leaves, child, width)
        chosen = _most_promising(tree.matrices[0], leaves, _places(tree, inner))
        used = _deactivate_others(tree, leaves, chosen, used)
        family = leaves[chosen & (leaves >= child) & (leaves < child + width)]
        family.sort()
        if handed and not len(family):
            give_back(tree.stack, tree.slot_node, slot)
            table[node]["slot"] = -1
    return hand_out(tree, node, family, used)
