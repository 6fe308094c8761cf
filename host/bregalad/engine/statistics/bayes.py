"""Naive Bayes predictions from a slot's counters, and class shares by their scores."""

import numpy as np

from ...compiled import njit
from ...fixed import BAYES_BINS, BAYES_FALL, BAYES_FRACTION, UNUSED_CLASS
from .arithmetic import whole_log
from .bins import ALL_NUMERIC, MIXED, NUMERIC, gather, is_shared, locate, mixture
from .counting import restate
from .state import BEATS, COUNTS, KIND, NODES, PREDICTED, TERMS, compiled, inlined, inner, slots_of

UNIT = BAYES_BINS << BAYES_FRACTION


@inlined
def only_class(entries, classes, slot):
    """The class of all of a slot's instances, so what `classify` finds; -1: there are several."""
    slot = np.uint64(slot)
    found = np.int64(-1)
    named = 0
    for k in range(classes):
        known = entries[slot, np.uint64(COUNTS + k)] > 0
        named += known
        found = k if known else found
    return found if named == 1 else np.int64(-1)


@inlined
def three_logs(shares, slot, at, row):
    """Those of a counter, and of the same class and cell in the bins beside its."""
    below = np.int64(shares[slot, np.uint64(at)])
    own = np.int64(shares[slot, np.uint64(at + row)])
    above = np.int64(shares[slot, np.uint64(at + 2 * row)])
    least = own - BAYES_FALL
    return own + max(below, least) + max(above, least)


@inner
def classify(slots, mix, neighbours, classes, slot, places):  # noqa: C901 (compiled: parts would be called per instance)
    """The class that naive Bayes predicts; the slots' ``scores`` are as the golden model's `scores_of` gives them.

    ``places`` as `locate` finds them.
    """
    entries, shares, config, shape = slots.entries, slots.shares, slots.config, slots.shape
    scores, logs, bayes_table = slots.scores, slots.logs, slots.bayes_table
    cells, row = shape[3], shape[2] * shape[3]
    slot = np.uint64(slot)
    if not entries[slot, TERMS]:
        restate(slots, slot)
    if mix == MIXED:
        # A wide attribute's last bin counts the values that other cells score: set aside here.
        last = (shape[1] - 1) * shape[2] * cells
        for cell in range(len(places)):
            if places[cell] >= last and is_shared(config, cell):
                places[cell] = -2 - places[cell]
    known = 0
    for cell in range(len(places)):
        known += places[cell] >= 0
    for k in range(classes):
        n = entries[slot, COUNTS + k]
        score = np.int64(UNUSED_CLASS)
        if n:
            score = BAYES_BINS * (whole_log(n, logs, bayes_table) - known * whole_log(n + 1, logs, bayes_table))
            first = k * cells
            if neighbours and mix == ALL_NUMERIC and known == len(places):  # a loop without a branch
                for place in places:
                    score += three_logs(shares, slot, first + place, row)
            elif neighbours:
                for cell in range(len(places)):
                    place = places[cell]
                    if place >= 0:
                        if config[KIND, cell] == NUMERIC:
                            score += three_logs(shares, slot, first + place, row)
                        else:
                            score += BAYES_BINS * shares[slot, np.uint64(first + place + row)]
            else:
                own = np.int64(0)
                if known == len(places):
                    for place in places:
                        own += shares[slot, np.uint64(first + place + row)]
                else:
                    for place in places:
                        if place >= 0:
                            own += shares[slot, np.uint64(first + place + row)]
                score += BAYES_BINS * own
        scores[k] = score
    if mix == MIXED:
        for cell in range(len(places)):
            if places[cell] < -1:
                places[cell] = -2 - places[cell]
    label = 0
    for k in range(1, classes):
        if scores[k] > scores[label]:
            label = k
    return label


@compiled
def classify_all(state, codes, attributes, slots, where, neighbours, classes, labels, scores):
    """Predict instances, each by a slot, int64 (n,); what they take counts as one prediction each.

    The codes are uint8 (n * attributes,), read-only; ``where``, int64 (cells,), has the attribute of every cell in use;
    neighbours and classes are as in `classify`. Written are labels, int32 (n,), and scores, int64 (n, classes of the
    board) or (0, 0).
    """
    own, places = state.codes[: len(where)], state.places[: len(where)]
    held, mix = slots_of(state), mixture(state.config, len(where))
    for i in range(len(slots)):
        gather(mix, held.shape, codes, i * attributes, where, own, places)
        locate(held, mix, np.uint32(slots[i]), own, places)
        labels[i] = classify(held, mix, neighbours, classes, slots[i], places)
        for k in range(scores.shape[1]):
            scores[i, k] = state.scores[k] if k < classes else UNUSED_CLASS
    state.events[PREDICTED] += len(slots)
    state.events[NODES] += len(slots)
    state.events[BEATS] += len(slots) * ((len(where) + state.lanes - 1) // state.lanes)


def class_shares(scores):
    """Class shares, float array (n, classes), by the scores of naive Bayes, int array of that shape.

    These are log2 of every class's share less a constant, times BAYES_BINS; of one that the leaf has not seen, the
    least integer.
    """
    scores = np.ascontiguousarray(scores, np.int64)
    shares = np.empty(scores.shape)
    _class_shares(scores, shares)
    return shares


@njit()
def class_shares_of_one(scores, shares):
    """The same of one instance, to be written: float64 array (classes,), of which there may be more scores."""
    classes = len(shares)
    most, total = scores[:classes].max(), 0.0
    for k in range(classes):
        shares[k] = 0.0 if scores[k] == UNUSED_CLASS else np.exp2((scores[k] - most) / UNIT)
        total += shares[k]
    for k in range(classes):
        shares[k] /= total


@njit()
def _class_shares(scores, shares):
    for row in range(len(scores)):
        class_shares_of_one(scores[row], shares[row])
