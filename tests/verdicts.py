"""Decisions on many trials at once."""

from collections import namedtuple

import numpy as np
from bregalad.compiled import njit
from bregalad.policy.decide import NO_CELL, judge_row

__all__ = ["judge"]

Verdicts = namedtuple("Verdicts", "verdict cell value")


def judge(policy, words, form, nodes, tried, due, classes):
    """What a policy decides: `Verdicts`, every element an array (trials,).

    Parameters
    ----------
    words : int64 array (trials, form.size)
    tried, due : int64 arrays (trials,)
        The nodes, and what ``due_at`` of each was then: where it is another now, it is kept.
    """
    return Verdicts(
        *_judge(words, form, policy.options, nodes.table, nodes.base, nodes.gains, nodes.evidence, tried, due, classes)
    )


@njit(kept=False)
def _judge(words, form, options, table, base, gains, evidence, nodes, due, classes):
    count = len(words)
    verdict = np.zeros(count, np.int8)
    cell = np.full(count, NO_CELL, np.int32)
    value = np.zeros(count, np.int32)
    for i in range(count):
        node = nodes[i]
        if table[node]["due_at"] == due[i]:
            verdict[i], cell[i], value[i] = judge_row(
                words[i], form, options, table, base, gains, evidence, node, classes, due[i], options.anytime
            )
    return verdict, cell, value
