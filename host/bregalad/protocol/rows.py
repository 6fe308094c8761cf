"""Rows: records as a program has them in memory, and what the board's quantiser is told to make codes of them.

A row layout says where a row has its label, its flags and its attributes. The quantiser does not read it as such: it
reads a row in *steps*. A step takes neighbouring attributes of one kind: as many numbers as the board has searchers, or
as many codes as a bus word has bytes. Each clock does one. A board without searchers reads codes only: a row with a
number has the label 255, which is no class, and an attribute's edges are dropped.

Of a row's flags bits 1:0 are a `RecordFlag`. Bits 7:2 are the instance's weight less 1, modulo 64: how often it is
counted, once where they are 0. It has one number and one prediction all the same, and an attempt that it makes due
comes behind it all. One of weight 0 is predicted, but neither its codes nor its class are counted. With MINUS or TEST
the weight says nothing.

Commands and rows are one ordered stream: a row that comes before a command is not touched by it.
"""

from collections import namedtuple
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import IntEnum, IntFlag

import numpy as np

from ..geometry import Geometry
from ..words import shown
from .commands import padded
from .layout import Field, Layout

EDGES = 255  # places for edges of an attribute; code 255 is a missing value's, so 254 are used
KEY_BYTES = 4  # of an edge
_MOST_STRIDE = 0xFFFF


class RowOpcode(IntEnum):
    """First byte of a command to the quantiser.

    An edge's key is an integer less its kind's least value, or a float32's bits, inverted if negative, else their sign.
    """

    RECORDS = 1  # rows follow: the first one begins at byte `offset` of the first word
    EDGES = 2  # an attribute's edges follow, rising, a key of 32 bits each; places beyond them are empty
    LAYOUT = 3  # steps follow, those of a row


class RowKind(IntEnum):
    """What an attribute's bytes are, little endian."""

    CODE = 0  # a byte: the code itself
    U8 = 1
    U16 = 2
    I32 = 3
    F32 = 4  # NaN is missing


class StepFlag(IntFlag):
    """What a step does beside its codes."""

    BEAT = 1  # the beat is complete with it
    LAST = 2  # the record is
    LABEL = 4  # the head's first byte is the label
    FLAGS = 8  # the head's second byte is the record's flags


WEIGHT_LOW = 2  # the lowest bit of a row's flags that belongs to the weight
_WEIGHTS = 1 << 8 - WEIGHT_LOW
MOST_WEIGHT = _WEIGHTS - 1


KIND_BYTES = {RowKind.CODE: 1, RowKind.U8: 1, RowKind.U16: 2, RowKind.I32: 4, RowKind.F32: 4}

ROW_COMMAND = Layout(
    "row command",
    Field("opcode", 8),
    Field("flags", 8, "RECORDS: flags of rows that have none."),
    Field("offset", 16, "RECORDS: byte of the first word that the first row begins at."),
    Field("count", 32, "Rows, edges or steps that follow."),
    Field("lane", 16, "EDGES: the searcher that has the attribute."),
    Field("row", 16, "EDGES: the attribute's place there."),
    Field("stride", 16, "LAYOUT: bytes from a row to the next one, at least 1."),
    Field("need", 16, "LAYOUT: bytes of a row that its first step needs."),
)

STEP = Layout(
    "step",
    Field("window", 16, "Where the bytes of lane 0 are, from the step's base on.", signed=True),
    Field("head", 16, "Where label and flags are, from the base on.", signed=True),
    Field("advance", 16, "Bytes from this step's base to the next one's. The first base is the row's begin."),
    Field("change", 16, "Bytes that the next step needs from its base on, less those of this one.", signed=True),
    Field("first", 16, "Lane of the first attribute in its beat."),
    Field("end", 16, "Lane after the last one."),
    Field("row", 16, "Where the searchers have the edges."),
    Field("kind", 8, "RowKind."),
    Field("flags", 8, "StepFlag."),
)

