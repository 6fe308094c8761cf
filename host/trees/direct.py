"""Learning on a board in this process: no link, so no report is ever late."""

import numpy as np
from numba import njit

from ..boards import kernel
from .nodes import TRIAL_OUT
from .policy import KEEP, judge_row
from .router import SENT, advance, answer

__all__ = ["Records", "learn", "NODE", "VERDICT", "CELL", "VALUE", "PERIOD", "AT"]

NODE, VERDICT, CELL, VALUE, PERIOD, AT = range(6)  # columns of what `learn` finds
MOST = kernel.PATH_LIMIT  # trials that one instance can make due

_CHUNK = 2048  # records between two looks at the reports; they fit a core's cache


class Records:
    """A buffer that the router writes records to and the kernel reads them from."""

    def __init__(self, size):
        self.written = np.zeros(_CHUNK * size, np.uint8)
        self.read = self.written.view()
        self.read.flags.writeable = False  # as the kernel's other input, so one compiled version


@njit(cache=True, nogil=True, error_model="numpy")
def learn(state, table, counts, codes, labels, predictions, follower, order, start, stop,
          predictor, anytime, progress, cell_attribute, written, read, base, gains, slot_node,
          classes, seen, form, options, found):
    """Learn instances until ``stop`` or until a trial asks for a change of the tree.

    Parameters
    ----------
    state : kernel.State
    table ... cell_attribute
        As in ``router.advance``; no gate is shut.
    written, read : uint8 arrays
        Of a ``Records``.
    base, gains : arrays of ``Nodes``
    slot_node, classes, seen, form, options
        As in ``policy.judge_row`` and ``SplitPolicy.judge``.
    found : int64 array (MOST, 6)
        Trials that change something, columns by NODE to AT; their reports stay in ``state.out``,
        from word AT on. Written.

    Returns
    -------
    position, trials, halvings, changes : int
        Next instance, trials, those of halved slots, rows of ``found``.
    """
    size = 4 + len(cell_attribute)
    trials = halvings = changes = 0
    position = start
    while position < stop and not changes:
        progress[SENT] = 0
        position, used, due, why = advance(
            table, counts, codes, labels, predictions, follower, order, position, stop, predictor,
            anytime, progress, cell_attribute, True, written, 0)
        trials += due
        state.progress[kernel.LEFT] = used // size
        state.progress[kernel.IN_MEMORY] = 0
        kernel.learn(state, read, 0)
        words = state.out[:state.progress[kernel.USED]]
        answered = progress[SENT]
        answer(table, labels, predictions, order, 0, predictor, words[:answered])
        at = answered
        while at < len(words):
            node = slot_node[words[at] >> 16]
            halvings += words[at] >> 8 & 1
            verdict, cell, value, period = judge_row(
                words[at:at + form.size], form, options, table, base, gains, node, classes,
                seen + table[node]["closer"] + 1)
            if verdict == KEEP:
                table[node]["gate"] &= ~TRIAL_OUT
            if verdict != KEEP or period:
                row = found[changes]
                row[NODE], row[VERDICT], row[CELL] = node, verdict, cell
                row[VALUE], row[PERIOD], row[AT] = value, period, at
                changes += 1
            at += form.size
        state.progress[kernel.USED] = 0
    return position, trials, halvings, changes
