"""When a node splits, changes its split or gives it up."""

from collections import namedtuple
from dataclasses import dataclass
from functools import cached_property
from math import inf, log

import numpy as np

from ...criteria import CRITERIA, covered, criterion_of
from ...geometry import MOST_WIDTH
from .bounds import BOUNDS, TWO_CLASSES, epsilon
from .criteria import remainder
from .judge import (
    KEEP,
    MAX_PERIOD,
    NO_CELL,
    PEEK,
    PRUNE,
    SPLIT,
    TIE,
    change,
    judge_row,
    judge_rows,
    report_form,
)
from .ties import FIRST_WAIT, TIES

__all__ = ["KEEP", "SPLIT", "TIE", "PRUNE", "PEEK", "NO_CELL", "VARIANTS", "SplitPolicy",
           "Verdicts", "report_form", "judge_row"]

_MAX_GRACE = (1 << 24) - 1
_BINARY = "Only binary classification is supported here."  # what scikit-learn's tools look for
_MOST_DEPTH = (1 << 31) - 1

_Variant = namedtuple("_Variant", [
    "first_trial",  # a leaf splits whatever the gap
    "leaf_ties",  # eps < tau is enough at a leaf
    "inner_ties",  # eps < tau is enough at an inner node if the gap is above tau / 2
    "null",  # the null split competes at inner nodes
    "tree_wide",  # inner nodes are tried by the tree's counter, not by their own
])
VARIANTS = {
    "paper": _Variant(first_trial=0, leaf_ties=1, inner_ties=0, null=1, tree_wide=0),
    "moa": _Variant(first_trial=0, leaf_ties=1, inner_ties=1, null=0, tree_wide=1),
    "kdd2018": _Variant(first_trial=1, leaf_ties=0, inner_ties=0, null=1, tree_wide=0),
}

_CHOICES = {"child_counts": ("inherit", "zero"), "zoom": ("path", "seen"),
            "criterion": CRITERIA, "bound": BOUNDS, "ties": TIES,
            "variant": tuple(VARIANTS), "same_attribute": ("keep", "replace")}

_Options = namedtuple("_Options", [
    "criterion", "bound", "certainty", "tau", "scale", "ties", "adaptive", "grace", "anytime",
    "average", "replace", "first_trial", "leaf_ties", "inner_ties", "null",
    "max_depth"])  # 0: no limit

Verdicts = namedtuple("Verdicts", "verdict cell value period")


