"""EFHAT, the extremely fast Hoeffding adaptive tree."""

from ..estimator.parameters import declared
from ..estimator.tree import StreamTree


@declared
class EFHAT(StreamTree):
    """Hoeffding anytime tree whose nodes' errors are watched as HAT's are: alternates grow where they rise.

    A leaf splits as soon as a split is better than none, and inner nodes go on revising theirs. Every node takes a
    slot, inner ones and those of alternates, too.

    Source: Manapragada, Salehi and Webb, Extremely fast Hoeffding adaptive tree, ICDM 2022; docs/learners.md.
    """

    _fixed = {"anytime": True, "alternates": True, "watched": True}

    slots: int = 4096
    grace: int = 100
    inner_grace: int = 2000
    same_attribute: str = "keep"
    drift_delta: float = 0.02
    switch_delta: float = 0.05
    switch_width: int = 50
    leaf_alternates: bool = True
    criterion: str = "information_gain"
    bound: str = "hoeffding"
