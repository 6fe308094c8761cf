"""The memory that descriptors point to, and its faults."""

from bregalad.protocol.reports import ErrorCode


class BusError(Exception):
    """A bus word that the memory does not answer."""

    def __init__(self, address, code):
        super().__init__(f"bus error {code!r} at {address:#x}")
        self.address = address
        self.code = code


class Memory:
    """Bytes that descriptors point to; ``faults`` maps bus word addresses to error codes.

    Words outside ``size`` bytes answer DECERR.
    """

    def __init__(self, size, bus_bytes):
        self.data = bytearray(size)
        self.bus_bytes = bus_bytes
        self.faults = {}

    def read(self, address, length):
        """``length`` bytes; BusError with the first failing bus word's address."""
        first = address - address % self.bus_bytes
        for word in range(first, address + length, self.bus_bytes):
            if word in self.faults:
                raise BusError(word, self.faults[word])
            if word + self.bus_bytes > len(self.data):
                raise BusError(word, ErrorCode.DECODE)
        return bytes(self.data[address : address + length])

    def write(self, address, data):
        """Whether there is a memory, and all of it is there; else nothing is written."""
        fits = bool(self.data) and address + len(data) <= len(self.data)
        if fits:
            self.data[address : address + len(data)] = data
        return fits
