"""What a learner is told besides its stream and its observer."""

from dataclasses import dataclass

from bregalad.complete import complete
from bregalad.predictors import PREDICTORS

from .bounds import BOUNDS
from .criteria import CRITERIA

LONGEST, MOST = 65536, 1024  # instances of a block, and of one that depends on the tree
NEVER = 1 << 62  # instances

_CHOICES = {
    "criterion": CRITERIA,
    "bound": tuple(BOUNDS),
    "child_counts": ("inherit", "zero"),
    "nominal_split": ("multiway", "one_vs_rest"),
    "bin_window": ("path", "seen"),
    "leaf_prediction": complete(PREDICTORS, ("mc", "nb", "nba"), __file__),
}


@dataclass(frozen=True)
class Options:
    """Options of every learner.

    Parameters
    ----------
    criterion : "information_gain", "gini", "kearns_mansour" or "classification_error"
    bound : "hoeffding", "mcdiarmid", "confidence" or "confidence-practical"
    delta, tau, c : float
    grace : int
    adaptive_grace : bool
    child_counts : "inherit" or "zero"
    nominal_split : "multiway" or "one_vs_rest"
    bin_window : "path" or "seen"
    leaf_prediction : "mc", "nb" or "nba"
    max_depth : int or None
        Leaves at this height do not split.
    block : int or float
        Instances for which the tree stands still, 1 to 65536; or what fraction of a grace period per leaf.
        1: what is decided takes effect before the next instance. Else one block later.
    """

    criterion: str = "information_gain"
    bound: str = "hoeffding"
    delta: float = 1e-7
    tau: float = 0.05
    c: float = 5e-3
    grace: int = 200
    adaptive_grace: bool = False
    child_counts: str = "inherit"
    nominal_split: str = "multiway"
    bin_window: str = "path"
    leaf_prediction: str = "mc"
    max_depth: int | None = None
    block: int | float = 1 / 32

    def check(self, capacities, classes):
        """Refuse with a ValueError or TypeError what is unknown, or does not go together on such a stream."""
        self._check_block()
        for name, allowed in _CHOICES.items():
            if (value := getattr(self, name)) not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}, not {value!r}")
        if self.criterion == "kearns_mansour" and classes > 2:
            raise ValueError(f"Kearns-Mansour is for two classes, not {classes}")
        if self.bound == "mcdiarmid" and self.criterion not in ("information_gain", "gini"):
            raise ValueError(f"McDiarmid's bound is not known for {self.criterion}")
        if self.bound.startswith("confidence"):
            if classes > 2 or self.criterion == "classification_error":
                raise ValueError(
                    "the confidence bounds are for two classes and information gain, "
                    f"Gini or Kearns-Mansour, not {classes} and {self.criterion}"
                )
            if self.nominal_split == "multiway" and max(capacities, default=0) > 2:
                raise ValueError("the confidence bounds are for binary splits: choose nominal_split='one_vs_rest'")

    def _check_block(self):
        block = self.block
        if isinstance(block, bool) or not isinstance(block, int | float):
            raise TypeError(f"block must be an int or a float, not {block!r}")
        if not (1 <= block <= LONGEST if isinstance(block, int) else 0 < block <= 1):
            raise ValueError(
                f"block must be 1 to {LONGEST} instances, or a fraction of a grace period, a float "
                f"above 0 and at most 1.0, not {block!r}"
            )

    @property
    def at_once(self):
        """Whether a block is one instance, and decisions take effect at its end."""
        return isinstance(self.block, int) and self.block == 1

    def length(self, leaves):
        """Instances of a block that begins with so many leaves that predict."""
        if isinstance(self.block, int):
            return self.block
        return max(1, min(MOST, int(self.block * self.grace * leaves)))

    def make_bound(self):
        return BOUNDS[self.bound](self.criterion, self.delta, self.tau, self.c)
