"""EFDT, the Hoeffding anytime tree."""

from ..estimator.parameters import declared
from ..estimator.tree import StreamTree


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
