"""Instances of more or less weight: how often each is learnt.

An instance of weight w is learnt w times in a row, or not at all where w is 0. Fractions are saved up per class, in
``_fractions`` of the learner; where those of a class come to 1 its instance is learnt once more. So what classes weigh
altogether is right to within 1, and whole weights are exact.
"""

from numbers import Real

import numpy as np
from sklearn.utils.validation import check_array

from ..compiled import njit
from ..data.frames import as_series
from ..data.nominal import plain
from ..data.parts import rows_of
from ..driver.trainer import HEAVIEST
from ..warn import warn
from ..words import shown
from .inputs import converted

_PART = 1 << 18  # instances that are repeated at once
_SLACK = 1e-9  # ten tenths are one


def check_class_weight(class_weight):
    """Refuse a wrong ``class_weight`` with a TypeError or ValueError."""
    if class_weight is None or isinstance(class_weight, str) and class_weight == "balanced":
        return
    if not isinstance(class_weight, dict):
        raise TypeError(
            f"class_weight must be a dict of class labels to weights, 'balanced' or None, not {shown(class_weight)}"
        )
    for label, weight in class_weight.items():
        try:
            plain(label)
        except TypeError as error:
            raise TypeError(
                f"class_weight names {shown(label)}; a label is a string, an integer or a boolean"
            ) from error
        if isinstance(weight, bool | np.timedelta64) or not isinstance(weight, Real):
            raise TypeError(f"class_weight of {shown(label)} must be a number, not {shown(weight)}")
        if not 0 <= weight <= HEAVIEST:
            raise ValueError(f"class_weight of {shown(label)} must be 0 to {HEAVIEST}, not {shown(weight)}")


def instance_weights(learner, labels, classes, sample_weight, whole=False):
    """What instances weigh, float array (n,), or None if each weighs 1.

    Labels, int32 array (n,), are indices of ``classes``. ``sample_weight`` is a sequence (n,), a number or None.
    ``whole`` says whether this is all that will be learnt, so that classes can be balanced, and weights scaled.
    TypeError or ValueError if a weight is none, or ``class_weight`` is not of these classes.
    """
    weights = None if sample_weight is None else weights_of(sample_weight, len(labels))
    factors = _factors(learner, labels, classes, whole)
    if factors is not None:
        weights = factors[labels] if weights is None else weights * factors[labels]
    if weights is not None and len(weights) and 0 < weights.max() < 1:
        if whole:  # a mean of 1, or as near as the heaviest instance allows
            weights = weights / weights.max()
            weights *= min(len(weights) / weights.sum(), HEAVIEST)
        elif len(weights) > 1 and (total := float(weights.sum())) <= 1 + _SLACK:
            warn(
                f"{len(weights)} instances weigh {total:.3g} altogether, and each is learnt as often as it weighs, so "
                f"hardly any is: multiply the weights by {len(weights) / total:.3g} for a mean of 1"
            )
    if weights is not None and len(weights) and weights.max() > HEAVIEST:
        row = int(weights.argmax())
        raise ValueError(
            f"instance {row} weighs {weights[row]:g}, by sample_weight and "
            f"class_weight: it would be learnt as often, {HEAVIEST} at most"
        )
    return weights


def _factors(learner, labels, classes, whole):
    """What the classes weigh, float array; None: 1 each."""
    check_class_weight(learner.class_weight)
    if learner.class_weight is None:
        return None
    if learner.class_weight == "balanced":
        if not whole:
            raise ValueError(
                "class_weight='balanced' counts the classes of all instances, so "
                "it is for fit alone: a stream's share of classes is not known "
                "ahead; give a dict of weights"
            )
        counts = np.bincount(labels, minlength=len(classes))
        return len(labels) / (len(classes) * np.maximum(counts, 1))
    known = classes.tolist()
    for label in learner.class_weight:
        if label not in known and not learner._grows:  # else it may come yet
            raise ValueError(f"class_weight names {shown(label)}, none of the classes {shown(known, 300)}")
    return np.array([learner.class_weight.get(label, 1) for label in known], float)


def often(learner, labels, weights):
    """How often instances are learnt, int array (n,), and what is saved up of each class then."""
    saved = np.zeros(len(learner.classes_))
    if learner._fractions is not None:
        saved[: len(learner._fractions)] = learner._fractions  # more classes may have come
    return _times(weights, labels, saved), saved


def repeating(learner, X, labels, weights):
    """``_testing_then_training`` of instances as often as they weigh, for `Steps`.

    Returns the predictions of those that are learnt.
    """
    learner._quantiser.check(X)  # all of it before a part is learnt
    times, saved = often(learner, labels, weights)
    ends = np.cumsum(times)
    predicted = [learner.classes_[:0]]
    start = 0
    while start < len(labels):
        done = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + _PART, side="right")))
        repeats = times[start:stop]
        rows = np.repeat(np.arange(start, stop), repeats)
        if len(rows):
            found = yield from learner._testing_then_training(rows_of(X, rows), labels[rows])
            predicted.append(found[(ends[start:stop] - repeats - done)[repeats > 0]])
        start = stop
    learner._fractions = saved
    return np.concatenate(predicted)


def weights_of(weights, count):
    """Weights of so many instances as floats."""
    options = {"dtype": np.float64, "ensure_2d": False, "ensure_all_finite": False, "ensure_min_samples": 0}
    numbers = converted(check_array, as_series(weights), "sample_weight", **options)
    if numbers.ndim == 0:
        numbers = np.full(count, numbers)
    if numbers.shape != (count,):
        raise ValueError(
            f"sample_weight must hold a weight for each of {count} instances, its shape is {numbers.shape}"
        )
    wrong = ~((numbers >= 0) & (numbers <= HEAVIEST))
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"sample_weight[{row}] is {numbers[row]:g}: an instance is learnt as often as it weighs, 0 to {HEAVIEST}"
        )
    return numbers


@njit()
def _times(weights, labels, saved):
    """How often each instance is learnt; what is ``saved`` up per class is brought up to date."""
    times = np.empty(len(weights), np.int64)
    for i in range(len(weights)):
        whole = np.floor(weights[i])
        saved[labels[i]] += weights[i] - whole
        if saved[labels[i]] >= 1 - _SLACK:
            saved[labels[i]] = max(0.0, saved[labels[i]] - 1)
            whole += 1
        times[i] = np.int64(whole)
    return times
