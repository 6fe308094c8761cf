"""Decisions on many attempts at once."""

from collections import namedtuple

import numpy as np
from bregalad.compiled import njit
from bregalad.policy.decide import NO_CELL, decide_row

__all__ = ["decide"]

Decisions = namedtuple("Decisions", "decision cell value")


def decide(policy, words, form, nodes, tried, due, classes):
    """What a policy decides: `Decisions`, every element an array (attempts,).

    Parameters
    ----------
    words : int64 array (attempts, form.size)
    tried, due : int64 arrays (attempts,)
        The nodes, and what ``due_at`` of each was then: where it is another now, it is kept.
    """
    return Decisions(
        *_decide(
            words, form, policy.options, nodes.table, nodes.inherited, nodes.gains, nodes.evidence, tried, due, classes
        )
    )


@njit(cached=False)
def _decide(words, form, options, table, inherited, gains, evidence, nodes, due, classes):
    count = len(words)
    decision = np.zeros(count, np.int8)
    cell = np.full(count, NO_CELL, np.int32)
    value = np.zeros(count, np.int32)
    for i in range(count):
        node = nodes[i]
        if table[node]["due_at"] == due[i]:
            decision[i], cell[i], value[i] = decide_row(
                words[i], form, options, table, inherited, gains, evidence, node, classes, due[i], options.anytime
            )
    return decision, cell, value
