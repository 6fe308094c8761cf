"""Write a saved tree or forest as ONNX, C or JSON, for other programs and microcontrollers."""

import sys

from ..options import check_there

_FORMATS = ("onnx", "c", "json")


def add_arguments(parser):
    parser.add_argument("tree", help="a tree or forest saved by train")
    parser.add_argument("--format", required=True, choices=_FORMATS, help="docs/export.md says what each holds")
    parser.add_argument("--output", metavar="FILE", help="file to write (default: -, standard output; not for onnx)")
    parser.add_argument("--name", metavar="NAME", help="what all names in C begin with (default: model)")
    parser.add_argument("--opset", type=int, metavar="N", help="version of ONNX's operators (default: 17)")


def run(args):
    """Write the file."""
    chosen = {name: getattr(args, name) for name in ("name", "opset") if getattr(args, name) is not None}
    for name, form in (("name", "c"), ("opset", "onnx")):
        if name in chosen and args.format != form:
            raise ValueError(f"--{name} is for --format {form}")
    path = None if args.output == "-" else args.output
    if path is None and args.format == "onnx":
        raise ValueError("onnx is binary: name the file to write by --output")
    check_there(args.tree)
    from ...ensemble.bagging import load_learner
    from ...files import check_writable

    if path:
        check_writable(path, args.tree)
    learner = load_learner(args.tree)
    text = getattr(learner, f"to_{args.format}")(path, **chosen)
    if path is None:
        sys.stdout.write(text)
    return 0
