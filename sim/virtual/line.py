"""A virtual board's serial line: a pseudo-terminal, or a wire in simulated time."""

import os
import select
import tty

from ...link import Wire
from ...protocol.link import decode_cobs, encode_cobs
from .board import BATCH, Pace

__all__ = ["LineWire", "serve_line"]


def serve_line(board, opened, stop):
    """Answer on a pseudo-terminal; see `serve`."""
    master, slave = os.openpty()
    try:
        tty.setraw(slave)
        os.set_blocking(master, False)
        opened(f"serial:{os.ttyname(slave)}")
        pace, up = Pace(board), b""
        while not stop():
            wait = 0 if up else pace.wait()
            if select.select([master], [], [], wait)[0] and board.waiting < 2 * BATCH:
                board.write(os.read(master, 4096))
                pace.moved()
            board.run()
            if came := board.read():
                pace.moved()
                up += came
            if up and select.select([], [master], [], 0)[1]:
                up = up[os.write(master, up):]
    finally:
        os.close(master)
        os.close(slave)


class LineWire(Wire):
    """The line to a `VirtualBoard` of this process, in simulated time: nobody waits.

    Parameters
    ----------
    board : VirtualBoard

    Time passes only in `receive`, by as many clocks as it takes until a frame has come.
    """

    def __init__(self, board):
        super().__init__("virtual")
        self.board = board
        self._up = b"\0"

    def now(self):
        return self.board.clocks / self.board.clock_hz

    def open(self, setting):
        self.board.write(b"\0")

    def send(self, frames):
        for frame in frames:
            self.board.write(encode_cobs(frame) + b"\0")

    def receive(self, wait):
        board = self.board
        limit = board.clocks + wait * board.clock_hz
        while True:
            *frames, self._up = (self._up + board.read()).split(b"\0")
            if any(frames) or board.clocks >= limit:
                # What is no COBS is no frame either.
                return [decode_cobs(frame) or b"" for frame in frames if frame]
            board.run(min(BATCH, max(1, int(limit - board.clocks))))

    def close(self):
        """The board is not this wire's."""

    def silence(self):
        return "the virtual board does not answer"
