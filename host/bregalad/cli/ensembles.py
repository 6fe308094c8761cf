"""Options of ensembles: which one stands around the tree, and its parameters."""

from dataclasses import replace

from ..ensemble.options import MEMBER, NAMES, OPTIONS
from ..options.option import FLAG
from ..options.table import CLASSICAL, POSITIVE, help_of
from ..words import joined

_SHARED = ("seed", "threads")  # options that are there already
OWN = tuple(option for option in OPTIONS if option.group and option.name not in _SHARED and option.kind is not FLAG)


def add_ensembles(parser):
    """Which ensemble, and its options."""
    group = parser.add_argument_group("ensembles")
    group.add_argument(
        "--learner",
        choices=("tree", *NAMES),
        help="one tree, or an ensemble of such: bagging, leveraging bagging, adaptive random forest (default: tree)",
    )
    for option in OWN:
        group.add_argument(option.flag, help=help_of(option), **option.kind.arguments)


def check_ensemble(args):
    """Raise ValueError for options that contradict each other."""
    for option in OWN:
        if (value := getattr(args, option.name)) is None:
            continue
        if args.learner not in option.defaults:
            raise ValueError(
                f"{option.flag} is an option of --learner {joined(option.defaults, 'and')}, not of {args.learner}"
            )
        replace(option, name=option.flag).check(value)
    if args.learner == "tree":
        if args.wave is not None and args.tree in POSITIVE:
            raise ValueError(f"--wave is for one tree, not for --tree {args.tree}")
        return
    if args.tree in POSITIVE:
        raise ValueError(f"--learner {args.learner} is of trees that know all labels, not of {args.tree}")
    if args.tree in CLASSICAL:
        raise ValueError(f"--learner {args.learner} is of trees that learn on a board, not of {args.tree}")
    for option in ("ask", "wave"):
        if getattr(args, option) is not None:
            raise ValueError(f"--{option} is for one tree, not for --learner {args.learner}")


def member_of(args, chosen):
    """The options of a member: those chosen, but for the ensemble's own; of a forest of VFDTs others by default."""
    if args.learner == "tree":
        return chosen
    usual = MEMBER if args.learner == "arf" and args.tree == "vfdt" and args.geometry is None else {}
    return {**usual, **{name: value for name, value in chosen.items() if name not in _SHARED}}


def ensemble_of(args, tree, chosen):
    """The ensemble of trees like this one; the tree itself if it is to learn alone."""
    if args.learner == "tree":
        return tree
    from ..ensemble.catalogue import ENSEMBLES

    own = {option.name: value for option in OWN if (value := getattr(args, option.name)) is not None}
    if args.seed is not None:
        own["seed"] = args.seed
    if "threads" in chosen:
        own["threads"] = chosen["threads"]
    return ENSEMBLES[args.learner](tree, **own)
