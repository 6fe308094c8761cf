"""The arrays of a board that holds trees, beside those of every board."""

from typing import NamedTuple

import numpy as np

from ....geometry import NONE
from ....protocol.leaf_rows import RowWord
from ....protocol.rows import EDGES
from ..state import State

__all__ = [
    "ADDRESS",
    "ASK_UP_TO",
    "ATTRIBUTE",
    "BASE",
    "BEGINNING",
    "BLOCK",
    "BUCKET_BITS",
    "BY",
    "CHILD",
    "CODED",
    "COUNT",
    "DEFAULT",
    "DELAY",
    "EDGE_ROOM",
    "EDITS",
    "EVERY",
    "EXTRA",
    "FIRST_OPEN",
    "FLAGS_AT",
    "HITS",
    "INDEX",
    "INSTANCES",
    "KIND",
    "LABEL_AT",
    "LEARNING",
    "LEFT",
    "LIMIT",
    "LOCKED",
    "MARKS",
    "MORE",
    "NEXT",
    "NODE",
    "NODE_COLUMNS",
    "NUMBER",
    "OFFSET",
    "ONLY",
    "OPEN",
    "ORIGIN",
    "OUT",
    "PARTS",
    "PART_COLUMNS",
    "PART_KIND",
    "PLACE",
    "REACH",
    "READY",
    "ROOT",
    "SETTINGS",
    "SHIFT",
    "SIZE",
    "SLOT",
    "STEP_OF",
    "STOPS_ALL",
    "STRIDE",
    "TOLD",
    "TOLD_LABEL",
    "UNTIL",
    "VALUE",
    "WORDS",
    "Tree",
    "first_extra",
    "first_rows",
]

# A node's row, and whether it is locked.
KIND, ATTRIBUTE, VALUE, CHILD, DEFAULT, SLOT, LOCKED, NODE_COLUMNS = range(8)
# What NODE says of a slot, and its last trial.
NODE, ONLY, BASE, ASK_UP_TO, UNTIL, OUT, EXTRA = range(7)
# How far all is: records and EDITs so far; the LEARN under way; the layout of rows; proposals that are open;
# instances and hits since the last mark; rows of the block that are coded, and which of them is next; whether
# the LEARN may go on; whether a lock stops all records as its time comes.
(
    NUMBER,
    EDITS,
    LEARNING,
    TOLD,
    MORE,
    ROOT,
    LEFT,
    ADDRESS,
    STRIDE,
    REACH,
    LABEL_AT,
    FLAGS_AT,
    PARTS,
    FIRST_OPEN,
    OPEN,
    INSTANCES,
    HITS,
    CODED,
    NEXT,
    READY,
    STOPS_ALL,
    SIZE,
) = range(22)
# What a layout says of an attribute: which code it is, its kind, its first byte, and where its edges are.
INDEX, PART_KIND, OFFSET, PLACE, PART_COLUMNS = range(5)
COUNT, WORDS = len(RowWord), len(RowWord)  # class counts follow the words of a leaf row
SETTINGS = (
    "every.records",
    "delay.records",
    "leaf_predictor.by",
    "leaf_predictor.told",
    "leaf_marks.every",
)
EVERY, DELAY, BY, TOLD_LABEL, MARKS = range(len(SETTINGS))
BLOCK = 256  # rows that are coded at once
EDGE_ROOM = 2 * (EDGES + 1)  # so that a search by halves stays inside
# Equal parts of the range of an attribute's edges, so many that few edges share one: a search begins there.
BUCKET_BITS = 14
ORIGIN, SHIFT, STEP_OF, LIMIT, BEGINNING = range(5)  # of the first bucket, of its width; a search's first step; edges


class Tree(NamedTuple):
    """A board's state with a node table of N rows; A attributes, C classes, S slots."""

    state: State
    nodes: np.ndarray  # int32[N, 7], by KIND to LOCKED
    extra: np.ndarray  # int64[S, 6], by NODE to OUT
    rows: np.ndarray  # int64[N, 5 + C], leaf rows: by RowWord, then the class counts
    tallies: np.ndarray  # int64[C, C or the next power of two], by label and the class predicted
    rule: np.ndarray  # int64, the judge's
    settings: np.ndarray  # int64, by SETTINGS
    at: np.ndarray  # int64, by NUMBER to HITS
    parts: np.ndarray  # int64[A, 4], by INDEX to PLACE
    edges: np.ndarray  # uint32[A, 512], keys that rise, then the highest
    beginnings: np.ndarray  # uint32[A, 4], by ORIGIN to LIMIT: where a search begins
    below: np.ndarray  # uint8[A, 16384], edges below each bucket
    block: np.ndarray  # uint8[BLOCK, D], codes of the next rows
    keys: np.ndarray  # uint32[BLOCK]
    found: np.ndarray  # uint32[BLOCK]
    open: np.ndarray  # int64[O, 2], a ring: node and record of proposals that have not locked their node
    searchers: int
    places: int  # attributes of each


def first_rows(nodes):
    """Node rows as of configuration: leaves without a slot."""
    rows = np.zeros((nodes, NODE_COLUMNS), np.int32)
    rows[:, SLOT] = NONE
    return rows


def first_extra(slots):
    """What is beside the slots' rows as of configuration."""
    extra = np.zeros((slots, EXTRA), np.int64)
    extra[:, ONLY] = NONE
    return extra
