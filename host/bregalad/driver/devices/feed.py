"""How records reach a board: in the command stream, or the records through its memory and DMA."""

import numpy as np

from ...protocol.commands import CommandFlag, Opcode, pack_command, record_layout

__all__ = ["FEED_TOKENS", "open_feed"]

FEED_TOKENS = 3  # FENCE tokens from 1 to below this belong to the feed


class _Feed:
    """Base of the feeds.

    Attributes
    ----------
    out : uint8 array
        Where the next records are written.
    full : bool
        A report must come in before ``out`` may be written again.
    """

    full = False

    def __init__(self, board, cells, room):
        self.board = board
        self.size = record_layout(cells).size
        self.out = np.zeros(room // self.size * self.size, np.uint8)

    def _send(self, used, **values):
        self.board.send(pack_command(self.board.geometry, Opcode.LEARN, count=used // self.size, **values))

    def done(self, token):
        """The FENCE with a token of this feed has come back."""


class StreamFeed(_Feed):
    """Records follow their LEARN in the command stream."""

    def __init__(self, board, cells):
        size = record_layout(cells).size
        super().__init__(board, cells, max(size, board.batch_bytes))

    def make_room(self, records):
        """Make sure that ``out`` holds so many records."""
        self.out = np.zeros(max(len(self.out), records * self.size), np.uint8)

    def send(self, used):
        """Send the records in the first ``used`` bytes of ``out``."""
        self._send(used, payload=self.out[:used])


class MemoryFeed(_Feed):
    """Records are written to the board's memory; the board fetches them by descriptors.

    Two halves of the memory take turns: a FENCE after them says when a half is free.
    """

    def __init__(self, board, cells):
        half = min(board.batch_bytes, board.memory_size // 2) // board.geometry.bus_bytes
        self._half = half * board.geometry.bus_bytes
        super().__init__(board, cells, self._half)
        if self._half < self.size:
            raise ValueError(
                f"board {board.name} has {board.memory_size} bytes of memory, two "
                f"records take {2 * self.size}: feed it through the stream"
            )
        self._free = [1, 2]  # tokens of the halves that may be written

    @property
    def full(self):
        return not self._free

    def send(self, used):
        """As ``StreamFeed.send``."""
        token = self._free.pop(0)
        address = (token - 1) * self._half
        self.board.load(address, self.out[:used])
        self._send(used, flags=CommandFlag.MEMORY, address=address)
        self.board.send(pack_command(self.board.geometry, Opcode.FENCE, token=token))

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
