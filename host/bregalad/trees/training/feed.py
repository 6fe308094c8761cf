"""How records reach a board: in the command stream, or through its memory and DMA."""

import numpy as np

from ...protocol.commands import COMMAND_BYTES, CommandFlag, Opcode, pack_command, record_layout

__all__ = ["FEED_TOKENS", "open_feed"]

FEED_TOKENS = 3  # FENCE tokens from 1 to below this belong to the feed


class StreamFeed:
    """Records follow their LEARN in the command stream.

    Attributes
    ----------
    out : uint8 array
        Where the next records are written.
    full : bool
        A report must come in before ``out`` may be written again.
    """

    full = False

    def __init__(self, board, cells):
        self.board = board
        self.size = record_layout(cells).size
        bus = board.geometry.bus_bytes
        room = max(1, board.batch_bytes // self.size) * self.size
        self._head = max(COMMAND_BYTES, bus)
        self._buffer = np.zeros(self._head + room + bus, np.uint8)
        self.out = self._buffer[self._head : self._head + room]

    def send(self, used):
        """Send the records in the first ``used`` bytes of ``out``."""
        geometry = self.board.geometry
        command = pack_command(geometry, Opcode.LEARN, count=used // self.size)
        self._buffer[: self._head] = np.frombuffer(command, np.uint8)
        end = self._head + used
        whole = end + -end % geometry.bus_bytes
        self._buffer[end:whole] = 0
        self.board.send(self._buffer[:whole])

    def done(self, token):
        """The FENCE with a token of this feed has come back."""


class MemoryFeed:
    """Records are written to the board's memory; the board fetches them by a descriptor.

    Two halves of the memory take turns: a FENCE after each LEARN says when its half is free.
    Members as ``StreamFeed``.
    """

    def __init__(self, board, cells):
        self.board = board
        self.size = record_layout(cells).size
        half = min(board.batch_bytes, board.memory_size // 2) // board.geometry.bus_bytes
        self._half = half * board.geometry.bus_bytes
        if self._half < self.size:
            raise ValueError(
                f"board {board.name} has {board.memory_size} bytes of memory, two "
                f"records take {2 * self.size}: feed it through the stream"
            )
        self.out = np.zeros(self._half // self.size * self.size, np.uint8)
        self._free = [1, 2]  # tokens of the halves that may be written

    @property
    def full(self):
        return not self._free

    def send(self, used):
        token = self._free.pop(0)
        geometry = self.board.geometry
        address = (token - 1) * self._half
        self.board.load(address, self.out[:used])
        self.board.send(
            pack_command(geometry, Opcode.LEARN, flags=CommandFlag.MEMORY, address=address, count=used // self.size)
            + pack_command(geometry, Opcode.FENCE, token=token)
        )

    def done(self, token):
        self._free.append(token)


FEEDS = {"stream": StreamFeed, "memory": MemoryFeed}


def open_feed(kind, board, cells):
    """The feed of a name.

    Parameters
    ----------
    kind : "stream" or "memory"
    board : Board
    cells : int
        Codes of a record.

    Raises
    ------
    KeyError
        For another name.
    ValueError
        If the board has too little memory.
    """
    return FEEDS[kind](board, cells)
