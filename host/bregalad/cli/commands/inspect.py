"""Show a saved tree and its statistics."""

from ...files import replacing
from ...words import listed, one_line
from ..options import check_there
from ..outputs import check_result


def add_arguments(parser):
    parser.add_argument("tree", help="a tree saved by train")
    parser.add_argument("--depth", type=int, metavar="N", help="show no more than N levels")
    parser.add_argument("--dot", action="store_true", help="print Graphviz's DOT instead of text")
    parser.add_argument("--html", metavar="FILE", help="write a web page: the tree, its history, the run's curve")
    parser.add_argument(
        "--statistics", action="store_true", help="print sizes, counts and code books instead of the tree"
    )


def run(args):
    """Print the tree, or what is known about it."""
    if args.html and (args.statistics or args.dot or args.depth is not None):
        raise ValueError("--html is for the whole tree: leave out --statistics, --dot and --depth")
    check_there(args.tree)
    if args.html:
        check_result(args.html, args.tree)
    from ...ensemble.bagging import ENSEMBLES, load_learner

    tree = load_learner(args.tree)
    if isinstance(tree, tuple(ENSEMBLES.values())) and not args.statistics:
        raise ValueError(f"{args.tree} is an ensemble, which has no one tree to show: --statistics has its counts")
    if args.html:
        with replacing(args.html, "w") as file:
            file.write(tree.to_html())
    elif args.statistics:
        for name, value in tree.report().items():
            print(f"{name:16} {value}")
        print(f"{'classes':16} {', '.join(map(str, tree.classes_))}")
        if tree._columns is not None:
            print(f"{'class':16} {one_line(tree._columns['class'])}\n{'ignored':16} {listed(tree._columns['ignored'])}")
        for name, book in tree.quantiser_summary()["attributes"].items():
            print(
                f"{name:24} {book['kind']:8} "
                + ", ".join(f"{key} {value}" for key, value in book.items() if key != "kind")
            )
    else:
        if tree._columns is not None and not args.dot:
            ignored = listed(tree._columns["ignored"])
            print(f"class {one_line(tree._columns['class'])}" + (f"; ignored {ignored}" if ignored else ""))
        print(tree.to_graphviz(args.depth) if args.dot else tree.draw(args.depth))
    return 0
