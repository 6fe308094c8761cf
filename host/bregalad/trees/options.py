"""The parameters of the trees, each declared once: what it means, what it may be, which tree has it.

Constructors are checked against this table as they are defined, values by it, and docstrings and the command line's
options are made from it. It needs nothing that takes long to import, for ``--help`` should not wait.
"""

import math
from dataclasses import dataclass
from numbers import Integral, Real
from textwrap import fill
from typing import Any

from ..criteria import CRITERIA
from ..words import joined, shown

__all__ = [
    "BOUNDS",
    "CLASSICAL",
    "LEARNERS",
    "MOST_KEPT",
    "OPTIONS",
    "POSITIVE",
    "TIES",
    "VARIANTS",
    "check",
    "default_of",
    "options_of",
]

LEARNERS = ("vfdt", "efdt", "ctree", "corrhtree", "hat", "efhat", "cvfdt")
POSITIVE = ("puuvfdt", "puucvfdt")  # of positive and unlabelled instances
CLASSICAL = ("id5r", "iti")  # on the host; they keep all instances
BOUNDS = ("hoeffding", "mcdiarmid", "confidence", "confidence-practical")
TIES = ("ht", "htdt", "htat")
VARIANTS = ("paper", "moa", "kdd2018")

_MOST = (1 << 24) - 1  # instances of a period
_MOST_DEPTH = (1 << 31) - 1
MOST_KEPT = 1 << 20  # instances: gains of more would not fit into 64 bits
_LONGEST_DELAY = 1 << 16


