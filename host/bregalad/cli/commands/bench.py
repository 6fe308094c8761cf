"""Measure learners beside those of MOA, River and mlpack, in turns: a row of Markdown each."""


def add_arguments(parser):
    parser.add_argument(
        "streams",
        nargs="*",
        metavar="STREAM",
        help="ELEC, rt5n_1M, numeric-32 ... (default: the last two), a file",
    )
    parser.add_argument(
        "--ours", nargs="+", metavar="OPTIONS", default=[""], help="our learners, as options of train, each in quotes"
    )
    parser.add_argument(
        "--others",
        nargs="+",
        metavar="NAME",
        default=["moa:ht-nba"],
        help="others: moa:LEARNER, as on MOA's command line, river:ht-mc, river:ht-nba, river:efdt, river:hat, "
        "river:arf, mlpack, or none (default: moa:ht-nba)",
    )
    parser.add_argument(
        "--instances",
        type=int,
        metavar="N",
        help="of every stream, at most (default: a million, or 50 million attribute values)",
    )
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="runs of each (default: 3)")
    parser.add_argument("--core", type=int, metavar="N", help="core that all are bound to (default: the last)")


def run(args):
    """Print the rows."""
    import os
    import sys
    from functools import partial

    from ...benchmark import beside

    for option in ("instances", "repeats"):
        value = getattr(args, option)
        if value is not None and value < 1:
            raise ValueError(f"--{option} must be 1 or more, not {value}")
    others = [] if args.others == ["none"] else args.others
    beside.check(others)
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else ()
    if args.core is not None and args.core not in cores:
        raise ValueError(f"--core must be one of {', '.join(map(str, cores)) or 'none here'}, not {args.core}")
    core = max(cores, default=None) if args.core is None else args.core
    note = partial(print, "bregalad bench:", file=sys.stderr, flush=True)
    ours = {words or "VFDT": _maker(words) for words in args.ours}
    settings = {"instances": args.instances, "repeats": args.repeats, "core": core, "note": note}
    print(beside.HEAD, "|---" * 9 + "|", sep="\n", flush=True)
    if cores:
        os.sched_setaffinity(0, {core})
    try:
        for name in args.streams or ("rt5n_1M", "numeric-32"):
            try:
                for row in beside.rows(name, ours, others, **settings):
                    print(row, flush=True)
            except OSError as error:
                note(f"{name}: left out: {error}")
    finally:
        if cores:
            os.sched_setaffinity(0, cores)
    return 0


def _maker(words):
    """What makes a learner by options of ``train``, as `beside.Ours` takes it."""
    import argparse
    import shlex

    from .. import learner
    from . import train

    parser = argparse.ArgumentParser(prog="--ours")
    train.add_arguments(parser)
    args = parser.parse_args(["-", *shlex.split(words)])

    def make(classes, nominal):
        made = learner.made(args, learner.options_of(args))
        learner.tell(made, classes, nominal)
        return made

    return make
