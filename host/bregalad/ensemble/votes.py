"""What members predict, put together; and what watches how right they are. Compiled."""

import numpy as np

from ..compiled import njit
from ..drift.adwin import estimate, forget, update

SEEN, RIGHT = range(2)  # of a member's score
WARNING, DRIFT = 1, 2  # of what `watch` finds; also the windows' rows, less 1


@njit(nogil=True)
def elect(found, weights, classes):
    """The class that most votes are for, of equal ones the first; int32 array (n,).

    ``found`` is what each has predicted, int32 (members, n), ``weights`` what that counts, float64 (members, n).
    """
    members, count = found.shape
    chosen, votes = np.empty(count, np.int32), np.empty(classes)
    for i in range(count):
        votes[:] = 0.0
        for member in range(members):
            votes[found[member, i]] += weights[member, i]
        best = 0
        for k in range(1, classes):
            if votes[k] > votes[best]:
                best = k
        chosen[i] = best
    return chosen


@njit(nogil=True)
def watch(found, labels, start, windows, deltas, score, weights):
    """Look at a member's predictions, from one on, until one of its windows has changed for the worse.

    ``found`` was predicted, ``labels`` it was, int32 arrays (n,). Written are the windows of `new_windows` for warnings
    and for drifts, the score by SEEN and RIGHT, int64 (2,), and what its votes count: ``weights``, float64 (n,), its
    accuracy so far, 1 if it has never been right.
    Returns the instance behind the last one looked at, and 0, or WARNING or DRIFT or both.
    """
    for i in range(start, len(found)):
        weights[i] = score[RIGHT] / score[SEEN] if score[RIGHT] else 1.0
        right = found[i] == labels[i]
        score[SEEN] += 1
        score[RIGHT] += right
        change = 0
        wrong = 0.0 if right else 1.0
        if _worse(windows, 0, wrong, deltas[0]):
            change |= WARNING
        if _worse(windows, 1, wrong, deltas[1]):
            change |= DRIFT
        if change:
            return i + 1, change
    return len(found), 0


@njit(inner=True)
def _worse(windows, at, value, delta):
    """Take a number in; whether the mean has changed, and risen."""
    before = estimate(windows, at)
    return update(windows, at, value, delta) and estimate(windows, at) > before


@njit(nogil=True)
def first_change(found, labels, start, windows, delta):
    """Look at the members' predictions, instance by instance, until the window of one has changed for the worse.

    ``found`` are int32 (members, n), ``labels`` int32 (n,); the windows are written. Returns the instance behind the
    last one looked at, and the member that errs most then, and whose window is empty now; -1: nothing has changed.
    """
    members, count = found.shape
    for i in range(start, count):
        changed = False
        for member in range(members):
            changed |= _worse(windows, member, np.float64(found[member, i] != labels[i]), delta)
        if changed:
            worst = 0
            for member in range(1, members):
                if estimate(windows, member) > estimate(windows, worst):
                    worst = member
            forget(windows, worst)
            return i + 1, worst
    return count, -1
