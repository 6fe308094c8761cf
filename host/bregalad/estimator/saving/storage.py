"""Saved trees: one NumPy archive of plain arrays and a JSON description, no pickle."""

import json
import logging
import warnings
from contextlib import contextmanager
from numbers import Integral

import numpy as np
from numpy.lib.npyio import NpzFile

from ...boards import is_link
from ...boards.base import Board
from ...data.nominal import plain
from ...data.quantiser import Quantiser
from ...data.schema import Schema
from ...driver import checkpoint
from ...driver.requirements import check_abilities
from ...engine.event_counts import EventCounts
from ...engine.history import History
from ...files import replacing
from ...geometry import Geometry
from ...predictors import predictor_of
from ...tree.cells import CellMap
from ...tree.nodes import Nodes
from ...tree.window import Memory
from ...words import joined, shown
from .. import board as tree_board
from ..inputs import is_position
from . import contents as checks

FORMAT = 8  # changes whenever what a file holds does


def save(tree, path, kept):
    """Write a fitted ``StreamTree`` to ``path``, and entries of its description that are ``kept`` beside the rest."""
    meta, arrays = contents(tree, kept)
    arrays |= {f"sample_{name}": column for name, column in tree._quantiser.sample.state().items()}
    write(path, meta, arrays)


def contents(tree, kept):
    """The description of a fitted ``StreamTree``, and its arrays but for the quantiser's sample."""
    trainer = tree._open_trainer()
    geometry = tree.geometry
    board = tree.board.name if isinstance(tree.board, Board) else tree.board
    meta = {
        **described(tree, kept),
        "board": board,
        "geometry": trainer.board.geometry.as_dict(),
        "given_geometry": geometry.as_dict() if isinstance(geometry, Geometry) else geometry,
        "event_counts": tree._event_counts.as_dict(),
    }
    statistics = checkpoint.read(trainer)
    arrays = {f"node_{name}": column for name, column in trainer.nodes.state().items()}
    arrays |= {f"board_{name}": column for name, column in statistics.items()}
    arrays |= {f"history_{name}": column for name, column in tree._event_counts.history.__getstate__().items()}
    if len(trainer.memory):
        kept = trainer.memory.state(trainer.event_counts.instances)
        arrays |= {f"memory_{name}": column for name, column in kept.items()}
    return meta, arrays


def described(tree, kept):
    """What any tree's file tells of it in JSON's types: parameters, attributes and their values, classes, ``kept``."""
    params = {name: value for name, value in tree._chosen().items() if name not in ("board", "geometry")}
    if isinstance(params.get("class_weight"), dict):
        # JSON's keys are strings only.
        params["class_weight"] = [[plain(label), weight] for label, weight in params["class_weight"].items()]
    nominal = params["nominal"]
    params["nominal"] = (
        [[_key(name), list(map(plain, values))] for name, values in nominal.items()]
        if isinstance(nominal, dict)
        else list(map(_key, nominal))
    )
    return {
        "format": FORMAT,
        "tree": type(tree).__name__,
        "params": params,
        "schema": tree.schema_.to_dict(),
        "quantiser": tree._quantiser.to_dict(),
        "classes": tree.classes_.tolist(),
        "class_type": tree.classes_.dtype.str,  # of integers, say, how many bits
        "named": hasattr(tree, "feature_names_in_"),
        "grows": tree._grows,
        **({} if tree._fractions is None else {"fractions": tree._fractions.tolist()}),
        **kept,
    }


def write(path, meta, arrays):
    """Write a description and arrays, which must be ready by now: an older file must survive a failure."""
    description = json.dumps(meta, default=_number).encode()
    arrays = {**arrays, "meta": np.frombuffer(description, np.uint8)}
    digest = np.frombuffer(checks.digest_of(arrays), np.uint8)
    with replacing(path, "wb") as file:
        np.savez_compressed(file, digest=digest, **arrays)


def check_class(cls):
    """Refuse with a ValueError a learner's class that no file can name."""
    if cls.__module__.partition(".")[0] != __package__.partition(".")[0]:
        raise ValueError(f"{cls.__name__} is a class of your own, which no file can name: pickle it instead")


def _key(name):
    """A nominal attribute's name or position in JSON's types."""
    if isinstance(name, str | int):
        return name
    return int(name) if is_position(name) else str(name)