# A command's 16 bytes, and what follows it.
RowCommand = namedtuple("RowCommand", "head payload")


@dataclass(frozen=True)
class Column:
    """An attribute's place in a row."""

    name: str
    offset: int  # byte of the row that it begins at; any alignment
    kind: RowKind

    @property
    def end(self) -> int:
        """The byte after its last one."""
        return self.offset + KIND_BYTES[self.kind]


@dataclass(frozen=True)
class _Step:
    """Attributes of a beat that are read together, or none."""

    kind: RowKind = RowKind.CODE
    beat: int = 0
    first: int = 0
    end: int = 0
    row: int = 0
    window: int = 0  # byte of the row that lane 0 would be at
    head: int = 0
    flags: StepFlag = StepFlag(0)
    low: int = 0  # bytes of the row that it reads
    high: int = 0
    name: str = "the label"  # what it reads, for messages


def weighed(weights: np.ndarray) -> np.ndarray:
    """Flags of rows of these weights, integers of 0 to `MOST_WEIGHT`; uint8 array."""
    return ((weights + MOST_WEIGHT) % _WEIGHTS << WEIGHT_LOW).astype(np.uint8)


def weight_of(flags: int) -> int:
    """The weight of a row with neither MINUS nor TEST."""
    return (flags >> WEIGHT_LOW) + 1 & MOST_WEIGHT


