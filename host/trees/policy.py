"""When a leaf splits: Hoeffding's bound on the gains that the board suggests."""

from collections import namedtuple
from dataclasses import dataclass

import numpy as np
from numba import njit

from ..geometry import GAIN_FRACTION, NONE
from ..protocol.reports import suggestion_layout

__all__ = ["KEEP", "SPLIT", "TIE", "HoeffdingPolicy", "hoeffding_bound", "judge",
           "suggestion_words"]

KEEP, SPLIT, TIE = range(3)  # verdicts; TIE: a split that only the tie threshold allowed

_MIN_GAIN = 1e-10  # bits by which a split must beat the null split, as in MOA

# Offsets into a SUGGESTION in 32-bit words.
_Words = namedtuple("_Words", "size n class_counts best second")


def suggestion_words(geometry):
    """Where the fields of a SUGGESTION lie, in 32-bit words."""
    layout = suggestion_layout(geometry)
    return _Words(layout.size // 4, *(layout.offset(name) // 4 for name in (
        "n", "class_counts", "best_cell", "second_cell")))


@dataclass(frozen=True)
class HoeffdingPolicy:
    """VFDT's split decision.

    Parameters
    ----------
    delta : float
        Allowed probability of a wrong choice, 0 < delta < 1.
    tau : float
        Tie threshold, bits, >= 0: split whatever the gap once the bound is below it.
    grace : int
        Instances between trials of a leaf, 1 to 2**24 - 1.
    child_counts : "inherit" or "zero"
        Whether a child's n starts with the class distribution that the split gave it (MOA, River)
        or at zero (Domingos and Hulten's pseudo-code).

    Raises
    ------
    TypeError, ValueError
        If an option is not as above.

    Source: Domingos and Hulten, Mining high-speed data streams, KDD 2000, table 1 and section 3.1.
    """

    delta: float = 1e-7
    tau: float = 0.05
    grace: int = 200
    child_counts: str = "inherit"

    def __post_init__(self):
        if not 0 < self.delta < 1:
            raise ValueError(f"delta must lie between 0 and 1, not {self.delta!r}")
        if not self.tau >= 0:
            raise ValueError(f"tau must be 0 or more, not {self.tau!r}")
        if not isinstance(self.grace, int | np.integer) or isinstance(self.grace, bool):
            raise TypeError(f"grace must be an integer, not {self.grace!r}")
        if not 1 <= self.grace < 1 << 24:
            raise ValueError(f"grace must be 1 to {(1 << 24) - 1} instances, not {self.grace}")
        if self.child_counts not in ("inherit", "zero"):
            raise ValueError(f"child_counts must be 'inherit' or 'zero', "
                             f"not {self.child_counts!r}")


@njit(cache=True)
def hoeffding_bound(n, classes, delta):
    """Hoeffding's epsilon of information gain, in bits, after n instances."""
    return np.log2(max(2, classes)) * np.sqrt(np.log(1 / delta) / (2 * n))


@njit(cache=True)
def _entropy(counts):
    total = counts.sum()
    bits = 0.0
    for count in counts:
        if count > 0:
            bits -= count / total * np.log2(count / total)
    return bits


@njit(cache=True)
def _gain(words, at):
    """The 64-bit gain of the candidate at a word offset, in bits times instances."""
    low, high = np.int64(words[at + 1]), np.int64(words[at + 2])
    return np.float64((high << 32) | low) / (1 << GAIN_FRACTION)


@njit(cache=True)
def judge(words, offsets, base, slot_node, classes, delta, tau):
    """Decide on suggestions.

    The board's gains are over a leaf's own counts. The entropy before the split is taken with the
    inherited counts, which shifts every attribute against the null split (algorithms, VFDT).

    Parameters
    ----------
    words : uint32 array (suggestions, words)
    offsets : named tuple of ``suggestion_words``
    base : int64 array (nodes, classes)
        Inherited counts.
    slot_node : int64 array (slots,)
    classes : int
        Classes in use.

    Returns
    -------
    int8 array (suggestions,): KEEP, SPLIT or TIE.
    """
    verdicts = np.zeros(len(words), np.int8)
    for row in range(len(words)):
        word = words[row]
        node = slot_node[word[0] >> 16]
        own = word[offsets.class_counts:offsets.class_counts + base.shape[1]].astype(np.int64)
        both = own + base[node]
        n_own = np.float64(word[offsets.n])
        n = n_own + base[node].sum()
        if (both > 0).sum() < 2 or n_own == 0 or word[offsets.best] & 0xFFFF == NONE:
            continue
        shift = _entropy(both) - _entropy(own)
        best = _gain(word, offsets.best) / n_own + shift
        second = 0.0  # the null split
        if word[offsets.second] & 0xFFFF != NONE:
            second = max(second, _gain(word, offsets.second) / n_own + shift)
        epsilon = hoeffding_bound(n, classes, delta)
        if best >= _MIN_GAIN:
            if best - second > epsilon:
                verdicts[row] = SPLIT
            elif epsilon < tau:
                verdicts[row] = TIE
    return verdicts
