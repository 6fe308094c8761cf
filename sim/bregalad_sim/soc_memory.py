"""The memory of a system on chip that is not there, as PYNQ's `allocate` gives it."""

import numpy as np
from bregalad.protocol.soc import PAGE


class SocMemory:
    """Base of maps.

    Parameters
    ----------
    name : str
    size : int
        Bytes of memory.
    base : int
        Where the bus has it.

    Members
    -------
    memory : ndarray of uint8
    """

    def __init__(self, name, size, base):
        self.name, self.base = name, base
        self.memory = np.zeros(size, np.uint8)
        self._free = 0

    def allocate(self, size):
        if self._free + size > self.memory.size:
            raise MemoryError(f"{size} bytes are more than the {self.memory.size - self._free} that are left")
        found = self.memory[self._free : self._free + size].view(_Array)
        found.device_address = self.base + self._free
        self._free += -(-size // PAGE) * PAGE
        return found


class _Array(np.ndarray):
    """Bytes of memory that know where the bus has them."""

    device_address = 0
