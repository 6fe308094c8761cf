"""The board as its RTL, compiled by Verilator and called in process."""

import os
import weakref
from functools import cache

import numpy as np

from ..files import check_wave
from ..protocol.commands import PATH_LIMIT
from ..protocol.pages import page_bytes
from ..protocol.registers import find
from ..protocol.rows import MOST_WEIGHT
from .base import BoardError
from .device import Device

_BATCH = 1 << 12  # clocks between two looks at the board
_POLL = 64  # clocks that a receive lets pass: for the first report if it does not wait, and for each that follows one
_AHEAD = 1 << 13  # bytes of commands that may wait for the board, as in a link's buffers
_LAST = 32  # records that may be counted once the last word of rows has come

_STATUS = find("status")

_ANY, _REPORT, _TAKEN = 0, 1, 2  # what `board_run` stops at


class SimulatedBoard(Device):
    """The accelerator's RTL: every clock is computed, and counted.

    The first use of a geometry on a machine compiles its model, for tens of seconds to minutes;
    the result is kept (see ``sim/bregalad_sim/verilated.py``). Time passes only in `send`, `receive`,
    register accesses and `settle`.

    ``memory_size`` are the bytes of memory for LEARN with the MEMORY flag, those of pages come on top; ``latency`` the
    clocks from an accepted read address to the first word; ``stall`` the probability per clock that a stream (commands,
    reports, memory) pauses, 0 to below 1, by ``seed``. A waveform is written to the file ``wave``, a .fst, and a save
    file for GTKWave beside it, a .gtkw, until `close`: the model for that is compiled apart, and slower; a clock takes
    10 ns there.

    ``clocks`` are those simulated; ``faults``, bus word address to `ErrorCode`, words that memory shall not answer, for
    tests. ValueError if a parameter is out of range, OSError if the waveform cannot be written, BuildError if the model
    cannot be compiled.
    """

    name = "simulated"
    batch_bytes = 1 << 14  # some hundred clocks, as many as an attempt takes

    def __init__(self, geometry, memory_size=1 << 24, *, latency=20, stall=0.0, seed=0, wave=None):
        super().__init__(geometry)
        geometry.check_hardware()
        self._handle = None
        if not isinstance(memory_size, int) or memory_size < 0:
            raise ValueError(f"memory_size must be an integer of at least 0, not {memory_size!r}")
        if memory_size % (word := geometry.bus_bytes):
            raise ValueError(
                f"memory_size must be whole bus words of {word} bytes, by which rows are fetched, not {memory_size}: "
                f"choose {memory_size + word - memory_size % word}"
            )
        if not 0 <= latency < 1 << 32:
            raise ValueError(f"latency must be at least 0 clocks, not {latency!r}")
        if not 0 <= stall < 1:
            raise ValueError(f"stall must be a probability below 1, not {stall!r}")
        if wave is not None:
            check_wave(wave)
        self.memory_size = memory_size
        self._memory = np.zeros(max(1, memory_size + page_bytes(geometry)), np.uint8)
        self._faults = {}
        # No operation keeps every stream quiet for longer than an attempt, stalls or not; or than the last records that
        # weigh, where links lead in a ring.
        g = geometry
        attempt = g.passes * (g.bins * (2 * g.classes + 4) + 100)
        record = 2 * g.passes * PATH_LIMIT * MOST_WEIGHT
        self._patience = int((10_000 + latency + 10 * attempt + _LAST * record) / (1 - stall))
        self._model, began = _library(geometry, wave is not None), None
        if wave is not None:
            from bregalad_sim.wave import begin_wave

            began = begin_wave(self._model, wave)
        self._handle = self._model.board_open(
            self._memory.ctypes.data,
            memory_size + page_bytes(geometry),
            g.bus_bytes,
            latency,
            int(stall * (1 << 32)),
            seed & 0xFFFFFFFF,
            began,
        )
        # A waveform is whole only once it is closed, be it at the interpreter's end.
        self._closing = weakref.finalize(self, _end, self._model, self._handle, os.getpid())

    def close(self):
        if self._handle:
            self._closing()
            self._handle = None

    @property
    def clocks(self):
        return self._model.board_clocks(self._open())

    # Commands and reports

    def send(self, data):
        data = self._words(data)
        self._model.board_push(self._open(), data.ctypes.data, data.size)
        self._feed(_AHEAD)

    def _feed(self, ahead):
        """Let clocks pass until no more than ``ahead`` bytes of commands wait."""
        while self._model.board_waiting(self._open()) > ahead:
            self._run(_BATCH, _TAKEN, ahead)
            if self._model.board_quiet(self._handle) > self._patience:
                raise BoardError(
                    f"simulated: takes no commands for {self._patience} clocks, "
                    f"{self._model.board_waiting(self._handle)} bytes are waiting: the RTL hangs"
                )

    def receive(self, wait=False):
        self._run(_POLL, _ANY)
        while wait and not self._model.board_available(self._handle):
            self._run(_BATCH, _REPORT)
            quiet = self._model.board_quiet(self._handle)
            if quiet > self._patience:
                raise BoardError(
                    f"simulated: no report for {quiet} clocks without any transfer: "
                    "send what shall be answered, whole, before waiting"
                )
            if quiet > _POLL and not self.read("status.busy") and not self._model.board_available(self._handle):
                raise self._no_report_due()
        seen = 0
        while (count := self._model.board_available(self._handle)) != seen:
            seen = count
            self._run(_POLL, _ANY)
        words = np.empty(count, np.uint32)
        self._model.board_pop(self._handle, words.ctypes.data)
        return words.tobytes()

    def settle(self):
        """Let clocks pass until the board is idle; BoardError if that does not happen."""
        while True:
            self._run(_POLL, _ANY)
            quiet = self._model.board_quiet(self._handle)
            if quiet >= _POLL and not self.read("status.busy"):
                return
            if quiet > self._patience:
                raise BoardError(
                    f"simulated: busy for {quiet} clocks without any transfer: "
                    "part of a command is missing, or the RTL hangs"
                )

    def _run(self, clocks, stop, ahead=0):
        self._model.board_run(self._open(), clocks, stop, ahead)
        if failure := self._model.board_failure(self._handle):
            raise BoardError(f"simulated: the RTL stopped: {failure.decode()}")
        # Boards without faults need not be asked: their memory answers.
        if self._faults and _STATUS.values(self._model.board_read(self._handle, _STATUS.addr // 4))["failing"]:
            raise BoardError(
                "simulated: memory does not answer for a page of statistics: nothing is lost, and the board goes on "
                "once it does"
            )

    def _open(self):
        if self._handle is None:
            raise BoardError("simulated: the board is closed: open it again")
        return self._handle

    # Memory

    def load(self, address, data):
        data = self._to_load(address, data)
        self._memory[address : address + data.size] = data

    @property
    def faults(self):
        return dict(self._faults)

    @faults.setter
    def faults(self, faults):
        self._faults = dict(faults)
        self._model.board_clear_faults(self._open())
        for address, code in self._faults.items():
            self._model.board_fault(self._handle, address, code)

    # Registers

    def _read_register(self, register):
        self._feed(0)
        return self._model.board_read(self._open(), register.addr // 4)

    def _write_register(self, register, value):
        self._feed(0)
        self._model.board_write(self._open(), register.addr // 4, value)


@cache
def _library(geometry, traced):
    from bregalad_sim import verilated

    return verilated.library(geometry, traced)


def _end(model, handle, process):
    """Give the model back; a forked process leaves it, as its waveform is the file of the one that goes on with it."""
    if os.getpid() == process:
        model.board_close(handle)