def _number(value):
    """A number of any other library's type in JSON's."""
    if isinstance(value, np.bool_):
        return bool(value)
    return int(value) if isinstance(value, Integral) else float(value)


def load(classes, path, changes):
    """The tree saved at ``path``, of one of these classes, with some parameters changed.

    It is on the emulated board, unless ``changes`` name another: a file opens none. ValueError, with the file's name,
    if it is none, or anything in it is not as `save` writes it; OSError or MemoryError if it cannot be read, or is too
    large; TypeError or ValueError if a change is none of the tree's parameters.
    """
    meta, arrays = read(path)
    known = {cls.__name__: cls for cls in classes}
    if meta["tree"] not in known:
        raise ValueError(
            f"{path}: a saved {meta['tree']}, not {joined(known)}; bregalad.ensemble.load_learner reads any"
        )
    cls = known[meta["tree"]]
    with _naming(path):
        learner = cls._storage.restored(cls, meta, arrays, changes)
    learner._columns, learner._curve = meta.get("columns"), meta.get("curve")
    board = meta.get("board", "emulated")  # classical trees have none
    if board != "emulated" and "board" not in changes:
        logging.getLogger("bregalad").warning(
            "%s: learnt on board %s, goes on on the emulated one, which does the same: board=%s names it",
            path,
            *2 * [shown(board)],
        )
    return learner


def restored(cls, meta, arrays, changes):
    """The ``StreamTree`` of a description and arrays, with some parameters changed; errors as `load`."""
    with of_the_file():
        params = checked_parameters(cls, meta)
        learnt = learnt_by(cls(**params), meta, arrays)
    return built(cls, params, learnt, changes)


def read(path):
    """The description and the arrays of a saved tree, whole, but not looked at; errors as `load`."""
    with _naming(path):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of what numpy thinks of a damaged header
                with open(path, "rb") as file, NpzFile(file) as archive:  # np.load asks about pickles of other files
                    arrays = dict(archive)
            digest = arrays.pop("digest", np.zeros(0)).tobytes()
            sound = digest == checks.digest_of(arrays)
            meta = json.loads(arrays.pop("meta").tobytes())
            form, _ = meta["format"], meta["tree"]
        except (FileNotFoundError, PermissionError, IsADirectoryError, MemoryError):
            raise
        except Exception as error:  # whatever zip, compression, header or JSON make of other bytes
            raise ValueError(f"no saved tree, or a damaged one ({error})") from error
        if form != FORMAT:
            raise ValueError(f"saved in format {form!r}, this release reads {FORMAT}: learn anew")
        if not sound:
            raise ValueError("no saved tree, or a damaged one (its digest is of other contents)")
        with of_the_file():
            checks.check_entries(meta)
        return meta, arrays


@contextmanager
def _naming(path):
    """Errors name the file."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


@contextmanager
def of_the_file():
    """What goes wrong here is the file's fault, not that of a parameter."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        raise ValueError(f"a damaged saved tree, or one of a newer release ({error})") from error


def checked_parameters(cls, meta):
    """The parameters of the tree that was saved, checked; on the emulated board."""
    geometry = meta["given_geometry"]
    params = {
        **parameters_of(meta),
        "board": "emulated",
        "geometry": Geometry(**geometry) if isinstance(geometry, dict) else geometry,
    }
    cls(**params).check_parameters()
    return params


def parameters_of(meta):
    """The parameters in a description, as constructors take them."""
    params = dict(meta["params"])
    if isinstance(params.get("class_weight"), list):
        params["class_weight"] = dict(params["class_weight"])
    if params.get("nominal") and isinstance(params["nominal"][0], list):
        params["nominal"] = {name: tuple(values) for name, values in params["nominal"]}
    elif not params.get("nominal"):
        params["nominal"] = ()  # as by default: JSON has lists only
    return params


