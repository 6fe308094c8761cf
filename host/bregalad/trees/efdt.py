"""EFDT, the Hoeffding anytime tree."""

from .estimator import StreamTree
from .parameters import declared

__all__ = ["EFDT"]


@declared
class EFDT(StreamTree):
    """Hoeffding anytime tree: every node keeps statistics on the board and revises its split.

    Every node takes a slot, inner ones too.

    Source: Manapragada, Webb and Salehi, Extremely fast decision tree, KDD 2018;
    docs/learners.md.
    """

    _fixed = {"anytime": True}

    def __init__(
        self,
        board="emulated",
        *,
        geometry=None,
        slots=4096,
        delta=0.05,
        tau=0.05,
        grace=200,
        max_depth=None,
        inner_grace=2000,
        variant="paper",
        gain_average=False,
        same_attribute="keep",
        child_counts="inherit",
        zoom="path",
        criterion="information_gain",
        bound="hoeffding",
        leaf_prediction=None,
        nominal=(),
        nominal_split="multiway",
        nominal_values=64,
        class_weight=None,
        head=500,
        feed="stream",
        review_period=20_000,
        threads=1,
    ):
        self._keep_parameters(locals())