@dataclass(frozen=True)
class SplitPolicy:
    """All that decides on splits. What the options mean exactly: docs/learners.md.

    Parameters
    ----------
    delta : float
        Allowed probability of a wrong choice, 0 < delta < 1; the confidence bounds have their own.
    tau : float
        Tie threshold in the criterion's unit, >= 0: from an epsilon below it on the gap does not
        matter.
    grace : int
        Instances between trials of a leaf, 1 to 2**24 - 1.
    child_counts : "inherit" or "zero"
        Whether a child's n starts with the class distribution that the split gave it (MOA, River)
        or at zero (Domingos and Hulten's pseudo-code).
    zoom : "path" or "seen"
        Whether a child's bins cover all codes on its side of a numeric split, or only those between
        the outermost ones that its parent has seen.
    criterion : "information_gain", "gini", "kearns_mansour" or "classification_error"
        What the board's gains measure.
    bound : "hoeffding", "mcdiarmid", "confidence" or "confidence-practical"
    scale : float
        c of the bound "confidence-practical", > 0.
    ties : "ht", "htdt" or "htat"
        Ties are broken at once, only genuine ones are, or after a wait.
    tie_increment : int
        Instances by which a broken tie makes the wait of "htat" longer, >= 0.
    adaptive_grace : bool
        Put off a leaf's next trial until it can succeed (VFDT-nmin).
    anytime : bool
        Nodes are split early and go on being tried (EFDT).
    inner_grace : int
        Instances between trials of an inner node, 1 to 2**24 - 1.
    variant : "paper", "moa" or "kdd2018"
        Whose EFDT.
    gain_average : bool
        Compare gains averaged over a node's trials.
    same_attribute : "keep" or "replace"
        Whether a split may move to a better threshold of the same attribute.
    max_depth : int or None
        Splits from the root to any leaf at most, 1 or more; None: no limit.

    Raises
    ------
    TypeError, ValueError
        If an option is not as above, or two contradict each other.

    Source: docs/learners.md names the papers.
    """

    delta: float = 1e-7
    tau: float = 0.05
    grace: int = 200
    child_counts: str = "inherit"
    zoom: str = "path"
    criterion: str = "information_gain"
    bound: str = "hoeffding"
    scale: float = 5e-3
    ties: str = "ht"
    tie_increment: int = 500
    adaptive_grace: bool = False
    anytime: bool = False
    inner_grace: int = 2000
    variant: str = "paper"
    gain_average: bool = False
    same_attribute: str = "keep"
    max_depth: int | None = None

    def __post_init__(self):
        for name, allowed in _CHOICES.items():
            value = getattr(self, name)
            if value not in allowed:
                raise ValueError(f"{name} must be {_listed(allowed)}, not {value!r}")
        for name in ("delta", "tau", "scale"):
            if not _is_number(getattr(self, name), int | float | np.integer | np.floating):
                raise TypeError(f"{name} must be a number, not {getattr(self, name)!r}")
        for name in ("grace", "inner_grace", "tie_increment"):
            if not _is_number(getattr(self, name), int | np.integer):
                raise TypeError(f"{name} must be an integer, not {getattr(self, name)!r}")
        if self.max_depth is not None:
            if not _is_number(self.max_depth, int | np.integer):
                raise TypeError(f"max_depth must be an integer or None, not {self.max_depth!r}")
            if not 1 <= self.max_depth <= _MOST_DEPTH:
                raise ValueError(f"max_depth must be 1 to {_MOST_DEPTH}, or None for no limit, "
                                 f"not {self.max_depth}")
        for name in ("adaptive_grace", "anytime", "gain_average"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise TypeError(f"{name} must be True or False, not {getattr(self, name)!r}")
        if not 0 < self.delta < 1:
            raise ValueError(f"delta must lie between 0 and 1, not {self.delta!r}")
        if not self.tau >= 0:
            raise ValueError(f"tau must be 0 or more, not {self.tau!r}")
        if not 0 < self.scale < inf:
            raise ValueError(f"scale must be above 0, not {self.scale!r}")
        for name in ("grace", "inner_grace"):
            if not 1 <= getattr(self, name) <= _MAX_GRACE:
                raise ValueError(f"{name} must be 1 to {_MAX_GRACE} instances, "
                                 f"not {getattr(self, name)}")
        if not 0 <= self.tie_increment <= _MAX_GRACE:
            raise ValueError(f"tie_increment must be 0 to {_MAX_GRACE} instances, "
                             f"not {self.tie_increment}")
        self._refuse_contradictions()

    def _refuse_contradictions(self):
        known = covered(self.bound)
        if self.criterion not in known:
            raise ValueError(f"bound {self.bound!r} is known for the criteria {_listed(known)}, "
                             f"not for {self.criterion!r}; 'hoeffding' takes all")
        if self.ties != "ht":
            if self.bound == "confidence-practical":
                raise ValueError(f"ties={self.ties!r} has no effect: bound 'confidence-practical' "
                                 "has no ties; leave it at 'ht'")
            if self.anytime:
                raise ValueError(f"ties={self.ties!r} is about ties between two attributes, but "
                                 "an anytime tree compares one with no split: leave it at 'ht'")
        if self.adaptive_grace:
            if self.anytime:
                raise ValueError("adaptive_grace is for trees that are not anytime")
            if self.bound != "hoeffding":
                raise ValueError("adaptive_grace foretells Hoeffding's bound: it needs "
                                 f"bound='hoeffding', not {self.bound!r}")
            if self.ties == "htat":
                raise ValueError("adaptive_grace foretells when epsilon is below tau, which "
                                 "ties='htat' does without: choose one of the two")
            if self.grace > MAX_PERIOD:
                raise ValueError(f"with adaptive_grace, grace must be 1 to {MAX_PERIOD} "
                                 f"instances, not {self.grace}")
        if not self.anytime:
            for name, neutral in (("variant", "paper"), ("gain_average", False),
                                  ("same_attribute", "keep")):
                if getattr(self, name) != neutral:
                    raise ValueError(f"{name}={getattr(self, name)!r} is for anytime trees: "
                                     f"set anytime=True or leave it at {neutral!r}")

    def check(self, classes, nominal, nominal_split):
        """Refuse a stream that the criterion or the bound is not made for.

        Parameters
        ----------
        classes : int
        nominal : bool
            Whether any attribute is nominal.
        nominal_split : "multiway" or "one_vs_rest"

        Raises
        ------
        ValueError
            With what to choose instead.
        """
        takes = criterion_of(self.criterion).classes
        if takes is not None and classes > takes:
            raise ValueError(f"criterion {self.criterion!r} is for {'two' if takes == 2 else takes} classes, the "
                             f"stream has {classes}: choose 'information_gain' or 'gini'. {_BINARY}")
        if self.bound in TWO_CLASSES:
            if classes > 2:
                raise ValueError(f"bound {self.bound!r} is for two classes, the stream has "
                                 f"{classes}: choose 'hoeffding' or 'mcdiarmid', which VFDT "
                                 f"takes. {_BINARY}")
            if nominal and nominal_split == "multiway":
                raise ValueError(f"bound {self.bound!r} is for binary splits, the stream has "
                                 "nominal attributes: choose nominal_split='one_vs_rest'")

    def width_for_ties(self, classes):
        """Bits of a counter from which on a root can break a tie by Hoeffding's bound.

        A board halves a slot's counts instead of counting further, and epsilon grows again.

        Returns
        -------
        int or None
            None if this policy breaks no such ties, or no counter is wide enough.
        """
        if (self.bound == "hoeffding" and self.ties == "ht"
                and VARIANTS[self.variant].leaf_ties):
            for width in range(1, MOST_WIDTH + 1):
                n = (1 << width) - 1
                if epsilon(self.options, n, classes, 0, n, 1) < self.tau:
                    return width
        return None

    @property
    def reports_all(self):
        """Whether trials must report the gains of all attributes."""
        return bool(self.gain_average or self.ties == "htdt")

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
            criterion_of(self.criterion).number, BOUNDS.index(self.bound), log(1 / self.delta),
            float(self.tau), float(self.scale), TIES.index(self.ties), int(self.adaptive_grace),
            int(self.grace), 1 if self.anytime else None, int(self.gain_average),
            int(self.same_attribute == "replace"), variant.first_trial, variant.leaf_ties,
            variant.inner_ties, variant.null, int(self.max_depth or 0))

    def judge(self, words, form, nodes, slot_node, classes, seen):
        """Decide on trials.

        Parameters
        ----------
        words : uint32 array (trials, form.size)
            Reports, all SUGGESTION or all GAINS.
        form : named tuple of ``report_form``
        nodes : Nodes
            Averages of gains and the periods of kept nodes are written.
        slot_node : int64 array (slots,)
            Node of every slot, -1 for none: its trial is without effect.
        classes : int
            Classes in use.
        seen : int
            Instances learnt before those that ``closer`` of a node counts.

        Returns
        -------
        Verdicts, every element an array (trials,)
            ``verdict``; ``cell``, ``value`` : first cell and value of the attribute that wins, to
            split on or to peek at, NO_CELL and 0 for other verdicts; ``period`` : the node's next
            period, 0 for the one that it has.

        Raises
        ------
        ValueError
            If the reports are suggestions, but the policy needs all gains.
        """
        if self.reports_all and not form.all:
            raise ValueError("this policy needs the gains of all attributes, not suggestions")
        return Verdicts(*judge_rows(words, form, self.options, nodes.table, nodes.base,
                                    nodes.gains, slot_node, classes, seen))

    def gap(self, sides, others, n):
        """By how much the gain of one split of an attribute exceeds that of another one.

        Parameters
        ----------
        sides, others : int array (children, classes)
            Counts of the same instances, known values only.
        n : int
            Own instances of the node.
        """
        criterion = self.options.criterion
        return (remainder(criterion, others) - remainder(criterion, sides)) / n

    def moved(self, gap, n, classes, depth=0, t=1, attributes=1):
        """Whether an inner node's split moves to a new threshold of the same attribute.

        Parameters
        ----------
        gap : float
            Gain at the new threshold less gain at the old one, per instance.
        n : int
            Instances at the node, inherited ones included.
        classes : int
        depth, t, attributes : int
            Of the node, of the instance and of the stream; only the confidence bounds ask.

        Returns
        -------
        int
            KEEP (which is false), SPLIT or TIE.
        """
        return int(change(self.options, gap, n, classes, depth, t, attributes))


def _is_number(value, kinds):
    return isinstance(value, kinds) and not isinstance(value, bool)


def _listed(names):
    names = [repr(name) for name in names]
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))
