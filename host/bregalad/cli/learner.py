"""Options of the trees: which tree takes which, and its default."""

from argparse import ArgumentTypeError
from dataclasses import dataclass

from ..criteria import CRITERIA

__all__ = ["LEARNERS", "OPTIONS", "add_learner", "by_label", "given"]

LEARNERS = ("vfdt", "efdt", "ctree", "corrhtree")


@dataclass(frozen=True)
class Option:
    """One parameter of the trees' constructors.

    ``defaults`` names the trees that take it; all of this is said again here, for the classes take
    seconds to import and ``--help`` should not wait for them. A test holds both equal. ``needs``
    names another option and the value without which this one has no effect.
    """

    group: str
    name: str
    help: str
    defaults: dict
    kind: type = str
    choices: tuple | None = None
    needs: tuple | None = None
    none: str = "none"  # what the default None means

    @property
    def flag(self):
        return f"--{self.name.replace('_', '-')}"

    @property
    def text(self):
        """The help, with the trees that take the option and their defaults."""
        values = list(self.defaults.values())
        common = max(values, key=values.count)
        default = f"default: {self._shown(common)}"
        for tree, value in self.defaults.items():
            if value != common:
                default += f", {tree} {self._shown(value)}"
        only = "" if len(self.defaults) == len(LEARNERS) else f"{', '.join(self.defaults)} only; "
        return f"{self.help} ({only}{default})"

    def _shown(self, value):
        if value is None:
            return self.none
        if isinstance(value, bool):
            return "yes" if value else "no"
        return f"{value:g}" if isinstance(value, float) else str(value)


def _all(value, **others):
    return {tree: others.get(tree, value) for tree in LEARNERS}


_SPLITS, _ANYTIME, _LEAVES, _BOARD = (
    "when a leaf splits", "anytime trees", "attributes and leaves", "statistics")
_BOUNDS = ("hoeffding", "mcdiarmid", "confidence", "confidence-practical")

OPTIONS = (
    Option(_SPLITS, "delta", "split confidence", _all(1e-7, efdt=0.05), float),
    Option(_SPLITS, "tau", "tie threshold", _all(0.05), float),
    Option(_SPLITS, "grace", "instances between trials of a leaf",
           _all(200, ctree=100, corrhtree=100), int),
    Option(_SPLITS, "criterion", "what gains measure; the board must have been built for it",
           {"vfdt": "information_gain", "efdt": "information_gain", "ctree": "gini"},
           choices=CRITERIA),
    Option(_SPLITS, "bound", "how large a gap between gains must be",
           {"vfdt": "hoeffding", "efdt": "hoeffding", "ctree": "confidence-practical"},
           choices=_BOUNDS),
    Option(_SPLITS, "scale", "c of the bound confidence-practical",
           {"vfdt": 5e-3, "ctree": 5e-3}, float, needs=("bound", "confidence-practical")),
    Option(_SPLITS, "ties", "ties are broken at once, if genuine, or after a wait",
           {"vfdt": "ht"}, choices=("ht", "htdt", "htat")),
    Option(_SPLITS, "tie_increment", "instances by which a broken tie makes htat's wait longer",
           {"vfdt": 500}, int, needs=("ties", "htat")),
    Option(_SPLITS, "adaptive_grace", "put off trials that cannot succeed", {"vfdt": False}, bool),
    Option(_SPLITS, "max_depth", "splits from the root to any leaf at most", _all(None), int),
    Option(_ANYTIME, "inner_grace", "instances between trials of an inner node",
           {"efdt": 2000}, int),
    Option(_ANYTIME, "variant", "whose EFDT", {"efdt": "paper"},
           choices=("paper", "moa", "kdd2018")),
    Option(_ANYTIME, "gain_average", "compare gains averaged over a node's trials",
           {"efdt": False}, bool),
    Option(_ANYTIME, "same_attribute", "whether a better threshold replaces a split",
           {"efdt": "keep"}, choices=("keep", "replace")),
    Option(_LEAVES, "leaf_prediction", "majority class, naive Bayes, or whichever is better there",
           _all(None), choices=("mc", "nb", "nba"), none="nba, on a board without it mc"),
    Option(_LEAVES, "child_counts", "what a child's counts start with", _all("inherit"),
           choices=("inherit", "zero")),
    Option(_LEAVES, "zoom", "codes that a child's bins cover", _all("path"),
           choices=("path", "seen")),
    Option(_LEAVES, "nominal_split", "how nominal attributes split",
           _all("multiway", ctree="one_vs_rest", corrhtree="one_vs_rest"),
           choices=("multiway", "one_vs_rest")),
    Option(_LEAVES, "nominal_values", "room for values of an undeclared nominal attribute",
           _all(64), int),
    Option(_LEAVES, "class_weight", "how often each instance of a class is learnt, 1 to 10000; once "
           "per class", _all(None), dict),
    Option(_BOARD, "slots", "nodes that the board keeps statistics of, without --geometry",
           _all(1024, efdt=4096), int),
    Option(_BOARD, "head", "instances held back to learn the codes from", _all(500), int),
    Option(_BOARD, "feed", "records go with the commands or through memory", _all("stream"),
           choices=("stream", "memory")),
    Option(_BOARD, "review_period", "instances between two competitions for slots", _all(20_000),
           int),
    Option(_BOARD, "threads", "that turn values into codes at the same time", _all(1), int),
)


def add_learner(parser):
    """Which tree, and its options."""
    parser.add_argument("--tree", choices=LEARNERS, default="vfdt", help="learner (default: vfdt)")
    groups = {}
    for option in OPTIONS:
        if option.group not in groups:
            groups[option.group] = parser.add_argument_group(f"the tree: {option.group}")
        if option.kind is bool:
            kind = {"action": "store_const", "const": True}
        elif option.kind is dict:
            kind = {"type": _weight, "action": "append", "metavar": "LABEL=X"}
        elif option.choices:
            kind = {"choices": option.choices}
        else:
            kind = {"type": option.kind, "metavar": "N" if option.kind is int else "X"}
        groups[option.group].add_argument(option.flag, help=option.text, **kind)


def given(args):
    """The options given, as the constructor of the tree chosen takes them.

    Raises
    ------
    ValueError
        If that tree does not have one of them, or it has no effect beside the others.
    """
    chosen, values = {}, {}
    for option in OPTIONS:
        value = getattr(args, option.name)
        values[option.name] = option.defaults.get(args.tree) if value is None else value
        if value is None:
            continue
        if args.tree not in option.defaults:
            takers = " and ".join(filter(None, (", ".join(list(option.defaults)[:-1]),
                                                list(option.defaults)[-1])))
            raise ValueError(f"{option.flag} is an option of --tree {takers}, not of {args.tree}")
        if option.needs is not None and values[option.needs[0]] != option.needs[1]:
            other, needed = option.needs
            raise ValueError(f"{option.flag} has no effect without --{other} {needed}")
        chosen[option.name] = dict(value) if option.kind is dict else value
    if args.geometry is not None and "slots" in chosen:
        raise ValueError("--slots is for a board without --geometry: geometries have their own")
    return chosen


def _weight(word):
    """A label and its weight."""
    label, _, weight = word.rpartition("=")
    try:
        return label, float(weight)
    except ValueError:
        raise ArgumentTypeError(f"{word!r} is not LABEL=X, a class and its weight") from None


def by_label(weights, classes):
    """Weights by the labels that a file has, which may be numbers; None: none are given."""
    labels = {str(label): label for label in classes}
    return weights and {labels.get(word, word): weight for word, weight in weights.items()}
