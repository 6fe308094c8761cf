"""The virtual board: a board's own RTL at the end of a serial line, pin by pin."""

import os
import select
import time
import tty

import numpy as np

from ..geometry import Geometry
from ..link import Wire
from ..protocol.link import decode_cobs, encode_cobs
from .verilated import linked_library

__all__ = ["VirtualBoard", "VirtualError", "VirtualWire"]

_BATCH = 2000  # clocks between two looks at the line


class VirtualError(Exception):
    """The RTL stopped at an assertion."""


class VirtualBoard:
    """`LinkedAccelerator`, compiled; bytes go in at its rx pin and come out at its tx pin.

    Parameters
    ----------
    geometry : Geometry or str
    ratio : int
        Clocks of a bit, at least 4. A real board has 30 and more; few make a fast simulation.
    clock_hz : int
        Clocks that count as a second for the board's time-outs. The simulation runs about as many
        in a second on a geometry of few lanes.
    **sizes
        Of `Link`.

    Members
    -------
    clocks : int
        Clocks simulated.
    alive : bool
        Whether a session lives: the first light of the board.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    BuildError
        If the model cannot be compiled.
    """

    def __init__(self, geometry, *, ratio=8, clock_hz=1_000_000, **sizes):
        if not isinstance(ratio, int) or ratio < 4:
            raise ValueError(f"ratio must be at least 4 clocks per bit, not {ratio!r}")
        self.geometry = Geometry.of(geometry)
        self.ratio = ratio
        self.clock_hz = clock_hz
        self._handle = None
        self._model = linked_library(
            self.geometry, clock_hz=clock_hz, baud=clock_hz // ratio, **sizes)
        self._handle = self._model.line_open(float(ratio))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Give back the model; calling it twice does no harm."""
        if self._handle:
            self._model.line_close(self._handle)
            self._handle = None

    @property
    def clocks(self):
        return self._model.line_clocks(self._handle)

    @property
    def alive(self):
        return bool(self._model.line_lights(self._handle) & 1)

    @property
    def waiting(self):
        """Bytes that are not on the line yet."""
        return self._model.line_waiting(self._handle)

    def write(self, data):
        """Queue bytes for the line."""
        data = np.frombuffer(data, np.uint8)
        if data.size:
            self._model.line_push(self._handle, data.ctypes.data, data.size)

    def read(self):
        """The bytes that have come."""
        out = np.empty(self._model.line_available(self._handle), np.uint8)
        self._model.line_pop(self._handle, out.ctypes.data)
        return out.tobytes()

    def run(self, clocks=_BATCH):
        """Let clocks pass.

        Raises
        ------
        VirtualError
            If an assertion in the RTL fails.
        """
        self._model.line_run(self._handle, clocks)
        if failure := self._model.line_failure(self._handle):
            raise VirtualError(f"the RTL stopped: {failure.decode()}")

    def serve(self, opened=None, stop=None):
        """Answer on a pseudo-terminal until ``stop`` says so.

        Parameters
        ----------
        opened : callable, optional
            Called with the terminal's path: what a serial port's path is to a driver.
        stop : callable, optional
            Ends the service when it returns true; looked at many times a second.
        """
        master, slave = os.openpty()
        try:
            tty.setraw(slave)
            os.set_blocking(master, False)
            if opened is not None:
                opened(os.ttyname(slave))
            self._answer(master, stop or (lambda: False))
        finally:
            os.close(master)
            os.close(slave)

    def _answer(self, master, stop):
        up = b""
        start, first = time.monotonic(), self.clocks
        while not stop():
            # Ahead of real time there is nothing to do but wait for the host.
            ahead = (self.clocks - first) / self.clock_hz - (time.monotonic() - start)
            if ahead < -1:  # the simulation is slower than it should be: forget that
                start, first = time.monotonic(), self.clocks
            busy = self.waiting or up
            wait = 0 if busy else min(max(ahead, 0), 0.05)
            if select.select([master], [], [], wait)[0] and self.waiting < 2 * _BATCH:
                self.write(os.read(master, 4096))
            self.run()
            up += self.read()
            if up and select.select([], [master], [], 0)[1]:
                up = up[os.write(master, up):]


class VirtualWire(Wire):
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
            board.run(min(_BATCH, max(1, int(limit - board.clocks))))

    def close(self):
        """The board is not this wire's."""

    def silence(self):
        return "the virtual board does not answer"