class RowLayout:
    """Where a row has what: declared once per session.

    Columns are in the order of their codes; ``stride`` is the bytes from a row to the next one, 1 to 65535; unless
    given, rows are tightly packed. ``label`` is the byte that is the class index; rows without one have class 0.
    ``flags`` is the byte that holds `RecordFlag` and the weight (`weighed`); rows without have those of their command.
    TypeError if a column's kind is no `RowKind`, or a place no integer; ValueError if there are no columns, two have
    one name, or something does not lie within the stride.
    """

    def __init__(
        self,
        columns: Iterable[Column],
        stride: int | None = None,
        *,
        label: int | None = None,
        flags: int | None = None,
    ):
        self.columns = columns = tuple(columns)
        _check_columns(columns)
        places = [(f"attribute {column.name!r}", column.offset, column.end) for column in columns]
        for name, at in (("label", label), ("flags", flags)):
            if at is not None:
                _check_integer(name, at)
                places.append((name, at, at + 1))
        if stride is None:
            stride = max(end for _, _, end in places)
        _check_integer("stride", stride)
        if not 1 <= stride <= _MOST_STRIDE:
            raise ValueError(f"stride must be 1 to {_MOST_STRIDE} bytes, not {stride}")
        for name, at, end in places:
            if at < 0 or end > stride:
                raise ValueError(f"{name} lies at bytes {at} to {end - 1}, outside a row of {stride} bytes")
        self.stride = stride
        self.label = label
        self.flags = flags

    def command(self, geometry: Geometry, most: int | None = None) -> RowCommand:
        """LAYOUT: from now on rows are of this one. The board has room for so many steps at ``most``.

        ValueError if an attribute is a number and the board has no searchers, there are more attributes than cells or
        more steps than room, or attributes follow each other in such an order that a step would have to wait for bytes
        too far ahead.
        """
        steps = self._steps(geometry)
        if most is not None and len(steps) > most:
            raise ValueError(
                f"a row of this layout is read in {len(steps)} steps; the board has room for {most}. "
                "Attributes of one kind side by side take fewer"
            )
        # What is before a step's base is not read any more.
        bases = [0, *(min(step.low for step in steps[i:]) for i in range(1, len(steps))), self.stride]
        needs = [max(0, step.high - base) for step, base in zip(steps, bases, strict=False)]
        for step, need in zip(steps, needs, strict=True):
            if need > reach_of(geometry):
                raise ValueError(
                    f"{step.name} lies {need} bytes behind what is read after it; it may be {reach_of(geometry)} on "
                    f"a bus of {geometry.bus_width} bits. Give attributes in the order that they have in the row"
                )
        packed = []
        for i, step in enumerate(steps):
            last = i + 1 == len(steps)
            flags = step.flags | (StepFlag.LAST if last else 0)
            if last or steps[i + 1].beat != step.beat:
                flags |= StepFlag.BEAT
            packed.append(
                STEP.pack(
                    window=step.window - bases[i],
                    head=step.head - bases[i],
                    advance=bases[i + 1] - bases[i],
                    change=needs[0 if last else i + 1] - needs[i],
                    first=step.first,
                    end=step.end,
                    row=step.row,
                    kind=step.kind,
                    flags=flags,
                )
            )
        return _command(
            geometry, RowOpcode.LAYOUT, b"".join(packed), count=len(packed), stride=self.stride, need=needs[0]
        )

    def clocks(self, geometry: Geometry) -> float:
        """Clocks that the quantiser takes for a record: its steps or its bus words, whichever are more."""
        return max(len(self._steps(geometry)), self.stride / geometry.bus_bytes)

    def _steps(self, geometry):
        steps = self._with_heads(self._runs(geometry), geometry)
        if steps[0].high > reach_of(geometry):  # skip what nobody reads
            steps.insert(0, _Step())
        return steps

    def _runs(self, geometry):
        """Attributes in steps, none of which reads a label or flags."""
        if len(self.columns) > geometry.max_cells:
            raise ValueError(
                f"the layout has {len(self.columns)} attributes; "
                f"the board is built for {geometry.lanes} x {geometry.passes} = {geometry.max_cells}"
            )
        steps = []
        for index, column in enumerate(self.columns):
            beat, lane = divmod(index, geometry.lanes)
            size, name, row = KIND_BYTES[column.kind], f"attribute {column.name!r}", 0
            if column.kind is RowKind.CODE:
                together = geometry.bus_bytes
            else:
                _check_searchers(geometry, name)
                together, (_, row) = geometry.searchers, edges_place(geometry, index)
            window = column.offset - size * (lane % together)
            before = steps[-1] if steps else None
            if before and (before.beat, before.kind, before.window, before.first // together) == (
                beat,
                column.kind,
                window,
                lane // together,
            ):
                steps[-1] = replace(before, end=lane + 1, high=column.end)
                continue
            steps.append(
                _Step(column.kind, beat, lane, lane + 1, row, window, low=column.offset, high=column.end, name=name)
            )
        return steps

    def _with_heads(self, steps, geometry):
        """The same steps with label and flags, each in the step next to it; a step of its own if that is too far."""
        heads = [(StepFlag.LABEL, self.label, 1), (StepFlag.FLAGS, self.flags, 1)]  # what, its byte, bytes
        if self.label is not None and self.flags == self.label + 1:
            heads = [(StepFlag.LABEL | StepFlag.FLAGS, self.label, 2)]
        for what, low, size in heads:
            if low is None:
                continue
            high, head = low + size, low - (what is StepFlag.FLAGS)
            free = [i for i, step in enumerate(steps) if not step.flags]
            at = min(free, key=lambda i: abs(steps[i].low - low), default=None)
            if at is not None:
                step = steps[at]
                both = replace(step, head=head, flags=what, low=min(low, step.low), high=max(high, step.high))
            if at is not None and both.high - both.low <= geometry.bus_bytes * 2:
                steps[at] = both
            else:
                at = next((i for i, step in enumerate(steps) if step.low > low), len(steps))
                beat = steps[min(at, len(steps) - 1)].beat
                steps.insert(at, _Step(beat=beat, head=head, flags=what, low=low, high=high))
        return steps


def edges_place(geometry: Geometry, attribute: int) -> tuple[int, int]:
    """The searcher that finds an attribute's codes, and the attribute's place there."""
    beat, lane = divmod(attribute, geometry.lanes)
    group, searcher = divmod(lane, geometry.searchers)
    return searcher, beat * _groups(geometry) + group


