"""Do a published experiment again and write its tables beside the published figures."""


def add_arguments(parser):
    parser.add_argument("name", choices=["efdt-figures"], help="EFDT against VFDT, KDD 2018")
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
    parser.add_argument("--quiet", action="store_true", help="only print the tables, no progress")


def run(args):
    """Run the study, print its tables and write them."""
    import sys
    from pathlib import Path

    from ...benchmark import efdt_figures as study

    for option in ("instances", "runs"):
        value = getattr(args, option)
        if value is not None and value < 1:
            raise ValueError(f"--{option} must be 1 or more, not {value}")
    folder = Path(args.out)
    folder.mkdir(parents=True, exist_ok=True)  # now rather than after hours
    instances, runs = args.instances or study.INSTANCES, args.runs or study.RUNS
    note = (lambda text: None) if args.quiet else (lambda text: print(text, file=sys.stderr, flush=True))
    parts, figures = study.run(instances, runs, note)
    parts.append(f"## Command\n\n    bregalad reproduce {args.name} --instances {instances} --runs {runs}")
    page = "\n\n".join(parts) + "\n"
    print(page)
    (folder / f"{args.name}.md").write_text(page, encoding="utf-8")
    for file, figure in figures.items():
        figure.savefig(folder / file, dpi=100)
    for file in (f"{args.name}.md", *figures):
        print(f"written: {folder / file}", file=sys.stderr)
    return 0
