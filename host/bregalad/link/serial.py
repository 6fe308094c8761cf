"""A serial port as a wire: frames COBS-encoded, a zero byte after each."""

import errno
import os
import select
import time
from contextlib import suppress

import serial
from serial.tools import list_ports

from ..protocol.link import decode_cobs, encode_cobs
from .wire import REOPEN, Wire, plain, ready

BAUDS = (3_000_000, 1_000_000, 115_200)  # tried in turn where none is given
_READ = 1 << 16  # bytes
_LONGEST = 4096  # bytes without a zero; no frame is as long
_MOST = 1 << 18  # bytes that wait to be written; as many as the largest ring takes
_FLUSH = 0.5  # seconds that closing waits for the last bytes to go


class SerialWire(Wire):
    """A serial port, as /dev/ttyUSB0, which no other program may use meanwhile.

    ``baud`` are bits a second; those of ``BAUDS`` in turn if not given. ValueError if it is no rate.
    """

    def __init__(self, port, baud=None):
        if not port:
            raise ValueError("serial: needs a port, as in serial:/dev/ttyUSB0")
        if baud is not None and (not isinstance(baud, int) or isinstance(baud, bool) or baud <= 0):
            raise ValueError(f"baud must be an integer above 0, not {baud!r}")
        super().__init__(f"serial:{port}")
        self.settings = BAUDS if baud is None else (baud,)
        self._path = port
        self._baud = None
        self._port = None
        self._out = bytearray()
        self._in = b""
        self._tried = 0.0

    def open(self, setting):
        self.close()
        self._baud = setting
        try:
            self._open()
        except (OSError, ValueError, NotImplementedError) as error:
            raise self._error(self._explain(error)) from error

    def _open(self):
        self._port = serial.Serial(self._path, self._baud, timeout=0, write_timeout=0, exclusive=True)
        self._out = bytearray(1)  # ends whatever the board has seen before
        self._in = b""
        self.trouble = None

    def close(self):
        if self._port is None:
            return
        limit = time.monotonic() + _FLUSH
        while self._out and self._port is not None and time.monotonic() < limit:
            self._exchange(_FLUSH)
        if self._port is not None:
            self._port.close()
            self._port = None

    def abandon(self):
        self._out.clear()
        self.close()

    def send(self, frames):
        for frame in frames:
            if len(self._out) < _MOST:  # else lost, and sent again in time
                self._out += encode_cobs(frame) + b"\0"
        self._exchange(0)

    def receive(self, wait):
        if self._port is None:
            self._reopen(wait)
        self._exchange(wait)
        *frames, self._in = self._in.split(b"\0")
        if len(self._in) > _LONGEST:
            self._in = self._in[-_LONGEST:]
        return [decode_cobs(frame) or b"" for frame in frames if frame]

    def _exchange(self, wait):
        """Write what can be written, read what there is; waits for either."""
        port = self._port
        if port is None:
            self._out.clear()
            return
        try:
            happened = ready(port, select.POLLIN | (select.POLLOUT if self._out else 0), wait)
            if happened & select.POLLOUT:
                del self._out[: port.write(self._out)]
            if happened & ~select.POLLOUT:
                data = os.read(port.fileno(), _READ)  # not `port.read`, which uses `select.select`
                if not data:
                    raise OSError("it is ready to be read, but there is nothing")
                self._in += data
        except BlockingIOError:
            pass
        except OSError as error:  # SerialException is one
            self.trouble = f"the device has vanished, {plain(error)}: plug it in again"
            self._port = None
            self._tried = self.now()
            with suppress(OSError):  # it is gone all the same
                port.close()

    def _reopen(self, wait):
        if wait:
            time.sleep(min(wait, REOPEN))
        if self.now() - self._tried >= REOPEN:
            self._tried = self.now()
            try:
                self._open()
            except (OSError, ValueError) as error:
                if os.path.exists(self._path):  # it is back
                    self.trouble = self._explain(error)

    # Messages

    def _explain(self, error):
        code = getattr(error, "errno", None)
        there = ", ".join(sorted(port.device for port in list_ports.comports())) or "none"
        if code == errno.ENOENT or not os.path.exists(self._path):
            return f"there is no such port; serial ports here: {there}: is the board plugged in?"
        if code in (errno.EACCES, errno.EPERM):
            return (
                "permission denied: add your user to the port's group (ls -l "
                f"{self._path} names it; often dialout or uucp) and log in again"
            )
        if code == errno.EBUSY or "lock" in str(error):
            return (
                "this program or another has this port open already: close it (a board's close() does), then try again"
            )
        if "baud" in str(error):
            return f"this port cannot do {self._baud} baud: choose another rate with baud="
        return f"this is no serial port that can be used ({plain(error)}); ports here: {there}"

    def silence(self):
        rates = ", ".join(str(rate) for rate in self.settings)
        if self.trouble:
            return self.trouble
        return (
            f"no answer at {rates} baud: either this port is not the board's, or its bitstream "
            "is not loaded (bregalad program BOARD), or it was built for another rate (say "
            "which with baud=)"
        )