def places_of(geometry: Geometry) -> int:
    """Attributes that a searcher has edges of."""
    return geometry.passes * _groups(geometry)


def _check_searchers(geometry, name):
    if not geometry.searchers:
        raise ValueError(
            f"{name} is a number, and the board has no searchers, which find codes of numbers: choose a geometry with "
            "searchers, or rows of codes"
        )


def _groups(geometry):
    """Steps of numbers that make a beat; 0 where there are none."""
    return -(-geometry.lanes // geometry.searchers) if geometry.searchers else 0


def reach_of(geometry: Geometry) -> int:
    """Bytes that a step may have to wait for, from its base on."""
    return 8 * max(geometry.bus_bytes, 8)


def edges_command(geometry: Geometry, attribute: int, keys: np.ndarray) -> RowCommand:
    """EDGES: from now on the attribute has these, by `bregalad.data.keys.edge_keys`: uint32, rising, 254 at most.

    ValueError if the board has no searchers, there is no such attribute, or they are too many or do not rise.
    """
    if not 0 <= attribute < geometry.max_cells:
        raise ValueError(f"attribute must be 0 to {geometry.max_cells - 1}, not {attribute}")
    _check_searchers(geometry, f"attribute {attribute}")
    keys = np.asarray(keys, "<u4")
    if keys.ndim != 1 or len(keys) >= EDGES:
        raise ValueError(f"an attribute has at most {EDGES - 1} edges, not {keys.size}")
    if (keys[1:] < keys[:-1]).any():
        raise ValueError(f"attribute {attribute}: edges must rise")
    lane, row = edges_place(geometry, attribute)
    return _command(geometry, RowOpcode.EDGES, keys.tobytes(), count=len(keys), lane=lane, row=row)


def records_command(
    geometry: Geometry, layout: RowLayout, rows: bytes, *, offset: int = 0, flags: int = 0
) -> RowCommand:
    """RECORDS: whole rows of a layout that has been sent; after the last one the stride's rest may be missing.

    They begin at byte ``offset`` of the first word; ``flags`` are a RecordFlag of rows that have none of their own.
    ValueError if the rows are not whole or the offset is not in the first word.
    """
    rows = bytes(rows)
    count = -(-len(rows) // layout.stride)
    used = max(column.end for column in layout.columns)
    used = max(used, *(at + 1 for at in (layout.label, layout.flags) if at is not None), 0)
    if count and len(rows) - (count - 1) * layout.stride < used:
        raise ValueError(f"{len(rows)} bytes are no whole rows of {layout.stride}")
    if not 0 <= offset < geometry.bus_bytes:
        raise ValueError(f"offset must be 0 to {geometry.bus_bytes - 1}, not {offset}")
    payload = bytes(offset) + rows + bytes(count * layout.stride - len(rows)) if count else b""
    return _command(geometry, RowOpcode.RECORDS, payload, count=count, offset=offset, flags=flags)


def _command(geometry, opcode, payload, **values):
    return RowCommand(ROW_COMMAND.pack(opcode=opcode, **values), padded(payload, geometry.bus_bytes))


def _check_columns(columns):
    if not columns:
        raise ValueError("a row layout needs at least one attribute")
    names = [column.name for column in columns]
    for column in columns:
        if not isinstance(column.kind, RowKind):
            kinds = ", ".join(kind.name for kind in RowKind)
            raise TypeError(f"attribute {column.name!r}: kind must be a RowKind ({kinds}), not {shown(column.kind)}")
        _check_integer(f"attribute {column.name!r}: offset", column.offset)
        if names.count(column.name) > 1:
            raise ValueError(f"two attributes are named {column.name!r}; names must be distinct")


def _check_integer(name, value):
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, not {shown(value)}")
