"""Blocks: runs of instances during which the tree stands still. What is due at their ends, in compiled code."""

from collections import namedtuple

import numpy as np

from ..compiled import njit
from .table import KEPT, LEAF, is_alternate, predicting

__all__ = ["FAR", "MOST", "Block", "BlockRule", "block_of", "busy", "due_nodes", "earliest", "is_due", "length_of"]

FAR = 1 << 62  # instances that no tree ever learns
MOST = 1 << 16  # instances of a block

BlockRule = namedtuple("BlockRule", ["fixed", "share"])
BlockRule.__doc__ = """How long blocks are.

fixed : int
    Instances of each; 0: that depends on the tree.
share : float
    Otherwise, instances for each leaf that predicts.
"""

Block = namedtuple("Block", ["end", "last"])
Block.__doc__ = """The block that is being learnt.

end : int
    Instances that the tree will have learnt at its end.
last : int
    Decisions on a node, or trials of it, are no obstacle to another decision if the tree had learnt so many then.
"""


@njit(inner=True)
def block_of(rule, begun, end):
    """The `Block` that has begun with so many instances learnt; the textbook's decisions have taken effect by then."""
    return Block(end, begun - (rule.fixed != 1))


@njit()
def length_of(rule, table, rows):
    """Instances of a block that begins with the tree as it is."""
    if rule.fixed:
        return np.int64(rule.fixed)
    leaves = 0
    for node in predicting(table, rows)[0]:
        leaves += table[node]["kind"] == LEAF
    return max(np.int64(1), min(np.int64(MOST), np.int64(rule.share * leaves)))


@njit(inner=True)
def is_due(row):
    """Whether a node is to be tried at the block's end."""
    return row["slot"] >= 0 and row["since"] >= row["period"]


@njit()
def due_nodes(table, rows):
    """The nodes that are due; int64 array."""
    found, count = np.empty(rows, np.int64), 0
    for node in range(rows):
        if is_due(table[node]):
            found[count] = node
            count += 1
    return found[:count]


@njit()
def busy(table, rows):
    """Whether a block's end may have to do more than to begin the next block."""
    for node in range(rows):
        if table[node]["verdict"] != KEPT or is_due(table[node]):
            return True
    return False


@njit()
def earliest(table, rows, before):
    """Of the decisions that were made when fewer than ``before`` instances had been learnt: the first one's node.

    Of those of one block, the upper one; what is decided on a node beside an alternate comes before what is in the
    alternate. -1: there is none.
    """
    found = np.int64(-1)
    for node in range(rows):
        row = table[node]
        if row["verdict"] <= KEPT or row["due_at"] >= before:
            continue
        if found < 0 or row["due_at"] < table[found]["due_at"]:
            found = node
        elif row["due_at"] == table[found]["due_at"] and _is_over(table, node, found):
            found = node
    return found


@njit(inner=True)
def _is_over(table, node, other):
    """Whether a node is above another one, or beside an alternate that is, or that the other is."""
    while True:
        parent = np.int64(table[other]["parent"])
        if parent < 0:
            return False
        if parent == node or is_alternate(table, other) and table[parent]["child"] == node:
            return True
        other = parent
