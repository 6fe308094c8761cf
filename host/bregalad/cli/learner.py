"""Options of the trees: which tree takes which, and its default."""

from dataclasses import replace

from ..options import table as options
from ..options.option import WEIGHTS
from ..words import joined
from . import ensembles

# Those of the parameters that add_learner makes options of; board, geometry and nominal are elsewhere.
OPTIONS = tuple(option for option in options.OPTIONS if option.group)
FLAGS = {option.name: option.flag for option in (*OPTIONS, *ensembles.OWN)}
_TREES = (*options.LEARNERS, *options.POSITIVE, *options.CLASSICAL)


def add_learner(parser):
    """Which tree, and its options."""
    parser.add_argument("--tree", choices=_TREES, help="learner (default: vfdt)")
    groups = {}
    for option in OPTIONS:
        if option.group not in groups:
            groups[option.group] = parser.add_argument_group(f"the tree: {option.group}")
        several = "; may be given several times" if option.kind is WEIGHTS else ""
        groups[option.group].add_argument(option.flag, help=options.help_of(option) + several, **option.kind.arguments)


def given(args):
    """The options given, as the constructor of the tree chosen takes them.

    ValueError if that tree does not have one of them, or it has no effect beside the others.
    """
    chosen, values = {}, {}
    for option in OPTIONS:
        value = getattr(args, option.name)
        values[option.name] = option.defaults.get(args.tree) if value is None else value
        if value is None:
            continue
        if option.kind is WEIGHTS and args.ask is None:
            _check_weights(option.flag, value)
        if args.tree not in option.defaults:
            takers = joined(option.defaults, "and")
            raise ValueError(f"{option.flag} is an option of --tree {takers}, not of {args.tree}")
        if option.needs and values[option.needs[0]] != option.needs[1]:
            other, needed = option.needs
            raise ValueError(f"{option.flag} has no effect without --{other} {needed}")
        replace(option, name=option.flag).check(value)
        chosen[option.name] = dict(value) if option.kind is WEIGHTS else value
    if args.tree in options.CLASSICAL and (args.board != "emulated" or args.geometry is not None):
        others = joined((*options.LEARNERS, *options.POSITIVE))
        raise ValueError(f"{args.tree} learns on the host: --board and --geometry are for {others}")
    if args.geometry is not None and "slots" in chosen:
        raise ValueError("--slots is for a board without --geometry: geometries have their own")
    return chosen


def _check_weights(flag, weights):
    """Refuse what would leave instances out: all are predicted as they are learnt."""
    for label, weight in weights:
        if 0 <= weight < 1:
            raise ValueError(
                f"{flag} {label}={weight:g}: train predicts each instance as it learns it, so each must be learnt: "
                "a class must weigh 1 or more; give the others more instead"
            )


def of_stream(tree, classes, nominal):
    """A tree's parameters that name what a stream has: labels, which may be numbers in a file, and attributes."""
    labels = {str(label): label for label in classes}
    named = {"nominal": nominal}
    if getattr(tree, "class_weight", None):
        named["class_weight"] = {labels.get(word, word): weight for word, weight in tree.class_weight.items()}
    if hasattr(tree, "positive"):
        named["positive"] = labels.get(str(tree.positive), tree.positive)
    return named
