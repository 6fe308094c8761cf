"""EFDT, the Hoeffding anytime tree."""

from .estimator import StreamTree
from .policy import SplitPolicy

__all__ = ["EFDT"]


class EFDT(StreamTree):
    """Hoeffding anytime tree: every node keeps statistics on the board and revises its split.

    Every node takes a slot, inner ones too.

    Parameters
    ----------
    board, geometry, slots, leaf_prediction, nominal, nominal_split, nominal_values, head, feed,
    review_period
        As in ``StreamTree``.
    delta, tau, grace, inner_grace, variant, gain_average, same_attribute, child_counts, zoom,
    criterion, bound
        As in ``SplitPolicy``.

    Source: Manapragada, Webb and Salehi, Extremely fast decision tree, KDD 2018;
    docs/learners.md.
    """

    def __init__(self, board="emulated", *, geometry=None, slots=4096, delta=0.05, tau=0.05,
                 grace=200, inner_grace=2000, variant="paper", gain_average=False,
                 same_attribute="keep", child_counts="inherit", zoom="path", criterion="information_gain",
                 bound="hoeffding", leaf_prediction="mc", nominal=(), nominal_split="multiway",
                 nominal_values=64, head=500, feed="stream", review_period=20_000):
        self.board = board
        self.geometry = geometry
        self.slots = slots
        self.delta = delta
        self.tau = tau
        self.grace = grace
        self.inner_grace = inner_grace
        self.variant = variant
        self.gain_average = gain_average
        self.same_attribute = same_attribute
        self.child_counts = child_counts
        self.zoom = zoom
        self.criterion = criterion
        self.bound = bound
        self.leaf_prediction = leaf_prediction
        self.nominal = nominal
        self.nominal_split = nominal_split
        self.nominal_values = nominal_values
        self.head = head
        self.feed = feed
        self.review_period = review_period

    def _policy(self):
        return SplitPolicy(
            delta=self.delta, tau=self.tau, grace=self.grace, child_counts=self.child_counts, zoom=self.zoom,
            criterion=self.criterion, bound=self.bound, anytime=True,
            inner_grace=self.inner_grace, variant=self.variant, gain_average=self.gain_average,
            same_attribute=self.same_attribute)
