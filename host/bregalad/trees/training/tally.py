"""What has happened to a tree, in numbers."""

from dataclasses import dataclass

__all__ = ["Tally"]


@dataclass
class Tally:
    """What has happened to a tree so far."""

    instances: int = 0
    splits: int = 0  # of leaves
    replaced: int = 0  # splits of inner nodes that took another one's place
    pruned: int = 0  # inner nodes that became leaves
    ties: int = 0  # splits, new or replaced, that only the tie threshold allowed
    trials: int = 0
    halvings: int = 0  # trials that found their slot's counts halved since the last
