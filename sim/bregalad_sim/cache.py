"""A write-back cache between a driver and the memory that a core in a system on chip reads and writes."""

import numpy as np

_EVICTED = 200  # lines at a time


class CachedMap:
    """A driver's map whose memory the driver sees by a cache, as a processor beside ports that are not coherent.

    The cache holds all lines. What the driver writes reaches memory as it is flushed, what the core writes is seen as
    it is invalidated, which loses what was written meanwhile. With each access to a register some lines are evicted:
    written to memory, if they differ from what they were fetched as, and fetched anew.

    Parameters
    ----------
    mapped : object
        The map without a cache.
    seed : int
        Of the evictions.
    line : int
        Bytes.

    Members
    -------
    flushed, invalidated : int
        Bytes of the lines that were.
    """

    def __init__(self, mapped, seed, line=64):
        self.mapped, self.name, self._line = mapped, mapped.name, line
        self._random = np.random.default_rng(seed)
        self._seen = self._fetched = self._memory = np.zeros((0, line), np.uint8)
        self.flushed = self.invalidated = 0

    def __getattr__(self, name):
        return getattr(self.mapped, name)

    @property
    def faults(self):
        return self.mapped.faults

    @faults.setter
    def faults(self, faults):
        self.mapped.faults = faults

    def allocate(self, size):
        memory = self.mapped.allocate(size)
        rounded = -(-size // self._line) * self._line
        seen = np.zeros(rounded, np.uint8)
        found = seen[:size].view(_Cached)
        found.device_address, found.place, found.cache = memory.device_address, 0, self
        shape = -1, self._line
        self._seen, self._fetched = seen.reshape(shape), self._random.bytes(rounded)
        self._fetched = np.frombuffer(self._fetched, np.uint8).reshape(shape).copy()  # so all are dirty
        self._memory = self.mapped.memory[memory.ctypes.data - self.mapped.memory.ctypes.data :][:rounded].reshape(
            shape
        )
        return found

    def read(self, offset):
        self._evict()
        return self.mapped.read(offset)

    def write(self, offset, value):
        self._evict()
        self.mapped.write(offset, value)

    def _evict(self):
        if not len(self._seen):
            return
        lines = self._random.integers(0, len(self._seen), _EVICTED)
        self._write_back(lines)
        self._fetch(lines)

    def _write_back(self, lines):
        dirty = lines[(self._seen[lines] != self._fetched[lines]).any(axis=1)]
        self._memory[dirty] = self._fetched[dirty] = self._seen[dirty]

    def _fetch(self, lines):
        self._seen[lines] = self._fetched[lines] = self._memory[lines]

    def lines(self, place, size):
        """Indices of the lines that hold some of so many bytes."""
        return np.arange(place // self._line, -(-(place + size) // self._line))

    def flush(self, lines):
        """Write lines to memory."""
        self.flushed += len(lines) * self._line
        self._write_back(lines)

    def invalidate(self, lines):
        """Fetch lines anew."""
        self.invalidated += len(lines) * self._line
        self._fetch(lines)


class _Cached(np.ndarray):
    """Bytes that know where the bus has them, and what is between; a slice of them, too, as PYNQ's."""

    cache = None

    def __array_finalize__(self, other):
        if getattr(other, "cache", None) is not None:
            self.cache, self.device_address = other.cache, other.device_address
            self.place = other.place + self.ctypes.data - other.ctypes.data

    def flush(self):
        self.cache.flush(self.cache.lines(self.place, self.nbytes))

    def invalidate(self):
        self.cache.invalidate(self.cache.lines(self.place, self.nbytes))
