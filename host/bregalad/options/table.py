"""The parameters of the trees, each declared once: what it means, what it may be, which tree has it.

Constructors are checked against this table as they are defined, values by it, and docstrings and the command line's
options are made from it. It needs nothing that takes long to import, for ``--help`` should not wait.
"""

from fractions import Fraction
from typing import Any

from ..criteria import CRITERIA
from ..predictors import PREDICTORS, Predictor, usual_predictor
from .option import Length, Option

# Trees by name, with where the class is: catalogue, command line, River's and CapyMOA's classes go by these.
LEARNERS = {
    "vfdt": "vfdt.VFDT",
    "efdt": "efdt.EFDT",
    "ctree": "confidence.CTree",
    "corrhtree": "confidence.CorrHTree",
    "hat": "hat.HAT",
    "efhat": "efhat.EFHAT",
    "cvfdt": "cvfdt.CVFDT",
}
# Of positive and unlabelled instances.
POSITIVE = {"puuvfdt": "positive.puuvfdt.PuuVFDT", "puucvfdt": "positive.puucvfdt.PuuCVFDT"}
# On the host; they keep all instances.
CLASSICAL = {"id5r": "classical.utgoff.ID5R", "iti": "classical.utgoff.ITI"}
BOUNDS = ("hoeffding", "mcdiarmid", "confidence", "confidence-practical")
TIES = ("ht", "htdt", "htat")
VARIANTS = ("paper", "moa", "kdd2018")

_MOST = (1 << 24) - 1  # instances of a period
_PERIOD: dict[str, Any] = {"low": 1, "high": _MOST, "unit": "instances"}
_PROBABILITY: dict[str, Any] = {"above": 0, "below": 1}
_MOST_DEPTH = (1 << 31) - 1
MOST_KEPT = 1 << 20  # instances: gains of more would not fit into 64 bits
_LONGEST_BLOCK = 1 << 16
SHARE = 1 / 32  # of a grace period for each leaf: a block where there is a choice


def _all(value, **others):
    """The defaults of all trees on boards, some of which have others, and of classical ones that are named."""
    return {**dict.fromkeys((*LEARNERS, *POSITIVE), value), **others}


def _of_classes(value, **others):
    """The same, without the trees of positive and unlabelled instances."""
    return {**dict.fromkeys(LEARNERS, value), **others}


def _of_choices(value, **others):
    """Of the trees whose criterion and bound can be chosen."""
    return {**{tree: value for tree in LEARNERS if tree != "corrhtree"}, **others}


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
        **_PROBABILITY,
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
        "grace period: instances between split attempts of a leaf",
        _all(200, ctree=100, corrhtree=100, hat=100, efhat=100),
        **_PERIOD,
        group=_SPLITS,
    ),
    Option(
        "criterion",
        str,
        "what gains measure; the board must have been built for it",
        _of_choices("information_gain", ctree="gini"),
        choices=CRITERIA,
        group=_SPLITS,
    ),
    Option(
        "bound",
        str,
        "how large a gap between gains must be",
        _of_choices("hoeffding", ctree="confidence-practical"),
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
        "put off a leaf's next split attempt until it can succeed (VFDT-nmin)",
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
    Length(
        "block",
        float,
        "how long the tree stands still, so that neither board nor driver need wait for the other: an integer is "
        "instances, 1 being the papers' rule; a float is a share of a grace period, for each leaf",
        _all(None),
        high=_LONGEST_BLOCK,
        none=str(Fraction(SHARE)),
        group=_SPLITS,
    ),
    Option(
        "inner_grace",
        int,
        "instances between split attempts of an inner node",
        {"efdt": 2000, "efhat": 2000, "cvfdt": 1000, "puucvfdt": 1000},
        **_PERIOD,
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
        **_PERIOD,
        group=_DRIFT,
    ),
    Option(
        "test_length",
        int,
        "instances by which an alternate is compared with its node",
        {"cvfdt": 300, "puucvfdt": 1000},
        **_PERIOD,
        group=_DRIFT,
    ),
    Option("variant", str, "whose EFDT", {"efdt": "paper"}, choices=VARIANTS, group=_ANYTIME),
    Option(
        "gain_average", bool, "compare gains averaged over a node's split attempts", {"efdt": False}, group=_ANYTIME
    ),
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
        **_PROBABILITY,
        group=_DRIFT,
    ),
    Option(
        "switch_delta",
        float,
        "the probability that an alternate takes a node's place, or goes, wrongly",
        {"hat": 0.05, "efhat": 0.05},
        **_PROBABILITY,
        group=_DRIFT,
    ),
    Option(
        "switch_width",
        int,
        "a node and its alternate are compared when the windows of both hold more instances",
        {"hat": 50, "efhat": 50},
        **_PERIOD,
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
        "what a leaf predicts by: " + "; ".join(f"{each.word}, {each.meaning}" for each in Predictor),
        _of_classes(None),
        choices=PREDICTORS,
        none=f"{usual_predictor(True).word}, on a board without naive Bayes {usual_predictor(False).word}",
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
        **_PROBABILITY,
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


def help_of(option):
    """The command line's help, with the trees that have the parameter and their defaults."""
    default, trees = default_and_trees(option)
    only = "" if trees == "all" else f"{trees}; " if trees.startswith("not ") else f"{trees} only; "
    return f"{option.meaning} ({only}default: {default})"


def default_and_trees(option):
    """The defaults of a parameter, those first that most trees have, and the trees that have it: two texts."""
    values = list(option.defaults.values())
    common = max(values, key=values.count)
    others = [f"{tree} {_shown(option, value)}" for tree, value in option.defaults.items() if value != common]
    lacking = [tree for tree in (*LEARNERS, *POSITIVE, *CLASSICAL) if tree not in option.defaults]
    only = f"not {', '.join(lacking)}" if len(lacking) <= len(CLASSICAL) else ", ".join(option.defaults)
    return ", ".join((_shown(option, common), *others)), only if lacking else "all"


def _shown(option, value):
    if value is None:
        return option.none or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
