"""Tests of alternates, by the predictions of their leaves, in compiled code.

Source: Hulten, Spencer and Domingos, Mining time-changing data streams, KDD 2001; docs/learners.md.
"""

from collections import namedtuple

from ..compiled import njit
from ..policy.decide import DROP, SWAP
from ..policy.positive import share
from ..tree.table import NO_NODE, is_alternate
from .drift import decide

TESTED = 3  # elements of ``Nodes.windows``: instances so far, the score of this test, that of the best one
_AGE, _SCORE, _BEST = range(TESTED)
_PROGRESS = 0.01  # by which an alternate must come closer from test to test

AlternateTest = namedtuple("AlternateTest", ["every", "length"])  # as the options of these names


Chances = namedtuple("Chances", ["level", "positive", "totals"])
Chances.__doc__ = """What tells the chance that an instance is positive, where only some positive ones have a label.

level, positive : of ``PositivePolicy``
totals : ``Totals.now``
"""


def alternate_test_of(policy):
    """The `AlternateTest` of a `SplitPolicy`, None if it has no rivals."""
    return AlternateTest(int(policy.test_every), int(policy.test_length)) if policy.rivals else None


def chances_of(policy, totals):
    """The `Chances` by which a policy's rivals are tested, None if they are by labels, or there are no ``totals``."""
    if totals is None or not (policy.rivals and policy.consults):
        return None
    return Chances(float(policy.level), int(policy.positive), totals.now)


@njit(inner=True)
def worth(chances, counts, leaf, label):
    """What a leaf's prediction counts in a test: for an instance without a label 1 if it is negative.

    The share of errors among these is, but for a constant, level * 2 P(no | labelled) + P(yes | unlabelled): so for a
    labelled one it is twice the factor of their numbers, if it is positive.
    """
    totals, positive = chances.totals, chances.positive
    factor = chances.level * float(totals[1 - positive]) / max(1, totals[positive])
    labelled, unlabelled = counts[leaf, positive], counts[leaf, 1 - positive]
    chance = share(labelled, unlabelled, factor) if labelled + unlabelled else chances.level
    if label == positive:
        return 2.0 * factor if chance > 0.5 else 0.0
    return 1.0 if chance <= 0.5 else 0.0


@njit(inner=True)
def test_alternate(table, windows, leaf, better, rules, block):
    """Take in an instance that has reached a leaf of an alternate; how many decisions that has come to.

    Table and windows are those of ``Nodes``, and written. ``better`` is by how much the leaf's prediction counts more
    than that of the tree's own leaf: 1 if it alone was right. Rules are a AlternateTest, ``block`` is a Block.
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
        return decide(fork, SWAP, block)
    if not first and score < best + _PROGRESS * rules.length:
        return decide(fork, DROP, block)
    return 0
