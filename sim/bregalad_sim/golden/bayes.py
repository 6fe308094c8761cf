"""Naive Bayes in fixed point: a record's score for every class."""

from bregalad.fixed import BAYES_BINS, BAYES_UNIT, UNUSED_CLASS, bayes_log2, neighbour_log


def scores_of(class_counts, words, classes):
    """Log2 of every class's share up to what all have in common, times BAYES_BINS.

    Parameters
    ----------
    class_counts : list of int
        Of the slot.
    words : list of three lists of int
        Per value that is known, the counts of every class in its bin and in two others.
    classes : int
        In use; further ones, and those without an instance, get UNUSED_CLASS.
    """
    scores = []
    for k, instances in enumerate(class_counts):
        if k >= classes or not instances:
            scores.append(UNUSED_CLASS)
            continue
        # The shares' common factor 1 / BAYES_UNIT is left out.
        score = BAYES_BINS * (bayes_log2(instances) - len(words) * bayes_log2(instances + 1))
        for bins in words:
            own, *others = (bayes_log2(BAYES_UNIT * counts[k] + 1) for counts in bins)
            score += own + sum(neighbour_log(own, other) for other in others)
        scores.append(score)
    return scores
