"""Naive Bayes predictions from a slot's counters."""

import numpy as np

from ...fixed import BAYES_BINS, BAYES_FALL, UNUSED_CLASS
from ...geometry import BYTE_CLASSES, Geometry
from ...protocol.reports import Kind, prediction_layout
from ...protocol.words import putter
from .arithmetic import whole_log
from .bins import ALL_NUMERIC, MIXED, NUMERIC, is_shared, locate
from .counting import restate
from .state import CLASSES, COUNTS, KIND, NEIGHBOURS, PREDICTED, PREDICTIONS, TERMS, USED, inlined, inner

__all__ = ["classify", "only_class", "predict", "prediction_words"]

LABEL_ONLY, SCORES = int(Kind.PREDICTION), int(Kind.SCORES)
_SHORT, _LONG = (prediction_layout(Geometry(classes=classes)) for classes in (2, BYTE_CLASSES + 1))
PREDICTION_WORDS = _SHORT.size // 4
put_short, put_long = putter(_SHORT, "kind", "label", "slot"), putter(_LONG, "kind", "label")


@inner
def prediction_words(registers, counts):
    return PREDICTION_WORDS if registers[PREDICTIONS] == 1 else PREDICTION_WORDS + counts.shape[2]


@inner
def predict(
    entries,
    counts,
    counters,
    shares,
    lo,
    shift,
    config,
    events,
    mix,
    registers,
    scores,
    logs,
    bayes_table,
    out,
    progress,
    slot,
    codes,
    places,
):
    """Report a record's naive Bayes prediction from the statistics of its slot."""
    width = counts.shape[2]
    classes = min(registers[CLASSES], width)
    locate(config, lo, shift, mix, counts.shape, slot, codes, places)
    label = classify(
        entries,
        counts.shape,
        counters,
        shares,
        config,
        mix,
        registers[NEIGHBOURS],
        classes,
        scores,
        logs,
        bayes_table,
        slot,
        places,
    )
    used = progress[USED]
    kind = LABEL_ONLY if registers[PREDICTIONS] == 1 else SCORES
    if width > BYTE_CLASSES:
        put_long(out, used, (kind, label))
    else:
        put_short(out, used, (kind, label, slot))
    used += PREDICTION_WORDS
    if kind == SCORES:
        for k in range(width):
            out[used] = (scores[k] if k < classes else UNUSED_CLASS) & 0xFFFFFFFF
            used += 1
    progress[USED] = used
    events[PREDICTED] += 1


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
def classify(
    entries, shape, counters, shares, config, mix, neighbours, classes, scores, logs, bayes_table, slot, places
):
    """The class that naive Bayes predicts; ``scores`` as the golden model's `scores_of` gives them.

    ``shape`` of the counters, ``places`` as `locate` finds them.
    """
    cells, row = shape[3], shape[2] * shape[3]
    slot = np.uint64(slot)
    if not entries[slot, TERMS]:
        restate(entries, shape, counters, shares, logs, bayes_table, slot)
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
