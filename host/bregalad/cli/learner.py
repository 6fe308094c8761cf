"""Options of what learns: the trees, an ensemble around one, and active learning."""

from dataclasses import replace

from .. import active
from ..ensemble import options as ensembles
from ..ensemble.options import MEMBER, NAMES
from ..options import table as options
from ..options.option import FLAG, WEIGHTS
from ..options.table import CLASSICAL, POSITIVE, help_of
from ..words import joined

_SHARED = ("seed", "threads")  # options that are there already
OWN = tuple(
    option for option in ensembles.OPTIONS if option.group and option.name not in _SHARED and option.kind is not FLAG
)


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


def _check_ensemble(args):
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


def made(args, chosen):
    """The tree or ensemble that the options describe, checked; ``chosen`` as of `options_of`.

    Trees of a forest of VFDTs have others by default.
    """
    from ..ensemble.bagging import ENSEMBLES
    from ..learners.catalogue import CLASSICAL, POSITIVE, TREES

    kind = (TREES | POSITIVE | CLASSICAL)[args.tree]
    where = {} if args.tree in CLASSICAL else {"board": args.board, "geometry": args.geometry}
    if args.learner == "tree":
        found = kind(**where, **chosen)
    else:
        usual = MEMBER if args.learner == "arf" and args.tree == "vfdt" and args.geometry is None else {}
        member = usual | chosen
        own = {option.name: getattr(args, option.name) for option in OWN}
        own |= {"seed": args.seed, "threads": member.pop("threads", None)}
        own = {name: value for name, value in own.items() if value is not None}
        found = ENSEMBLES[args.learner](kind(**where, **member), **own)
    found.check_parameters()
    return found


# Those of the parameters that add_learner makes options of; board, geometry and nominal are elsewhere.
OPTIONS = tuple(option for option in options.OPTIONS if option.group)
FLAGS = {option.name: option.flag for option in (*OPTIONS, *OWN)}
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


def options_of(args):
    """The options given, as the constructor of the tree chosen takes them; those of the learner get defaults.

    ValueError if that tree does not have one of them, or it has no effect beside the others.
    """
    args.tree, args.learner = args.tree or "vfdt", args.learner or "tree"
    chosen, values = {}, {}
    for option in OPTIONS:
        value = getattr(args, option.name)
        values[option.name] = option.defaults.get(args.tree) if value is None else value
        if value is None:
            continue
        if option.kind is WEIGHTS and args.ask is None:
            for label, weight in value:
                if 0 <= weight < 1:
                    raise ValueError(
                        f"{option.flag} {label}={weight:g}: train predicts each instance as it learns it, so each must "
                        "be learnt: a class must weigh 1 or more; give the others more instead"
                    )
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
    _check_labels(args)
    _check_ensemble(args)
    return chosen


def tell(learner, classes, nominal):
    """Have a tree, or an ensemble, know what a stream has: labels, which may be numbers in a file, and attributes."""
    tree, labels = getattr(learner, "tree", learner), {str(label): label for label in classes}
    named = {"nominal": nominal}
    if getattr(tree, "class_weight", None):
        named["class_weight"] = {labels.get(word, word): weight for word, weight in tree.class_weight.items()}
    if hasattr(tree, "positive"):
        named["positive"] = labels.get(str(tree.positive), tree.positive)
    tree.set_params(**named)


_STRATEGIES = {name.lower(): name for name in active.__all__ if name != "Strategy"}


def add_labels(parser):
    """Which strategy, and its options."""
    group = parser.add_argument_group("labels")
    group.add_argument(
        "--ask", choices=_STRATEGIES, help="learn only the instances whose labels this strategy asks for (default: all)"
    )
    group.add_argument(
        "--budget", type=float, metavar="X", help="the largest share of labels that --ask may ask for, 0 to 1"
    )
    group.add_argument("--seed", type=int, metavar="N", help="of what --ask or --learner draws at random (default: 1)")


def _check_labels(args):
    """Raise ValueError for options that contradict each other."""
    if args.ask is None:
        if args.budget is not None:
            raise ValueError("--budget has no effect without --ask")
        if args.seed is not None and args.learner == "tree":
            raise ValueError(f"--seed has no effect without --ask or --learner {joined(NAMES)}")
    elif args.tree in POSITIVE:
        raise ValueError(f"--ask asks for labels, which {args.tree} does without: choose another --tree")
    elif args.budget is None:
        raise ValueError("--ask needs the share of labels that it may ask for: --budget 0.3 is 30 %")
    elif args.checkpoint or args.resume:
        raise ValueError("a checkpoint keeps the tree, not what --ask has asked: leave out --checkpoint and --resume")


def strategy_of(args, tree):
    """The strategy around the tree; None if all labels are learnt."""
    if args.ask is None:
        return None
    try:
        return getattr(active, _STRATEGIES[args.ask])(tree, args.budget, seed=1 if args.seed is None else args.seed)
    except ValueError as error:  # of a parameter, whose name it begins with
        raise ValueError(f"--{error}") from error
