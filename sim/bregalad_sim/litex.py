"""A LiteX SoC with the core and memory as a driver's map."""

import ctypes
import weakref

import numpy as np
from bregalad.boards.base import BoardError

from .litex_soc import CORE, MEMORY
from .verilated import litex_library


class LitexMap:
    """The core by the SoC's bus, and its memory: what a driver needs.

    Parameters
    ----------
    geometry : Geometry
    size : int
        Bytes of memory.

    Raises
    ------
    BuildError
        If the model cannot be compiled.
    """

    name = "simulated LiteX SoC"

    def __init__(self, geometry, size=1 << 19):
        self.size = size
        self._model = litex_library(geometry, size)
        self._handle = self._model.soc_open()
        self._closing = weakref.finalize(self, self._model.soc_close, self._handle)

    def close(self):
        self._closing()
        self._handle = None

    def access(self, address, value=None):
        """A word of the bus, read or written."""
        found = ctypes.c_uint32(value or 0)
        if self._handle is None:
            raise BoardError(f"{self.name}: it is closed")
        if value is None:
            response = self._model.soc_read(self._handle, address, ctypes.byref(found))
        else:
            response = self._model.soc_write(self._handle, address, value)
        if response:
            raise BoardError(f"{self.name}: {address:#x} answers {response}")
        return found.value

    def read(self, offset):
        return self.access(CORE + offset)

    def write(self, offset, value):
        self.access(CORE + offset, value)

    def allocate(self, size):
        if size > self.size:
            raise BoardError(f"{self.name}: {size} bytes are more than the {self.size} of its memory")
        return _Memory(self, size)


class _Memory:
    """Bytes of the SoC's memory, by slices of whole words."""

    device_address = MEMORY

    def __init__(self, mapped, size):
        self.mapped, self._size = mapped, size

    def __len__(self):
        return self._size

    def __getitem__(self, place):
        first, end, _ = place.indices(self._size)
        words = [self.mapped.access(MEMORY + at) for at in range(first, end, 4)]
        return np.array(words, np.uint32).view(np.uint8)[: end - first]

    def __setitem__(self, place, data):
        first, _, _ = place.indices(self._size)
        data = np.ascontiguousarray(data, np.uint8)
        words = np.pad(data, (0, -data.size % 4)).view(np.uint32)
        for index, word in enumerate(words):
            self.mapped.access(MEMORY + first + 4 * index, int(word))
