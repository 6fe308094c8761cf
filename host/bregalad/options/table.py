"""The parameters of the trees, each declared once: what it means, what it may be, which tree has it.

Constructors are checked against this table as they are defined, values by it, and docstrings and the command line's
options are made from it. It needs nothing that takes long to import, for ``--help`` should not wait.
"""

from fractions import Fraction

from ..criteria import CRITERIA
from ..predictors import PREDICTORS, Predictor, usual_predictor
from .option import ANY, FLAG, PROBABILITY, WEIGHTS, Option, choice, in_help, integer, length, real

# Trees by name, with where the class is: catalogue, command line, River's and CapyMOA's classes go by these.
LEARNERS = {
    "vfdt": "hoeffding.VFDT",
    "efdt": "hoeffding.EFDT",
    "ctree": "hoeffding.CTree",
    "corrhtree": "hoeffding.CorrHTree",
    "hat": "hoeffding.HAT",
    "efhat": "hoeffding.EFHAT",
    "cvfdt": "hoeffding.CVFDT",
}
# Of positive and unlabelled instances.
POSITIVE = {"puuvfdt": "positive.puuvfdt.PuuVFDT", "puucvfdt": "positive.puuvfdt.PuuCVFDT"}
# On the host; they keep all instances.
CLASSICAL = {"id5r": "classical.utgoff.ID5R", "iti": "classical.utgoff.ITI"}
BOUNDS = ("hoeffding", "mcdiarmid", "confidence", "confidence-practical")
TIES = ("ht", "htdt", "htat")
VARIANTS = ("paper", "moa", "kdd2018")

_MOST = (1 << 24) - 1  # instances of a period
_PERIOD = integer(1, _MOST, "instances")
_MOST_DEPTH = (1 << 31) - 1
MOST_KEPT = 1 << 20  # instances: gains of more would not fit into 64 bits
_LONGEST_BLOCK = 1 << 16
SHARE = 1 / 32  # of a grace period for each leaf: a block where there is a choice


def _all(value, **others):
    """The defaults of all trees on boards, some of which have others, and of classical ones that are named."""
    return {**dict.fromkeys((*LEARNERS, *POSITIVE), value), **others}


def _of_choices(value, **others):
    """Of the trees whose criterion and bound can be chosen."""
    return {**{tree: value for tree in LEARNERS if tree != "corrhtree"}, **others}


