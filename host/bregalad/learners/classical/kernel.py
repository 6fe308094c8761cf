"""Compiled parts of the classical trees: the best test of instances, their branches, their orders.

Gains are integers: sums of x log2 x in fixed point do not depend on the order of their terms, so that a
tree grown step by step compares the very numbers that one built at once does.
"""

from collections import namedtuple

import numpy as np

from ...compiled import njit
from ...geometry import MISSING

FRACTION = 36  # fraction bits of x log2 x, of which 63 bits hold those of `MOST_KEPT` instances
GAIN_FRACTION = 20  # those of a gain in bits times instances: gains closer than that are equal
ABSENT = -1  # the branch of instances whose value is missing
PURE, NONE = -2, -1  # for an attribute: all instances are of one class; none tells them apart

_SHIFT = FRACTION - GAIN_FRACTION
_HALF = 1 << (_SHIFT - 1)

# numbers: float64 (numeric attributes, n), NaN is missing; codes: uint8 (n, nominal attributes); labels: int32 (n,).
Data = namedtuple("Data", "numbers codes labels")

# Per attribute whether it is numeric, and its column in numbers or codes. Per column of codes its first cell in
# a table of all values, and behind the last the number of cells; per cell the code of the value at that rank.
# Whether nominal attributes have a branch per value; the number of classes; x log2 x of all counts.
Plan = namedtuple("Plan", "numeric column first ranked multiway classes logs")

# rows: int32 (n,), instances, those of a node in one stretch; orders: int32 (numeric attributes, n), the same
# stretches by rising value, missing ones last; side: int16 (n,), the branch of each instance; spare: int32 (n,).
Work = namedtuple("Work", "rows orders side spare")


def logarithms(count):
    """x log2 x of 0 to ``count``, in fixed point."""
    x = np.arange(count + 1, dtype=np.float64)
    x[0] = 1
    return np.rint(np.ldexp(x * np.log2(x), FRACTION)).astype(np.int64)


@njit(inner=True)
def _rounded(gain):
    return max((gain + _HALF) >> _SHIFT, 0)


@njit(inner=True)
def _best_threshold(values, order, labels, classes, logs):
    """The greatest gain of a numeric attribute, -1 if it has but one value, and the lowest threshold with it."""
    known = len(order)
    while known and np.isnan(values[order[known - 1]]):
        known -= 1
    if known < 2 or values[order[0]] == values[order[known - 1]]:
        return -1, 0.0
    below, above = np.zeros(classes, np.int64), np.zeros(classes, np.int64)
    for i in range(known):
        above[labels[order[i]]] += 1
    low, high = 0, 0  # sums of x log2 x over the classes on either side
    for label in range(classes):
        high += logs[above[label]]
    whole = logs[known] - high
    best, threshold = -1, 0.0
    for i in range(known - 1):
        label = labels[order[i]]
        low += logs[below[label] + 1] - logs[below[label]]
        high += logs[above[label] - 1] - logs[above[label]]
        below[label] += 1
        above[label] -= 1
        value, following = values[order[i]], values[order[i + 1]]
        if value < following:
            gain = _rounded(whole - (logs[i + 1] - low) - (logs[known - i - 1] - high))
            if gain > best:
                middle = value / 2 + following / 2
                # The lower value is below it, the higher one is not.
                best, threshold = gain, middle if value < middle <= following else following
    return best, threshold


@njit(inner=True)
def _spread(counts, logs):
    """The entropy of counts, times their sum, and that sum."""
    total = inner = 0
    for count in counts:
        total += count
        inner += logs[count]
    return logs[total] - inner, total


@njit(inner=True)
def _gain_of_all(table, whole, logs):
    """The gain of a branch per value, -1 if there is but one; a row of ``table`` has the classes of a value."""
    gain, used = whole, 0
    for value in range(len(table)):
        spread, total = _spread(table[value], logs)
        gain -= spread
        used += total > 0
    return _rounded(gain) if used > 1 else -1


