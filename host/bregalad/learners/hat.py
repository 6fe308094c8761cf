"""HAT, the Hoeffding adaptive tree."""

from ..estimator.parameters import declared
from ..estimator.tree import StreamTree


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
