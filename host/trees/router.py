"""Compiled walk of the tree: routing, predictions, and the records for the board."""

import numpy as np
from numba import njit

from .nodes import LEAF, MULTIWAY, NUMERIC

__all__ = ["FULL", "DONE", "FIRED", "route", "shares", "advance", "release", "withhold_in"]

FULL, DONE, FIRED = range(3)  # why `advance` returned

# Arrays are passed one by one, not in a tuple: Numba counts references on every access to one.


@njit(cache=True)
def _leaf(table, start, codes):
    """The leaf below node ``start`` that an instance reaches."""
    at = start
    node = table[at]
    while node["kind"] != LEAF:
        code = np.int32(codes[node["attribute"]])
        kind = node["kind"]
        if code == 255:
            branch = node["default"]
        elif kind == NUMERIC:
            branch = np.int32(code >= node["threshold"])
        elif kind == MULTIWAY:
            branch = code if code < node["width"] else node["default"]
        else:
            branch = np.int32(code != node["threshold"])
        at = node["child"] + branch
        node = table[at]
    return at


@njit(cache=True)
def route(table, codes):
    """Leaf of every instance.

    Parameters
    ----------
    table : structured array
        ``Nodes.table``.
    codes : uint8 array (n, attributes)

    Returns
    -------
    int64 array (n,)
    """
    leaves = np.empty(len(codes), np.int64)
    for i in range(len(codes)):
        leaves[i] = _leaf(table, 0, codes[i])
    return leaves


def shares(nodes, leaves):
    """Class shares of leaves: float array (n, classes); 1 for the prediction of an empty leaf."""
    counts = nodes.counts[leaves].astype(float)
    empty = np.flatnonzero(~counts.any(axis=1))
    counts[empty, nodes.majority[leaves[empty]]] = 1
    return counts / counts.sum(axis=1, keepdims=True)


@njit(cache=True)
def _learn(table, counts, leaf, codes, label, cell_attribute, grace, out, at):
    """Count an instance at its leaf and write its record.

    Returns the prediction before, the bytes written so far, and 1 if a trial starts.
    """
    node = table[leaf]
    majority = node["majority"]
    count = counts[leaf, label] + 1
    counts[leaf, label] = count
    # Ties go to the lower class; an empty leaf's first class is its own.
    if label != majority:
        lead = counts[leaf, majority]
        if count > lead or (count == lead and label < majority):
            node["majority"] = label
    slot = node["slot"]
    if slot < 0:
        return majority, at, 0
    out[at] = slot & 0xFF
    out[at + 1] = slot >> 8
    out[at + 2] = label
    out[at + 3] = 0
    at += 4
    for cell in range(len(cell_attribute)):
        out[at + cell] = codes[cell_attribute[cell]]
    at += len(cell_attribute)
    node["since"] += 1
    if node["since"] < grace:
        return majority, at, 0
    node["since"] = 0
    node["waiting"] = 1
    return majority, at, 1


@njit(cache=True)
def _withhold(table, follower, i, leaf):
    node = table[leaf]
    if node["head"] < 0:
        node["head"] = i
    else:
        follower[node["tail"]] = i
    node["tail"] = i
    follower[i] = -1


@njit(cache=True)
def release(table, counts, codes, labels, predictions, follower, leaf, cell_attribute, grace, out,
            at):
    """Learn a leaf's withheld instances until none is left, a trial starts or ``out`` is full.

    Parameters as in ``advance``.

    Returns
    -------
    at, trials : int
        Bytes in ``out``, trials started (0 or 1).
    """
    size = 4 + len(cell_attribute)
    fired = 0
    node = table[leaf]
    while node["head"] >= 0 and not fired and at + size <= len(out):
        i = node["head"]
        node["head"] = follower[i]
        predictions[i], at, fired = _learn(table, counts, leaf, codes[i], labels[i],
                                           cell_attribute, grace, out, at)
    return at, fired


@njit(cache=True)
def withhold_in(table, codes, follower, node):
    """Hand the instances withheld at a node that was split on to its leaves, in order."""
    i = table[node]["head"]
    while i >= 0:
        after = follower[i]
        _withhold(table, follower, i, _leaf(table, node, codes[i]))
        i = after
    table[node]["head"] = -1
    table[node]["tail"] = -1


@njit(cache=True)
def advance(table, counts, codes, labels, predictions, follower, start, stop, cell_attribute,
            grace, single, out, at):
    """Route the instances ``start`` to ``stop``: learn them or withhold them.

    Parameters
    ----------
    table, counts : arrays
        ``Nodes.table`` and ``Nodes.counts``.
    codes : uint8 array (n, attributes)
    labels, predictions : int32 array (n,)
        Predictions are written.
    follower : int32 array (n,)
        The next instance withheld at the same leaf; written.
    start, stop : int
    cell_attribute : int array (cells,)
        Attribute of every code of a record.
    grace : int
    single : bool
        Return as soon as a trial starts.
    out : uint8 array
        Records for the board are written from ``at`` on.
    at : int

    Returns
    -------
    position, at, trials, why : int
        Next instance, bytes in ``out``, trials started, and FULL, DONE or FIRED.
    """
    size = 4 + len(cell_attribute)
    trials = 0
    for i in range(start, stop):
        if at + size > len(out):
            return i, at, trials, FULL
        leaf = _leaf(table, 0, codes[i])
        # An instance behind withheld ones waits too, or it would overtake them.
        if table[leaf]["waiting"] or table[leaf]["head"] >= 0:
            _withhold(table, follower, i, leaf)
            continue
        predictions[i], at, fired = _learn(table, counts, leaf, codes[i], labels[i],
                                           cell_attribute, grace, out, at)
        trials += fired
        if fired and single:
            return i + 1, at, trials, FIRED
    return stop, at, trials, DONE