@njit(inner=True)
def _best_value(table, ranked, counts, whole, logs):
    """The greatest gain of one value against the rest, and the lowest ranked value with it."""
    known = counts.sum()
    best, chosen = -1, 0
    for code in ranked:
        spread, total = _spread(table[code], logs)
        if 0 < total < known:
            rest, _ = _spread(counts - table[code], logs)
            gain = _rounded(whole - spread - rest)
            if gain > best:
                best, chosen = gain, code
    return best, chosen


@njit(inner=True)
def _table(data, plan, rows):
    """The classes of every nominal value: int64 (cells, classes)."""
    table = np.zeros((plan.first[-1], plan.classes), np.int64)
    for row in rows:
        label = data.labels[row]
        for column in range(data.codes.shape[1]):
            code = data.codes[row, column]
            if code != MISSING:
                table[plan.first[column] + code, label] += 1
    return table


@njit(nogil=True)
def best_test(data, plan, work, low, high):
    """``(attribute, value)`` of the best test of the instances ``work.rows[low:high]``.

    The greatest gain wins, of equal ones the lower attribute, then the lower threshold or value. An attribute's gain is
    the entropy that its test takes from the instances whose value is known, times their number. The attribute is PURE
    or NONE if there is no test; the value is the threshold, or the code of the value that is tested, -1 where each has
    its branch.
    """
    rows = work.rows[low:high]
    pure = True
    for row in rows:
        if data.labels[row] != data.labels[rows[0]]:
            pure = False
            break
    if pure:
        return PURE, -1.0
    table = _table(data, plan, rows)
    best, attribute, value = -1, NONE, -1.0
    for each in range(len(plan.numeric)):
        column, tested = plan.column[each], -1.0
        if plan.numeric[each]:
            gain, tested = _best_threshold(
                data.numbers[column], work.orders[column, low:high], data.labels, plan.classes, plan.logs
            )
        else:
            first, end = plan.first[column], plan.first[column + 1]
            part = table[first:end]
            counts = part.sum(axis=0)
            whole, _ = _spread(counts, plan.logs)
            if plan.multiway:
                gain = _gain_of_all(part, whole, plan.logs)
            else:
                gain, code = _best_value(part, plan.ranked[first:end], counts, whole, plan.logs)
                tested = float(code)
        if gain > best:
            best, attribute, value = gain, each, tested
    return attribute, value


@njit(inner=True)
def _branch(data, plan, attribute, value, row):
    column = plan.column[attribute]
    if plan.numeric[attribute]:
        number = data.numbers[column, row]
        return ABSENT if np.isnan(number) else np.int64(number >= value)
    code = np.int64(data.codes[row, column])
    if code == MISSING:
        return ABSENT
    return code if plan.multiway else np.int64(code != value)


@njit(nogil=True)
def branches(data, plan, attribute, value, rows):
    """The branch of each instance of ``rows``, int16 array.

    That is 0 below the threshold or with the value, 1 else; with a branch per value its code; or ABSENT.
    """
    found = np.empty(len(rows), np.int16)
    for i in range(len(rows)):
        found[i] = _branch(data, plan, attribute, value, rows[i])
    return found


@njit(nogil=True)
def divide(data, plan, work, attribute, value, low, high):
    """Divide the stretch ``low`` to ``high`` of all orders into one for each branch, ABSENT and from 0 on.

    Returns where each of them starts, and where the last one ends.
    """
    column = plan.column[attribute]
    binary = plan.numeric[attribute] or not plan.multiway
    width = 2 if binary else plan.first[column + 1] - plan.first[column]
    starts = np.zeros(width + 2, np.int64)
    for row in work.rows[low:high]:
        work.side[row] = _branch(data, plan, attribute, value, row)
        starts[work.side[row] + 2] += 1
    starts[0] = low
    for branch in range(1, width + 2):
        starts[branch] += starts[branch - 1]
    _arrange(work.rows, work, low, high, starts)
    for order in range(len(work.orders)):
        _arrange(work.orders[order], work, low, high, starts)
    return starts


@njit(inner=True)
def _arrange(order, work, low, high, starts):
    at = starts.copy()
    for i in range(low, high):
        branch = work.side[order[i]] + 1
        work.spare[at[branch]] = order[i]
        at[branch] += 1
    order[low:high] = work.spare[low:high]
