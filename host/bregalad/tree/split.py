"""What a split does to the tree and to the board, in compiled code: sides, children, edits of slots.

`deactivation.divide` is all of it.
"""

from collections import namedtuple

import numpy as np

from ..compiled import njit
from ..geometry import NONE
from .edits import CELL, CURRENT, FLAGS, INNER, KEEP, LINK, LO, PARENT, PLACE, SHIFT, SLOT, WHAT
from .slots import take_slot
from .table import LEAF, MULTIWAY, NO_NODE, NUMERIC, above, code_range, take_rows

LONG = (1 << 31) - 1  # a period that is never over: something else says when the node is tried

Style = namedtuple(
    "Style",
    [
        "bins",
        "anytime",  # 1 or None, which Numba compiles nothing for where it is an argument
        "inherit",
        "seen",  # options of the policy, 0 or 1
        "grace",
        "inner_period",
        "first_wait",
        "wait_step",
        "alternates",  # 1 or None: nodes may be forks
        "most_rows",  # of nodes in use, where a split may still take effect, or an alternate begin
        "most_alternates",  # that a record may go down
    ],
)


def style_of(geometry, policy, cells):
    """What compiled code must know of a board, of a `SplitPolicy` and of a `CellMap`."""
    return Style(
        geometry.bins,
        1 if policy.anytime else None,
        int(policy.child_counts == "inherit"),
        int(policy.bin_window == "seen"),
        int(policy.grace),
        LONG if policy.tree_wide else int(policy.inner_grace),
        policy.first_wait,
        policy.wait_step,
        1 if policy.alternates else None,
        geometry.nodes - cells.most_branches if geometry.nodes else LONG,
        geometry.alternates if geometry.nodes else LONG,
    )


@njit()
def sides_of(values, kind, value):
    """Class counts of a split's sides, int64 array (children, classes); of instances with a known value.

    ``values`` are class counts, int64 (values, classes), of a nominal attribute's values or a numeric one's bins;
    ``kind`` is NUMERIC, MULTIWAY or ONE_VS_REST, ``value`` the threshold's bin or the value.
    """
    if kind == MULTIWAY:
        # Branches up to the highest value seen here, as in MOA.
        highest = 0
        for other in range(len(values)):
            if _is_seen(values, other):
                highest = other
        return values[: highest + 1].copy()
    sides = np.zeros((2, values.shape[1]), np.int64)
    for other in range(len(values)):
        first = other <= value if kind == NUMERIC else other == value
        for k in range(values.shape[1]):
            sides[0 if first else 1, k] += values[other, k]
    return sides


class Split:
    """An attribute's best split at a node; ``kind``, ``value``, ``values`` and ``sides`` are as in `sides_of`.

    ``cell`` is the attribute's first one, ``bins`` a list of the STATISTICS of its cells, int64 (bins, classes).
    """

    def __init__(self, cells, cell, value, bins):
        self.attribute = int(cells.attribute[cell])
        self.kind = int(cells.kind[cell])
        self.cell = cell
        self.value = value
        self.bins = bins
        self.values = cells.values(self.attribute, bins)
        self.sides = sides_of(self.values, self.kind, value)


@njit(inner=True)
def _is_seen(counts, row):
    """Whether any class of a row has a count."""
    seen = False
    for k in range(counts.shape[1]):
        seen |= counts[row, k] != 0
    return seen


@njit()
def cells_of(first_cell, attribute_of, cell):
    """The attribute that a cell belongs to, its first cell, and how many it has; int arrays per attribute, per cell."""
    attribute = np.int64(attribute_of[cell])
    first = np.int64(first_cell[attribute])
    last = np.int64(first_cell[attribute + 1] if attribute + 1 < len(first_cell) else len(attribute_of))
    return attribute, first, last - first


@njit()
def shift_of(bins, codes):
    """The smallest shift with which ``bins`` bins cover so many codes."""
    shift = 0
    while bins << shift < codes:
        shift += 1
    return shift


@njit()
def child_wait(style, wait, tie):
    """Own instances from which on a tie may split the children of a node whose own was ``wait``."""
    return wait + style.wait_step if tie and style.wait_step >= 0 else style.first_wait


