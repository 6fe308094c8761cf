"""Learn a tree from a file, testing each instance before learning it."""

import sys
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any

from ...files import check_writable, save_file
from ...interrupt import Stopped, status_of, stopping
from ...words import counted
from .. import checkpoint, ensembles, labels, learner, options, outputs

__all__ = ["add_arguments", "run", "print_report"]


def add_arguments(parser):
    """Declare the options."""
    options.add_stream(parser)
    options.add_board(parser)
    learner.add_learner(parser)
    ensembles.add_ensembles(parser)
    labels.add_labels(parser)
    group = parser.add_argument_group("long runs")
    group.add_argument(
        "--checkpoint", metavar="FILE", help="write the tree, and how far the run has come, to FILE again and again"
    )
    group.add_argument(
        "--every",
        type=int,
        metavar="N",
        help=f"instances between two checkpoints (default: {checkpoint.EVERY}); "
        "they are written at the curve's points, one every 2000, so N is that at least",
    )
    group.add_argument(
        "--resume", metavar="FILE", help="go on from a checkpoint, with the same options; others follow in FILE"
    )
    group = parser.add_argument_group("results")
    group.add_argument(
        "--save",
        metavar="FILE",
        help="write the tree to FILE, also if the run is stopped midway, by Ctrl-C, SIGTERM or SIGHUP",
    )
    group.add_argument("--plot", metavar="FILE", help="draw accuracy, kappa, size (.png, .svg)")
    group.add_argument(
        "--curve", metavar="FILE", help="write accuracy, kappa, sizes and times to FILE (.csv, .parquet)"
    )
    group.add_argument("--quiet", action="store_true", help="no progress bar")
    group.add_argument("--json", action="store_true", help="print the report as one JSON object")


def run(args):
    """Learn, print the report, write what was asked for."""
    with stopping():
        return _run(args)


def _run(args):
    chosen = learner.given(args)
    _check_checkpoints(args)
    labels.check_labels(args)
    ensembles.check_ensemble(args)
    options.check_there(args.file)
    stream = options.open_file(args)
    tree = _new_tree(args, chosen)
    run = _begun(args, stream, tree, labels.strategy_of(args, tree))
    stopped = _learn(args, stream, run)
    return _end(args, run, stopped)


@dataclass
class _Run:
    """A run under way: what it has come to, and what writes its checkpoints."""

    tree: Any
    strategy: Any  # what asks for labels; None: all are learnt
    classes: list
    curve: Any
    checkpoints: Any


def _new_tree(args, chosen):
    """The tree that the options describe; refuses it, or files to write, now and not after hours of learning."""
    from ...evaluation.curve import check_suffix
    from ...trees.catalogue import CLASSICAL, POSITIVE, TREES

    where = {} if args.tree in CLASSICAL else {"board": args.board, "geometry": args.geometry}
    tree = (TREES | POSITIVE | CLASSICAL)[args.tree](**where, **ensembles.member_of(args, chosen))
    tree = ensembles.ensemble_of(args, tree, chosen)
    tree.check_parameters()
    results = (args.save, args.plot, args.curve, args.checkpoint or args.resume)
    for path in filter(None, results):
        check_writable(path, args.file)
    if args.wave:
        tree.write_wave(args.wave)
        results += (args.wave, save_file(args.wave))
    outputs.check_distinct(*results)
    if args.plot:
        outputs.check_plot(args.plot)
    if args.curve:
        check_suffix(args.curve)
    return tree


def _begun(args, stream, tree, strategy):
    """The `_Run` to go on with: from its beginning, or from a checkpoint."""
    from ...evaluation import Curve

    kept = args.checkpoint or args.resume
    this = checkpoint.run_of(args) if kept else None
    curve, every = Curve(), checkpoint.EVERY
    if args.resume:
        tree, curve, every = checkpoint.begun(args.resume, this)
        classes = tree.classes_.tolist()
    else:
        classes, nominal = options.survey(stream, args.limit)
        member = tree if args.learner == "tree" else tree.tree
        member.set_params(**learner.of_stream(member, classes, nominal))
    writer = checkpoint.Checkpoints(kept, args.every or every, this, sum(curve.instances[-1:])) if kept else None
    return _Run(tree, strategy, classes, curve, writer)


def _learn(args, stream, run):
    """Learn the stream; returns what stopped it midway, or None."""
    from tqdm import tqdm

    from ...boards.base import BoardError
    from ...evaluation import prequential
    from ...evaluation.prequential import POINT

    seen = sum(run.curve.instances[-1:])
    total = min(filter(None, (stream.len_hint, args.limit)), default=None)
    with tqdm(total=total, initial=seen, unit=" instances", unit_scale=True, disable=args.quiet or None) as bar:

        def progress(count, curve):
            bar.set_postfix_str(f"accuracy {curve.accuracy[-1]:.4f}, {counted(curve.leaves[-1], 'leaf', 'leaves')}")
            bar.update(count)
            if run.checkpoints and count == POINT:
                run.checkpoints.look(run.tree, curve)

        try:
            prequential(
                run.strategy or run.tree,
                checkpoint.skip(stream, seen) if seen else stream,
                run.classes,
                curve=run.curve,
                limit=args.limit and args.limit - seen,
                progress=progress,
            )
        except (KeyboardInterrupt, ValueError, OSError, BoardError) as error:
            if not run.curve.instances:
                raise
            return error
    return None


