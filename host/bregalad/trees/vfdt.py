"""VFDT, the Hoeffding tree."""

from .estimator import StreamTree
from .parameters import declared

__all__ = ["VFDT"]


@declared
class VFDT(StreamTree):
    """Hoeffding tree whose statistics and gains are computed by a board.

    Examples
    --------
    >>> import numpy as np
    >>> from bregalad import VFDT
    >>> rng = np.random.default_rng(1)
    >>> X = rng.random((5000, 2))
    >>> y = X[:, 0] > 0.5
    >>> VFDT().fit(X, y).score(X, y) > 0.95
    True

    Source: Domingos and Hulten, Mining high-speed data streams, KDD 2000; docs/learners.md.
    """

    def __init__(
        self,
        board="emulated",
        *,
        geometry=None,
        slots=1024,
        delta=1e-7,
        tau=0.05,
        grace=200,
        max_depth=None,
        child_counts="inherit",
        zoom="path",
        criterion="information_gain",
        bound="hoeffding",
        scale=5e-3,
        ties="ht",
        tie_increment=500,
        adaptive_grace=False,
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
