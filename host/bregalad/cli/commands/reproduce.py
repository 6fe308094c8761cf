"""Do a published experiment again and write its tables beside the published figures."""


def add_arguments(parser):
    """Declare the options."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="which one (default: list all)")
    parser.add_argument(
        "--instances", type=int, metavar="N", help="instances of each stream (default: the published number)"
    )
    parser.add_argument("--runs", type=int, metavar="N", help="streams of each kind (default: the published number)")
    parser.add_argument(
        "--out",
        default="out/reproduction",
        metavar="DIR",
        help="folder for NAME.md and its pictures (default: out/reproduction)",
    )
    parser.add_argument("--quiet", action="store_true", help="only print the page, no progress")


def run(args):
    """Run the study, print its page and write it."""
    import os
    import sys

    from ...benchmark.papers import STUDIES, Settings, study

    if args.name is None:
        for name in STUDIES:
            module = study(name)
            print(f"{name:13} {module.SUMMARY}; {module.INSTANCES:,} instances, {module.RUNS} runs")
        return 0
    module = study(args.name)
    for option in ("instances", "runs"):
        value = getattr(args, option)
        if value is not None and value < 1:
            raise ValueError(f"--{option} must be 1 or more, not {value}")
    os.makedirs(args.out, exist_ok=True)  # now rather than after hours
    settings = Settings(args.instances or module.INSTANCES, args.runs or module.RUNS)
    if not args.quiet:
        settings.note = lambda text: print(text, file=sys.stderr, flush=True)
    page = module.run(settings)
    page.heading("Command")
    page.text(f"    bregalad reproduce {args.name} --instances {settings.instances} --runs {settings.runs}")
    print(page)
    for file in page.write(args.out):
        print(f"written: {os.path.join(args.out, file)}", file=sys.stderr)
    return 0
