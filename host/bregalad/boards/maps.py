"""Ways to reach a core in a system on chip: its registers, and memory for DMA."""

import asyncio
import contextlib
import mmap
import os
import select
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from ..extras import needing
from ..protocol.soc import PAGE, SOC_BYTES
from .base import BoardError

_IP = ":bregalad:"  # in the type of a block of an overlay
_U_DMA_BUF = Path("/sys/class/u-dma-buf")
_ENABLE = (1).to_bytes(4, "little")  # written to a UIO device: tell the next interrupt


class _Registers:
    """Registers in pages of a file."""

    def __init__(self, path, offset=0):
        self._map = _pages(path, offset, PAGE)
        self._words = np.frombuffer(self._map, "<u4", SOC_BYTES // 4)

    def read(self, offset):
        return int(self._words[offset // 4])

    def write(self, offset, value):
        self._words[offset // 4] = value

    def close(self):
        self._words = None
        self._map.close()


class PynqMap:
    """A block of a PYNQ overlay, of whose bitstream this is the path; its .hwh lies beside it.

    BoardError if the overlay has no such block, or several.
    """

    def __init__(self, path):
        self.name = f"pynq:{path}"
        with needing(f"{self.name}: an overlay"):
            import pynq
        self._pynq = pynq
        blocks = pynq.Overlay(path).ip_dict
        found = [block for block in blocks.values() if _IP in block["type"]]
        if len(found) != 1:
            raise BoardError(
                f"{self.name}: {len(found)} blocks of the overlay are of type ...{_IP}..., one is needed; there are "
                f"{', '.join(blocks) or 'none'}"
            )
        registers = pynq.MMIO(found[0]["phys_addr"], found[0]["addr_range"])
        self.read, self.write = registers.read, registers.write
        self._awaited = None
        if (pin := found[0].get("interrupts", {}).get("interrupt")) is not None:
            self._awaited = _Awaited(lambda: pynq.Interrupt(pin["fullpath"]))
            self.wait = self._awaited.wait

    def allocate(self, size):
        return self._pynq.allocate(shape=(size,), dtype="u1")

    def close(self):
        if self._awaited is not None:
            self._awaited.close()


class _Awaited:
    """One of PYNQ's interrupts, whose coroutine runs in a thread: here a loop may be running, as in a notebook."""

    def __init__(self, make):
        self._loop = asyncio.new_event_loop()
        self._thread = ThreadPoolExecutor(1, "interrupt")
        self._interrupt = self._thread.submit(self._begin, make).result()

    def _begin(self, make):
        asyncio.set_event_loop(self._loop)
        return make()

    def wait(self, seconds):
        self._thread.submit(self._wait, seconds).result()

    def _wait(self, seconds):
        with contextlib.suppress(asyncio.TimeoutError):  # which is the other one from Python 3.11 on
            self._loop.run_until_complete(asyncio.wait_for(self._interrupt.wait(), seconds))

    def close(self):
        self._thread.shutdown()
        self._loop.close()


class UioMap(_Registers):
    """Registers by Linux's userspace I/O, as ``/dev/uio0``; memory by the u-dma-buf module's device of a name."""

    def __init__(self, path, buffer="udmabuf0"):
        self.name = f"uio:{path}"
        self._buffer = buffer
        super().__init__(path)
        self._interrupt = os.open(path, os.O_RDWR)
        try:
            os.write(self._interrupt, _ENABLE)
        except OSError:  # the device has no interrupt
            self.wait = None

    def wait(self, seconds):
        os.write(self._interrupt, _ENABLE)
        if select.select([self._interrupt], [], [], seconds)[0]:
            os.read(self._interrupt, 4)  # how many there have been

    def close(self):
        os.close(self._interrupt)
        super().close()

    def allocate(self, size):
        device = _U_DMA_BUF / self._buffer
        room = int((device / "size").read_text(), 0)
        if room < size:
            raise BoardError(f"{self.name}: {self._buffer} has {room} bytes, {size} are needed: load it with a size")
        return _memory(f"/dev/{self._buffer}", 0, size, int((device / "phys_addr").read_text(), 0))


class MemoryMap(_Registers):
    """Registers and memory by their bus addresses, in ``/dev/mem``; nobody else uses that memory, and no cache does."""

    def __init__(self, address, buffer):
        self.name = f"mem:{address}"
        self._buffer = _address(self.name, "buffer", buffer)
        super().__init__("/dev/mem", _address(self.name, "the registers' address", address))

    def allocate(self, size):
        return _memory("/dev/mem", self._buffer, size, self._buffer)


class XdmaMap(_Registers):
    """A card behind AMD's XDMA: registers by its user BAR, memory of the card by its channels.

    The path is as ``/dev/xdma0``, of which `_user`, `_h2c_0` and `_c2h_0` are used; the buffer an address of memory on
    the card that nobody else uses.
    """

    def __init__(self, path, buffer="0"):
        self.name = f"xdma:{path}"
        self._path = path
        self._address = _address(self.name, "buffer", buffer)
        super().__init__(f"{path}_user")

    def allocate(self, size):
        return CardMemory(self._path, self._address, size)


class CardMemory:
    """Bytes on a card, by slices; the path is as of `XdmaMap`."""

    def __init__(self, path, address, size):
        self.device_address = address
        self._size = size
        self._out = os.open(f"{path}_h2c_0", os.O_WRONLY)
        self._in = os.open(f"{path}_c2h_0", os.O_RDONLY)

    def __len__(self):
        return self._size

    def __getitem__(self, place):
        first, end, _ = place.indices(self._size)
        data = bytearray()
        while len(data) < end - first:
            part = os.pread(self._in, end - first - len(data), self.device_address + first + len(data))
            if not part:
                raise OSError(f"the card gives no bytes at {self.device_address + first + len(data):#x}")
            data += part
        return np.frombuffer(data, np.uint8)

    def __setitem__(self, place, data):
        first, _, _ = place.indices(self._size)
        data = memoryview(np.ascontiguousarray(data, np.uint8))
        done = 0
        while done < len(data):
            done += os.pwrite(self._out, data[done:], self.device_address + first + done)

    def freebuffer(self):
        os.close(self._out)
        os.close(self._in)


class _Shared(np.ndarray):
    """Bytes that know where the bus has them."""

    device_address = 0


def _pages(path, offset, size):
    file = os.open(path, os.O_RDWR | os.O_SYNC)
    try:
        return mmap.mmap(file, size, offset=offset)
    finally:
        os.close(file)


def _memory(path, offset, size, address):
    found = np.frombuffer(_pages(path, offset, -(-size // PAGE) * PAGE), np.uint8, size).view(_Shared)
    found.device_address = address
    return found


def _address(name, what, text):
    try:
        value = int(text, 0)
    except ValueError:
        value = -1
    if value < 0 or value % PAGE:
        raise ValueError(f"{name}: {what} must be a multiple of {PAGE}, as 0x70000000, not {text!r}")
    return value


MAPS = {"pynq": PynqMap, "uio": UioMap, "mem": MemoryMap, "xdma": XdmaMap}
