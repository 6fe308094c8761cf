"""Predict the classes of a file's instances with a saved tree."""

import sys
from contextlib import nullcontext

from ...files import check_writable
from ...interrupt import stopping
from ...words import counted
from .. import options, saved


def add_arguments(parser):
    options.add_stream(parser)
    parser.add_argument("--tree", required=True, metavar="FILE", help="a tree saved by train")
    parser.add_argument(
        "--output", metavar="FILE", help="CSV to write (default: -, standard output), or kafka://BROKER:9092/TOPIC"
    )
    parser.add_argument("--proba", action="store_true", help="write every class's share, too")


@stopping()
def run(args):
    """Write one line per instance; say on stderr how many labels in the file were met."""
    if args.classes:
        raise ValueError("the classes are the tree's; predict takes no --classes")
    options.check_there(args.file, args.tree)
    import pandas as pd

    from ...data.formats.kafka import is_topic, writing
    from ...ensemble.bagging import load_learner
    from ...files import replacing

    args.output = None if args.output == "-" else args.output
    topic = is_topic(args.output)
    if args.output and not topic:
        check_writable(args.output, args.file)
    tree = load_learner(args.tree)
    stream, others = saved.open_file_for(args, tree)
    names = list(tree.schema_.names)
    right = labelled = seen = 0
    opened = writing(args.output) if topic else replacing(args.output, "w") if args.output else nullcontext(sys.stdout)
    with opened as out:
        for X, y in stream:
            left = None if args.limit is None else args.limit - seen
            X, y = X[names][:left], y[:left]
            table = pd.DataFrame({"prediction": tree.predict(X)})
            if args.proba:
                table[[f"p({label})" for label in tree.classes_]] = tree.predict_proba(X).round(6)
            if topic:
                numbered = ((None, {"row": i}) for i in range(seen, seen + len(y)))
                origins = stream.source.origins() if is_topic(args.file) else numbered
                rows = zip(origins, table.to_dict("records"), strict=False)  # a limit cuts the rows
                out((key, source | row) for (key, source), row in rows)
            else:
                table.to_csv(out, index=False, header=not seen)
                out.flush()  # the next instances of a topic may come much later
            right += int((table["prediction"].astype(str).to_numpy() == y).sum())
            labelled += sum(label is not None for label in y)
            seen += len(y)
            if seen == args.limit:
                break  # before more is waited for
    told = []
    if skipped := (stream.source.position(seen) or {}).get("skipped"):
        told.append(f"{counted(skipped, 'message')} skipped that did not fit")
    if labelled:
        told.append(f"{right} of {labelled} labels met ({right / labelled:.4f}), those of {stream.schema.class_name!r}")
    told += saved.told_of(tree, others, labelled or args.class_name)
    if told:
        print(f"bregalad predict: {'; '.join(told)}", file=sys.stderr)
    return 0
