"""A board that holds trees, compiled: ``sim/bregalad_sim/golden/tree.py`` and its parts on arrays."""

from .commands import execute
from .records import ask, learn
from .state import (
    BEGINNING,
    BLOCK,
    BUCKET_BITS,
    EDGE_ROOM,
    LEARNING,
    PART_COLUMNS,
    READY,
    SETTINGS,
    SIZE,
    STRIDE,
    WORDS,
    Tree,
    first_extra,
    first_rows,
)

__all__ = [
    "BEGINNING",
    "BLOCK",
    "BUCKET_BITS",
    "EDGE_ROOM",
    "LEARNING",
    "PART_COLUMNS",
    "READY",
    "SETTINGS",
    "SIZE",
    "STRIDE",
    "WORDS",
    "Tree",
    "ask",
    "execute",
    "first_extra",
    "first_rows",
    "learn",
]
