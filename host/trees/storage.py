"""Saved trees: one NumPy archive of plain arrays and a JSON description, no pickle."""

import json
import os
import zipfile
import zlib
from dataclasses import asdict

import numpy as np

from ..boards.base import Board
from ..data.quantiser import Quantiser
from ..data.schema import Schema
from ..geometry import Geometry
from . import checkpoint
from .nodes import Nodes
from .trainer import Tally

__all__ = ["FORMAT", "save", "load"]

FORMAT = 2  # changes whenever older releases could not read the file


def save(tree, path):
    """Write a fitted ``StreamTree`` to ``path``."""
    trainer = tree._open_trainer()
    params = {name: value for name, value in tree.get_params(deep=False).items()
              if name not in ("board", "geometry")}
    params["nominal"] = []  # the schema has them by now
    board = tree.board.name if isinstance(tree.board, Board) else tree.board
    meta = {
        "format": FORMAT, "tree": type(tree).__name__, "params": params, "board": board,
        "geometry": trainer.board.geometry.as_dict(), "schema": tree.schema_.to_dict(),
        "quantiser": tree._quantiser.to_dict(), "classes": tree.classes_.tolist(),
        "named": hasattr(tree, "feature_names_in_"),
        "tally": asdict(tree._tally),
    }
    # All of it is made before the file is touched: an older save must survive a failure.
    description = json.dumps(meta, default=lambda value: value.item()).encode()
    statistics = checkpoint.read(trainer)
    arrays = {f"node_{name}": column for name, column in trainer.nodes.state().items()}
    arrays |= {f"board_{name}": column for name, column in statistics.items()}
    partial = f"{os.fspath(path)}.part"
    try:
        with open(partial, "wb") as file:
            np.savez_compressed(file, meta=np.frombuffer(description, np.uint8), **arrays)
        os.replace(partial, path)
    except BaseException:
        if os.path.exists(partial):
            os.remove(partial)
        raise


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
        raise ValueError(f"{path}: no saved tree, or a damaged one ({error})") from error
    if form != FORMAT:
        raise ValueError(f"{path}: saved in format {form!r}, this release reads {FORMAT}")
    known = {cls.__name__: cls for cls in classes}
    if name not in known:
        raise ValueError(f"{path}: a saved {name}, not a {' or '.join(known)}")
    params = {"board": meta["board"], "geometry": Geometry(**meta["geometry"]), **meta["params"],
              **changes}
    tree = known[name](**params)
    tree.check_parameters()
    tree.schema_ = Schema.from_dict(meta["schema"])
    tree.classes_ = np.array(meta["classes"])
    tree.n_features_in_ = len(tree.schema_.attributes)
    if meta["named"]:
        tree.feature_names_in_ = np.array(tree.schema_.names, object)
    tree._quantiser = Quantiser.from_dict(meta["quantiser"])
    tree._warm_up = None
    tree._trainer = None
    tree._nodes = Nodes.from_state({name.removeprefix("node_"): column
                                    for name, column in arrays.items()
                                    if name.startswith("node_")})
    tree._checkpoint = {name.removeprefix("board_"): column for name, column in arrays.items()
                        if name.startswith("board_")}
    tree._tally = Tally(**meta["tally"])
    _check_fit(path, tree, Geometry(**meta["geometry"]))
    return tree


def _check_fit(path, tree, saved):
    """Refuse a board that the saved statistics do not fit."""
    target = tree._geometry()
    for name in ("bins", "classes"):
        if getattr(target, name) != getattr(saved, name):
            raise ValueError(f"{path}: saved from a board with {name} = {getattr(saved, name)}, "
                             f"this one has {getattr(target, name)}")
    held, cells = tree._checkpoint["counts"].shape[:2]
    needed = len(tree._cells(target.bins))
    if held and cells != needed:
        raise ValueError(f"{path}: saved with {cells} cells, these parameters take {needed}")
    if needed > target.max_cells:
        raise ValueError(f"{path}: {needed} cells are needed, this board has {target.max_cells}")
    if held > target.slots:
        raise ValueError(f"{path}: {held} nodes have statistics, this board has "
                         f"{target.slots} slots")
    most = int(tree._checkpoint["entries"][:, 0].max(initial=0))
    if most > target.count_max:
        raise ValueError(f"{path}: a node has counted {most} instances, this board's counters "
                         f"hold {target.count_max}")
