"""When a gap between gains is sure."""

from dataclasses import dataclass
from math import e, log, log2, sqrt

from .criteria import value_range


@dataclass(frozen=True)
class Attempt:
    """What a bound may look at."""

    n: float  # the node's counts, inherited ones included
    height: int  # of the node; the root's is 0
    seen: int  # instances that the tree has learnt, this one included
    attributes: int
    classes: int


class _Bound:
    """A bound for one criterion.

    Parameters
    ----------
    criterion : str
    delta, tau, c : float
    """

    def __init__(self, criterion, delta, tau, c):
        self.criterion, self.delta, self.tau, self.c = criterion, delta, tau, c
        self.unit = 1.0  # of the bound's source, per unit of gain

    def excess(self, gap, attempt):
        """Gain by which a gap is above what is sure, negative below."""
        return gap - self.epsilon(attempt)

    def sure(self, gap, attempt):
        """Whether a gap is more than chance."""
        return self.excess(gap, attempt) > 0

    def tied(self, attempt):
        """Whether the bound has come below the tie threshold."""
        return self.epsilon(attempt) < self.tau

    def half_tau(self):
        """The gain that is half the tie threshold."""
        return self.tau / 2 / self.unit


class Hoeffding(_Bound):
    """Domingos and Hulten, KDD 2000."""

    def epsilon(self, attempt):
        """R sqrt(ln(1/delta) / (2 n))."""
        R = value_range(self.criterion, attempt.classes)
        return R * sqrt(log(1 / self.delta) / (2 * attempt.n))


class McDiarmid(_Bound):
    """Rutkowski, Pietruczuk, Duda and Jaworski, TKDE 2013, theorems 1 and 2."""

    def epsilon(self, attempt):
        """C(K, n) sqrt(ln(1/delta) / (2 n))."""
        K, n = attempt.classes, attempt.n
        C = {"information_gain": 6 * (K * log2(e * n) + log2(2 * n)) + 2 * log2(K), "gini": 8}[self.criterion]
        return C * sqrt(log(1 / self.delta) / (2 * n))


class Confidence(_Bound):
    """De Rosa and Cesa-Bianchi, Splitting with confidence, ICDM 2015, theorems 1 to 4."""

    def __init__(self, criterion, delta, tau, c):
        super().__init__(criterion, delta, tau, c)
        # The paper's entropy is - (p/2) ln p - ..., half in nats.
        self.unit = log(2) / 2 if criterion == "information_gain" else 1.0

    def epsilon(self, attempt):
        """In the units of the paper."""
        m, t, h = attempt.n, attempt.seen, attempt.height
        d = (1 / t) / ((h + 1) * (h + 2) * (t + 1) ** 3 * attempt.attributes * m)
        if self.criterion == "information_gain":
            return log(m) * sqrt(2 / m * log(4 / d)) + 2 / m
        if self.criterion == "gini":
            return sqrt(8 / m * log(2 / d)) + 4 * sqrt(1 / m)
        if self.criterion == "kearns_mansour":
            return 4 * sqrt(1 / m * log(8 / d))
        raise ValueError(f"the bound is not known for {self.criterion}")

    def excess(self, gap, attempt):
        return gap - 2 * self.epsilon(attempt) / self.unit

    def sure(self, gap, attempt):
        return gap * self.unit >= 2 * self.epsilon(attempt)

    def tied(self, attempt):
        return self.epsilon(attempt) <= self.tau


class PracticalConfidence(Confidence):
    """The same paper, equation 7."""

    def epsilon(self, attempt):
        """c sqrt(ln(m^2 (h + 1)^2 t D) / m)."""
        m, h = attempt.n, attempt.height
        inner = m * m * (h + 1) ** 2 * attempt.seen * attempt.attributes
        return self.c * sqrt(max(log(inner), 0.0) / m)

    def excess(self, gap, attempt):
        return gap - self.epsilon(attempt) / self.unit

    def sure(self, gap, attempt):
        return gap * self.unit >= self.epsilon(attempt)

    def tied(self, attempt):
        return False


BOUNDS = {
    "hoeffding": Hoeffding,
    "mcdiarmid": McDiarmid,
    "confidence": Confidence,
    "confidence-practical": PracticalConfidence,
}
