"""The board as a compiled model: bit-exact, without any hardware."""

from math import prod
from mmap import ACCESS_COPY, mmap

import numpy as np

from ..criteria import criterion_of
from ..fixed import BAYES_TABLE, LOG_BASE, LOG_SLOPE
from ..geometry import NONE
from ..protocol.commands import COMMAND_BYTES, PATH_LIMIT, record_layout
from ..protocol.registers import CONFIGURATION, EVENTS, Access, identity_fields
from ..protocol.reports import Kind, layout_of
from . import kernel
from .base import Board, BoardError, check_memory_size

__all__ = ["EmulatedBoard"]

_TABLE_SIZE = 1 << 16
_LOGS_SIZE = 1 << 14
_OUT_WORDS = 1 << 16
_tables: list = []
_logs: list = []
_bayes_table = np.array(BAYES_TABLE, np.int64)


def _table():
    """x log2 x of small x; computed when the first board is opened."""
    if not _tables:
        table = np.empty(_TABLE_SIZE, np.int64)
        kernel.fill_table(table, *_curve(LOG_BASE, LOG_SLOPE))
        _tables.append(table)
    return _tables[0]


def _bayes_logs():
    """Naive Bayes terms of small counts; computed when the first board is opened."""
    if not _logs:
        logs = np.empty((2, _LOGS_SIZE), np.int32)
        kernel.fill_logs(logs, _bayes_table)
        _logs.append(logs)
    return _logs[0]


def _curve(base, slope):
    return np.array(base, np.int64), np.array(slope, np.int64)


def _measure(criterion):
    """What compiled code looks up for a criterion; of entropy also x log2 x of small x."""
    curve = () if criterion.curve is None else _curve(*criterion.curve)
    if criterion.name == "information_gain":
        curve = _table(), *curve
    return kernel.measure_of(criterion, *curve)


def _zeros(shape, kind):
    """Zeros in memory that comes as it is touched: NumPy writes all of what it takes from its freed arrays.

    A process that is forked has a copy of it, as of any other memory.
    """
    size = prod(shape) * np.dtype(kind).itemsize
    return np.frombuffer(mmap(-1, size, access=ACCESS_COPY), kind).reshape(shape) if size else np.zeros(shape, kind)


def _frozen(array):
    view = array.view()
    view.flags.writeable = False  # as `as_bytes` gives, so that Numba sees one type
    return view


