"""Measure trees beside other libraries', and the core's area."""

__all__ = ["add_arguments", "run"]


def add_arguments(parser):
    """Declare the options."""
    parser.add_argument("part", nargs="*", metavar="PART", help="comparison (the default) or area")
    parser.add_argument(
        "--streams", nargs="+", metavar="NAME", help="only these of the comparison's streams, or files and generators"
    )
    parser.add_argument(
        "--peers",
        nargs="+",
        metavar="NAME",
        help="only these: moa, river, mlpack, emulated",
    )
    parser.add_argument(
        "--instances",
        type=int,
        metavar="N",
        help="of every stream, at most (default: a million, or 50 million attribute values)",
    )
    parser.add_argument(
        "--repeats", type=int, default=3, metavar="N", help="runs of each, of which medians are shown (default: 3)"
    )
    parser.add_argument("--core", type=int, metavar="N", help="core that all are bound to (default: the last)")
    parser.add_argument(
        "--quick", action="store_true", help="a few short streams and sizes, once: to see that it works"
    )
    parser.add_argument(
        "--fresh",
        action="store_true",
        help="measure again what the output folder holds already, of these streams and peers",
    )
    parser.add_argument(
        "--output", default="out/bench", metavar="DIR", help="folder for pages, pictures and JSON (default: out/bench)"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress")


def run(args):
    """Run the parts and write their pages."""
    import os
    import sys
    from pathlib import Path

    from ...benchmark import PARTS, Settings, part
    from ...benchmark.comparison import PEERS
    from ...files import alone_in

    modules = {name: part(name) for name in args.part or PARTS[:1]}
    for option in ("instances", "repeats"):
        value = getattr(args, option)
        if value is not None and value < 1:
            raise ValueError(f"--{option} must be 1 or more, not {value}")
    for name in args.peers or ():
        if name not in PEERS:
            raise ValueError(f"no peer {name!r}; there are {', '.join(PEERS)}")
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else ()
    if args.core is not None and args.core not in cores:
        raise ValueError(f"--core must be one of {', '.join(map(str, cores)) or 'none here'}, not {args.core}")
    output = Path(args.output)
    settings = Settings(
        output,
        args.quick,
        args.streams and tuple(args.streams),
        args.peers and tuple(args.peers),
        args.instances,
        1 if args.quick else args.repeats,
        args.core,
        args.fresh,
        (lambda text: None) if args.quiet else lambda text: print(text, file=sys.stderr, flush=True),
    )
    with alone_in(output, "benchmark"):  # two would slow each other, and write to one file
        for module in modules.values():
            page = module.run(settings)
            for file in page.write(output):
                print(output / file)
    return 0
