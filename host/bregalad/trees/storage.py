"""Saved trees: one NumPy archive of plain arrays and a JSON description, no pickle."""

import json
import zipfile
import zlib
from contextlib import contextmanager
from dataclasses import asdict

import numpy as np

from ..boards import is_link
from ..boards.base import Board
from ..data.quantiser import Quantiser
from ..data.schema import Schema
from ..files import replacing
from ..geometry import MOST_CLASSES, Geometry
from .requirements import check_abilities
from .structure.nodes import Nodes
from .training import checkpoint
from .training.tally import Tally

__all__ = ["FORMAT", "save", "load"]

FORMAT = 2  # changes whenever older releases could not read the file


def save(tree, path):
    """Write a fitted ``StreamTree`` to ``path``."""
    trainer = tree._open_trainer()
    params = {name: value for name, value in tree.get_params(deep=False).items()
              if name not in ("board", "geometry")}
    if isinstance(params["class_weight"], dict):
        params["class_weight"] = list(params["class_weight"].items())  # keys of any kind
    nominal = params["nominal"]
    params["nominal"] = ([[name, list(values)] for name, values in nominal.items()]
                         if isinstance(nominal, dict) else list(nominal))
    given = tree.geometry
    board = tree.board.name if isinstance(tree.board, Board) else tree.board
    meta = {
        "format": FORMAT, "tree": type(tree).__name__, "params": params, "board": board,
        "geometry": trainer.board.geometry.as_dict(),
        "given_geometry": given.as_dict() if isinstance(given, Geometry) else given,
        "schema": tree.schema_.to_dict(),
        "quantiser": tree._quantiser.to_dict(), "classes": tree.classes_.tolist(),
        # Of integers, say, how many bits; older releases did not.
        **({} if tree.classes_.dtype == object else {"class_type": tree.classes_.dtype.str}),
        "named": hasattr(tree, "feature_names_in_"),
        "tally": asdict(tree._tally),
        **({} if tree._fractions is None else {"fractions": tree._fractions.tolist()}),
    }
    # All of it is made before the file is touched: an older save must survive a failure.
    description = json.dumps(meta, default=lambda value: value.item()).encode()
    statistics = checkpoint.read(trainer)
    arrays = {f"node_{name}": column for name, column in trainer.nodes.state().items()}
    arrays |= {f"board_{name}": column for name, column in statistics.items()}
    with replacing(path, "wb") as file:
        np.savez_compressed(file, meta=np.frombuffer(description, np.uint8), **arrays)


def load(classes, path, changes):
    """The tree saved at ``path``, of one of these classes, with some parameters changed."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            meta = json.loads(archive["meta"].tobytes())
            arrays = {name: archive[name] for name in archive.files if name != "meta"}
        form, name = meta["format"], meta["tree"]
    except (FileNotFoundError, PermissionError, IsADirectoryError):
        raise
    except (KeyError, TypeError, AttributeError, ValueError, EOFError, OSError,
            zipfile.BadZipFile, zlib.error) as error:
        # numpy advises to load what it does not know as a pickle.
        why = "" if "pickle" in str(error) else f" ({error})"
        raise ValueError(f"{path}: no saved tree, or a damaged one{why}") from error
    if form != FORMAT:
        raise ValueError(f"{path}: saved in format {form!r}, this release reads {FORMAT}")
    known = {cls.__name__: cls for cls in classes}
    if name not in known:
        raise ValueError(f"{path}: a saved {name}, not a {' or '.join(known)}")
    try:
        return _built(known[name], meta, arrays, changes)
    except (KeyError, IndexError, AttributeError) as error:
        raise ValueError(f"{path}: a damaged saved tree ({error!r})") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _changed(kept, tree, changes):
    """A geometry with what parameters say of it, where those are changed."""
    says = {"slots": ("slots", tree.slots), "criterion": ("criterion", tree._policy().criterion),
            "leaf_prediction": ("naive_bayes", tree.leaf_prediction != "mc")}
    return kept.replace(**dict(says[name] for name in changes if name in says))


@contextmanager
def _of_the_file():
    """What has the wrong type here has it in the file: no parameter is at fault."""
    try:
        yield
    except TypeError as error:
        raise ValueError(f"a damaged saved tree, or one of a newer release ({error})") from error


def _built(cls, meta, arrays, changes):
    board = changes.get("board", meta["board"])
    with _of_the_file():
        # A board at the end of a link has the geometry that it has.
        kept = None if is_link(board) else Geometry(**meta["geometry"])
        given = None if is_link(board) else meta.get("given_geometry", meta["geometry"])
        params = {**meta["params"], "board": board,
                  "geometry": Geometry(**given) if isinstance(given, dict) else given}
    if isinstance(params.get("class_weight"), list):
        params["class_weight"] = dict(params["class_weight"])
    if params["nominal"] and isinstance(params["nominal"][0], list):
        params["nominal"] = {name: tuple(values) for name, values in params["nominal"]}
    tree = cls(**params | changes)
    tree.check_parameters()
    with _of_the_file():
        _fill(tree, meta, arrays, kept and _changed(kept, tree, changes))
    return tree


def _fill(tree, meta, arrays, kept_geometry):
    """Put what has been learnt into a tree of the right parameters."""
    tree.schema_ = Schema.from_dict(meta["schema"])
    tree.classes_ = np.array(meta["classes"], meta.get("class_type"))
    tree.n_features_in_ = len(tree.schema_.attributes)
    nominal = any(attribute.kind == "nominal" for attribute in tree.schema_.attributes)
    tree._policy().check(len(tree.classes_), nominal, tree.nominal_split)
    if meta["named"]:
        tree.feature_names_in_ = np.array(tree.schema_.names, object)
    tree._quantiser = Quantiser.from_dict(meta["quantiser"])
    tree._made_with = tree._decisive()
    tree._warm_up = None
    tree._trainer = None
    tree._kept_geometry = kept_geometry
    tree._nodes = Nodes.from_state({name.removeprefix("node_"): column
                                    for name, column in arrays.items()
                                    if name.startswith("node_")}, tree.n_features_in_)
    tree._checkpoint = {name.removeprefix("board_"): column for name, column in arrays.items()
                        if name.startswith("board_")}
    held = tree._checkpoint["nodes"]
    if len({len(column) for column in tree._checkpoint.values()}) > 1 \
            or not ((held >= 0) & (held < tree._nodes.rows)).all():
        raise ValueError("a damaged saved tree: its statistics are not of its nodes")
    tree._tally = Tally(**meta["tally"])
    if "fractions" in meta:
        tree._fractions = np.array(meta["fractions"], float)
        if tree._fractions.shape != (MOST_CLASSES,) or not (abs(tree._fractions) <= 1).all():
            raise ValueError("a damaged saved tree: its fractions of weights are none")
    geometry = tree._geometry()  # None: that is checked when the board is opened
    if geometry is not None:
        check_abilities(geometry, tree._policy(), tree.leaf_prediction)
        tree._check_fit(geometry)