def _end(args, run, stopped):
    """Write the results, print the report, return the exit status.

    What has been learnt is kept, whatever ended the run: a pipe that is closed must not come
    before, nor must one file that cannot be written take the others along.
    """
    from ...boards.base import BoardError

    tree, curve, unwritten = run.tree, run.curve, []
    saved = _save(tree, args.save, isinstance(stopped, BoardError) or _on_board(tree) and tree.unfinished, unwritten)
    if args.curve:
        with _noting(unwritten, args.curve):
            curve.write(args.curve)
    if args.plot:
        with _noting(unwritten, args.plot):
            curve.plot(args.plot, f"{type(tree).__name__} on {args.file}")
    # The terminal of a process that gets SIGHUP is gone.
    with suppress(OSError) if isinstance(stopped, Stopped) else nullcontext():
        _tell(args, tree, curve, stopped)
    if saved and _on_board(tree):
        tree.close()
    for failure in unwritten:
        print(f"bregalad train: {failure}", file=sys.stderr)
    if isinstance(stopped, KeyboardInterrupt):
        return status_of(stopped)
    if stopped is not None and (saved or not isinstance(stopped, BoardError)):
        raise stopped
    return 0 if saved and not unwritten else 1


def _on_board(tree):
    from ...trees.catalogue import TREES

    return isinstance(tree, tuple(TREES.values()))


def _tell(args, tree, curve, stopped):
    if stopped is not None:
        print(
            f"{'interrupted' if isinstance(stopped, KeyboardInterrupt) else 'stopped'} after "
            f"{counted(tree.report()['instances'], 'instance')}; what the tree has come to:",
            file=sys.stderr if args.json else sys.stdout,
        )
    if args.json:
        outputs.print_json(report_of(tree, curve))
    else:
        print_report(tree, curve)


def _check_checkpoints(args):
    if args.every is not None and not (args.checkpoint or args.resume):
        raise ValueError("--every has no effect without --checkpoint or --resume")
    if args.every is not None:
        from ...evaluation.prequential import POINT

        if args.every < POINT:
            raise ValueError(
                f"--every must be {POINT} or more, for checkpoints are written at the curve's points, not {args.every}"
            )


@contextmanager
def _noting(unwritten, path):
    """Add the error to a list, with the path, if a file cannot be written."""
    try:
        yield
    except OSError as error:
        unwritten.append(OSError(f"{path} is not written: {error.strerror or error}"))


def _save(tree, path, cut, unwritten):
    """Write the tree, if asked for; False if the board does not let us."""
    from ...boards.base import BoardError

    try:
        if cut:
            tree.resume()
        if path:
            with _noting(unwritten, path):
                tree.save(path)
    except (BoardError, KeyboardInterrupt) as error:
        # Half of a tree's knowledge is on the board, so there is nothing whole to write.
        print(
            f"bregalad train: {str(error) or 'interrupted'}" + (f"; {path} is not written" if path else ""),
            file=sys.stderr,
        )
        return False
    return True


def report_of(tree, curve):
    """What `print_report` prints, and the tree's parameters, as a dict."""
    from ...compiled import compile_seconds

    return {
        "tree": type(tree).__name__,
        "parameters": {name: value for name, value in tree.get_params().items() if name != "tree"},
        **tree.report(),
        "accuracy": curve.accuracy[-1],
        "kappa": curve.kappa[-1],
        "labels": curve.labels[-1],
        "seconds": curve.seconds[-1],
        "compile_seconds": compile_seconds(),
        **({"link": tree.link_statistics()} if _on_board(tree) else {}),
        **tree.quantiser_summary(),
    }


def print_report(tree, curve):
    """Print what a run has come to."""
    from ...compiled import compile_seconds

    report, on_board = tree.report(), _on_board(tree)
    print(f"instances   {report['instances']}")
    print(f"accuracy    {curve.accuracy[-1]:.4f}, kappa {curve.kappa[-1]:.4f} (prequential)")
    if curve.labels[-1] < curve.instances[-1]:
        print(
            f"labels      {curve.labels[-1]} of {curve.instances[-1]} asked for "
            f"({curve.labels[-1] / curve.instances[-1]:.1%})"
        )
    print(
        f"tree        {counted(report['nodes'], 'node')}, {counted(report['leaves'], 'leaf', 'leaves')}, depth "
        f"{report['depth']}"
        + (
            f"; {counted(report['slots'], 'slot')} in use, "
            f"{counted(report['inactive_leaves'], 'leaf', 'leaves')} without one"
            if on_board
            else ""
        )
    )
    if "members" in report:
        print(
            f"ensemble    {counted(report['members'], 'member')}, {report['background']} more in the background; "
            f"{counted(report['warnings'], 'warning')}, {counted(report['drifts'], 'drift')}"
        )
    if "level" in report:
        print(f"level       {report['level']}, estimated merit {report['merit']:.4f}")
    if on_board:
        print(f"leaves      predict by {report['leaf_prediction']}")
    compiling = compile_seconds()
    print(
        f"seconds     {curve.seconds[-1]:.2f} predicting and learning"
        + (f"; {compiling:.1f} more for compiling, the first time" if compiling else "")
    )
    made = report["splits"] + report["replaced"]
    ties = f"{report['ties']} tie-broken ({report['ties'] / max(made, 1):.1%}); " if on_board else ""
    print(
        f"splits      {report['splits']} of leaves, {report['replaced']} replaced, "
        f"{report['pruned']} pruned; {ties}{counted(report['trials'], 'trial')}"
    )
    if not on_board:
        return
    if report["alternates"]:
        print(f"alternates  {report['alternates']} began, {report['swapped']} took over, {report['dropped']} went")
    if report["halvings"]:
        print(f"halvings    {report['halvings']} (a count reached the counters' width)")
    if (link := tree.link_statistics()) is not None:
        print(f"link        {link}")
    lost = tree.quantiser_summary()
    print(
        f"codes       {lost['crowded']:.2%} of the last numeric values share a crowded code, "
        f"{lost['overflowed']:.2%} of nominal values have none"
    )