@njit()
def sprout(tree, node, attribute, kind, value, values, sides, observed, tie):  # noqa: C901 (compiled)
    """Make a leaf a test with new leaves below, for which there is room; the first child.

    ``kind``, ``value``, ``values`` and ``sides`` are as in `sides_of`; instances with the value missing are added to
    ``sides``. ``observed`` are the board's class counts of the node, int64 (classes,).
    """
    table, (counts, inherited, gains, windows, evidence), style = tree.table, tree.matrices, tree.style
    width, classes = sides.shape
    default = most = 0
    for branch in range(width):
        held = 0
        for k in range(classes):
            held += sides[branch, k]
        if held > most:
            default, most = branch, held
    majority = 0
    for k in range(classes):
        known = 0
        for branch in range(width):
            known += sides[branch, k]
        # Instances with the value missing go where later ones will go.
        sides[default, k] += max(observed[k] - known, 0)
        if observed[k] + inherited[node, k] > observed[majority] + inherited[node, majority]:
            majority = k
    child = take_rows(table, tree.room, width)
    windows[node] = 0  # on another tree than this will be
    row = table[node]
    row["kind"], row["attribute"], row["threshold"] = kind, attribute, value
    row["child"], row["width"], row["default"] = child, width, default
    wait = child_wait(style, row["wait"], tie)
    for branch in range(width):
        leaf = child + branch
        table[leaf] = tree.blank[0]
        counts[leaf], inherited[leaf], gains[leaf], windows[leaf], evidence[leaf] = 0, 0, 0, 0, 0
        best = 0
        for k in range(classes):
            if style.inherit:
                counts[leaf, k] = inherited[leaf, k] = sides[branch, k]
            if sides[branch, k] > sides[branch, best]:
                best = k
        table[leaf]["parent"] = node
        table[leaf]["period"] = style.grace
        table[leaf]["wait"] = wait
        table[leaf]["majority"] = best if _is_seen(sides, branch) else majority
    if kind == NUMERIC:
        low, high = code_range(table, node, attribute)
        shift = shift_of(style.bins, high - low)
        threshold = low + (value + 1 << shift)
        row["threshold"] = threshold
        if style.seen:
            first = last = -1
            for other in range(len(values)):
                if _is_seen(values, other):
                    last = other
                    first = other if first < 0 else first
            # A split that takes effect later may find none counted any more. Codes beyond the range count in the bins
            # behind it.
            if first >= 0:
                low, high = min(low + (first << shift), high), min(high, low + (last + 1 << shift))
        # A split at a trivial threshold may leave one side without codes.
        threshold = min(max(threshold, low), high)
        table[child]["low"], table[child]["high"] = low, threshold
        table[child + 1]["low"], table[child + 1]["high"] = threshold, high
    return child


# Edits of slots


@njit()
def link(tree, node):
    """The slot that counts a node's instances, too; NONE at the root, of an alternate, too, and in VFDT."""
    if not tree.style.anytime:
        return NONE
    counting = above(tree.table, node)
    return np.int64(tree.table[counting]["slot"]) if counting != NO_NODE else NONE


@njit()
def place(tree, node, parent_slot, flags, cell, lo, shift, at):
    """Write the edit that sets up a node's slot to row ``at``; the row of the next edit.

    ``parent_slot``, ``flags``, ``cell``, ``lo`` and ``shift`` are an edit's; role, link and current cell follow from
    the node.
    """
    row = tree.table[node]
    current = np.int64(NONE)
    if row["kind"] != LEAF:
        flags |= INNER
        current = np.int64(tree.first_cell[row["attribute"]])
    over = np.int64(link(tree, node))
    return place_slot(np.int64(row["slot"]), parent_slot, flags, cell, lo, shift, over, current, tree.edits, at)


@njit()
def restate(tree, node, at):
    """Tell the board what a node that keeps its slot and statistics is now; others as for `place`."""
    none, zero = np.int64(NONE), np.int64(0)
    return place(tree, node, np.int64(tree.table[node]["slot"]), np.int64(KEEP), none, zero, zero, at)


@njit(inner=True)
def place_slot(slot, parent_slot, flags, cell, lo, shift, over, current, edits, at):
    """Write a PLACE by its fields, ``over`` being its link; others as for `place`."""
    edit = edits[at]
    edit[WHAT], edit[FLAGS], edit[SLOT], edit[PARENT] = PLACE, flags, slot, parent_slot
    edit[CELL], edit[LO], edit[SHIFT] = cell, lo, shift
    edit[LINK], edit[CURRENT] = over, current
    return at + 1


@njit()
def bin_window_of(tree, leaf):
    """``(cell, lo, shift)`` where a child's bins differ from its parent's; cell NONE: nowhere."""
    row = tree.table[leaf]
    parent = tree.table[row["parent"]]
    if parent["kind"] != NUMERIC:
        return np.int64(NONE), np.int64(0), np.int64(0)
    shift = shift_of(tree.style.bins, row["high"] - row["low"])
    return np.int64(tree.first_cell[parent["attribute"]]), np.int64(row["low"]), np.int64(shift)


@njit()
def enter_role(tree, node, at):
    """Tell the board whether a node that keeps its statistics is a leaf or an inner one."""
    row = tree.table[node]
    row["since"] = 0
    row["period"] = tree.style.grace if row["kind"] == LEAF else tree.style.inner_period
    return restate(tree, node, at)


@njit()
def hand_out(tree, node, keepers, at):
    """Hand free slots, which are enough, and that of a node that counts no more, to ``keepers`` of its children.

    They inherit the bin window of the node's slot. ``at`` as in `place`, which also says what is returned.
    """
    table = tree.table
    slot = np.int64(table[node]["slot"])
    handed = 0 if tree.style.anytime or not len(keepers) else 1
    if handed:
        table[node]["slot"] = -1
    # A slot that is handed over comes last: until then its bin window is what the others inherit.
    for turn in range(len(keepers)):
        last = handed and turn == len(keepers) - 1
        leaf = keepers[0 if last else turn + handed]
        if last:
            tree.slot_node[slot] = leaf
            table[leaf]["slot"] = slot
        else:
            table[leaf]["slot"] = take_slot(tree.stack, tree.slot_node, leaf)
        cell, lo, shift = bin_window_of(tree, leaf)
        at = place(tree, leaf, slot, np.int64(0), cell, lo, shift, at)
    return at
