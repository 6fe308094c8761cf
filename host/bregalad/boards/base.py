"""What all boards have in common."""

from __future__ import annotations

import threading
import weakref
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from ..errors import BoardError
from ..geometry import Geometry
from ..hints import Self

if TYPE_CHECKING:
    from ..engine.statistics.state import State
    from ..link import Statistics

_claiming = threading.Lock()  # two trees in two threads must not both find a board free


def as_bytes(data):
    """A read-only uint8 array over ``data``, without copying where that is possible."""
    if not isinstance(data, np.ndarray):
        return np.frombuffer(data, np.uint8)
    if data.dtype != np.uint8:
        raise TypeError(f"data must be bytes or a uint8 array, not an array of {data.dtype}")
    view = np.ascontiguousarray(data).reshape(-1).view()
    view.flags.writeable = False
    return view


class Board(ABC):
    """Where the statistics of a tree's nodes are, and what counts them: an `Engine` in this process, or a `Device`.

    Parameters
    ----------
    geometry : Geometry

    Boards are context managers; leaving the context closes them.
    """

    name = "board"  # what `open_board` calls it
    memory_size = 0  # bytes of memory for rows; 0: none
    cut = False  # every call fails until `resume`
    lost = False  # what the board had counted is lost: no `resume` can go on with it
    torn = False  # another tree that shares the board has not come to the end of what it was learning
    first_slot = first_node = 0  # the first of its slots, and of its rows of the node table; below are other trees'
    turns = 0  # how often another tree has had its turn
    instant = False  # it answers at once, for it is in this process
    state: State | None = None  # what the engine in this process counts in; None of a device

    def __init__(self, geometry: Geometry) -> None:
        if not isinstance(geometry, Geometry):
            raise TypeError(f"geometry must be a Geometry, not {geometry!r}")
        self.geometry = geometry
        self.residents: weakref.WeakSet = weakref.WeakSet()  # `Resident` instances that nobody has overwritten
        self._owner: weakref.ref | None = None

    def claim(self, owner: object) -> None:
        """Let ``owner`` alone use the board, until it is gone.

        BoardError if another owner still uses it: both would be counted into the same slots.
        """
        with _claiming:
            if self._owner is not None and self._owner() not in (None, owner):
                raise BoardError(
                    f"{self.name}: another tree learns on this board; open a second one, or close that tree first"
                )
            self._owner = weakref.ref(owner)

    def release(self, owner: object) -> None:
        """Let another owner use the board, if ``owner`` has it."""
        if self._owner is not None and self._owner() is owner:
            self._owner = None

    def take_turn(self, trainer: object) -> bool:
        """It is this trainer's turn to use the board; whether reports that another one has asked for may still come."""
        return False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __deepcopy__(self, memo):
        """The board itself: it is a device, and a copied or cloned tree names the same one."""
        return self

    def __repr__(self):
        return f"<{type(self).__name__} {self.geometry}>"

    @abstractmethod
    def counters(self) -> dict[str, int]:
        """The performance counters by name: events, then clocks (0 of the engine)."""

    def load(self, address: int, data: bytes | np.ndarray) -> None:
        """Write ``data`` to the board's memory; ValueError if it does not fit there."""
        raise ValueError(f"board {self.name} has no memory for rows")

    def statistics(self) -> Statistics | None:
        """What has crossed the link to the board, a ``link.Statistics``; None: there is no link."""
        return None

    def resume(self) -> None:
        """Go on after the link to the board was cut; nothing is lost.

        BoardError if the board is still out of reach, or no longer knows what it was doing.
        """
        raise BoardError(f"{self.name}: there is no link to this board that could be resumed")

    def close(self) -> None:  # noqa: B027 (a board in memory holds nothing)
        """Give back what the board holds; calling it twice does no harm."""
