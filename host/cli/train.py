"""Learn a tree from a file, testing each instance before learning it."""

import os

from . import learner, options

__all__ = ["add_arguments", "run", "print_report"]


def add_arguments(parser):
    """Declare the options."""
    options.add_stream(parser)
    options.add_board(parser)
    learner.add_learner(parser)
    group = parser.add_argument_group("results")
    group.add_argument("--save", metavar="FILE", help="write the tree to FILE")
    group.add_argument("--plot", metavar="FILE", help="draw accuracy, kappa, size (.png, .svg)")
    group.add_argument("--curve", metavar="FILE",
                       help="write accuracy, kappa, sizes and times to FILE (.csv, .parquet)")
    group.add_argument("--quiet", action="store_true", help="no progress bar")


def run(args):
    """Learn, print the report, write what was asked for."""
    chosen = learner.given(args)
    from tqdm import tqdm

    from ..evaluation import Curve, prequential
    from ..evaluation.curve import check_suffix
    from ..trees.catalogue import TREES

    stream = options.open_file(args)
    tree = TREES[args.tree](
        board=args.board, geometry=args.geometry, **chosen,
        nominal={a.name: a.values for a in stream.schema.attributes if a.kind == "nominal"})
    tree.check_parameters()
    for path in filter(None, (args.save, args.plot, args.curve)):
        _check_writable(path)
    if args.plot:
        _check_plot(args.plot)
    if args.curve:
        check_suffix(args.curve)
    classes = options.labels_of(stream)
    total = min(filter(None, (stream.len_hint, args.limit)), default=None)
    with tqdm(total=total, unit=" instances", unit_scale=True, disable=args.quiet) as bar:

        def progress(count, curve):
            bar.set_postfix_str(f"accuracy {curve.accuracy[-1]:.4f}, {curve.leaves[-1]} leaves")
            bar.update(count)

        interrupted = False
        curve = Curve()
        try:
            prequential(tree, stream, classes, curve=curve, limit=args.limit, progress=progress)
        except KeyboardInterrupt:
            if not curve.instances:
                raise
            interrupted = True
    if interrupted:
        print(f"interrupted after {tree.report()['instances']} instances; what they have come to:")
    tree.end_warm_up()
    print_report(tree, curve)
    if args.save:
        tree.save(args.save)
    if args.curve:
        curve.write(args.curve)
    if args.plot:
        curve.plot(args.plot, f"{type(tree).__name__} on {args.file}")
    tree.close()
    return 130 if interrupted else 0


def _check_writable(path):
    """Raise now what writing would raise after hours of learning."""
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"{path}: there is no folder {folder}")
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise PermissionError(f"{path} cannot be written")


def _check_plot(path):
    from matplotlib.backend_bases import FigureCanvasBase

    formats = FigureCanvasBase.get_supported_filetypes()
    suffix = os.path.splitext(path)[1].removeprefix(".")
    if suffix not in formats:
        raise ValueError(f"{path}: plots can be {', '.join(sorted(formats))}")


def print_report(tree, curve):
    """Print what a run has come to."""
    report = tree.report()
    print(f"instances   {report['instances']}")
    print(f"accuracy    {curve.accuracy[-1]:.4f}, kappa {curve.kappa[-1]:.4f} (prequential)")
    print(f"tree        {report['nodes']} nodes, {report['leaves']} leaves, depth "
          f"{report['depth']}; {report['slots']} slots in use, {report['inactive_leaves']} leaves "
          "without one")
    print(f"seconds     {curve.seconds[-1]:.2f} predicting and learning")
    made = report["splits"] + report["replaced"]
    print(f"splits      {report['splits']} of leaves, {report['replaced']} replaced, "
          f"{report['pruned']} pruned; {report['ties']} tie-broken "
          f"({report['ties'] / max(made, 1):.1%}); {report['trials']} trials")
    if report["halvings"]:
        print(f"halvings    {report['halvings']} (a count reached the counters' width)")
    if (link := tree.link_statistics()) is not None:
        print(f"link        {link}")
    lost = tree.quantiser_summary()
    print(f"clamped     {lost['clamped']:.2%} of numeric values, {lost['overflowed']:.2%} of "
          "nominal values had no code of their own")
