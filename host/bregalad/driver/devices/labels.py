"""What a board that walks records down the tree tells of them where errors are watched, in compiled code."""

from ...compiled import njit
from ...engine.drift import follow
from ...tree.blocks import block_of
from ...tree.table import LEAF, NO_NODE, is_alternate


@njit()
def take_labels(table, windows, rows, leaves, told, labels, predictions, weights, position, watch, rule, begun):
    """Take in the classes predicted of a block's instances: of each that of its own leaf, then those in alternates.

    Table and windows are those of ``Nodes``; the latter are written, and verdicts of the former. ``leaves`` and
    ``told`` are nodes and the classes that they predict, int64 (n,). Labels, predictions and weights are int32 arrays
    of a window; the second is written, the last empty where all weigh 1. ``position`` is the next instance whose class
    is told; returned is the one after all these, or -1 if no board tells such. ``begun`` instances the tree had learnt
    as the block began.
    """
    now = block_of(rule, begun)
    for i in range(len(leaves)):
        leaf = leaves[i]
        if leaf < 0 or leaf >= rows or table[leaf]["kind"] != LEAF:
            return -1
        node = leaf
        while node != NO_NODE and not is_alternate(table, node):
            node = table[node]["parent"]
        if node == NO_NODE:
            if position == len(labels):
                return -1
            predictions[position] = told[i]
            position += 1
        at = position - 1
        if at < 0:
            return -1
        if len(weights) == 0 or weights[at]:
            follow(table, windows, leaf, told[i] != labels[at], watch, now)
    return position
