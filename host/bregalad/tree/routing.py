"""Where instances go: traversals of the tree, compiled."""

import numpy as np

from ..compiled import njit
from .table import LEAF, MULTIWAY, NO_NODE, NUMERIC, ONE_VS_REST, has_alternate

GROUP = 64  # instances that are walked side by side


@njit(inline="always")
def child_of(node, codes, at):
    """The child that an instance goes to, whose codes are those from ``at`` on."""
    code = np.int32(codes[np.uint64(at + node["attribute"])])
    kind = node["kind"]
    if code == 255:
        branch = node["default"]
    elif kind == NUMERIC:
        branch = np.int32(code >= node["threshold"])
    elif kind == MULTIWAY:
        branch = code if code < node["width"] else node["default"]
    elif kind == ONE_VS_REST:
        branch = np.int32(code != node["threshold"])
    else:  # a fork
        branch = np.int32(0)
    return np.uint32(node["child"] + branch)


@njit(inner=True)
def leaf_below(table, node, codes, at):
    """The leaf that an instance reaches from a node, uint32, on, whose codes are those from ``at`` on."""
    while table[node]["kind"] != LEAF:
        node = child_of(table[node], codes, at)
    return node


@njit(inner=True)
def next_leaf(table, leaf, codes, at):
    """The leaf that an instance reaches after another by an alternate; 0: there are no more.

    From the leaf of the prediction on, these are the leaves of all alternates on the instance's path, and on
    the paths through them.
    """
    node = np.int64(leaf)
    while not has_alternate(table, node):
        node = np.int64(table[node]["parent"])
        if node == NO_NODE:
            return np.uint32(0)
    return leaf_below(table, np.uint32(table[table[node]["parent"]]["child"] + 1), codes, at)


@njit()
def walk(table, codes, attributes, first, found, going):
    """Walk a group of instances, from ``first`` on, to their leaves, a level at a time.

    ``codes`` are a uint8 array (n * attributes,). The leaves are written to ``found``, a uint32 array (group,);
    ``going``, another, is for use here.

    No branch depends on one instance: a processor that guesses where a walk ends, and guesses
    wrongly, loses more than the walk takes. So one waits for memory while others go on, too.
    """
    left = len(found) if table[0]["kind"] != LEAF else 0  # those that are not at a leaf yet
    for index in range(len(found)):
        found[index] = 0
        going[index] = index
    while left:
        before, left = left, 0
        for place in range(before):
            index = going[np.uint32(place)]
            child = child_of(table[found[index]], codes, (first + index) * attributes)
            found[index] = child
            going[np.uint32(left)] = index
            left += table[child]["kind"] != LEAF


@njit()
def route(table, codes):
    """Leaves of instances, uint32 array (n,); ``Nodes.table``, uint8 array (n, attributes)."""
    count, attributes = codes.shape
    flat = codes.ravel()
    leaves, going = np.empty(count, np.uint32), np.empty(GROUP, np.uint32)
    for first in range(0, count, GROUP):
        walk(table, flat, attributes, first, leaves[first : first + GROUP], going)
    return leaves


def shares(nodes, leaves):
    """Class shares of leaves: float array (n, classes); 1 for the prediction of an empty leaf."""
    counts = nodes.counts[leaves].astype(float)
    empty = np.flatnonzero(~counts.any(axis=1))
    counts[empty, nodes.majority[leaves[empty]]] = 1
    return counts / counts.sum(axis=1, keepdims=True)
