"""Keep whole records until every node of their path has counted them."""

from amaranth import Module, Mux, Signal
from amaranth.lib import data, fifo, memory, stream, wiring
from amaranth.lib.wiring import In, Out
from bregalad.geometry import CODE_WIDTH
from bregalad.protocol.commands import RecordFlag

from ..array.operation import slot_shape
from ..repeat import WEIGHT
from ..replica import replicate
from .dispenser import Dispenser, beats_signature

__all__ = ["HEADERS", "RecordBuffer", "header_layout"]

HEADERS = 16  # records in the buffer at most
_LANES = 8  # whose codes are in one memory
# Places for what `room` does not know of: this clock's beat and those under way to here. Of
# headers it knows a clock later.
_KEPT_FREE = 1 + Dispenser.under_way
_HEADERS_FREE = _KEPT_FREE + 1


def header_layout(geometry):
    """What the tracker needs to know of a record."""
    return data.StructLayout(
        {
            "slot": slot_shape(geometry),
            "label": max(1, (geometry.classes - 1).bit_length()),
            "minus": 1,
            "test": 1,
            # On boards that hold trees: its node has a slot, and how often it is counted.
            **({"there": 1, "weight": WEIGHT} if geometry.nodes else {}),
            # It has come down an alternate; the record goes down another way behind this.
            **({"alternate": 1, "follows": 1} if geometry.alternates else {}),
        }
    )


class RecordBuffer(wiring.Component):
    """Store beats, hand over headers of complete and valid records, read beats again at will.

    A record is counted wholly or not at all: its header appears after its last beat. Records of
    slots or classes that do not exist are dropped here.

    Parameters
    ----------
    geometry : Geometry

    Members
    -------
    i : In(beats_signature(geometry))
    room : Out(1)
        There is room for the beats that a `Dispenser` has under way, and one more.
    discard : In(1)
        Beats are taken and dropped.
    rewind : In(1)
        Beats of the incomplete record are dropped; not together with a transfer.
    o : Out(stream of {slot, label, minus, test})
    read_at : In(pass)
        A beat of the oldest record that is not freed.
    codes : Out(ArrayLayout(8, P))
        That beat, ``latency`` clocks later.
    free : In(1), passes : In
        The oldest record, of ``passes`` beats, is not needed any more.
    empty : Out(1)
    good, bad : Out(1)
        A record that counts (has no TEST) was handed over, a record was dropped.

    Latency: 2 cycles from ``read_at`` to ``codes``, 1 from the last beat to ``o.valid``.
    """

    latency = 2

    def __init__(self, geometry):
        self.geometry = g = geometry
        self.pass_bits = max(1, (g.passes - 1).bit_length())
        # A record that is read, one that comes in, and as much again for the way from `room` by
        # dispenser, header and tracker to `free`.
        self.depth = max(16, 1 << (3 * g.passes + _KEPT_FREE - 1).bit_length())
        super().__init__(
            {
                "i": In(beats_signature(g)),
                "room": Out(1),
                "discard": In(1),
                "rewind": In(1),
                "o": Out(stream.Signature(header_layout(g))),
                "read_at": In(self.pass_bits),
                "codes": Out(data.ArrayLayout(CODE_WIDTH, g.lanes)),
                "free": In(1),
                "passes": In(range(g.passes + 1)),
                "empty": Out(1),
                "good": Out(1),
                "bad": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        g = self.geometry
        bits = self.depth.bit_length() - 1

        headers = fifo.SyncFIFO(width=header_layout(g).size, depth=HEADERS)
        m.submodules.headers = headers

        # One bit more than an address: full and empty differ.
        put, kept, oldest = Signal(bits + 1), Signal(bits + 1), Signal(bits + 1)
        room, moved = Signal(), Signal()
        # Whether a record is freed is known last.
        level = Signal(range(self.depth + 2))
        m.d.comb += level.eq((put - oldest)[: bits + 1] + moved)
        m.d.sync += room.eq(
            Mux(self.free, level <= self.depth - _KEPT_FREE + self.passes, level <= self.depth - _KEPT_FREE)
            & (headers.level <= HEADERS - _HEADERS_FREE)
        )
        header = self.i.payload.header
        known = (header.slot < g.slots) & (header.label < g.classes)
        test = (header.flags & int(RecordFlag.TEST)) != 0
        m.d.comb += [
            self.room.eq(room | self.discard),
            moved.eq(self.i.valid & ~self.discard),
            self.good.eq(headers.w_en & ~test),
            self.bad.eq(moved & self.i.payload.last & ~known),
            headers.w_en.eq(moved & self.i.payload.last & known),
        ]
        taken = Signal(header_layout(g))
        m.d.comb += [
            taken.slot.eq(header.slot),
            taken.label.eq(header.label),
            taken.minus.eq((header.flags & int(RecordFlag.MINUS)) != 0),
            taken.test.eq(test),
            headers.w_data.eq(taken),
            self.o.payload.eq(headers.r_data),
            self.o.valid.eq(headers.r_rdy),
            headers.r_en.eq(self.o.ready),
            self.empty.eq(headers.level == 0),
        ]
        # Some lanes to a memory, each with its own register for the address. A beat that is freed
        # stays until `room` has come to know of it, so it may be read a clock later.
        for low in range(0, g.lanes, _LANES):
            part = slice(low, min(low + _LANES, g.lanes))
            codes = self.codes.as_value()[CODE_WIDTH * part.start : CODE_WIDTH * part.stop]
            m.submodules[f"beats_{low}"] = beats = memory.Memory(shape=len(codes), depth=self.depth, init=[])
            write, read = beats.write_port(), beats.read_port()
            m.d.comb += [
                write.en.eq(moved),
                write.addr.eq(put[:bits]),
                write.data.eq(self.i.payload.codes.as_value()[CODE_WIDTH * part.start : CODE_WIDTH * part.stop]),
                read.addr.eq(replicate(m, f"read_{low}", (oldest + self.read_at)[:bits])),
                codes.eq(read.data),
            ]
        with m.If(moved):
            m.d.sync += put.eq(put + 1)
            with m.If(self.i.payload.last & known):
                m.d.sync += kept.eq(put + 1)
            with m.If(self.i.payload.last & ~known):
                m.d.sync += put.eq(kept)
        with m.Elif(self.rewind):
            m.d.sync += put.eq(kept)
        with m.If(self.free):
            m.d.sync += oldest.eq(oldest + self.passes)
        return m
