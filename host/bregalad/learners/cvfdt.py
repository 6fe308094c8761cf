"""CVFDT, the concept-adapting very fast decision tree."""

from ..estimator.parameters import declared
from ..estimator.tree import StreamTree


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
