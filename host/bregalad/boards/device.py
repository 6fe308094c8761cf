"""Boards that are reached by registers, commands and reports."""

import os
from abc import abstractmethod
from typing import TypeAlias

import numpy as np

from ..geometry import Geometry
from ..protocol.registers import EVENTS, MAGIC, TIMINGS, VERSION, Access, Register, find, geometry_of
from ..protocol.reports import layout_of
from .base import Board, BoardError, as_bytes

_MOST = 1 << 12  # reports that are looked at together


def run_of(words, geometry, cells):
    """Of the reports of one kind that words begin with: words of each, and how many whole ones, of many the first.

    ``words`` is a uint32 array from a report's beginning on, ``cells`` those in use. ValueError for an unknown kind.
    """
    kind = int(words[0]) & 0xFF
    size = layout_of(kind, geometry, cells).size // 4
    alike = words[: min(len(words) // size, _MOST) * size : size] & 0xFF == kind
    return size, len(alike) if alike.all() else int(alike.argmin())


Data: TypeAlias = bytes | bytearray | memoryview | np.ndarray


class Device(Board):
    """Registers, an ordered stream of commands, and the reports that answer it.

    The geometry is what the driver expects; `check_identity` compares it with the board's registers. Records are sent
    ``batch_bytes`` at a time: enough to hide a link's round trip. Candidates are looked at in between.

    Source: design, sections 6 and 7.
    """

    batch_bytes = 1 << 18

    # What a device implements

    @abstractmethod
    def _read_register(self, register: Register) -> int:
        """The 32-bit value of a `Register`."""

    @abstractmethod
    def _write_register(self, register: Register, value: int) -> None:
        """Write a value, already validated, to a `Register`."""

    @abstractmethod
    def send(self, data: Data) -> None:
        """Queue commands: whole bus words, else a ValueError; a command may be spread over several calls."""

    @abstractmethod
    def receive(self, wait: bool = False) -> bytes:
        """All complete reports that there are, in order; with ``wait`` one at least, a BoardError if none can come."""

    # Registers

    def read_register(self, name: str) -> int:
        """The 32-bit value of a register; KeyError if there is none of that name."""
        return self._read_register(find(name))

    def write_register(self, name: str, value: int) -> None:
        """Write a whole register; errors as of `write_fields`."""
        register = find(name)
        width = sum(field.width for field in register.fields)
        if not 0 <= value < 1 << width:
            raise ValueError(f"{name}: {value} does not fit {width} bits")
        self.write_fields(name, **register.values(int(value)))

    def read(self, name: str) -> int:
        """The value of ``"register.field"``."""
        name, _, field = name.partition(".")
        register = find(name)
        if all(field != known.name for known in register.fields):
            raise _no_field(register, field)
        return register.values(self._read_register(register))[field]

    def write(self, name: str, value: int) -> None:
        """Write ``"register.field"``; the register's other fields get their reset value."""
        register, _, field = name.partition(".")
        self.write_fields(register, **{field: value})

    def write_fields(self, name: str, **values: int) -> None:
        """Write all fields of register ``name`` at once, between commands; those not named get their reset value.

        KeyError if there is no such register or field, ValueError if it is read-only, or the board takes no such value.
        """
        register, word = find(name), 0
        if all(field.access is Access.RO for field in register.fields):
            raise ValueError(f"register {name!r} is read-only")
        for field, lsb in register.layout():
            bits, (least, most) = values.pop(field.name, field.reset), field.range(self.geometry)
            if not least <= bits <= most:
                raise ValueError(f"{name}.{field.name}: this board takes {least} to {most}, not {bits}")
            word |= int(bits) << lsb
        if values:
            raise _no_field(register, min(values))
        self._write_register(register, word)

    def counters(self) -> dict[str, int]:
        return {name: self.read_register(name) for name in (*EVENTS, *TIMINGS)}

    # Identity

    def read_geometry(self) -> Geometry:
        """The geometry that the board's registers tell."""
        return geometry_of(self.read)

    def found_geometry(self) -> Geometry:
        """The geometry of the board that there is; a BoardError with the remedy if it is none of this release."""
        magic = self.read("identity.magic")
        if magic != MAGIC:
            raise BoardError(
                f"{self.name}: identity register reads {magic:#010x}, expected {MAGIC:#010x}: "
                "this is not a Bregalad board, or its bitstream is not loaded"
            )
        version = self.read("build.version")
        if version != VERSION:
            raise BoardError(
                f"{self.name}: bitstream speaks protocol version {version}, this driver "
                f"{VERSION}: rebuild the bitstream with this release, or install that of the "
                "bitstream"
            )
        try:
            return self.read_geometry()
        except ValueError as error:
            raise BoardError(
                f"{self.name}: geometry registers make no sense ({error}): reset the board and load its bitstream again"
            ) from error

    def check_identity(self) -> None:
        """Raise a BoardError with the remedy unless the board's registers tell what is expected of it."""
        expected = self.geometry.as_dict()
        wrong = [
            f"{key} is {value}, expected {expected[key]}"
            for key, value in self.found_geometry().as_dict().items()
            if value != expected[key]
        ]
        if wrong:
            raise BoardError(
                f"{self.name}: {'; '.join(wrong)}: open the board with the geometry that its bitstream was built for"
            )

    def _words(self, data):
        """``data`` as a uint8 array of whole bus words."""
        data = as_bytes(data)
        if data.size % self.geometry.bus_bytes:
            raise ValueError(f"data must be whole bus words of {self.geometry.bus_bytes} bytes, not {data.size} bytes")
        return data

    def _to_load(self, address, data):
        """``data`` as a uint8 array that fits the board's memory at ``address``, where it overwrites what there is."""
        data = as_bytes(data)
        if not 0 <= address <= self.memory_size - data.size:
            raise ValueError(
                f"{data.size} bytes at {address:#x} do not fit the board's memory of {self.memory_size} bytes"
            )
        for resident in list(self.residents):
            if address < resident.address + resident.bytes and resident.address < address + data.size:
                self.residents.discard(resident)
        return data

    def _no_report_due(self):
        """The error for who waits in vain."""
        return BoardError(
            f"{self.name}: no report can come, since all commands sent are done: send what shall be answered before "
            "waiting"
        )


class Remote(Device):
    """A device out of this process: once a call has failed, every one does until `resume`.

    A call gives up after ``timeout`` seconds.
    """

    _closed = False
    _down = None  # the error that every call raises until `resume`
    _cells = 1  # in use

    def _enter(self, name, geometry, timeout):
        """Be a board, not open yet; a ValueError if ``timeout`` is no number of seconds above 0."""
        if not isinstance(timeout, int | float) or isinstance(timeout, bool) or not timeout > 0:
            raise ValueError(f"timeout must be a number of seconds above 0, not {timeout!r}")
        self.name, self.geometry, self.timeout, self._process = name, geometry, timeout, os.getpid()

    def _identify(self, expected):
        """Have the geometry that is expected, else the board's own; a BoardError if the board has another one."""
        found = self.found_geometry()
        super().__init__(found if expected is None else expected)
        self.check_identity()

    def read_geometry(self):
        geometry = super().read_geometry()
        geometry.check_hardware()
        return geometry

    @property
    def cut(self):
        return self._down is not None

    def _check_open(self):
        if self._closed:
            raise BoardError(f"{self.name}: the board is closed: open it again")
        if os.getpid() != self._process:
            raise BoardError(
                f"{self.name}: this process was forked from the one that has the "
                "board, which goes on with it: load a saved tree here"
            )

    def _check(self):
        self._check_open()
        if self._down is not None:
            raise BoardError(self._down)

    def _fail(self, message):
        """The error for a board that works no more."""
        self._down = f"{self.name}: {message}"
        return BoardError(self._down)

    def _whole(self, data):
        """Bytes of complete reports at the beginning of data; a BoardError if one of them is of no kind."""
        try:
            words, at = np.frombuffer(data, "<u4"), 0
            while at < len(words):
                size, count = run_of(words[at:], self.geometry, self._cells)
                if not count:
                    break
                at += count * size
        except ValueError as error:
            raise self._fail(f"{error}: its bitstream is not sound, or not of this release") from None
        return 4 * at


def _no_field(register, name):
    fields = ", ".join(field.name for field in register.fields)
    return KeyError(f"no field {name!r} in register {register.name!r}; there are {fields}")
