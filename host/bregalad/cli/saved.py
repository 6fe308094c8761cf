"""Saved trees: the columns that they were learnt from, and going on from one."""

import numpy as np

from ..words import counted, listed
from . import learner
from .options import chunk_of, is_endless, open_source_of, words_of


def keep_curve(tree, curve, before):
    """Have a tree, and its file, know the curve of a run, behind that of the ``before`` instances learnt earlier."""
    from ..estimator.looking.page import points_of

    points, earlier = points_of(curve), tree._curve if before and tree._curve else {}
    points["labels"] = [before + count for count in points["labels"]]
    tree._curve = {name: [*earlier.get(name, ()), *column] for name, column in points.items()}


def class_of(tree):
    """The class column's name; trees that were learnt in Python have a usual one."""
    return tree.schema_.class_name if tree._columns is None else tree._columns["class"]


def begun_from(args):
    """The tree or ensemble in the file of --from, on the board of the options; they are told which one it is.

    ValueError if an option is for new trees.
    """
    flags = {"tree": "--tree", "learner": "--learner", "classes": "--classes"} | learner.FLAGS
    if args.ask is None:
        flags["seed"] = "--seed"
    for name, flag in flags.items():
        if getattr(args, name) not in (None, ""):
            raise ValueError(f"{flag} is for a new tree; one that goes on has its own: leave out {flag}, or --from")
    from ..ensemble.bagging import ENSEMBLES, load_learner
    from ..estimator.saving import storage
    from ..learners.catalogue import CLASSICAL, POSITIVE, TREES

    where = {} if args.board == "emulated" else {"board": args.board}
    if args.geometry is not None:
        where["geometry"] = args.geometry
    if where and storage.read(args.from_)[0]["tree"] in [kind.__name__ for kind in CLASSICAL.values()]:
        where = {}  # they have none of these, as `learner.options_of` says
    tree = load_learner(args.from_, **where)
    names = {kind: name for name, kind in (TREES | POSITIVE | CLASSICAL | ENSEMBLES).items()}
    args.learner, args.tree = "tree", names[type(tree)]
    if isinstance(tree, tuple(ENSEMBLES.values())):
        args.learner, args.tree = args.tree, names[type(tree._template)]
    return tree


def open_file_for(args, tree, *, labelled=False):
    """The stream as a saved tree sees it, with its class if it is there, or ``labelled``; and columns left out."""
    from ..data.formats.kafka import is_topic
    from ..data.readers import stream_of
    from ..data.schema import Attribute

    attributes = tree.schema_.attributes
    names = [attribute.name for attribute in attributes]
    label = Attribute(args.class_name or class_of(tree), "nominal")
    source = open_source_of(args, (*names, class_of(tree)), (*attributes, label))
    others = [name for name in source.columns if name not in names]
    if lacking := [name for name in names if name not in source.columns]:
        raise ValueError(
            f"{source.path} lacks {counted(len(lacking), 'column')} that the tree needs: {listed(map(repr, lacking))}; "
            f"it has {listed(source.columns)}, the tree's attributes are {listed(names)}"
        )
    label = args.class_name
    if label is None:
        there = class_of(tree) in others and class_of(tree) not in words_of(args.ignore)
        label = class_of(tree) if there else False
    if label is False and labelled:
        raise ValueError(
            f"{source.path} has no column {class_of(tree)!r}, the class that the tree has learnt; --class names another"
        )
    stream = None
    if label not in names:
        stream = stream_of(
            source,
            class_name=label,
            nominal=[a.name for a in attributes if a.kind == "nominal"],
            numeric=[a.name for a in attributes if a.kind == "numeric"],
            ignore=[name for name in others if name != label],
            # What else comes is the stream's to refuse, for a topic may pass it over.
            classes=tree.classes_ if labelled and is_topic(args.file) else None,
            unlabelled=not labelled,
            chunk=chunk_of(args),
        )
    if stream is None or stream.schema.class_name in names:  # by its index
        raise ValueError(f"--class {label} is an attribute of the tree; its attributes are {listed(names)}")
    return stream, [name for name in others if name != stream.schema.class_name]


def told_of(tree, others, compared):
    """What a prediction leaves out of a file, and, unless it has ``compared`` labels, why: list of str."""
    columns = tree._columns or {"ignored": ()}
    before = [name for name in others if name in columns["ignored"]]
    new = [name for name in others if name not in before]
    notes = []
    if others and not compared:
        notes.append(f"no labels of {class_of(tree)!r} to compare with; --class names another column")
    if before:
        notes.append(f"left out as in training: {listed(before)}")
    if new:
        notes.append(f"left out, for the tree does not know it: {listed(new)}")
    return notes


def check_labels(stream, tree):
    """Raise now what a label that a saved tree does not know would raise after hours of learning."""
    name, found = stream.schema.class_name, set(stream.schema.classes)
    if not found and not stream.once and not is_endless(stream):
        for _, there in stream.values([name]):
            found.update(there[name])
    known = list(map(str, tree.classes_))
    if unknown := sorted(found - set(known)):
        raise ValueError(
            f"{stream.path}, column {name!r}: the saved tree knows the classes {listed(known)}, not {listed(unknown)}"
        )


def named_as(tree, stream):
    """The chunks of a stream with attributes in a saved tree's order, and labels of the type that it knows."""
    names = list(tree.schema_.names)
    known = {str(label): label for label in tree.classes_.tolist()}
    for X, y in stream:
        yield X[names], y if tree.classes_.dtype.kind == "U" else np.array([known.get(label, label) for label in y])
