"""Learn a tree from a file, testing each instance before learning it."""

import json
import sys
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any

from ...files import replacing, save_file
from ...interrupt import Stopped, status_of, stopping
from ...words import counted
from .. import checkpoint, learner, options, outputs, report, saved


def add_arguments(parser):
    options.add_stream(parser)
    options.add_board(parser)
    learner.add_learner(parser)
    learner.add_ensembles(parser)
    learner.add_labels(parser)
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
    group.add_argument(
        "--from", dest="from_", metavar="FILE", help="go on with a saved tree or ensemble, on another file of such rows"
    )
    group = parser.add_argument_group("results")
    group.add_argument(
        "--save",
        metavar="FILE",
        help="write the tree to FILE, also if the run is stopped midway, by Ctrl-C, SIGTERM or SIGHUP",
    )
    group.add_argument("--html", metavar="FILE", help="write a web page: the tree, its history, the curve")
    group.add_argument("--plot", metavar="FILE", help="draw accuracy, kappa, size (.png, .svg)")
    group.add_argument(
        "--curve", metavar="FILE", help="write accuracy, kappa, sizes and times to FILE (.csv, .parquet)"
    )
    group.add_argument("--quiet", action="store_true", help="no progress bar")
    group.add_argument("--json", action="store_true", help="print the report as one JSON object")


@stopping()
def run(args):
    """Learn, print the report, write what was asked for."""
    if args.every is not None:
        from ...evaluation.prequential import POINT

        if not (args.checkpoint or args.resume):
            raise ValueError("--every has no effect without --checkpoint or --resume")
        if args.every < POINT:
            raise ValueError(
                f"--every must be {POINT} or more, for checkpoints are written at the curve's points, not {args.every}"
            )
    options.check_there(args.file, *filter(None, (args.from_,)))
    _check_results(args)
    tree = saved.begun_from(args) if args.from_ else None
    before = tree.report()["instances"] if args.from_ else 0
    chosen = learner.options_of(args)
    if args.html and args.learner != "tree":
        raise ValueError("--html is for one tree, and an ensemble has several: leave it out")
    this = checkpoint.run_of(args) if args.checkpoint or args.resume else None
    old = checkpoint.begun(args.resume, this) if args.resume else None
    tree = old[0] if old else tree
    if tree is None:
        stream, ignored = options.open_file(args)
        tree = learner.made(args, chosen)
    else:
        stream, ignored = saved.open_file_for(args, tree, labelled=True)
    if args.wave:
        tree.write_wave(args.wave)
    run = _begun(args, stream, tree, this, old, before)
    if not old:
        run.tree._columns = {"class": stream.schema.class_name, "ignored": ignored}
    stopped = _learn(args, stream, run)
    return _end(args, run, stopped)


@dataclass
class _Run:
    """A run under way: what it has come to, and what writes its checkpoints."""

    tree: Any
    strategy: Any  # what asks for labels; None: all are learnt
    classes: list
    curve: Any
    seen: int  # instances of the run before those of the stream that are learnt now
    position: Any  # callable: where the stream is after so many of these
    checkpoints: Any
    before: int  # instances that the tree had learnt


def _check_results(args):
    """Refuse files to write now, and not after hours of learning."""
    from ...evaluation.curve import check_suffix

    results = (args.save, args.html, args.plot, args.curve, args.checkpoint or args.resume)
    for path in filter(None, results):
        outputs.check_result(path, args.file)
    if args.wave:
        results += (args.wave, save_file(args.wave))
    outputs.check_distinct(*results)
    if args.plot:
        outputs.check_plot(args.plot)
    if args.curve:
        check_suffix(args.curve)


def _begun(args, stream, tree, this, old, before):
    """The `_Run` to go on with: from its beginning, or from a checkpoint."""
    from ...evaluation import Curve

    _, curve, every, position = old or (tree, Curve(), checkpoint.EVERY, None)
    strategy, seen = learner.strategy_of(args, tree), sum(curve.instances[-1:])
    if args.from_ and not old:
        saved.check_labels(stream, tree)
    if position:
        stream.source.begin(position)
    if args.resume or args.from_:
        classes = tree.classes_.tolist()
    else:
        classes, nominal = options.survey(stream, args.limit)
        learner.tell(tree, classes, nominal)
    where, kept = stream.source.position, args.checkpoint or args.resume
    writer = checkpoint.Checkpoints(kept, args.every or every, this, seen, where) if kept else None
    return _Run(tree, strategy, classes, curve, seen, where, writer, before)


def _learn(args, stream, run):
    """Learn the stream; returns what stopped it midway, or None."""
    from tqdm import tqdm

    from ...boards.base import BoardError
    from ...evaluation import prequential
    from ...evaluation.prequential import POINT

    chunks, seen = saved.named_as(run.tree, stream) if args.from_ or args.resume else stream, run.seen
    if seen and not run.position(0):
        chunks = checkpoint.skip(chunks, seen)
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
                chunks,
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
    cut = isinstance(stopped, BoardError) or report.on_board(tree) and tree.unfinished
    saved.keep_curve(tree, curve, run.before)
    whole = _save(tree, args.save, cut, unwritten)
    if args.html and whole:
        with _noting(unwritten, args.html), replacing(args.html, "w") as file:
            file.write(tree.to_html())
    if args.curve:
        with _noting(unwritten, args.curve):
            curve.write(args.curve)
    if args.plot:
        with _noting(unwritten, args.plot):
            curve.plot(args.plot, f"{type(tree).__name__} on {args.file}")
    # The terminal of a process that gets SIGHUP is gone.
    with suppress(OSError) if isinstance(stopped, Stopped) else nullcontext():
        _tell(args, run, stopped)
    if whole and report.on_board(tree):
        tree.close()
    for failure in unwritten:
        print(f"bregalad train: {failure}", file=sys.stderr)
    if isinstance(stopped, KeyboardInterrupt):
        return status_of(stopped)
    if stopped is not None and (whole or not isinstance(stopped, BoardError)):
        raise stopped
    return 0 if whole and not unwritten else 1


def _tell(args, run, stopped):
    tree, curve = run.tree, run.curve
    position = run.position(curve.instances[-1] - run.seen) or {}
    if stopped is not None:
        print(
            f"{'interrupted' if isinstance(stopped, KeyboardInterrupt) else 'stopped'} after "
            f"{counted(tree.report()['instances'], 'instance')}; what the tree has come to:",
            file=sys.stderr if args.json else sys.stdout,
        )
    if args.json:
        print(json.dumps(outputs.plain(report.report_of(tree, curve) | position), allow_nan=False))
    else:
        report.print_report(tree, curve, run.before)
        if position.get("skipped"):
            print(f"skipped     {counted(position['skipped'], 'message')} that did not fit")
    for note in report.notes_of(tree, curve):
        print(f"bregalad train: {note}", file=sys.stderr)


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
