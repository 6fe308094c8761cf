"""How records and trials reach a board: all in the command stream, or the records through its memory and DMA."""

import numpy as np

from ...compiled import njit
from ...protocol.commands import COMMAND_BYTES, COMMANDS, CommandFlag, Opcode, pack_command, record_layout

__all__ = ["FEED_TOKENS", "open_feed"]

FEED_TOKENS = 3  # FENCE tokens from 1 to below this belong to the feed

_LEARN, _TRIAL, _MEMORY = int(Opcode.LEARN), int(Opcode.TRIAL), int(CommandFlag.MEMORY)
_COUNT_AT, _ADDRESS_AT = map(COMMANDS[Opcode.LEARN].offset, ("count", "address"))
_SLOT_AT = COMMANDS[Opcode.TRIAL].offset("slot")
_STREAM = -1  # as an address: the records follow their command


@njit(inner=True)
def _put(out, at, value, count):
    for byte in range(count):
        out[at + byte] = value >> 8 * byte & 0xFF


@njit()
def _weave(records, used, size, trials, slots, bus_bytes, address, out):
    """Write the commands that learn records and try slots in between; bytes in ``out``.

    Parameters
    ----------
    records : uint8 array
    used, size : int
        Bytes of all records and of one.
    trials : int64 array (m, 2)
        As of ``sending.advance``.
    slots : int64 array (m,)
        Of the nodes that are tried.
    bus_bytes : int
    address : int
        Of the records in the board's memory, or _STREAM.
    out : uint8 array
        With room for it all.
    """
    head = max(COMMAND_BYTES, bus_bytes)
    at = done = 0
    for turn in range(len(trials) + 1):
        last = turn == len(trials)
        count = used // size - done if last else trials[turn, 0]
        if count:
            out[at : at + head] = 0
            out[at] = _LEARN
            _put(out, at + _COUNT_AT, count, 4)
            first, length = done * size, count * size
            if address == _STREAM:
                at += head
                out[at : at + length] = records[first : first + length]
                at += length
                rest = -at % bus_bytes
                out[at : at + rest] = 0
                at += rest
            else:
                out[at + 1] = _MEMORY
                _put(out, at + _ADDRESS_AT, address + first, 8)
                at += head
            done += count
        if not last:
            out[at : at + head] = 0
            out[at] = _TRIAL
            _put(out, at + _SLOT_AT, slots[turn], 2)
            at += head
    return at


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
        self._commands = np.zeros(0, np.uint8)

    def _send(self, used, trials, slots, address):
        bus = self.board.geometry.bus_bytes
        most = used + (len(trials) + 1) * (2 * max(COMMAND_BYTES, bus) + bus)
        if most > len(self._commands):
            self._commands = np.zeros(2 * most, np.uint8)
        end = _weave(self.out, used, self.size, trials, slots, bus, address, self._commands)
        self.board.send(self._commands[:end])

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

    def send(self, used, trials, slots):
        """Send the records in the first ``used`` bytes of ``out``, and the trials after some of them; see `_weave`."""
        self._send(used, trials, slots, _STREAM)


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

    def send(self, used, trials, slots):
        """As ``StreamFeed.send``."""
        token = self._free.pop(0)
        address = (token - 1) * self._half
        self.board.load(address, self.out[:used])
        self._send(used, trials, slots, address)
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
