"""Code books that change while a stream runs, and what that does to a learner's statistics."""

import numpy as np

from .kernel import NUMERIC

__all__ = ["learn_coded", "recode"]

CODES = 255  # as the end of a range it means that there is none


def learn_coded(learner, quantiser, X, labels):
    """Learn instances by the codes of a quantiser that learns with them.

    Parameters
    ----------
    learner : Learner
        Of the zoomed observer.
    quantiser : bregalad.data.Quantiser
    X, labels
        As ``Quantiser.begin`` and ``Learner.learn`` take them.

    Returns
    -------
    predictions, gaps : arrays (n,)
        As of ``Learner.learn``.
    """
    stretches = quantiser.begin(X)
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
    tree = learner.tree
    return [at for at in learner.live() if tree[at]["kind"] == NUMERIC and tree[at]["attribute"] == attribute]


def _thresholds(learner, attribute):
    used = np.zeros(CODES + 1, bool)
    used[[min(int(learner.tree[at]["threshold"]), CODES) for at in _tests(learner, attribute)]] = True
    return used


def recode(learner, attribute, old, new, values):
    """Go on with a book of other edges.

    Parameters
    ----------
    old, new : float64 array
        Edges of the books.
    values : float64 array
        What is known of the stream: what a bin has counted is divided as these are.
    """

    def code_at(code, after):
        """Where an old code begins, by the new book: the code that begins there, or is around it or after it."""
        if code == 0 or code > len(old):
            return 0 if code == 0 else CODES
        below = int((new < old[code - 1]).sum())
        return below + 1 if after or old[code - 1] in new else below

    tree, arrays = learner.tree, learner.statistics.arrays
    for at in learner.live():
        row = tree[at]["row"]
        if row < 0:
            continue
        low, high, shift = map(int, arrays.zoom[row, attribute])
        new_low = code_at(low, False)
        learner.observer.zoom(arrays, row, attribute, new_low, max(code_at(high, True), new_low))
        new_shift = int(arrays.zoom[row, attribute, 2])
        counts = arrays.table[row, attribute, : learner.observer.bins]
        moved = np.zeros_like(counts)
        for index in np.flatnonzero(counts.any(axis=1)):
            first = low + (int(index) << shift)
            last = high if index == len(counts) - 1 else min(first + (1 << shift), high)
            first, last = min(first, max(high, low + 1)), max(last, low + 1) if last == high else last
            places, masses = _parts(old, new, values, first, last)
            for label in np.flatnonzero(counts[index]):
                shares = _shares(int(counts[index, label]), masses)
                for place, share in zip(places, shares, strict=True):
                    moved[min(max(place - new_low, 0) >> new_shift, len(counts) - 1), label] += share
        counts[:] = moved
    for at in _tests(learner, attribute):
        tree[at]["threshold"] = code_at(min(int(tree[at]["threshold"]), CODES), True)


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
