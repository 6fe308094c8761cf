"""One board, whose slots, and nodes if it has any, are divided between trees that take turns."""

import weakref
from operator import attrgetter

from ..geometry import Geometry
from .device import Device

_FEWEST = Geometry(slots=2).slots  # of a tree
_FEWEST_NODES = 3  # that has split once


def check_division(geometry, parts, name="the board"):
    """Refuse with a ValueError a board that cannot be divided into so many parts."""
    if 0 < geometry.nodes < parts * _FEWEST_NODES:
        raise ValueError(
            f"{name} has a node table of {geometry.nodes} rows, {parts} trees that share it take "
            f"{parts * _FEWEST_NODES} at least: choose a geometry with more nodes, or fewer members"
        )
    if geometry.slots < parts * _FEWEST:
        raise ValueError(
            f"{name} has {geometry.slots} slots, {parts} trees that share it take {parts * _FEWEST} at least: choose a "
            "geometry with more slots, or fewer members"
        )


def part_of(geometry, parts):
    """The geometry of each of so many equal parts."""
    return geometry.replace(slots=geometry.slots // parts, nodes=geometry.nodes // parts)


class DividedBoard:
    """A board and its equal parts, of which each takes one tree.

    Trees take turns: one learns, or asks, until it has all reports; then another one may. What configures the board is
    the same for all of them.
    ValueError if the board has too few slots or rows of a node table, BoardError if a tree uses it.
    """

    def __init__(self, board, parts):
        check_division(board.geometry, parts, f"board {board.name}")
        board.claim(self)
        self.board = board
        self._part = part_of(board.geometry, parts)
        self.turns = 0
        self._turn = None  # a weak reference to the trainer whose turn it is
        # What one has left that is gone: reports that may still come, or something half-way.
        self._requested = self._torn = False

    def part(self, number):
        """The part of a number, from 0 on, as a board."""
        return _Part(self, number, self._part)

    def close(self):
        """Let others have the board; no tree uses a part any more."""
        self.board.release(self)

    @property
    def _last(self):
        return None if self._turn is None else self._turn()

    @property
    def torn(self):
        """Whether a tree has not come to the end of what it was learning: what reports are to come it alone knows."""
        return self._torn or self._last is not None and self._last.failed

    def take_turn(self, trainer):
        """It is this trainer's turn now; whether reports that another one has asked for may still come."""
        last = self._last
        if last is not trainer:
            self._turn = weakref.ref(trainer)
            self.turns += 1
        requested, self._requested = self._requested or last not in (None, trainer) and last.requested, False
        return requested

    def part_left(self, trainer):
        """A trainer has no part any more."""
        if self._last is trainer:
            self._torn |= trainer.failed
            self._requested |= trainer.requested


def _of_board(name):
    """What the board itself has."""
    return property(attrgetter(f"_board.{name}"))


class _Part(Device):
    """Some of a board's slots and nodes, as a board."""

    def __init__(self, whole, number, geometry):
        super().__init__(geometry)
        self._whole, self._board = whole, whole.board
        self.first_slot, self.first_node = number * geometry.slots, number * geometry.nodes
        self.name = self._board.name
        self.batch_bytes = getattr(self._board, "batch_bytes", Device.batch_bytes)

    def take_turn(self, trainer):
        return self._whole.take_turn(trainer)

    def release(self, owner):
        self._whole.part_left(owner)
        super().release(owner)

    state, instant, cut, lost, memory_size = map(_of_board, ("state", "instant", "cut", "lost", "memory_size"))
    turns, torn = (property(attrgetter(f"_whole.{name}")) for name in ("turns", "torn"))
    _read_register, _write_register = map(_of_board, ("_read_register", "_write_register"))
    send, receive, load = map(_of_board, ("send", "receive", "load"))
    counters, statistics, resume = map(_of_board, ("counters", "statistics", "resume"))
