"""Instances that lie in the memory of a board which routes records down the tree itself."""

import numpy as np

from ..boards.base import Board
from ..data.codebook import CODES
from ..data.edges import place_edges
from ..data.keys import edge_keys
from ..data.layouts import row_layout
from ..data.schema import Attribute, Schema
from ..geometry import BYTE_CLASSES
from ..hints import Column
from ..words import joined, shown
from .inputs import class_indices, class_set, labels_of, same_length

_KINDS = ("float32", "uint8", "uint16", "int32")
_SAMPLE = 4096  # rows that code books are made from


class Resident:
    """Put instances into a board's memory once, for trees to learn them as often as wished.

    The board finds codes and leaves itself; nothing of an instance crosses the link again. Code books are made from
    rows spread over all of them.

    Parameters
    ----------
    board : Board
        With a node table, as ``open_board("simulated", Geometry(nodes=1024))``; trees are given the same.
    X : array (n, attributes)
        Numbers: float32 (NaN is missing), uint8, uint16 or int32.
    y : sequence (n,)
    address : int
        Byte of the memory that they are put at. What else is learnt on the board by `partial_fit` comes to its
        beginning, and overwrites them there.

    Attributes
    ----------
    classes : array
        Labels, sorted.
    layout : RowLayout
    edges : list of float64 array
        Of each attribute's code book.

    Raises
    ------
    TypeError
        If ``X`` or ``address`` is of another type, ``X`` has masked values, or ``board`` is none.
    ValueError
        If the board has no node table or no searchers, too little memory, or too few cells or classes; if there are no
        instances; or if a value is infinite.

    Source: docs/boards.md, Memory.
    """

    def __init__(self, board: Board, X: np.ndarray, y: Column, address: int = 0) -> None:
        if not isinstance(board, Board):
            raise TypeError(f"board must be an open board, not {shown(board)}")
        geometry = board.geometry
        if not (geometry.nodes and board.memory_size):
            raise ValueError(
                f"board {board.name} does not walk records: open a simulated board, or hardware, with a geometry "
                "with nodes of a node table"
            )
        if not isinstance(address, (int, np.integer)) or isinstance(address, bool):
            raise TypeError(f"address must be an integer, not {shown(address)}")
        if np.ma.is_masked(X):
            raise TypeError(
                "X has masked values: X.filled(numpy.nan) has missing ones in their place, if it is float32"
            )
        X = np.asarray(X)
        if X.ndim != 2 or X.dtype.name not in _KINDS:
            raise TypeError(
                f"X must be an array of rows and columns of {joined(_KINDS)}, not of shape {X.shape} and {X.dtype}"
            )
        if X.dtype.kind == "f" and np.isinf(X).any():
            raise ValueError("X has infinite values, which no code book has a place for: replace them")
        labels = labels_of(y)
        same_length(X, labels)
        if not X.size:
            raise ValueError("there are no instances, or no attributes, to make code books from")
        self.classes = class_set(labels)
        if len(self.classes) > (most := min(geometry.classes, BYTE_CLASSES)):
            raise ValueError(
                f"there are {len(self.classes)} classes, but the board has counters for {geometry.classes}"
                if most < BYTE_CLASSES
                else f"there are {len(self.classes)} classes, but a row's label is a byte: {BYTE_CLASSES} at most"
            )
        fields = [("label", "u1"), *((f"x{i}", X.dtype) for i in range(X.shape[1]))]
        rows = np.asarray(np.rec.fromarrays([class_indices(labels, self.classes), *X.T], fields))
        if not 0 <= address <= board.memory_size - rows.nbytes:
            raise ValueError(
                f"{len(X)} rows of {rows.itemsize} bytes from {shown(address)} on do not lie in the "
                f"{board.memory_size} bytes of the board's memory"
            )
        self.board, self.address, self.count = board, address, len(X)
        attributes = tuple(Attribute(f"x{i}", "numeric") for i in range(X.shape[1]))
        self.schema = Schema(attributes, classes=tuple(self.classes.tolist()))
        self.layout = row_layout(rows, label="label")
        self.layout.command(geometry)  # refuses what the board cannot read
        few = X[np.linspace(0, len(X) - 1, min(len(X), _SAMPLE)).astype(np.int64)].astype(np.float64)
        self.edges = [place_edges(np.sort(column[~np.isnan(column)]), CODES) for column in few.T]
        self._kind = self.layout.columns[0].kind
        board.load(address, rows.view(np.uint8).reshape(-1))
        board.residents.add(self)

    @property
    def keys(self) -> dict[int, np.ndarray]:
        """By cell the keys of its edges, as the board compares them."""
        return {cell: edge_keys(edges, self._kind) for cell, edges in enumerate(self.edges)}

    @property
    def bytes(self) -> int:
        """That they take."""
        return self.count * self.layout.stride

    @property
    def overwritten(self) -> bool:
        """Whether others have come to the memory where they lay."""
        return self not in self.board.residents

    def __len__(self) -> int:
        return self.count

    def __repr__(self) -> str:
        return f"<{self.count} instances of {len(self.edges)} attributes in the memory of {self.board}>"


def check_resident(resident, tree):
    """Refuse with a ValueError instances that a tree cannot learn: on another board, by other code books or classes."""
    if tree._policy().watched:
        raise ValueError("learn_resident is not for trees that watch their errors, for it tells none: use partial_fit")
    if tree.board is not resident.board:
        raise ValueError("the instances lie in another board's memory: give the tree board=resident.board")
    if resident.overwritten:
        raise ValueError(
            "the instances are not in the board's memory any more, for others have been put there, or learnt by "
            "partial_fit, which begins at byte 0: make a new Resident, at an address beyond"
        )
    if not hasattr(tree, "classes_"):
        return
    books = [getattr(book, "edges", None) for book in tree._quantiser.books]
    if not (
        np.array_equal(tree.classes_, resident.classes)
        and len(books) == len(resident.edges)
        and all(np.array_equal(*pair) for pair in zip(books, resident.edges, strict=True))
    ):
        raise ValueError("this tree has learnt with other code books or classes: begin a new one")


def begin_with(resident, tree):
    """Have a new tree begin with code books and classes of instances; ValueError if its parameters are not for them."""
    for name, is_set in (("class_weight", tree.class_weight is not None), ("nominal", len(tree.nominal))):
        if is_set:
            raise ValueError(
                f"{name}={shown(getattr(tree, name))} is for instances that the host encodes: learn_resident takes none"
            )
    quantiser = tree._new_quantiser(resident.schema)
    for book, edges in zip(quantiser.books, resident.edges, strict=True):
        book.edges = edges
    tree._policy().check(len(resident.classes), False, tree.nominal_split)
    tree._start(resident.schema, quantiser, resident.classes, False)


def learning(resident, trainer):
    """Test, then train on instances; the share that was predicted right; a generator for `Steps`."""
    right = yield from trainer.driver.learning_rows(resident.address, len(resident))
    return right / resident.count
