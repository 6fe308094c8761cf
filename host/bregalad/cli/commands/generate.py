"""Write a random stream to a file, or list the generators."""


def add_arguments(parser):
    parser.add_argument(
        "generator", nargs="?", metavar="NAME[,OPTION=VALUE...]", help="which one, and its options (default: list all)"
    )
    parser.add_argument("--limit", type=int, metavar="N", help="instances to write")
    parser.add_argument("--out", metavar="FILE", help="file to write: .csv, .tsv, .arff (also as .gz) or .parquet")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


def run(args):
    """Write the file."""
    from tqdm import tqdm

    from ...data.formats.writers import check_writable, write_stream
    from ...data.generators import GENERATORS, PRESETS, describe, open_generator

    if args.generator is None:
        for name in (*GENERATORS, *PRESETS):
            print(f"{name:11} {describe(name)}")
        return 0
    stream = open_generator(args.generator)
    if args.limit is not None and args.limit < 1:
        raise ValueError(f"--limit must be 1 or more, not {args.limit}")
    if not args.out:
        raise ValueError("--out must name the file to write")
    check_writable(args.out)
    total = min(filter(None, (stream.len_hint, args.limit)), default=None)
    if total is None:
        raise ValueError("the stream does not end: say how much of it with --limit")
    stream.chunk = min(stream.chunk, total)
    with tqdm(total=total, unit=" instances", unit_scale=True, disable=args.quiet or None) as bar:
        write_stream(stream, args.out, limit=args.limit, progress=bar.update)
    return 0
