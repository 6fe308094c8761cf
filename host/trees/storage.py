"""Saved trees: one NumPy archive of plain arrays and a JSON description, no pickle."""

import json
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

FORMAT = 1  # changes whenever older releases could not read the file


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
    arrays = {f"node_{name}": column for name, column in trainer.nodes.state().items()}
    arrays |= {f"board_{name}": column for name, column in checkpoint.read(trainer).items()}
    with open(path, "wb") as file:
        np.savez_compressed(file, meta=np.frombuffer(json.dumps(meta).encode(), np.uint8),
                            **arrays)


def load(cls, path, changes):
    """The ``cls`` saved at ``path``, with some parameters changed."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            meta = json.loads(archive["meta"].tobytes())
            arrays = {name: archive[name] for name in archive.files if name != "meta"}
    except (KeyError, ValueError, EOFError, OSError, zipfile.BadZipFile, zlib.error) as error:
        if isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError):
            raise
        raise ValueError(f"{path}: no saved tree, or a damaged one ({error})") from error
    if meta.get("format") != FORMAT:
        raise ValueError(f"{path}: saved in format {meta.get('format')!r}, this release reads "
                         f"{FORMAT}")
    if meta["tree"] != cls.__name__:
        raise ValueError(f"{path}: a saved {meta['tree']}, not a {cls.__name__}")
    saved = Geometry(**meta["geometry"])
    params = {"board": meta["board"], "geometry": saved, **meta["params"], **changes}
    target = params["board"].geometry if isinstance(params["board"], Board) else params["geometry"]
    if isinstance(target, Geometry):
        for name in ("bins", "classes"):
            if getattr(target, name) != getattr(saved, name):
                raise ValueError(f"{path}: saved from a board with {name} = "
                                 f"{getattr(saved, name)}, this one has {getattr(target, name)}")
        if len(arrays["board_leaves"]) > target.slots:
            raise ValueError(f"{path}: {len(arrays['board_leaves'])} leaves have statistics, "
                             f"this board has {target.slots} slots")
    tree = cls(**params)
    tree.schema_ = Schema.from_dict(meta["schema"])
    tree.classes_ = np.array(meta["classes"])
    tree.n_features_in_ = len(tree.schema_.attributes)
    if meta["named"]:
        tree.feature_names_in_ = np.array(tree.schema_.names, object)
    tree._quantiser = Quantiser.from_dict(meta["quantiser"])
    tree._held = None
    tree._trainer = None
    tree._nodes = Nodes.from_state({name.removeprefix("node_"): column
                                    for name, column in arrays.items()
                                    if name.startswith("node_")})
    tree._checkpoint = {name.removeprefix("board_"): column for name, column in arrays.items()
                        if name.startswith("board_")}
    tree._tally = Tally(**meta["tally"])
    return tree
