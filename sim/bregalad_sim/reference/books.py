"""Code books that change while a stream runs, and what that does to a learner's statistics."""

import numpy as np
from bregalad.data.stretches import Stretches

from .node import NUMERIC
from .observers import CODES, BinWindow


def learn_coded(learner, quantiser, X, labels):
    """Learn instances by the codes of a quantiser that learns with them; predictions and gaps as of ``Learner.learn``.

    X and labels are as `Stretches` and ``Learner.learn`` take them.
    """
    stretches = Stretches(quantiser, X)
    found, at = [], 0
    while at < len(labels):
        codes = stretches.next(at, len(labels))
        found.append((learner.learn(codes, labels[at : at + len(codes)]), learner.gaps))
        if due := stretches.learnt(at, len(codes)):
            changes = _changes(learner, quantiser, due)
            if changes:
                learner.settle()  # decisions are in codes of the old books
                changes = _changes(learner, quantiser, due)
            for change in changes:
                recode(learner, *change)
            quantiser.adopt(changes)
            stretches.forget()
        at += len(codes)
    predictions, gaps = zip(*found, strict=True) if found else ([np.empty(0, np.int64)], [np.empty(0)])
    return np.concatenate(predictions), np.concatenate(gaps)


def _changes(learner, quantiser, due):
    kept = [_thresholds(learner, attribute) for attribute in range(len(quantiser.books))]
    return quantiser.changes(due, np.array(kept))


def _tests(learner, attribute):
    return [node for node in learner.live() if node.kind == NUMERIC and node.attribute == attribute]


def _thresholds(learner, attribute):
    used = np.zeros(CODES + 1, bool)
    used[[min(node.threshold, CODES) for node in _tests(learner, attribute)]] = True
    return used


def recode(learner, attribute, old, new, values):
    """Go on with a book of other edges, float64 arrays.

    What a bin has counted is divided as the ``values`` known of the stream are.
    """

    def code_at(code, after):
        """Where an old code begins, by the new book: the code that begins there, or is around it or after it."""
        if code == 0 or code > len(old):
            return 0 if code == 0 else CODES
        below = int((new < old[code - 1]).sum())
        return below + 1 if after or old[code - 1] in new else below

    for node in learner.live():
        if node.observed is not None:
            before = node.observers[attribute]
            low = code_at(before.low, False)
            after = BinWindow(before.bins, before.classes, low, max(code_at(before.high, True), low))
            _divide(before, after, old, new, values)
            node.observers[attribute] = after
    for node in _tests(learner, attribute):
        node.threshold = code_at(min(node.threshold, CODES), True)


def _divide(before, after, old, new, values):
    """Count in the bins of one observer what those of another have counted."""
    low, high = before.low, before.high
    for index, counts in enumerate(before.table):
        if not any(counts):
            continue
        first = low + (index << before.shift)
        last = high if index == before.bins - 1 else min(first + (1 << before.shift), high)
        first, last = min(first, max(high, low + 1)), max(last, low + 1) if last == high else last
        places, masses = _parts(old, new, values, first, last)
        for label, count in enumerate(counts):
            for place, share in zip(places, _shares(count, masses), strict=True):
                after.count(place, label, share)


def _parts(old, new, values, first, last):
    """The new codes of the numbers whose old codes are from ``first`` to ``last - 1``, and how many values each has."""
    borders = np.union1d(old, new)
    lowest = np.concatenate([[-np.inf], borders])
    codes = (old[np.newaxis] <= lowest[:, np.newaxis]).sum(axis=1)
    inside = (codes >= first) & (codes < last)
    if not inside.any():  # those around
        inside = np.arange(len(codes)) == max((codes < first).sum() - 1, 0)
    places = (new[np.newaxis] <= lowest[inside, np.newaxis]).sum(axis=1)
    piece = (borders[np.newaxis] <= values[:, np.newaxis]).sum(axis=1)
    masses = np.bincount(piece, minlength=len(codes))[inside]
    return places.tolist(), masses.tolist() if masses.any() else [1] * int(inside.sum())


def _shares(count, masses):
    """A count divided as masses are: where so much of it has come is rounded to the nearest."""
    total, seen, given, found = sum(masses), 0, 0, []
    for mass in masses:
        seen += mass
        up_to = (2 * count * seen + total) // (2 * total)
        found.append(up_to - given)
        given = up_to
    return found
