"""Leaf predictors, each declared once; who carries them out has a table of all, or refuses to be imported.

How to add one: CONTRIBUTING.md.
"""

from collections.abc import Callable
from enum import IntEnum


class Predictor(IntEnum):
    """What a leaf predicts by: `leaf_predictor.by`."""

    # Number in registers and compiled code, which stays once it is released; value of ``leaf_prediction``; meaning;
    # whether a leaf with statistics predicts by naive Bayes, by how often it was wrong where the majority class was
    # right, less how often right where that was wrong; None: never.
    MAJORITY = 0, "mc", "the class with most counts", None
    BAYES = 1, "nb", "naive Bayes where it knows, else the class with most counts", lambda right: True
    ADAPTIVE = 2, "nba", "of the two the one that has been right more often", lambda right: right <= 0

    word: str
    meaning: str
    trusts_bayes: Callable | None

    def __new__(cls, number, word, meaning, trusts_bayes):
        member = int.__new__(cls, number)
        member._value_ = number
        member.word, member.meaning, member.trusts_bayes = word, meaning, trusts_bayes
        return member

    @property
    def takes_bayes(self):
        """Whether a board must have naive Bayes."""
        return self.trusts_bayes is not None


_BY_WORD = {predictor.word: predictor for predictor in Predictor}
PREDICTORS = tuple(_BY_WORD)


def predictor_of(word):
    """The predictor of a value of ``leaf_prediction``; ValueError if there is none."""
    if word not in _BY_WORD:
        raise ValueError(f"leaf_prediction must be one of {', '.join(PREDICTORS)}, not {word!r}")
    return _BY_WORD[word]


def usual_predictor(naive_bayes):
    """What leaves predict by, where nothing is said, on a board with or without naive Bayes."""
    return Predictor.ADAPTIVE if naive_bayes else Predictor.MAJORITY
