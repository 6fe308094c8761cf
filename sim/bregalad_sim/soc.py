"""A system on chip without the chip: the core's RTL, its registers and its memory, as a driver's map has them."""

import ctypes
import weakref

from bregalad.boards.base import BoardError

from .soc_memory import SocMemory
from .verilated import core_library


class SimulatedMap(SocMemory):
    """What a driver needs of a core in a system on chip, as PYNQ's MMIO and `allocate` give it.

    Clocks pass only in `read`, `write`, `wait` and `run`.

    Parameters
    ----------
    geometry : Geometry
    size : int
        Bytes of memory.
    base : int
        Where the bus has it.
    latency : int
        Clocks from an accepted read address to the first word.
    stall : float
        Probability per clock that a channel pauses, 0 to below 1.
    seed : int
        Of the stalls.
    pace : int
        Clocks that pass with each access to a register besides its own.
    period : float, optional
        Of a clock that the array has for itself, in clocks of the bus.

    Members
    -------
    memory : ndarray of uint8
    faults : dict
        Bus address of a word to the response that it shall have.

    Raises
    ------
    BuildError
        If the model cannot be compiled.
    """

    def __init__(
        self, geometry, size=1 << 22, *, base=0x8_1234_5000, latency=20, stall=0.0, seed=0, pace=60, period=None
    ):
        super().__init__("simulated core", size, base)
        self.pace = pace
        self._faults = {}
        self._model = core_library(geometry, 1 if period is None else 2)
        self._handle = self._model.core_open(
            self.memory.ctypes.data,
            base,
            size,
            geometry.bus_bytes,
            latency,
            int(stall * (1 << 32)),
            seed,
            period or 1,
            None,
        )
        self._closing = weakref.finalize(self, self._model.core_close, self._handle)

    def close(self):
        self._closing()
        self._handle = None

    def run(self, clocks):
        """Let clocks pass."""
        self._model.core_run(self._open(), clocks)
        if failure := self._model.core_failure(self._handle):
            raise BoardError(f"{self.name}: the RTL stopped: {failure.decode()}")

    def reset(self):
        """Reset the core and the bus."""
        self._model.core_reset(self._open())

    def access(self, address, value=None):
        """``(response, value)`` of a register's read, or of its write."""
        found = ctypes.c_uint32(value or 0)
        if value is None:
            response = self._model.core_read(self._open(), address, ctypes.byref(found))
        else:
            response = self._model.core_write(self._open(), address, value)
        self.run(self.pace)
        return response, found.value

    def read(self, offset):
        response, value = self.access(offset)
        if response:
            raise BoardError(f"{self.name}: reading register {offset:#x} failed with {response}")
        return value

    def write(self, offset, value):
        response, _ = self.access(offset, value)
        if response:
            raise BoardError(f"{self.name}: writing register {offset:#x} failed with {response}")

    def wait(self, seconds):
        """Let clocks pass until the interrupt, 20,000 at most; what stands for ``seconds``."""
        for _ in range(200):
            if self.interrupt:
                return
            self.run(100)

    @property
    def interrupt(self):
        return bool(self._model.core_interrupt(self._open()))

    @property
    def clocks(self):
        return self._model.core_clocks(self._open())

    @property
    def beats(self):
        """Bus words that have been read."""
        return self._model.core_beats(self._open())

    @property
    def faults(self):
        return dict(self._faults)

    @faults.setter
    def faults(self, faults):
        self._faults = dict(faults)
        self._model.core_clear_faults(self._open())
        for address, code in self._faults.items():
            self._model.core_fault(self._handle, address, code)

    def _open(self):
        if self._handle is None:
            raise BoardError(f"{self.name}: it is closed")
        return self._handle
