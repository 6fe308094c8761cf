"""VFDT, the Hoeffding tree."""

from .estimator import StreamTree
from .policy import HoeffdingPolicy

__all__ = ["VFDT"]


class VFDT(StreamTree):
    """Hoeffding tree whose statistics and gains are computed by a board.

    Parameters
    ----------
    board, geometry, slots, nominal, nominal_split, nominal_values, head, feed,
    review_period
        As in ``StreamTree``.
    delta, tau, grace, child_counts
        As in ``HoeffdingPolicy``.

    Examples
    --------
    >>> import numpy as np
    >>> from bregalad import VFDT
    >>> rng = np.random.default_rng(1)
    >>> X = rng.random((5000, 2))
    >>> y = X[:, 0] > 0.5
    >>> VFDT().fit(X, y).score(X, y) > 0.95
    True

    Source: Domingos and Hulten, Mining high-speed data streams, KDD 2000.
    """

    def __init__(self, board="emulated", *, geometry=None, slots=1024, delta=1e-7, tau=0.05,
                 grace=200, child_counts="inherit", nominal=(), nominal_split="multiway",
                 nominal_values=64, head=500, feed="stream", review_period=20_000):
        self.board = board
        self.geometry = geometry
        self.slots = slots
        self.delta = delta
        self.tau = tau
        self.grace = grace
        self.child_counts = child_counts
        self.nominal = nominal
        self.nominal_split = nominal_split
        self.nominal_values = nominal_values
        self.head = head
        self.feed = feed
        self.review_period = review_period

    def _policy(self):
        return HoeffdingPolicy(self.delta, self.tau, self.grace, self.child_counts)
