"""A core in a system on chip: registers that are mapped, rings and records in memory that both sides see."""

import os
import time
import weakref
from collections import deque

import numpy as np

from ..interrupt import check_interrupt, deferred_interrupt
from ..protocol.pages import page_bytes
from ..protocol.registers import find
from ..protocol.soc import BUFFER, DESCRIPTOR, PAGE, SOC_BASE, SOC_VERSION, Stop, find_soc
from .base import BoardError
from .device import Remote

_RING = 256  # descriptors
_REPORTS = 1 << 16  # bytes of the report ring
_COMMANDS = 1 << 18  # bytes for commands that wait
_LOOK = 0.05  # seconds for which an interrupt is awaited; then it is looked whether one can come
_LINE = 64  # bytes: a multiple of every line of a cache that may be between
_STATUS = find("status")
_INDEX = 0xFFFFFFFF  # where indices go round
_REASONS = {
    Stop.INDEX: "more descriptors are produced than the ring has",
    Stop.SLVERR: "the bus has answered SLVERR",
    Stop.DECERR: "no memory has answered (DECERR), or the address is outside the core's window",
    Stop.MISALIGNED: "a buffer does not begin or end at a bus word",
}


class MappedBoard(Remote):
    """The driver of a core with registers and memory in reach of this processor.

    All memory that the core may touch is one buffer, its window: first what LEARN names, then the rings, then commands,
    each from a page on. Where caches are between, what is written is flushed at once, and what the core has written is
    invalidated before it is read; no line has both. A driver that begins ends what another one has left: the bus is
    left as it must be, and the core begins anew.

    ``mapped``, as `PynqMap` and the others of `maps`, has ``read(offset)`` and ``write(offset, value)`` of registers of
    32 bits, ``allocate(size)`` of bytes for DMA at a page, ``name``, and ``close()`` if there is one. What is allocated
    takes slices, and has ``device_address``; it and its slices have ``flush()`` and ``invalidate()`` if caches are
    between. ``wait(seconds)``, if the core's interrupt can be awaited, returns then, or after so long; else the driver
    polls.

    The geometry is what the core is expected to be; its own if not given. ``memory_size`` bytes are for LEARN with the
    MEMORY flag, those of pages come on top; ``memory`` are these bytes where they are: records that are made there need
    no copy. It is None on a card, whose memory is out of reach. For ``timeout`` seconds, above 0, the core may do
    nothing while something is waited for. ValueError if an option is out of range, BoardError if there is no such core,
    or it is not what was expected.

    Source: docs/soc.md.
    """

    def __init__(self, mapped, geometry=None, *, memory_size=1 << 20, timeout=5.0):
        self._enter(mapped.name, geometry, timeout)
        if not isinstance(memory_size, int) or not 0 <= memory_size < (1 << 32) - (1 << 24):
            raise ValueError(f"memory_size must be an integer from 0 to 4 GiB less 16 MiB, not {memory_size!r}")
        self._mapped = mapped
        self._tail = b""  # the begin of a report whose end has not come
        self._allocated = []
        self._release_all = weakref.finalize(self, _part, mapped, self._allocated, self._process)
        try:
            self._begin()
            self._identify(geometry)
            self.memory_size = -(-memory_size // PAGE) * PAGE
            self._place()
        except BaseException:
            self.close()
            raise

    # The core

    def _get(self, name):
        return self._mapped.read(SOC_BASE + find_soc(name).addr)

    def _set(self, name, value):
        self._mapped.write(SOC_BASE + find_soc(name).addr, value)

    def _begin(self):
        """End what is under way; the rings are empty then. BoardError if there is no core of this version."""
        core = self._get("core")
        if core & 0xFF != SOC_VERSION:
            raise BoardError(
                f"{self.name}: register {SOC_BASE:#x} reads {core:#x}, version {core & 0xFF}; this driver knows "
                f"{SOC_VERSION}: there is no such core here, or its bitstream is not loaded"
            )
        _write(self._mapped, "control", reset=1)
        self._set("interrupt_mask", 0)
        limit = time.monotonic() + self.timeout
        while _state(self._mapped)["resetting"]:
            if time.monotonic() > limit:
                raise BoardError(
                    f"{self.name}: the core waits for an answer of its bus since {self.timeout:g} s: reset the system"
                )

    def _place(self):
        """Allocate the window and begin the rings."""
        reports = self.memory_size + PAGE * -(-_RING * DESCRIPTOR.size // PAGE)
        size = reports + _REPORTS + _COMMANDS + page_bytes(self.geometry)  # at the window's end
        self._buffer = buffer = self._mapped.allocate(size)
        self._allocated.append(buffer)
        base = int(buffer.device_address)
        if base % PAGE:
            raise BoardError(f"{self.name}: memory for DMA begins at {base:#x}, not at a page of {PAGE} bytes")
        if len(buffer) < size:
            raise BoardError(f"{self.name}: there are {len(buffer)} bytes of memory for DMA, {size} are needed")
        self.memory = buffer[: self.memory_size] if isinstance(buffer, np.ndarray) else None
        self._sync("flush", 0, size)  # or what is left of its last use would be written over what the core writes
        self._ring, self._reports, self._commands = self.memory_size, reports, reports + _REPORTS
        for name, value in (
            ("window_low", base & 0xFFFFFFFF),
            ("window_high", base >> 32),
            ("window_size", -(-size // PAGE) * PAGE),
            ("commands_ring", self._ring),
            ("commands_size", _RING.bit_length() - 1),
            ("reports_ring", self._reports),
            ("reports_size", _REPORTS.bit_length() - 1),
        ):
            self._set(name, value)
        self._produced = self._consumed = self._get("commands_produced")
        self._read = self._get("reports_consumed")
        self._waiting = deque()  # bytes of commands of each descriptor that is not consumed
        self._at, self._free = 0, _COMMANDS  # where commands go, and how many bytes are free
        _write(self._mapped, "control", run=1)

    def _sync(self, do, place, size):
        """``flush`` what was written to memory, or ``invalidate``, so that what is read comes from there."""
        if hasattr(self._buffer, do):
            getattr(self._buffer[place // _LINE * _LINE : -(-(place + size) // _LINE) * _LINE], do)()

    # State

    def _check_rings(self):
        """Raise BoardError if a ring has stalled."""
        state = _state(self._mapped)
        if state["commands"]:
            index = self._get("commands_consumed")
            address = self._get("failed_low") | self._get("failed_high") << 32
            raise self._fail(
                f"the command ring has stalled at descriptor {index}, address {address:#x}: "
                f"{_REASONS[Stop(state['commands'])]}; nothing is lost, resume() goes on with it"
            )
        if state["reports"]:
            raise self._fail(
                f"the report ring has stalled at word {self._get('reports_produced')}, address "
                f"{self._get('reports_failed'):#x}: {_REASONS[Stop(state['reports'])]}; nothing is lost, resume() goes "
                "on with it"
            )
        return state

    def resume(self):
        """Go on with what has failed; a BoardError if it fails again, after which `resume` may be called anew."""
        self._down = None
        self._check()
        _write(self._mapped, "control", run=1, resume=1)
        self._check_rings()

    def close(self):
        self._release_all()  # once
        self._closed = True

    # Commands and reports

    def send(self, data):
        self._check()
        data = self._words(data)
        most = _COMMANDS // 2
        with deferred_interrupt():
            for at in range(0, data.size, most):
                self._offer(data[at : at + most])

    def _offer(self, data):
        """One descriptor, as soon as there is room for it and its bytes."""
        if not data.size:
            return
        skipped = _COMMANDS - self._at if self._at + data.size > _COMMANDS else 0
        taken = data.size + skipped
        self._wait(lambda: self._free >= taken, "for room for commands")
        at = 0 if skipped else self._at
        place = self._commands + at
        self._buffer[place : place + data.size] = data
        self._sync("flush", place, data.size)
        self._describe(place, data.size, taken)
        self._at = at + data.size

    def _describe(self, place, size, taken):
        """A descriptor of bytes that lie in memory, for which so many are taken of those for commands."""
        self._wait(lambda: len(self._waiting) < _RING, "for room for descriptors")
        descriptor = DESCRIPTOR.pack(opcode=BUFFER, count=size, address=place)
        ring = self._ring + self._produced % _RING * DESCRIPTOR.size
        self._buffer[ring : ring + DESCRIPTOR.size] = np.frombuffer(descriptor, np.uint8)
        self._sync("flush", ring, DESCRIPTOR.size)
        self._free -= taken
        self._waiting.append(taken)
        self._produced = self._produced + 1 & _INDEX
        self._set("commands_produced", self._produced)

    def _take(self):
        """Look what is consumed, and take reports; whether anything has moved."""
        consumed, produced = self._get("commands_consumed"), self._get("reports_produced")
        moved = consumed != self._consumed or produced != self._read
        while self._consumed != consumed:
            self._free += self._waiting.popleft()
            self._consumed = self._consumed + 1 & _INDEX
        count = produced - self._read & _INDEX
        if count > _REPORTS // 4:
            raise self._fail(f"{count} words of reports are more than the ring has: reset the system")
        if count:
            first = self._read * 4 % _REPORTS
            end = min(first + 4 * count, _REPORTS)
            for low, high in ((first, end), (0, 4 * count - (end - first))):
                if low < high:
                    self._sync("invalidate", self._reports + low, high - low)
                    self._tail += bytes(self._buffer[self._reports + low : self._reports + high])
            self._read = produced
            self._set("reports_consumed", produced)
        return moved

    def _wait(self, done, what, ends=False):
        """Take reports until ``done()``; where it ``ends``, nothing is waited for that cannot come, and Ctrl-C does."""
        limit, idle = time.monotonic() + self.timeout, 0
        while not done():
            if self._take():
                limit, idle = time.monotonic() + self.timeout, 0
                continue
            self._check_rings()
            if ends:
                check_interrupt()
                # Twice: a report's last words may be under way when it says that it is idle.
                at_rest = self._consumed == self._produced and not self.read("status.busy")
                idle = idle + 1 if at_rest and _state(self._mapped)["idle"] else 0
                if idle == 2:
                    raise self._no_report_due()
                if (sleep := getattr(self._mapped, "wait", None)) is not None:  # until something comes, not for long
                    waits = self._consumed != self._produced
                    _write(self._mapped, "interrupt_mask", reports=1, commands=waits, stopped=1)
                    sleep(_LOOK)
            if time.monotonic() > limit:
                raise self._fail(f"nothing has moved for {self.timeout:g} s, waiting {what}: the core hangs: reset it")

    def receive(self, wait=False):
        self._check()
        self._take()
        if wait:
            self._wait(lambda: self._whole(self._tail), "for a report", ends=True)
        end = self._whole(self._tail)
        reports, self._tail = self._tail[:end], self._tail[end:]
        return reports

    def load(self, address, data):
        data = self._to_load(address, data)
        if self.memory is None or self.memory.ctypes.data + address != data.ctypes.data:
            self._buffer[address : address + data.size] = data
        self._sync("flush", address, data.size)

    # Registers

    def _read_register(self, register):
        self._check()
        return self._mapped.read(register.addr)

    def _write_register(self, register, value):
        self._check()
        # What is under way could hold the processor's bus; so it is waited for here.
        with deferred_interrupt():
            self._wait(lambda: self._consumed == self._produced, "for commands to be taken")
            self._wait(lambda: not _STATUS.values(self._mapped.read(_STATUS.addr))["busy"], "for commands to be done")
            self._mapped.write(register.addr, value)
        if register.name == "cells":
            self._cells = max(1, self._mapped.read(register.addr))


def _write(mapped, name, **fields):
    """Write a register of the core's."""
    register = find_soc(name)
    mapped.write(SOC_BASE + register.addr, sum(fields.get(f.name, 0) << lsb for f, lsb in register.layout()))


def _state(mapped):
    """Fields of `state`: idle, resetting, and why either ring has stalled."""
    register = find_soc("state")
    return register.values(mapped.read(SOC_BASE + register.addr))


def _part(mapped, allocated, process):
    """Stop the core, if there is one, so that it writes to nobody's memory, and give that back."""
    if os.getpid() != process:
        return
    try:
        if mapped.read(SOC_BASE + find_soc("core").addr) & 0xFF == SOC_VERSION:
            _write(mapped, "control", reset=1)
            limit = time.monotonic() + 1
            while _state(mapped)["resetting"] and time.monotonic() < limit:
                pass
    finally:
        for owner, name in (*((buffer, "freebuffer") for buffer in allocated), (mapped, "close")):
            if (give_back := getattr(owner, name, None)) is not None:
                give_back()
