"""ADWIN, the adaptive window: whether the mean of a stream of numbers has changed.

A window is a row of an array, so that any number of them lie side by side: one for each node of a tree,
for each tree of a forest. What looks at them is compiled.

Source: Bifet and Gavalda, Learning from time-changing data with adaptive windowing, SDM 2007; the variance
of a window after Babcock, Datar, Motwani and O'Callaghan, Maintaining variance and k-medians over data
stream windows, PODS 2003.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..compiled import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Elements of a window. Buckets of one size are a level, those of level k hold 2**k numbers each; the first
# of a level is the oldest. After these come how many buckets each level has, their sums, their variances
# (sums of squared deviations from their mean).
WIDTH, TOTAL, VARIANCE, TICK, DETECTIONS, LEVELS = range(6)
_HEAD = LEVELS + 1
# As by default in River. Buckets of one size that there are before the two oldest become one; numbers between two looks
# for a change; how many both parts of a window have at least where they are compared; a window of so many, or less, is
# not looked at.
_BUCKETS, _CLOCK, _LEAST, _GRACE = 5, 32, 5, 10
_MOST_LEVELS = 32  # more than 2**34 numbers; then the oldest go
_VARIANCES = _MOST_LEVELS * (_BUCKETS + 1)  # how far behind a bucket's sum its variance is

_inner = njit(inner=True)


def new_windows(count: int) -> NDArray[np.float64]:
    """Empty windows: float64 array (count, elements), for `update`; any number more may be appended."""
    return np.zeros((count, _HEAD + _MOST_LEVELS * (1 + 2 * (_BUCKETS + 1))))


@njit()
def forget(windows, at):
    """Empty a window."""
    windows[at] = 0.0


@njit()
def estimate(windows, at):
    """The mean of what a window holds; 0 if that is nothing."""
    return windows[at, TOTAL] / windows[at, WIDTH] if windows[at, WIDTH] else 0.0


@njit()
def update(windows, at, value, delta):
    """Take a number in; every 32 of them the oldest are dropped while their mean is another.

    The windows are those of `new_windows`, of which number ``at`` is written. ``delta`` is the confidence: the
    probability of a change that is none, above 0 and below 1. Returns whether the mean has changed: some numbers were
    dropped.
    """
    _insert(windows, at, value)
    windows[at, TICK] += 1
    # In integers, whose remainder is the cheaper one.
    if np.int64(windows[at, TICK]) % _CLOCK or windows[at, WIDTH] <= _GRACE:
        return False
    changed = False
    while _has_changed(windows, at, delta):
        _drop(windows, at)
        changed = True
    windows[at, DETECTIONS] += changed
    return changed


@_inner
def _first(level):
    """Where the sums of a level's buckets begin."""
    return _HEAD + _MOST_LEVELS + level * (_BUCKETS + 1)


@_inner
def _append(windows, at, level, total, variance):
    place = _first(level) + np.int64(windows[at, _HEAD + level])
    windows[at, place] = total
    windows[at, place + _VARIANCES] = variance
    windows[at, _HEAD + level] += 1
    windows[at, LEVELS] = max(windows[at, LEVELS], level + 1)


@_inner
def _remove(windows, at, level, count):
    """Take a level's ``count`` oldest buckets away."""
    first, further = _first(level), _VARIANCES
    left = np.int64(windows[at, _HEAD + level]) - count
    for place in range(first, first + left):
        windows[at, place] = windows[at, place + count]
        windows[at, place + further] = windows[at, place + further + count]
    windows[at, _HEAD + level] = left


@_inner
def _insert(windows, at, value):
    seen = windows[at, WIDTH]
    if seen > 0:
        off = value - windows[at, TOTAL] / seen
        windows[at, VARIANCE] += seen * off * off / (seen + 1)
    windows[at, WIDTH] = seen + 1
    windows[at, TOTAL] += value
    _append(windows, at, 0, value, 0.0)
    level = 0
    while windows[at, _HEAD + level] > _BUCKETS:
        if level == _MOST_LEVELS - 1:
            _drop(windows, at)
            break
        first, further, size = _first(level), _VARIANCES, 2.0**level
        one, other = windows[at, first], windows[at, first + 1]
        off = one / size - other / size
        spread = windows[at, first + further] + windows[at, first + further + 1]
        _append(windows, at, level + 1, one + other, spread + size * 0.5 * off * off)
        _remove(windows, at, level, 2)
        level += 1


@_inner
def _drop(windows, at):
    """Take the oldest bucket out of a window."""
    level = np.int64(windows[at, LEVELS]) - 1
    size = 2.0**level
    first = _first(level)
    total = windows[at, first]
    left = windows[at, WIDTH] - size
    windows[at, WIDTH] = left
    windows[at, TOTAL] -= total
    off = total / size - windows[at, TOTAL] / left
    windows[at, VARIANCE] -= windows[at, first + _VARIANCES] + size * left * off * off / (size + left)
    _remove(windows, at, level, 1)
    if windows[at, _HEAD + level] == 0:
        windows[at, LEVELS] = level


@_inner
def _has_changed(windows, at, delta):
    """Whether, at the border of any two buckets, the mean of what is older differs from that of the rest."""
    seen, total, least = windows[at, WIDTH], windows[at, TOTAL], _LEAST
    certainty = math.log(2.0 * math.log(seen) / delta)
    spread = windows[at, VARIANCE] / seen
    older, older_total = 0.0, 0.0
    for level in range(np.int64(windows[at, LEVELS]) - 1, -1, -1):
        size, first = 2.0**level, _first(level)
        for place in range(first, first + np.int64(windows[at, _HEAD + level])):
            older += size
            older_total += windows[at, place]
            total -= windows[at, place]
            newer = seen - older
            if newer < least:
                return False
            if older < least:
                continue
            gap = older_total / older - total / newer
            m = 1.0 / (older - least + 1.0) + 1.0 / (newer - least + 1.0)
            if abs(gap) > math.sqrt(2.0 * m * spread * certainty) + 2.0 / 3.0 * certainty * m:
                return True
    return False


def trouble(windows: NDArray[np.float64]) -> str:
    """Why an array is none of `new_windows`, for compiled code would go astray in it; empty if it is one."""
    if windows.ndim != 2 or windows.dtype != np.float64 or windows.shape[1:] != new_windows(0).shape[1:]:
        return f"windows of shape {windows.shape} and type {windows.dtype}"
    used = windows[:, _HEAD : _HEAD + _MOST_LEVELS]
    counts = np.concatenate([used, windows[:, [WIDTH, TICK, DETECTIONS, LEVELS]]], axis=1)
    if not np.isfinite(windows).all() or (counts != np.floor(counts)).any() or (counts < 0).any():
        return "counts that are none"
    level = np.arange(_MOST_LEVELS)
    levels, held = windows[:, LEVELS], (used * 2.0**level).sum(axis=1)
    # Merging two of a level's buckets leaves all others.
    least = np.where(level < levels[:, np.newaxis] - 1, _BUCKETS - 1, level < levels[:, np.newaxis])
    most = np.where(level < levels[:, np.newaxis], _BUCKETS, 0)
    if (used < least).any() or (used > most).any() or (held != windows[:, WIDTH]).any():
        return "buckets that do not add up"
    return ""
