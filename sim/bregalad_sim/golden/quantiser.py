"""What the quantiser makes of rows, in plain Python: one row, one step, one attribute after the other."""

import struct
from dataclasses import dataclass, field

from bregalad.geometry import MISSING
from bregalad.protocol.rows import EDGES, KIND_BYTES, ROW_COMMAND, STEP, RowKind, RowOpcode, StepFlag

_SIGN = 1 << 31
_NO_CLASS = 255


@dataclass
class QuantisedBeat:
    """P codes of a record; its label and flags as far as they are known."""

    label: int
    flags: int
    codes: list
    first: int
    last: int


@dataclass
class _Layout:
    steps: list = field(default_factory=list)
    stride: int = 1
    need: int = 0

    @property
    def reach(self):
        """Bytes of a row up to the last one that a step needs."""
        base, need, reach = 0, self.need, 0
        for step in self.steps:
            reach = max(reach, base + need)
            base, need = base + step["advance"], need + step["change"]
        return reach


class GoldenQuantiser:
    """Execute commands in the order that they come.

    Parameters
    ----------
    geometry : Geometry
    """

    def __init__(self, geometry):
        self.geometry = geometry
        self.edges = {}  # keys by searcher and place
        self.layout = _Layout()

    def execute(self, head, payload):
        """What a command makes the quantiser give: a list of `QuantisedBeat`."""
        command = ROW_COMMAND.unpack(head)
        count = int(command["count"])
        match command["opcode"]:
            case RowOpcode.LAYOUT:
                steps = [STEP.unpack(payload[STEP.size * i :]) for i in range(count)]
                self.layout = _Layout(
                    [{name: int(s[name]) for name in s.dtype.names} for s in steps],
                    int(command["stride"]),
                    int(command["need"]),
                )
            case RowOpcode.EDGES:
                keys = list(struct.unpack_from(f"<{count}I", payload))
                self.edges[int(command["lane"]), int(command["row"])] = keys[:EDGES]
            case RowOpcode.RECORDS:
                begins = (int(command["offset"]) + self.layout.stride * i for i in range(count))
                return [beat for begin in begins for beat in self._record(payload, begin, int(command["flags"]))]
        return []

    def _record(self, data, base, flags):
        """The beats of the row that begins at byte ``base``."""
        label, beats, lost = 0, [], False
        codes = [MISSING] * self.geometry.lanes
        for step in self.layout.steps:
            head = base + step["head"]
            if step["flags"] & StepFlag.LABEL:
                label = data[head]
            if step["flags"] & StepFlag.FLAGS:
                flags = data[head + 1]
            lost |= step["kind"] != RowKind.CODE and not self.geometry.searchers
            if lost:
                label = _NO_CLASS
            for lane in range(step["first"], step["end"]):
                codes[lane] = self._code(data, base + step["window"], lane, RowKind(step["kind"]), step["row"])
            last = step["flags"] & StepFlag.LAST != 0
            if last or step["flags"] & StepFlag.BEAT:
                beats.append(QuantisedBeat(label, flags, codes, int(not beats), int(last)))
                codes = [MISSING] * self.geometry.lanes
            base += step["advance"]
        return beats

    def _code(self, data, window, lane, kind, row):
        """The code of an attribute that is in this lane of its beat."""
        size = KIND_BYTES[kind]
        if kind is RowKind.CODE:
            return data[window + lane % self.geometry.bus_bytes]
        if not self.geometry.searchers:
            return MISSING
        searcher = lane % self.geometry.searchers
        at = window + size * searcher
        key = key_of(data[at : at + size], kind)
        return MISSING if key is None else sum(edge <= key for edge in self.edges[searcher, row])


def key_of(data, kind):
    """A number's bytes as an integer that is in the numbers' order; None if it is missing."""
    number = int.from_bytes(data, "little")
    match kind:
        case RowKind.U8 | RowKind.U16:
            return number
        case RowKind.I32:
            return number ^ _SIGN
    exponent, fraction = number >> 23 & 0xFF, number & 0x7FFFFF
    if exponent == 0xFF and fraction:
        return None
    return number ^ (0xFFFFFFFF if number & _SIGN else _SIGN)
