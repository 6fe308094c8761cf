"""When a node splits, changes its split or gives it up."""

from collections import namedtuple
from dataclasses import dataclass, fields
from functools import cached_property
from math import log
from numbers import Integral

from ..complete import complete
from ..criteria import covered, criterion_of
from ..geometry import MOST_WIDTH
from ..options.table import BOUNDS, SHARE, TIES, check, default_of
from ..options.table import VARIANTS as NAMES
from ..tree.blocks import MOST, BlockRule
from ..words import joined
from .bounds import TWO_CLASSES, epsilon
from .criteria import remainder
from .decide import FIRST_WAIT, MAX_PERIOD, change

_BINARY = "Only binary classification is supported here."  # what scikit-learn's tools look for

_Variant = namedtuple(
    "_Variant",
    [
        "first_attempt",  # a leaf splits whatever the gap
        "leaf_ties",  # eps < tau is enough at a leaf
        "inner_ties",  # eps < tau is enough at an inner node if the gap is above tau / 2
        "null",  # the null split competes at inner nodes
        "tree_wide",  # inner nodes are tried by the tree's counter, not by their own
    ],
)
VARIANTS = complete(
    NAMES,
    {
        "paper": _Variant(first_attempt=0, leaf_ties=1, inner_ties=0, null=1, tree_wide=0),
        "moa": _Variant(first_attempt=0, leaf_ties=1, inner_ties=1, null=0, tree_wide=1),
        "kdd2018": _Variant(first_attempt=1, leaf_ties=0, inner_ties=0, null=1, tree_wide=0),
    },
    __file__,
)

_FIXED = ("anytime", "alternates", "watched", "rivals", "subset", "seed")  # by the learner, whose users do not choose

# As plain numbers; None in compiled code, or 0, where an option is off.
_Options = namedtuple(
    "_Options",
    "criterion bound certainty tau scale ties adaptive grace anytime average replace first_attempt leaf_ties "
    "inner_ties null max_depth subset seed consults rivals",
)


