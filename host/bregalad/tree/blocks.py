"""Blocks: runs of instances during which the tree stands still. What is due at their ends, in compiled code."""

from collections import namedtuple

import numpy as np

from ..compiled import njit
from .table import KEPT, LEAF, is_alternate, predicting

FAR = 1 << 62  # instances that no tree ever learns
MOST = 1 << 10  # instances of a block that depends on the tree

BlockRule = namedtuple("BlockRule", ["fixed", "share", "most"])
BlockRule.__doc__ = """How long blocks are.

fixed : int
    Instances of each; 0: that depends on the tree.
share : float
    Otherwise, instances for each leaf that predicts.
most : int
    Instances of a block that depends on the tree.
"""

Block = namedtuple("Block", ["begun", "made"])
Block.__doc__ = """The block that is being learnt.

begun : int
    Instances that the tree had learnt as it began.
made : int
    When the decisions are taken to have been made that errors, or tests of alternates, come to within it: before it
    began, so that they take effect at its end. Those of one instance's block do so after its attempts.
"""


@njit(inner=True)
def block_of(rule, begun):
    """The `Block` that has begun with so many instances learnt."""
    return Block(begun, begun + 1 if rule.fixed == 1 else begun - 1)


@njit()
def length_of(rule, table, rows):
    """Instances of a block that begins with the tree as it is."""
    if rule.fixed:
        return np.int64(rule.fixed)
    leaves = 0
    for node in predicting(table, rows)[0]:
        leaves += table[node]["kind"] == LEAF
    return max(np.int64(1), min(np.int64(rule.most), np.int64(rule.share * leaves)))


@njit(inner=True)
def is_due(row):
    """Whether a node is to be tried at the block's end."""
    return row["slot"] >= 0 and row["since"] >= row["period"]


@njit()
def busy(table, rows):
    """Whether a block's end may have to do more than to begin the next block."""
    for node in range(rows):
        if table[node]["decision"] != KEPT or is_due(table[node]):
            return True
    return False


@njit()
def next_of(table, rows, made):
    """Of the decisions that were made when so many instances had been learnt, or fewer: the first one's node.

    That is an upper one; what is decided on a node beside an alternate comes before what is in the alternate. -1:
    there is none.
    """
    found = np.int64(-1)
    for node in range(rows):
        row = table[node]
        if row["decision"] > KEPT and row["due_at"] <= made and (found < 0 or _is_over(table, node, found)):
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
