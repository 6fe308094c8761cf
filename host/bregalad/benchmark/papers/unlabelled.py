"""Runs of learners of positive and unlabelled instances beside those that know all labels, and their tables."""

import numpy as np

from .runs import spread

__all__ = ["SHARES", "behind", "follow", "labelled", "tables"]

SHARES = {"10%": 0.1, "30%": 0.3, "50%": 0.5}  # of the positives, that keep their label
_CHUNK = 1000
_FIGURES = ("Accuracy", "F1 of the positive class")


def labelled(positive, share, seed):
    """Which instances keep their label: of the positive ones a share, drawn at random."""
    return positive & (np.random.default_rng(seed).random(len(positive)) < share)


def follow(learners, X, positive):
    """Predict each 1000 instances, then learn them; the learners are closed.

    Parameters
    ----------
    learners : dict
        By name: the learner, and the labels that it is told, bool array (n,).
    X : data frame or array
    positive : bool array (n,)

    Returns
    -------
    dict
        By name: accuracy, F1 (from instance 1000 on) and the level that was chosen last.
    """
    predicted = {name: [] for name in learners}
    for at in range(0, len(positive), _CHUNK):
        part = slice(at, at + _CHUNK)
        for name, (learner, labels) in learners.items():
            if at:
                predicted[name].append(learner.predict(X[part]))
            learner.partial_fit(X[part], labels[part], classes=[False, True])
    found, truth = {}, positive[_CHUNK:]
    for name, (learner, _) in learners.items():
        guess = np.concatenate(predicted[name])
        f1 = 2 * (guess & truth).sum() / max(1, guess.sum() + truth.sum())
        found[name] = ((guess == truth).mean(), f1, getattr(learner, "level_", np.nan))
        learner.close()
    return found


def tables(page, found, learners, levels):
    """Tables of accuracy, of F1, and of the level that these learners chose last.

    Parameters
    ----------
    page : Page
    found : dict
        By (stream, name of a share, learner): what `follow` has found, of each run.
    learners, levels : sequences of str
    """
    for place, what in enumerate(_FIGURES):
        page.text(f"{what}:")
        page.table(what.split()[0].lower(), ["stream", "labelled", *learners], _rows(found, place, learners, 4))
    page.text("The level that was chosen last:")
    page.table("level", ["stream", "labelled", *levels], _rows(found, 2, levels, 2))


def behind(found, learner, other):
    """By how much a learner's accuracy is below that of another one: on average, and at most."""
    gaps = [
        np.mean([run[0] for run in found[name, share, other]]) - np.mean([run[0] for run in runs])
        for (name, share, each), runs in found.items()
        if each == learner
    ]
    return np.mean(gaps), max(gaps)


def _rows(found, place, learners, digits):
    kinds = dict.fromkeys((name, share) for name, share, _ in found)
    return [
        [
            name,
            share,
            *(spread((run[place] for run in found[name, share, each]), digits) for each in learners),
        ]
        for name, share in kinds
    ]