@dataclass(frozen=True)
class Option:
    """One parameter.

    Parameters
    ----------
    name : str
    kind : type
        int, float, bool, str (one of ``choices``), dict (label to weight), or object: checked where it is used.
    meaning : str
        For docstring and help, without a full stop.
    defaults : dict
        By tree, of those that have the parameter.
    low, high : number, optional
        Least and greatest value, both allowed.
    above, below : number, optional
        The same, not allowed themselves.
    unit : str
        What a number counts, for messages.
    choices : tuple of str
    none : str
        What None means; empty: it is not allowed.
    group : str
        Of the command line's help; empty: it is no option there.
    needs : tuple of str, optional
        Another parameter and the value without which this one has no effect.
    """

    name: str
    kind: type
    meaning: str
    defaults: dict
    low: Any = None
    high: Any = None
    above: Any = None
    below: Any = None
    unit: str = ""
    choices: tuple = ()
    none: str = ""
    group: str = ""
    needs: tuple = ()

    @property
    def allowed(self):
        """The values allowed, in words."""
        if self.choices:
            return joined([*map(repr, self.choices), *["None"] * bool(self.none)])
        if self.kind is bool:
            return "True or False"
        unit = f" {self.unit}" if self.unit else ""
        if self.above is not None and self.below is not None:
            words = f"between {self.above:g} and {self.below:g}, both excluded"
        elif self.above is not None:
            words = f"above {self.above:g}"
        elif self.high is None:
            words = f"{self.low} or more"
        else:
            words = f"{self.low} to {self.high}"
        return words + unit + (f", or None for {self.none}" if self.none else "")

    def check(self, value):
        """Refuse a value.

        Raises
        ------
        TypeError, ValueError
            With what is allowed.
        """
        if self.kind in (object, dict) or (value is None and self.none):
            return
        if self.choices:
            if not isinstance(value, str) or value not in self.choices:
                raise ValueError(f"{self.name} must be {self.allowed}, not {shown(value)}")
            return
        noun, number = {bool: ("True or False", bool), int: ("an integer", Integral), float: ("a number", Real)}[
            self.kind
        ]
        # NumPy's truth values are no bool, and no number either.
        truth = isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")
        # Its times are integers to Python.
        time = type(value).__name__ == "timedelta64"
        if time or truth != (self.kind is bool) or not (truth or isinstance(value, number)):
            raise TypeError(f"{self.name} must be {noun}{' or None' if self.none else ''}, not {shown(value)}")
        if self.kind is not bool and not self._in_range(value):
            raise ValueError(f"{self.name} must be {self.allowed}, not {shown(value)}")

    def _in_range(self, value):
        """Whether a number is allowed; NaN never is."""
        return (
            (self.low is None or value >= self.low)
            and (self.high is None or value <= self.high)
            and (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
            and self._is_finite(value)
        )

    def _is_finite(self, value):
        try:
            return math.isfinite(value)
        except OverflowError:  # an integer that no float holds
            return self.kind is int

    @property
    def flag(self):
        """The command line's option."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def help(self):
        """The command line's help, with the trees that have the parameter and their defaults."""
        values = list(self.defaults.values())
        common = max(values, key=values.count)
        default = f"default: {self._shown(common)}"
        for tree, value in self.defaults.items():
            if value != common:
                default += f", {tree} {self._shown(value)}"
        lacking = [tree for tree in (*LEARNERS, *POSITIVE, *CLASSICAL) if tree not in self.defaults]
        only = f"not {', '.join(lacking)}; " if len(lacking) <= len(CLASSICAL) else f"{', '.join(self.defaults)} only; "
        only = only if lacking else ""
        return f"{self.meaning} ({only}{default})"

    def _shown(self, value):
        if value is None:
            return self.none or "none"
        if isinstance(value, bool):
            return "yes" if value else "no"
        return f"{value:g}" if isinstance(value, float) else str(value)

    def entry(self, tree):
        """Its place in a docstring's list of parameters: two lines or more."""
        kind = "" if self.kind is object else self.kind.__name__ + (" or None" if self.none else "")
        if self.choices:
            kind = self.allowed
        head = f"{self.name} : " + ", ".join(filter(None, (kind, f"default {self.defaults[tree]!r}")))
        text = self.meaning[0].upper() + self.meaning[1:] + "."
        if self.kind in (int, float):
            text += f" {self.allowed[0].upper() + self.allowed[1:]}."
        elif self.none:
            text += f" None: {self.none}."
        return head + "\n" + fill(text, 96, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)


def _all(value, **others):
    """The defaults of all trees on boards, some of which have others, and of classical ones that are named."""
    return {**dict.fromkeys((*LEARNERS, *POSITIVE), value), **others}


def _of_classes(value, **others):
    """The same, without the trees of positive and unlabelled instances."""
    return {**dict.fromkeys(LEARNERS, value), **others}


_SPLITS, _ANYTIME, _DRIFT, _LEAVES, _POSITIVE, _BOARD, _KEPT = (
    "when a leaf splits",
    "anytime trees",
    "streams that change",
    "attributes and leaves",
    "positive and unlabelled instances",
    "statistics",
    "trees that keep their instances",
)

OPTIONS = (
    Option(
        "board",
        object,
        "a name for `open_board`, or an open board, used by this tree alone until `close`",
        _all("emulated"),
    ),
    Option(
        "geometry",
        object,
        "sizes of a board opened by name, or the name of a preset; None: as large as the stream "
        "asks for, or what a board at the end of a link tells",
        _all(None),
    ),
    Option(
        "slots",
        int,
        "nodes that the board keeps statistics of, where no geometry is given",
        _all(1024, efdt=4096, hat=4096, efhat=4096, cvfdt=4096, puucvfdt=4096),
        low=2,
        high=32768,
        group=_BOARD,
    ),
    Option(
        "delta",
        float,
        "split confidence: the probability of a wrong choice that is allowed",
        _all(1e-7, efdt=0.05, cvfdt=1e-4, puucvfdt=1e-4),
        above=0,
        below=1,
        group=_SPLITS,
    ),
    Option(
        "tau",
        float,
        "tie threshold, in the criterion's unit: from an epsilon below it on the gap does not matter",
        _all(0.05),
        low=0,
        group=_SPLITS,
    ),
    Option(
        "grace",
        int,
        "grace period: instances between trials of a leaf",
        _all(200, ctree=100, corrhtree=100, hat=100, efhat=100),
        low=1,
        high=_MOST,
        unit="instances",
        group=_SPLITS,
    ),
    Option(
        "criterion",
        str,
        "what gains measure; the board must have been built for it",
        {
            "vfdt": "information_gain",
            "efdt": "information_gain",
            "ctree": "gini",
            "hat": "information_gain",
            "efhat": "information_gain",
            "cvfdt": "information_gain",
        },
        choices=CRITERIA,
        group=_SPLITS,
    ),
    Option(
        "bound",
        str,
        "how large a gap between gains must be",
        {
            "vfdt": "hoeffding",
            "efdt": "hoeffding",
            "ctree": "confidence-practical",
            "hat": "hoeffding",
            "efhat": "hoeffding",
            "cvfdt": "hoeffding",
        },
        choices=BOUNDS,
        group=_SPLITS,
    ),
    Option(
        "scale",
        float,
        "the factor c of the bound confidence-practical",
        {"vfdt": 5e-3, "ctree": 5e-3},
        above=0,
        group=_SPLITS,
        needs=("bound", "confidence-practical"),
    ),
    Option(
        "ties",
        str,
        "ties are broken at once (ht), if genuine (htdt), or after a wait (htat)",
        {"vfdt": "ht"},
        choices=TIES,
        group=_SPLITS,
    ),
    Option(
        "tie_increment",
        int,
        "instances by which a broken tie makes htat's wait longer",
        {"vfdt": 500},
        low=0,
        high=_MOST,
        unit="instances",
        group=_SPLITS,
        needs=("ties", "htat"),
    ),
    Option(
        "adaptive_grace",
        bool,
        "put off a leaf's next trial until it can succeed (VFDT-nmin)",
        {"vfdt": False},
        group=_SPLITS,
    ),
    Option(
        "max_depth",
        int,
        "splits from the root to any leaf at most",
        _all(None),
        low=1,
        high=_MOST_DEPTH,
        none="no limit",
        group=_SPLITS,
    ),
    Option(
        "delay",
        int,
        "instances after a trial until what it has decided takes effect, so that a board need not wait for its driver",
        _all(0),
        low=0,
        high=_LONGEST_DELAY,
        unit="instances",
        group=_SPLITS,
    ),
    Option(
        "inner_grace",
        int,
        "instances between trials of an inner node",
        {"efdt": 2000, "efhat": 2000, "cvfdt": 1000, "puucvfdt": 1000},
        low=1,
        high=_MOST,
        unit="instances",
        group=_ANYTIME,
    ),
    Option(
        "window",
        int,
        "instances that count: what is older is forgotten",
        {"cvfdt": 10_000, "puucvfdt": 10_000},
        low=2,
        high=_MOST,
        unit="instances",
        none="all",
        group=_DRIFT,
    ),
    Option(
        "test_every",
        int,
        "instances that an alternate learns between two tests",
        {"cvfdt": 1000, "puucvfdt": 1000},
        low=1,
        high=_MOST,
        unit="instances",
        group=_DRIFT,
    ),
    Option(
        "test_length",
        int,
        "instances by which an alternate is compared with its node",
        {"cvfdt": 300, "puucvfdt": 1000},
        low=1,
        high=_MOST,
        unit="instances",
        group=_DRIFT,
    ),
    Option("variant", str, "whose EFDT", {"efdt": "paper"}, choices=VARIANTS, group=_ANYTIME),
    Option("gain_average", bool, "compare gains averaged over a node's trials", {"efdt": False}, group=_ANYTIME),
    Option(
        "same_attribute",
        str,
        "whether a split may move to a better threshold of the same attribute",
        {"efdt": "keep", "efhat": "keep", "cvfdt": "replace", "puucvfdt": "replace"},
        choices=("keep", "replace"),
        group=_ANYTIME,
    ),
    Option(
        "drift_delta",
        float,
        "confidence of ADWIN: the probability that a change which it finds in a node's errors is none",
        {"hat": 0.02, "efhat": 0.02},
        above=0,
        below=1,
        group=_DRIFT,
    ),
    Option(
        "switch_delta",
        float,
        "the probability that an alternate takes a node's place, or goes, wrongly",
        {"hat": 0.05, "efhat": 0.05},
        above=0,
        below=1,
        group=_DRIFT,
    ),
    Option(
        "switch_width",
        int,
        "a node and its alternate are compared when the windows of both hold more instances",
        {"hat": 50, "efhat": 50},
        low=1,
        high=_MOST,
        unit="instances",
        group=_DRIFT,
    ),
    Option(
        "leaf_alternates",
        bool,
        "whether alternates grow beside leaves, too, or beside inner nodes alone (Bifet and Gavalda, MOA)",
        {"hat": True, "efhat": True},
        group=_DRIFT,
    ),
    Option(
        "leaf_prediction",
        str,
        "a leaf predicts its majority class (mc), by naive Bayes from its statistics "
        "(nb), or by the one of the two that has been right more often there (nba)",
        _of_classes(None),
        choices=("mc", "nb", "nba"),
        none="nba, on a board without naive Bayes mc",
        group=_LEAVES,
    ),
    Option(
        "child_counts",
        str,
        "whether a child's n starts with the class distribution that the split gave it (MOA, "
        "River) or at zero (Domingos and Hulten's pseudo-code)",
        _all("inherit"),
        choices=("inherit", "zero"),
        group=_LEAVES,
    ),
    Option(
        "zoom",
        str,
        "whether a child's bins cover all codes on its side of a numeric split, or only those that its parent has seen",
        _all("path"),
        choices=("path", "seen"),
        group=_LEAVES,
    ),
    Option(
        "nominal",
        object,
        "names (data frame) or positions (array) of nominal attributes, besides the columns of a "
        "data frame that hold strings, categories or booleans; a dict maps them to their values",
        _all((), id5r=(), iti=()),
    ),
    Option(
        "nominal_split",
        str,
        "one child per value, or one value against the rest",
        _all("multiway", ctree="one_vs_rest", corrhtree="one_vs_rest", iti="one_vs_rest"),
        choices=("multiway", "one_vs_rest"),
        group=_LEAVES,
    ),
    Option(
        "nominal_values",
        int,
        "room for values of a nominal attribute that does not declare them",
        _all(64),
        low=2,
        high=255,
        group=_LEAVES,
    ),
    Option(
        "class_weight",
        dict,
        "how often each instance of a class is learnt, by label; 'balanced', as in scikit-learn, with `fit` alone",
        _of_classes(None, id5r=None, iti=None),
        none="once",
        group=_LEAVES,
    ),
    Option(
        "positive",
        object,
        "the label of the instances that are known to be positive; the other one is that of all the rest",
        dict.fromkeys(POSITIVE, 1),
        group=_POSITIVE,
    ),
    Option(
        "level",
        float,
        "the share of positives among the unlabelled instances",
        dict.fromkeys(POSITIVE),
        above=0,
        below=1,
        none="not known: nine trees, of 0.1 to 0.9, side by side",
        group=_POSITIVE,
    ),
    Option(
        "max_instances",
        int,
        "instances that are kept; more are refused",
        dict.fromkeys(CLASSICAL, 100_000),
        low=1,
        high=MOST_KEPT,
        unit="instances",
        group=_KEPT,
    ),
    Option(
        "feed",
        str,
        "records go with the commands or through the board's memory and DMA",
        {tree: "stream" for tree in (*LEARNERS, *POSITIVE) if tree not in ("hat", "efhat", "cvfdt", "puucvfdt")},
        choices=("stream", "memory"),
        group=_BOARD,
    ),
    Option(
        "review_period",
        int,
        "where slots are short: instances between two competitions of all leaves for them",
        _all(20_000),
        low=1,
        group=_BOARD,
    ),
    Option(
        "threads",
        int,
        "how many turn values into codes at the same time; the tree is the same",
        _all(1),
        low=1,
        high=256,
        group=_BOARD,
    ),
)

_BY_NAME = {option.name: option for option in OPTIONS}


def options_of(tree):
    """The parameters of a tree, one of ``LEARNERS``."""
    return tuple(option for option in OPTIONS if tree in option.defaults)


def default_of(name):
    """The default of a parameter that is the same in all trees but few: that of the first tree which has it."""
    return next(iter(_BY_NAME[name].defaults.values()))


def check(name, value):
    """Refuse a value of a parameter; see `Option.check`."""
    _BY_NAME[name].check(value)
