"""A virtual board's serial line: a pseudo-terminal, or a wire in simulated time."""

import os
import select
import tty

from bregalad.protocol.link import decode_cobs, encode_cobs

from .board import BATCH, Pace
from .wire import VirtualWire


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
                up = up[os.write(master, up) :]
    finally:
        os.close(master)
        os.close(slave)


class LineWire(VirtualWire):
    """The line to a `VirtualBoard` of this process; `VirtualWire` has the parameters."""

    def __init__(self, board, *args, **options):
        super().__init__(board, *args, **options)
        self._rest = b"\0"

    def open(self, setting):
        self.board.write(b"\0")

    def _encode(self, frame):
        return encode_cobs(frame) + b"\0"

    def _read(self):
        *frames, self._rest = (self._rest + self.board.read()).split(b"\0")
        return [frame for frame in frames if frame]

    def _decode(self, frame):
        return decode_cobs(frame) or b""  # what is no COBS is no frame either
