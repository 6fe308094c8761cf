"""A board's top level as it is built, with a wire to its pins."""

import numpy as np
from bregalad.boards.base import BoardError
from bregalad.files import check_wave
from bregalad.geometry import Geometry
from bregalad_hw.build.families import ECP5

from ..verilated import board_library
from ..wave import begin_wave

BATCH = 2000  # clocks between two looks at the wire
_QUIET = 50_000  # clocks; no command keeps a board busy for longer
_IDLE = 0.02

# Clocks of the array: per bit of a serial line, per byte of an Ethernet.
_RATIOS = {"serial": 8, "udp": 0.5}
_LEAST = {"serial": 4, "udp": 0.25}
_UNITS = {"serial": "bit", "udp": "byte"}
# A byte on a serial line costs 80 clocks, and a driver takes a board for dead after some seconds without a frame. So
# frames are short there.
_SIZES = {"serial": {"ring_words": 256, "frame_bytes": 128}, "udp": {}}


class VirtualError(BoardError):
    """The RTL stopped at an assertion, or the board is closed."""


class VirtualBoard:
    """A board without the board; what is sent goes in and comes out at its pins.

    Parameters
    ----------
    board : Board
        Of ``hw/bregalad_hw/boards``.
    geometry : Geometry or str, optional
        The board's own by default.
    ratio : float, optional
        Clocks of the array per bit of a serial line, a whole number, 8 by default and at least 4;
        per byte of an Ethernet, 0.5 by default and at least 0.25. Few make a fast simulation.
    clock_mhz : float, optional
        Clocks that count as a microsecond for the board's time-outs. The board's slowest by
        default, since the simulation runs still fewer in one.
    wave : str or Path, optional
        Write a waveform to this file, a .fst, and a save file for GTKWave beside it, a .gtkw, until `close`. The
        model for that is compiled apart, and slower. Of an Ethernet's board, a byte takes 8 ns there; of others, a
        clock 10 ns.
    netlist : bool
        Simulate the netlist that is placed and routed, instead of the design that it is made of;
        of an ECP5 board with a serial port.
    **options
        Of the board's top level.

    Members
    -------
    closed : bool
        Whether `close` has been called; a ``VirtualError`` is all that is left then.
    clocks : int
        Clocks simulated.
    alive : bool
        Whether a session lives: a light of the board.
    waiting : int
        Bytes that are not on the wire yet.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    OSError
        If the waveform cannot be written.
    BuildError
        If the model cannot be compiled.
    """

    def __init__(self, board, geometry=None, *, ratio=None, clock_mhz=None, wave=None, netlist=False, **options):
        self._opened = None
        wire = board.wire
        ratio = _RATIOS[wire] if ratio is None else ratio
        whole = wire == "serial"
        if isinstance(ratio, bool) or not isinstance(ratio, int if whole else (int, float)) or ratio < _LEAST[wire]:
            raise ValueError(
                f"ratio must be {'a whole number, ' if whole else ''}at least "
                f"{_LEAST[wire]:g} clocks per {_UNITS[wire]}, not {ratio!r}"
            )
        if netlist and not (isinstance(board.family, ECP5) and whole):
            raise ValueError(f"netlist is for ECP5 boards with a serial port, not for {board.name}")
        if wave is not None:
            check_wave(wave)
        self.board = board
        self.geometry = board.geometry if geometry is None else Geometry.of(geometry)
        self.clock_hz = round((board.slowest_mhz if clock_mhz is None else clock_mhz) * 1e6)
        options = _SIZES[wire] | options
        if wire == "serial":
            options["baud"] = self.clock_hz // ratio
        traced = wave is not None
        self._model = board_library(board, self.geometry, self.clock_hz, netlist=netlist, traced=traced, **options)
        self._opened = self._model.virtual_open(float(ratio), begin_wave(self._model, wave))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Give back the model; calling it twice does no harm."""
        if not self.closed:
            self._clocks = self.clocks
            self._model.virtual_close(self._opened)
            self._opened = None

    @property
    def closed(self):
        return not self._opened

    @property
    def _handle(self):
        if self.closed:
            raise VirtualError("the virtual board is closed")
        return self._opened

    @property
    def clocks(self):
        """Clocks that have passed; once it is closed, those until then."""
        return self._clocks if self.closed else self._model.virtual_clocks(self._opened)

    @property
    def alive(self):
        return bool(self._model.virtual_alive(self._handle))

    @property
    def waiting(self):
        return self._model.virtual_waiting(self._handle)

    def write(self, data):
        """Queue bytes for a serial line, or one frame for an Ethernet."""
        data = np.frombuffer(data, np.uint8)
        if data.size:
            self._model.virtual_push(self._handle, data.ctypes.data, data.size)

    def read(self):
        """The bytes that a serial line has brought, or an Ethernet's next frame; b"" if none."""
        out = np.empty(self._model.virtual_available(self._handle), np.uint8)
        if out.size:
            self._model.virtual_pop(self._handle, out.ctypes.data)
        return out.tobytes()

    def run(self, clocks=BATCH):
        """Let clocks pass.

        Raises
        ------
        VirtualError
            If an assertion in the RTL fails.
        """
        self._model.virtual_run(self._handle, clocks)
        if failure := self._model.virtual_failure(self._handle):
            raise VirtualError(f"the RTL stopped: {failure.decode()}")


class Pace:
    """How long a service may wait for the host: not at all while anything goes on.

    On an idle wire the board's time all but stands still, which leaves the processor to others.

    Parameters
    ----------
    board : VirtualBoard
    """

    def __init__(self, board):
        self._board = board
        self.moved()

    def moved(self):
        """Something has come or gone."""
        self._last = self._board.clocks

    def wait(self):
        """Seconds."""
        board = self._board
        return _IDLE if not board.waiting and board.clocks - self._last > _QUIET else 0
