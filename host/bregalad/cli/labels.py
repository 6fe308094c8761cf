"""Options of active learning: which strategy asks for labels, and for how many."""

from .. import active
from ..ensemble.options import NAMES
from ..options.table import POSITIVE
from ..words import joined

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


def check_labels(args):
    """Raise ValueError for options that contradict each other."""
    if args.ask is None:
        for option in ("budget", "seed"):
            if getattr(args, option) is not None and not (option == "seed" and args.learner != "tree"):
                raise ValueError(
                    f"--{option} has no effect without --ask"
                    + (f" or --learner {joined(NAMES)}" if option == "seed" else "")
                )
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
