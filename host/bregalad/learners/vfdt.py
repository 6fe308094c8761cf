"""VFDT, the Hoeffding tree."""

from ..estimator.parameters import declared
from ..estimator.tree import StreamTree


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

    criterion: str = "information_gain"
    bound: str = "hoeffding"
    scale: float = 5e-3
    ties: str = "ht"
    tie_increment: int = 500
    adaptive_grace: bool = False