def learnt_by(tree, meta, arrays):
    """What a tree of the file's own parameters has learnt, checked: its members."""
    checks.check_event_counts(meta["event_counts"])
    policy, window = tree._policy(), tree._policy().window
    checks.check_shapes(arrays, len(meta["schema"]["attributes"]), policy)
    nodes, statistics, sample, memory, history = (
        section(arrays, prefix) for prefix in ("node_", "board_", "sample_", "memory_", "history_")
    )
    members = members_of(meta, sample)
    quantiser, classes, attributes = members["_quantiser"], members["classes_"], members["n_features_in_"]
    nodes = Nodes.from_state(nodes, attributes)
    statistics = {
        name: column.astype(np.int64 if name == "nodes" else np.uint32) for name, column in statistics.items()
    }  # as they go to the board
    capacities = [getattr(book, "capacity", 0) for book in quantiser.books]
    checks.check_tree(nodes, capacities, len(classes), policy)
    kept = Geometry(**meta["geometry"])
    checks.check_statistics(statistics, nodes, capacities, len(classes), kept, policy.anytime, tree.nominal_split)
    policy.check(len(classes), any(capacities), tree.nominal_split)
    if window is not None:
        memory = Memory.from_state(
            memory, window, attributes, min(window, meta["event_counts"]["instances"]), len(classes)
        )
        CellMap.build(capacities, kept.bins, tree.nominal_split).check(memory.codes.reshape(window, attributes))
    event_counts = EventCounts(**meta["event_counts"])
    event_counts.history = History.from_state(history, capacities)
    return {
        **members,
        "_memory": memory or None,
        "_nodes": nodes,
        "_checkpoint": statistics,
        "_event_counts": event_counts,
        "_trainer": None,
        "_kept_geometry": kept,
        # What leaves predict by stays: no other board may choose anew.
        "_prediction": tree_board.prediction_on(tree, kept),
    }


def section(arrays, prefix):
    """The arrays whose names begin so, by what comes behind."""
    return {name.removeprefix(prefix): column for name, column in arrays.items() if name.startswith(prefix)}


def members_of(meta, sample):
    """What `described` tells that a tree has learnt, checked, with its quantiser's sample: the tree's members."""
    quantiser = Quantiser.from_dict(meta["quantiser"], sample)
    schema = Schema.from_dict(meta["schema"])
    classes = checks.labels_from(meta["classes"], meta["class_type"], meta["grows"])
    if schema != quantiser.schema or list(schema.classes) != meta["classes"]:
        raise ValueError("its schema, its classes and its code books contradict each other")
    members = {
        "schema_": schema,
        "classes_": classes,
        "n_features_in_": len(schema.attributes),
        "_quantiser": quantiser,
        "_grows": meta["grows"],
    }
    if meta["named"]:
        members["feature_names_in_"] = np.array(schema.names, object)
    if "fractions" in meta:
        members["_fractions"] = fractions = np.array(meta["fractions"], float)[: len(classes)]
        if fractions.ndim != 1 or not (abs(fractions) <= 1).all():
            raise ValueError("its fractions of weights are none")
    return members


def built(cls, params, learnt, changes):
    """A tree with some parameters changed, that has learnt this."""
    board = changes.get("board")
    if is_link(board):  # it has the geometry that it has
        params = {**params, "geometry": None}
    tree = cls(**params | changes)
    tree.check_parameters()
    tree.__dict__.update(learnt)
    if "leaf_prediction" in changes:
        tree._prediction = None
    if changes.get("window", params.get("window")) != params.get("window"):
        raise ValueError(
            f"window was {shown(params['window'])} when this tree began to learn, and what is older is forgotten: "
            "leave it as it is, or learn a new tree"
        )
    tree._check_classes(len(tree.classes_))
    tree._made_with = tree._decisive()
    tree._kept_geometry = None if is_link(board) else _changed(learnt["_kept_geometry"], tree, changes)
    geometry = tree_board.geometry_of(tree)  # None: that is checked when the board is opened
    if board == "simulated":
        geometry.check_hardware()
    if geometry is not None:
        check_abilities(geometry, tree._policy(), tree.leaf_prediction_)
        tree_board.check_fit(tree, geometry)
    return tree


def _changed(kept, tree, changes):
    """A geometry with what parameters say of it, where those are changed."""
    says = {
        "slots": ("slots", tree.slots),
        "criterion": ("criterion", tree._policy().criterion),
        "leaf_prediction": ("naive_bayes", predictor_of(tree.leaf_prediction_).takes_bayes),
    }
    changed = kept.replace(**dict(says[name] for name in changes if name in says))
    return tree_board.for_hardware(changed) if tree.board == "simulated" else changed