OPTIONS = (
    Option(
        "board",
        ANY,
        "a name for `open_board`, or an open board, used by this tree alone until `close`",
        _all("emulated"),
    ),
    Option(
        "geometry",
        ANY,
        "sizes of a board opened by name, or the name of a preset; None: as large as the stream asks for, or what a "
        "board at the end of a link tells",
        _all(None),
    ),
    Option(
        "nominal",
        ANY,
        "names (data frame) or positions (array) of nominal attributes, besides the columns of a data frame that hold "
        "strings, categories or booleans; a dict maps them to their values",
        _all((), id5r=(), iti=()),
    ),
    *in_help(
        "when a leaf splits",
        Option(
            "delta",
            PROBABILITY,
            "split confidence: the probability of a wrong choice that is allowed",
            _all(1e-7, efdt=0.05, cvfdt=1e-4, puucvfdt=1e-4),
        ),
        Option(
            "tau",
            real("0 or more", lambda value: value >= 0),
            "tie threshold, in the criterion's unit: from an epsilon below it on the gap does not matter",
            _all(0.05),
        ),
        Option(
            "grace",
            _PERIOD,
            "grace period: instances between split attempts of a leaf",
            _all(200, ctree=100, corrhtree=100, hat=100, efhat=100),
        ),
        Option(
            "criterion",
            choice(*CRITERIA),
            "what gains measure; the board must have been built for it",
            _of_choices("information_gain", ctree="gini"),
        ),
        Option(
            "bound",
            choice(*BOUNDS),
            "how large a gap between gains must be",
            _of_choices("hoeffding", ctree="confidence-practical"),
        ),
        Option(
            "scale",
            real("above 0", lambda value: value > 0),
            "the factor c of the bound confidence-practical",
            {"vfdt": 5e-3, "ctree": 5e-3},
            needs=("bound", "confidence-practical"),
        ),
        Option(
            "ties",
            choice(*TIES),
            "ties are broken at once (ht), if genuine (htdt), or after a wait (htat)",
            {"vfdt": "ht"},
        ),
        Option(
            "tie_increment",
            integer(0, _MOST, "instances"),
            "instances by which a broken tie makes htat's wait longer",
            {"vfdt": 500},
            needs=("ties", "htat"),
        ),
        Option(
            "adaptive_grace",
            FLAG,
            "put off a leaf's next split attempt until it can succeed (VFDT-nmin)",
            {"vfdt": False},
        ),
        Option(
            "max_depth",
            integer(1, _MOST_DEPTH),
            "splits from the root to any leaf at most",
            _all(None),
            none="no limit",
        ),
        Option(
            "block",
            length(_LONGEST_BLOCK),
            "how long the tree stands still, so that neither board nor driver need wait for the other: an integer is "
            "instances, 1 being the papers' rule; a float is a share of a grace period, for each leaf",
            _all(None),
            none=str(Fraction(SHARE)),
        ),
    ),
    *in_help(
        "anytime trees",
        Option(
            "inner_grace",
            _PERIOD,
            "instances between split attempts of an inner node",
            {"efdt": 2000, "efhat": 2000, "cvfdt": 1000, "puucvfdt": 1000},
        ),
        Option("variant", choice(*VARIANTS), "whose EFDT", {"efdt": "paper"}),
        Option("gain_average", FLAG, "compare gains averaged over a node's split attempts", {"efdt": False}),
        Option(
            "same_attribute",
            choice("keep", "replace"),
            "whether a split may move to a better threshold of the same attribute",
            {"efdt": "keep", "efhat": "keep", "cvfdt": "replace", "puucvfdt": "replace"},
        ),
    ),
    *in_help(
        "streams that change",
        Option(
            "window",
            integer(2, _MOST, "instances"),
            "instances that count: what is older is forgotten",
            {"cvfdt": 10_000, "puucvfdt": 10_000},
            none="all",
        ),
        Option(
            "test_every",
            _PERIOD,
            "instances that an alternate learns between two tests",
            {"cvfdt": 1000, "puucvfdt": 1000},
        ),
        Option(
            "test_length",
            _PERIOD,
            "instances by which an alternate is compared with its node",
            {"cvfdt": 300, "puucvfdt": 1000},
        ),
        Option(
            "drift_delta",
            PROBABILITY,
            "confidence of ADWIN: the probability that a change which it finds in a node's errors is none",
            {"hat": 0.02, "efhat": 0.02},
        ),
        Option(
            "switch_delta",
            PROBABILITY,
            "the probability that an alternate takes a node's place, or goes, wrongly",
            {"hat": 0.05, "efhat": 0.05},
        ),
        Option(
            "switch_width",
            _PERIOD,
            "a node and its alternate are compared when the windows of both hold more instances",
            {"hat": 50, "efhat": 50},
        ),
        Option(
            "leaf_alternates",
            FLAG,
            "whether alternates grow beside leaves, too, or beside inner nodes alone (Bifet and Gavalda, MOA)",
            {"hat": True, "efhat": True},
        ),
    ),
    *in_help(
        "attributes and leaves",
        Option(
            "leaf_prediction",
            choice(*PREDICTORS),
            "what a leaf predicts by: " + "; ".join(f"{each.word}, {each.meaning}" for each in Predictor),
            dict.fromkeys(LEARNERS),
            none=f"{usual_predictor(True).word}, on a board without naive Bayes {usual_predictor(False).word}",
        ),
        Option(
            "child_counts",
            choice("inherit", "zero"),
            "whether a child's n starts with the class distribution that the split gave it (MOA, River) or at zero "
            "(Domingos and Hulten's pseudo-code)",
            _all("inherit"),
        ),
        Option(
            "bin_window",
            choice("path", "seen"),
            "whether a child's bins cover all codes on its side of a numeric split, or only those that its parent has "
            "seen",
            _all("path"),
        ),
        Option(
            "nominal_split",
            choice("multiway", "one_vs_rest"),
            "one child per value, or one value against the rest",
            _all("multiway", ctree="one_vs_rest", corrhtree="one_vs_rest", iti="one_vs_rest"),
        ),
        Option(
            "nominal_values",
            integer(2, 255),
            "room for values of a nominal attribute that does not declare them",
            _all(64),
        ),
        Option(
            "class_weight",
            WEIGHTS,
            "how often each instance of a class is learnt, by label; 'balanced', as in scikit-learn, with `fit` alone",
            dict.fromkeys((*LEARNERS, *CLASSICAL)),
            none="once",
        ),
    ),
    *in_help(
        "positive and unlabelled instances",
        Option(
            "positive",
            ANY,
            "the label of the instances that are known to be positive; the other one is that of all the rest",
            dict.fromkeys(POSITIVE, 1),
        ),
        Option(
            "level",
            PROBABILITY,
            "the share of positives among the unlabelled instances",
            dict.fromkeys(POSITIVE),
            none="not known: nine trees, of 0.1 to 0.9, side by side",
        ),
    ),
    *in_help(
        "trees that keep their instances",
        Option(
            "max_instances",
            integer(1, MOST_KEPT, "instances"),
            "instances that are kept; more are refused",
            dict.fromkeys(CLASSICAL, 100_000),
        ),
    ),
    *in_help(
        "statistics",
        Option(
            "slots",
            integer(2, 32768),
            "nodes that the board keeps statistics of, where no geometry is given",
            _all(1024, efdt=4096, hat=4096, efhat=4096, cvfdt=4096, puucvfdt=4096),
        ),
        Option(
            "review_period",
            integer(1),
            "where slots are short: instances between two competitions of all leaves for them",
            _all(20_000),
        ),
        Option(
            "threads",
            integer(1, 256),
            "how many threads turn values into codes, some while others are learnt; the tree is the same",
            _all(1),
        ),
    ),
)

_BY_NAME = {option.name: option for option in OPTIONS}


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
