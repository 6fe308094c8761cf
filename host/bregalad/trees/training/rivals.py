"""Tests of alternates, by the predictions of their leaves, in compiled code.

Source: Hulten, Spencer and Domingos, Mining time-changing data streams, KDD 2001; docs/learners.md.
"""

from collections import namedtuple

from ...compiled import njit
from ..policy.judge import DROP, SWAP
from ..structure.nodes import NO_NODE, is_alternate
from .watch import decide

__all__ = ["TESTED", "Contest", "contest_of", "contest"]

TESTED = 3  # elements of ``Nodes.windows``: instances so far, the score of this test, that of the best one
_AGE, _SCORE, _BEST = range(TESTED)
_PROGRESS = 0.01  # by which an alternate must come closer from test to test

Contest = namedtuple("Contest", ["every", "length"])  # as the options of these names


def contest_of(policy):
    """The `Contest` of a `SplitPolicy`, None if it has no rivals."""
    return Contest(int(policy.test_every), int(policy.test_length)) if policy.rivals else None


@njit(inner=True)
def contest(table, windows, leaf, better, rules, number, delay):
    """Take in an instance that has reached a leaf of an alternate.

    Parameters
    ----------
    table, windows : arrays of ``Nodes``
        Written.
    leaf : int
    better : int
        1: it was right and the tree's own leaf was not; -1: the other way; 0.
    rules : Contest
    number, delay : int
        As in ``router.arrive``.

    Returns
    -------
    int
        How many decisions that has come to.
    """
    node = leaf
    while not is_alternate(table, node):
        node = table[node]["parent"]
        if node == NO_NODE:  # a leaf of the tree's own
            return 0
    own = windows[node]
    cycle = rules.every + rules.length
    own[_AGE] += 1
    turn = own[_AGE] % cycle
    if 0 < turn <= rules.every:
        return 0
    own[_SCORE] += better
    if turn:
        return 0
    score, first = own[_SCORE], own[_AGE] == cycle
    best = own[_BEST]
    own[_SCORE] = 0
    own[_BEST] = score if first else max(best, score)
    fork = table[table[node]["parent"]]
    if score > 0:
        return decide(fork, SWAP, number, delay)
    if not first and score < best + _PROGRESS * rules.length:
        return decide(fork, DROP, number, delay)
    return 0