class EmulatedBoard(Board):
    """The golden model, compiled by Numba; what is sent is executed at once.

    What a tree needs of it is compiled at its first use on a machine, and kept on disk.

    Parameters
    ----------
    geometry : Geometry
    memory_size : int
        Bytes of memory for LEARN with the MEMORY flag.

    Members
    -------
    faults : dict
        Bus word address to `ErrorCode`: words that memory shall not answer, for tests.

    Source: sim/bregalad_sim/golden/.
    """

    name = "emulated"
    instant = True

    def __init__(self, geometry, memory_size=1 << 24):
        super().__init__(geometry)
        check_memory_size(geometry, memory_size)
        g = geometry
        self.memory_size = memory_size
        self._memory = np.zeros(memory_size, np.uint8)
        self._fields = {}
        cells, classes = g.max_cells, g.classes
        reserve = self._reserve()
        try:
            counts = _zeros((g.slots, g.bins, classes, cells), np.uint32)
            shares = _zeros((g.slots * g.naive_bayes, (g.bins + 2) * classes * cells), np.int16)
        except (MemoryError, OSError, OverflowError):
            raise MemoryError(
                f"emulated: there is no memory for {g.slots} slots of {g.bins} bins, {classes} classes and {cells} "
                "cells: take fewer slots"
            ) from None
        counters = counts.reshape(g.slots, -1)
        self._state = kernel.State(
            lanes=g.lanes,
            bus_bytes=g.bus_bytes,
            count_max=g.count_max,
            gain_half=1 << g.gain_width - 1,
            reserve=reserve,
            registers=np.zeros(len(kernel.SETTINGS), np.int64),
            config=np.zeros((len(kernel.CELL_SETTINGS), cells), np.uint8),
            entries=np.zeros((g.slots, kernel.COUNTS + classes), np.int64),
            counts=counts,
            counters=counters,
            shares=shares,
            lo=np.zeros((g.slots, cells), np.uint8),
            shift=np.full((g.slots, cells), g.root_shift, np.uint8),
            events=np.zeros(len(EVENTS), np.int64),
            progress=np.zeros(kernel.PROGRESS, np.int64),
            found=np.zeros((cells, kernel.FOUND), np.int64),
            scratch=np.zeros((3, classes), np.int64),
            order=np.arange(cells),
            wanted=np.ones(cells, np.bool_),
            codes=np.zeros(cells, np.int32),
            places=np.zeros(cells, np.int32),
            scores=np.zeros(classes, np.int64),
            logs=_bayes_logs(),
            bayes_table=_bayes_table,
            measure=_measure(criterion_of(g.criterion)),
            memory=_frozen(self._memory),
            faults=np.zeros((0, 2), np.int64),
            out=np.empty(reserve + max(reserve, _OUT_WORDS), np.uint32),
        )
        self._state.entries[:, [kernel.LINK, kernel.CURRENT]] = NONE
        self._state.config[kernel.FIRST] = 1
        for register in CONFIGURATION:
            for field in register.fields:
                self._fields[f"{register.name}.{field.name}"] = field.reset
        self._store_configuration()
        self._pending = b""  # the beginning of a command or record whose rest was not sent yet
        self._chunks = []
        self._fixed = identity_fields(g) | {"ram.bytes": memory_size}

    @property
    def state(self):
        return self._state

    def _reserve(self):
        """Words that the reports of one record or command need at most."""
        g = self.geometry
        sizes = {kind: layout_of(kind, g, g.max_cells).size // 4 for kind in Kind}
        return (
            PATH_LIMIT * max(sizes[Kind.SUGGESTION], sizes[Kind.GAINS])
            + sizes[Kind.SCORES]
            + max(sizes[Kind.STATISTICS], sizes[Kind.ENTRY], sizes[Kind.ERROR])
        )

    # Commands and reports

    def send(self, data):
        data = self._words(data)
        if self._pending:
            # Join no more than the longest head, record or payload: the rest need not be copied.
            g = self.geometry
            longest = (
                max(COMMAND_BYTES, g.bus_bytes)
                + g.bus_bytes
                + max(
                    record_layout(g.max_cells).size,
                    *(layout_of(kind, g, 0).size for kind in (Kind.ENTRY, Kind.STATISTICS)),
                )
            )
            joined = self._pending + data[:longest].tobytes()
            done = self._execute(np.frombuffer(joined, np.uint8))
            if data.size <= longest:
                self._pending = joined[done:]
                return
            data = data[done - len(self._pending) :]
        self._pending = data[self._execute(data) :].tobytes()

    def _execute(self, data):
        """Execute all that ``data`` holds; the bytes consumed."""
        state = self._state
        progress = state.progress
        at = np.int64(0)
        while True:
            if not progress[kernel.LEFT]:
                at += kernel.execute(state, data[at:])
            if progress[kernel.LOADING]:
                at += self._take(data[at:])
                if progress[kernel.LOADING]:
                    return at
                continue
            records = bool(progress[kernel.LEFT])
            if records:
                at = kernel.learn(state, data, at)
            if progress[kernel.ASKED]:
                kernel.ask(state, progress[kernel.ASKED] - 1)
                progress[kernel.ASKED] = 0
            elif progress[kernel.USED] + state.reserve > state.out.size:
                self._collect()
            elif progress[kernel.LEFT] or not records:
                return at

    def _take(self, data):
        """Write to memory what is there of what a LOAD brings; the bytes consumed."""
        progress = self._state.progress
        address, count = progress[kernel.ADDRESS], min(progress[kernel.LOADING], data.size)
        self._memory[address : address + count] = data[:count]
        progress[kernel.ADDRESS] += count
        progress[kernel.LOADING] -= count
        return count

    def _collect(self):
        used = self._state.progress[kernel.USED]
        if used:
            self._chunks.append(self._state.out[:used].tobytes())
            self._state.progress[kernel.USED] = 0

    def receive(self, wait=False):
        self._collect()
        answer, self._chunks = b"".join(self._chunks), []
        if wait and not answer:
            raise BoardError(
                "emulated: no report can come, since all commands sent are done: "
                "send what shall be answered before waiting"
            )
        return answer

    # Memory

    def load(self, address, data):
        data = self._to_load(address, data)
        self._memory[address : address + data.size] = data

    @property
    def faults(self):
        return {int(address): int(code) for address, code in self._state.faults}

    @faults.setter
    def faults(self, faults):
        pairs = np.array(list(faults.items()), np.int64).reshape(-1, 2)
        self._state = self._state._replace(faults=pairs)

    # Registers

    def _read_register(self, register):
        name = register.name
        fixed = self._fixed
        if name in EVENTS:
            return int(self._state.events[list(EVENTS).index(name)]) & 0xFFFFFFFF
        if name == "status":
            progress = self._state.progress
            return int(progress[kernel.HALTED]) | (self._under_way() << 1)
        value = 0
        for field, lsb in register.layout():
            full = f"{name}.{field.name}"
            value |= fixed.get(full, self._fields.get(full, 0)) << lsb
        return value

    def _under_way(self):
        progress = self._state.progress
        return bool(self._pending or progress[kernel.LEFT] or progress[kernel.LOADING] or progress[kernel.SKIP])

    def _write_register(self, register, value):
        name = register.name
        taken = register.taken(value, self.geometry)
        for field in register.fields:
            if field.access is Access.RW:
                self._fields[f"{name}.{field.name}"] = taken[field.name]
        if name == "control" and taken["clear"]:
            self._state.events[:] = 0
        elif name == "cell" and taken["write"]:
            self._state.config[:, taken["index"]] = [self._fields[name] for name in kernel.CELL_SETTINGS]
        else:
            self._store_configuration()

    def _store_configuration(self):
        self._state.registers[:] = [self._fields[name] for name in kernel.SETTINGS]
