"""Boards on the workers of a Ray cluster, joined to one."""

import os
from collections import deque

from ..cluster import Cluster, Gone, Worker
from . import open_board
from .base import Board, BoardError, as_bytes
from .joined import JoinedBoard

__all__ = ["RemoteBoard", "join_workers"]

NAME = "BREGALAD_BOARD"  # in a node's environment: the board that its worker opens
_SLACK = 16  # cells, for attributes that go to a board whole


class Keeper(Worker):
    """What runs on a worker: it holds the board."""

    def open(self, geometry):
        """Open the board; its geometry, for one at the end of a link has its own."""
        name = os.environ.get(NAME, "emulated")
        self._board = open_board("emulated", geometry, memory_size=0) if name == "emulated" else open_board(name)
        return self._board.geometry

    def exchange(self, data, wait=False):
        """Send commands, if there are any; the reports that there are."""
        if data:
            self._board.send(data)
        return self._board.receive(wait)

    def read(self, register):
        """A register's value."""
        return self._board._read_register(register)

    def write(self, register, value):
        """Write a register; no reports."""
        self._board._write_register(register, value)
        return b""


class RemoteBoard(Board):
    """A board on a worker.

    Parameters
    ----------
    cluster : Cluster
    number : int
        Of the worker.
    actor
        A `Keeper` on its way.
    geometry : Geometry
        For a board that is emulated.

    Raises
    ------
    BoardError
        If the worker gets no board, or the board cannot be opened.
    """

    def __init__(self, cluster, number, actor, geometry):
        self.name = f"worker {number}"
        self._cluster, self._actor, self._gone = cluster, actor, None
        self._coming = deque()  # reports of what was sent
        cluster.holding(self)
        try:
            self.name += cluster.place(actor, self.name)
        except Gone as gone:
            raise BoardError(str(gone)) from None
        super().__init__(self._ask(actor.open.remote(geometry)))

    def _ask(self, answer):
        """What the worker answers; a BoardError if it is lost or fails."""
        try:
            told = self._cluster.told(answer, self.name)
        except Gone as gone:
            self._gone = str(gone)
        else:
            if told is not None:
                return told
            self._gone = f"{self.name} is lost, with what its board had counted: load the tree that was saved last"
        raise BoardError(self._gone)

    def _check_there(self):
        if self._gone is not None:
            raise BoardError(self._gone)
        try:
            self._cluster.check_there()
        except Gone as gone:
            self._gone = f"{self.name}: {gone}, and what its board had counted: load the tree that was saved last"
            raise BoardError(self._gone) from None

    def _call(self, name, *arguments):
        self._check_there()
        return getattr(self._actor, name).remote(*arguments)

    @property
    def lost(self):
        return self._gone is not None

    def _read_register(self, register):
        return self._ask(self._call("read", register))

    def _write_register(self, register, value):
        self._coming.append(self._call("write", register, value))

    def send(self, data):
        self._coming.append(self._call("exchange", as_bytes(data).tobytes()))

    def receive(self, wait=False):
        if not self._cluster.here:
            self._check_there()
        found = []
        while self._coming and (wait and not any(found) or self._is_there(self._coming[0])):
            found.append(self._taken(self._coming.popleft()))
        while wait and not any(found):
            found.append(self._ask(self._call("exchange", b"", True)))
        return b"".join(found)

    def _is_there(self, answer):
        return self._gone is not None or bool(self._cluster.ray.wait([answer], timeout=0)[0])

    def _taken(self, answer):
        if self._gone is not None:
            raise BoardError(self._gone)
        return self._ask(answer)

    def load(self, address, data):
        raise ValueError(f"{self.name}: boards of workers have no memory")

    def close(self):
        self._gone = self._gone or f"{self.name}: the board is closed"
        if not self._cluster.here:
            return
        if self._actor is not None and self._cluster.ray.is_initialized():
            self._cluster.ray.kill(self._actor)
        self._actor = None


def join_workers(engine, geometry):
    """Boards on the workers of a Ray cluster, joined: each counts a share of a tree's attributes.

    Parameters
    ----------
    engine : str
        As an ensemble's: "ray", "ray://HOST:PORT", either with ",workers=N".
    geometry : Geometry
        Of all of them together. Workers on a node whose environment has BREGALAD_BOARD open the board of that name,
        which has its own.

    Returns
    -------
    JoinedBoard

    Raises
    ------
    BoardError
        If a worker gets no board, or fails; it names the worker.
    ValueError
        If boards differ.
    """
    cluster = Cluster(engine)
    share = -(-geometry.max_cells // cluster.workers) + _SLACK
    part = geometry.replace(passes=-(-share // geometry.lanes), naive_bayes=False)
    kind = cluster.kind(Keeper)
    actors, boards = [kind.remote() for _ in range(cluster.workers)], []
    try:
        for number, actor in enumerate(actors):
            boards.append(RemoteBoard(cluster, number, actor, part))
        return JoinedBoard(boards)
    except BaseException:
        for actor in actors:
            cluster.ray.kill(actor)
        raise
