"""The Hoeffding trees: each fixes or leaves open what `SplitPolicy` has."""

from ..estimator.parameters import declared
from ..estimator.tree import StreamTree
from ..policy.bounds import TWO_CLASSES
from ..words import shown


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


@declared
class EFDT(StreamTree):
    """Hoeffding anytime tree: every node keeps statistics on the board and revises its split.

    Every node takes a slot, inner ones too.

    Source: Manapragada, Webb and Salehi, Extremely fast decision tree, KDD 2018;
    docs/learners.md.
    """

    _fixed = {"anytime": True}

    slots: int = 4096
    delta: float = 0.05
    inner_grace: int = 2000
    variant: str = "paper"
    gain_average: bool = False
    same_attribute: str = "keep"
    criterion: str = "information_gain"
    bound: str = "hoeffding"


@declared
class HAT(StreamTree):
    """Hoeffding adaptive tree: where a node's errors grow, an alternate grows beside it.

    Where that is better, it takes the node's place. The errors are looked at with every instance. The leaves of
    alternates take slots, too.

    Source: Bifet and Gavalda, Adaptive learning from evolving data streams, IDA 2009; docs/learners.md.
    """

    _fixed = {"alternates": True, "watched": True}

    slots: int = 4096
    grace: int = 100
    drift_delta: float = 0.02
    switch_delta: float = 0.05
    switch_width: int = 50
    leaf_alternates: bool = True
    criterion: str = "information_gain"
    bound: str = "hoeffding"


@declared
class EFHAT(HAT):
    """Hoeffding anytime tree whose nodes' errors are watched as HAT's are: alternates grow where they rise.

    A leaf splits as soon as a split is better than none, and inner nodes go on revising theirs. Every node takes a
    slot, inner ones and those of alternates, too.

    Source: Manapragada, Salehi and Webb, Extremely fast Hoeffding adaptive tree, ICDM 2022; docs/learners.md.
    """

    _fixed = {"anytime": True, "alternates": True, "watched": True}

    inner_grace: int = 2000
    same_attribute: str = "keep"


@declared
class CVFDT(StreamTree):
    """Hoeffding tree of the last instances: what is older than a window is forgotten at every node that has counted it.

    Where an inner node's attribute is no longer the best, an alternate grows beside it, and takes its place once it
    is more accurate. Every node takes a slot, inner ones and those of alternates, too.

    Source: Hulten, Spencer and Domingos, Mining time-changing data streams, KDD 2001; docs/learners.md.
    """

    _fixed = {"anytime": True, "alternates": True, "rivals": True}

    slots: int = 4096
    delta: float = 1e-4
    window: int | None = 10_000
    inner_grace: int = 1000
    same_attribute: str = "replace"
    test_every: int = 1000
    test_length: int = 300
    criterion: str = "information_gain"
    bound: str = "hoeffding"


@declared
class CTree(StreamTree):
    """Confidence tree: splits by confidence intervals for the split criterion itself.

    Two classes; nominal attributes split one value against the rest.

    Source: De Rosa and Cesa-Bianchi, Splitting with confidence in decision trees with application
    to stream mining, IJCNN 2015; docs/learners.md.
    """

    grace: int = 100
    criterion: str = "gini"
    bound: str = "confidence-practical"
    scale: float = 5e-3
    nominal_split: str = "one_vs_rest"

    def _policy(self):
        if not isinstance(self.bound, str) or self.bound not in TWO_CLASSES:
            raise ValueError(
                f"bound must be {' or '.join(map(repr, TWO_CLASSES))}, not {shown(self.bound)}; VFDT takes the others"
            )
        return super()._policy()


@declared
class CorrHTree(StreamTree):
    """Corrected Hoeffding tree: classification error, which Hoeffding's bound does apply to.

    Source: Matuszyk, Krempl and Spiliopoulou, Correcting the usage of the Hoeffding inequality in
    stream mining, IDA 2013; docs/learners.md.
    """

    _fixed = {"criterion": "classification_error"}

    grace: int = 100
    nominal_split: str = "one_vs_rest"
