"""The wire to a virtual board of the same process, in simulated time: nobody waits."""

from abc import abstractmethod

from ..wire import FaultyWire
from .board import BATCH


class VirtualWire(FaultyWire):
    """Base of a line and of a cable.

    Time passes only in `receive`, by as many clocks as it takes until a frame has come.

    Parameters
    ----------
    board : VirtualBoard
    *args, **options
        Of `FaultyWire`, after its name.
    """

    def __init__(self, board, *args, **options):
        super().__init__("virtual", *args, **options)
        self.board = board

    def now(self):
        return self.board.clocks / self.board.clock_hz

    def open(self, setting):
        pass

    def send(self, frames):
        # A driver that nobody has closed says goodbye whenever it is collected.
        if not self.board.closed:
            self._carry(self._down, map(self._encode, frames))

    def receive(self, wait):
        board = self.board
        limit = self.now() + wait
        while True:
            now = self.now()
            for frame in self._down.arrived(now):
                self._write(frame)
            self._carry(self._up, self._read())
            came = self._up.arrived(now)
            if came or now >= limit:
                return [self._decode(frame) for frame in came]
            until = min(limit, self._down.next, self._up.next) - now
            board.run(int(min(BATCH, max(1, until * board.clock_hz))))

    def close(self):
        """The board is not this wire's."""

    def silence(self):
        return "the virtual board does not answer"

    def _encode(self, frame):
        """A frame as the wire carries it."""
        return frame

    def _decode(self, frame):
        """The frame that the wire has carried, b"" if it is none."""
        return frame

    def _write(self, frame):
        self.board.write(frame)

    @abstractmethod
    def _read(self):
        """What the board has sent, frame by frame."""