@dataclass(frozen=True)
class SplitPolicy:
    """All that decides on splits.

    Parameters
    ----------
    anytime : bool
        Nodes are split early and go on being tried (EFDT).
    window : int or None
        Instances that count (CVFDT); None: all.
    subset, seed : int
        How many attributes each node may be split on, drawn by `subset.leave_out`; 0: all.
    alternates : bool
        Nodes may have alternates beside them, which learn and do not predict.
    rivals : bool
        An alternate begins where an inner node's attribute is no longer the best, and is tested (CVFDT).
    watched : bool
        The errors made at every node are watched: that is when alternates begin, take over and go (HAT).
    others
        As `options.OPTIONS` declares them; what they mean exactly is in docs/learners.md.

    Raises
    ------
    TypeError, ValueError
        If an option is not as declared, or two contradict each other.

    Source: docs/learners.md names the papers.
    """

    delta: float = default_of("delta")
    tau: float = default_of("tau")
    grace: int = default_of("grace")
    child_counts: str = default_of("child_counts")
    bin_window: str = default_of("bin_window")
    criterion: str = default_of("criterion")
    bound: str = default_of("bound")
    scale: float = default_of("scale")
    ties: str = default_of("ties")
    tie_increment: int = default_of("tie_increment")
    adaptive_grace: bool = default_of("adaptive_grace")
    anytime: bool = False
    alternates: bool = False
    watched: bool = False
    rivals: bool = False
    inner_grace: int = default_of("inner_grace")
    variant: str = default_of("variant")
    gain_average: bool = default_of("gain_average")
    same_attribute: str = default_of("same_attribute")
    max_depth: int | None = default_of("max_depth")
    block: float | None = default_of("block")
    drift_delta: float = default_of("drift_delta")
    switch_delta: float = default_of("switch_delta")
    switch_width: int = default_of("switch_width")
    leaf_alternates: bool = default_of("leaf_alternates")
    subset: int = 0
    seed: int = 0
    window: int | None = None
    test_every: int = default_of("test_every")
    test_length: int = default_of("test_length")

    consults = False  # whether an attempt reads all that the node has counted, and `consult` decides

    def __post_init__(self):
        for field in fields(self):
            if field.name not in _FIXED:
                check(field.name, getattr(self, field.name))
        known = covered(self.bound)
        if self.criterion not in known:
            raise ValueError(
                f"bound {self.bound!r} is known for the criteria {joined(map(repr, known))}, "
                f"not for {self.criterion!r}; 'hoeffding' takes all"
            )
        if self.ties != "ht":
            if self.bound == "confidence-practical":
                raise ValueError(
                    f"ties={self.ties!r} has no effect: bound 'confidence-practical' has no ties; leave it at 'ht'"
                )
            if self.anytime:
                raise ValueError(
                    f"ties={self.ties!r} is about ties between two attributes, but "
                    "an anytime tree compares one with no split: leave it at 'ht'"
                )
        if self.adaptive_grace:
            self._check_adaptive_grace()
        for name in ("grace", "inner_grace"):
            period = getattr(self, name)
            if self.window is not None and self.window < period:
                raise ValueError(
                    f"a window of {self.window} instances is smaller than {name}={period}: between two attempts a "
                    f"node would forget all; choose window >= {period}, or a smaller {name}"
                )

    def _check_adaptive_grace(self):
        if self.anytime:
            raise ValueError("adaptive_grace is for trees that are not anytime")
        if self.bound != "hoeffding":
            raise ValueError(
                f"adaptive_grace foretells Hoeffding's bound: it needs bound='hoeffding', not {self.bound!r}"
            )
        if self.ties == "htat":
            raise ValueError(
                "adaptive_grace foretells when epsilon is below tau, which ties='htat' does without: "
                "choose one of the two"
            )
        if self.grace > MAX_PERIOD:
            raise ValueError(f"with adaptive_grace, grace must be 1 to {MAX_PERIOD} instances, not {self.grace}")

    def check(self, classes, nominal, nominal_split):
        """Refuse a stream that criterion or bound is not made for with a ValueError that says what to choose instead.

        ``nominal`` says whether any attribute is nominal.
        """
        takes = criterion_of(self.criterion).classes
        if takes is not None and classes > takes:
            raise ValueError(
                f"criterion {self.criterion!r} is for {'two' if takes == 2 else takes} classes, the "
                f"stream has {classes}: choose 'information_gain' or 'gini'. {_BINARY}"
            )
        if self.bound in TWO_CLASSES:
            if classes > 2:
                raise ValueError(
                    f"bound {self.bound!r} is for two classes, the stream has "
                    f"{classes}: choose 'hoeffding' or 'mcdiarmid', which VFDT "
                    f"takes. {_BINARY}"
                )
            if nominal and nominal_split == "multiway":
                raise ValueError(
                    f"bound {self.bound!r} is for binary splits, the stream has "
                    "nominal attributes: choose nominal_split='one_vs_rest'"
                )

    def width_for_ties(self, classes):
        """Bits of a counter from which on a root can break a tie by Hoeffding's bound; None: no counter is wide enough.

        A board halves a slot's counts instead of counting further, and epsilon grows again. None, too, if this policy
        breaks no such ties.
        """
        if self.bound == "hoeffding" and self.ties == "ht" and VARIANTS[self.variant].leaf_ties:
            for width in range(1, MOST_WIDTH + 1):
                n = (1 << width) - 1
                if epsilon(self.options, n, classes, 0, n, 1) < self.tau:
                    return width
        return None

    @property
    def block_rule(self):
        """How long blocks are, a `BlockRule`."""
        block = SHARE if self.block is None else self.block
        if isinstance(block, Integral):
            return BlockRule(int(block), 0.0, 0)
        share = float(block) * float(self.grace)
        return BlockRule(0, share, min(MOST, max(1, int(share))) if self.watched else MOST)

    @property
    def reports_all(self):
        """Whether attempts must report the gains of all attributes."""
        return bool(self.gain_average or self.ties == "htdt" or self.subset)

    @property
    def tree_wide(self):
        """Whether the tree's own counter says when inner nodes are tried."""
        return bool(VARIANTS[self.variant].tree_wide)

    @property
    def first_wait(self):
        """Own instances from which on the root may break a tie; 0: that is not what counts."""
        return FIRST_WAIT if self.ties == "htat" else 0

    @property
    def wait_step(self):
        """By how much the children of a tie wait longer than the node did; -1: they start anew."""
        return int(self.tie_increment) if self.ties == "htat" else -1

    @cached_property
    def options(self):
        """The options as plain numbers, for compiled code."""
        variant = VARIANTS[self.variant]
        return _Options(
            criterion_of(self.criterion).number,
            BOUNDS.index(self.bound),
            log(1 / self.delta),
            float(self.tau),
            float(self.scale),
            TIES.index(self.ties),
            int(self.adaptive_grace),
            int(self.grace),
            1 if self.anytime else None,
            int(self.gain_average),
            int(self.same_attribute == "replace"),
            variant.first_attempt,
            variant.leaf_ties,
            int(variant.inner_ties or self.rivals),
            variant.null,
            int(self.max_depth or 0),
            self.subset,
            self.seed,
            int(self.consults),
            int(self.rivals),
        )

    def gap(self, sides, others, n):
        """By how much the gain of one split of an attribute exceeds that of another one.

        ``sides`` and ``others`` are int arrays (children, classes) of the same instances, known values only; n are the
        node's own instances.
        """
        criterion = self.options.criterion
        return (remainder(criterion, others) - remainder(criterion, sides)) / n

    def moved(self, gap, n, classes, depth=0, t=1, attributes=1):
        """Whether an inner node's split moves to a new threshold of the same attribute: KEEP (false), SPLIT or TIE.

        The gap is the gain at the new threshold less that at the old one, per instance; n counts inherited instances,
        too. Only the confidence bounds ask for depth, t and attributes: of node, instance and stream.
        """
        return int(change(self.options, gap, n, classes, depth, t, attributes))
