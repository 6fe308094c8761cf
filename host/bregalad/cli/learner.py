"""Options of the trees: which tree takes which, and its default."""

import re
from argparse import ArgumentTypeError

from ..options import table as options
from ..words import joined
from . import ensembles

# Those of the parameters that add_learner makes options of; board, geometry and nominal are elsewhere.
OPTIONS = tuple(option for option in options.OPTIONS if option.group)
FLAGS = {option.name: option.flag for option in (*OPTIONS, *ensembles.OWN)}
_FLAGS = {name: flag for name, flag in FLAGS.items() if name != "attributes"}  # that is a word of its own
_NAMES = "|".join(_FLAGS)
_TREES = (*options.LEARNERS, *options.POSITIVE, *options.CLASSICAL)


def add_learner(parser):
    """Which tree, and its options."""
    parser.add_argument("--tree", choices=_TREES, help="learner (default: vfdt)")
    groups = {}
    for option in OPTIONS:
        if option.group not in groups:
            groups[option.group] = parser.add_argument_group(f"the tree: {option.group}")
        if option.kind is bool:
            kind = {"action": "store_const", "const": True}
        elif option.kind is dict:
            kind = {"type": _weight, "action": "append", "metavar": "LABEL=X"}  # once for each
        elif option.kind is object:
            kind = {"metavar": "LABEL"}
        elif option.choices:
            kind = {"choices": option.choices}
        else:
            kind = {"type": option.parse, "metavar": "N" if option.kind is int else "X"}
        groups[option.group].add_argument(
            option.flag, help=options.help_of(option) + "; may be given several times" * (option.kind is dict), **kind
        )


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
        if option.kind is dict and args.ask is None:
            _check_weights(option.flag, value)
        if args.tree not in option.defaults:
            takers = joined(option.defaults, "and")
            raise ValueError(f"{option.flag} is an option of --tree {takers}, not of {args.tree}")
        if option.needs and values[option.needs[0]] != option.needs[1]:
            other, needed = option.needs
            raise ValueError(f"{option.flag} has no effect without --{other} {needed}")
        chosen[option.name] = dict(value) if option.kind is dict else value
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


def in_options(text):
    """A message with the command line's options where it has the parameters of a tree."""

    def option(match):
        value = match["value"].strip("'")
        return match["before"] + _FLAGS[match["name"]] + (f" {value}" if value != "True" else "")

    # A geometry has a criterion, too, which is no option.
    text = re.sub(
        rf"(?P<before>^|[ (])(?<!geometry with )(?P<name>{_NAMES})=(?P<value>'[^']*'|[\w.+-]*\w)", option, text
    )
    return re.sub(
        rf"(^|^with |, | by )({_NAMES})(?=,? (?:must|is|of|names|foretells|grace|up)\b)",
        lambda match: match[1] + _FLAGS[match[2]],
        text,
    )


def _weight(word):
    """A label and its weight."""
    label, _, weight = word.rpartition("=")
    try:
        return label, float(weight)
    except ValueError:
        raise ArgumentTypeError(f"{word!r} is not LABEL=X, a class and its weight") from None


def of_stream(tree, classes, nominal):
    """A tree's parameters that name what a stream has: labels, which may be numbers in a file, and attributes."""
    labels = {str(label): label for label in classes}
    named = {"nominal": nominal}
    if getattr(tree, "class_weight", None):
        named["class_weight"] = {labels.get(word, word): weight for word, weight in tree.class_weight.items()}
    if hasattr(tree, "positive"):
        named["positive"] = labels.get(str(tree.positive), tree.positive)
    return named
