"""Predict the classes of a file's instances with a saved tree."""

import sys

__all__ = ["add_arguments", "run"]


def add_arguments(parser):
    """Declare the options."""
    from . import options

    options.add_stream(parser)
    parser.add_argument("--tree", required=True, metavar="FILE", help="a tree saved by train")
    parser.add_argument("--output", metavar="FILE", help="CSV to write (default: standard output)")
    parser.add_argument("--proba", action="store_true", help="write every class's share, too")


def run(args):
    """Write one line per instance; say on stderr how many labels in the file were met."""
    import pandas as pd

    from ..trees.catalogue import load_tree
    from . import options

    tree = load_tree(args.tree)
    stream = options.open_file_for(args, tree)
    names = list(tree.schema_.names)
    out = open(args.output, "w", encoding="utf-8") if args.output else sys.stdout
    right = labelled = seen = 0
    try:
        for X, y in stream:
            if args.limit is not None:
                X, y = X[:args.limit - seen], y[:args.limit - seen]
            if not len(y):
                break
            X = X[names]
            shares = tree.predict_proba(X)
            table = pd.DataFrame({"prediction": tree.predict(X)})
            if args.proba:
                for k, label in enumerate(tree.classes_):
                    table[f"p({label})"] = shares[:, k].round(6)
            table.to_csv(out, index=False, header=not seen)
            right += int((table["prediction"].astype(str).to_numpy() == y).sum())
            labelled += sum(label is not None for label in y)
            seen += len(y)
    finally:
        if args.output:
            out.close()
    if labelled:
        print(f"{right} of {labelled} labels met ({right / labelled:.4f})", file=sys.stderr)
    return 0
