"""Keep the codes of records from the quantiser until every node of their path has counted them."""

from amaranth import Cat, Module, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out
from bregalad.geometry import CODE_WIDTH

from ..duplicate import duplicated
from ..members import drive

_LANES = 8  # whose codes are in one memory


class RecordStore(wiring.Component):
    """A place for each record, whatever beats it has.

    Parameters
    ----------
    geometry : Geometry
    records : int
        Places, a power of two, at least 2.

    Members
    -------
    put : In(1)
        A beat comes: ``written``, and whether it is the record's ``last``.
    written : In(ArrayLayout(8, P)), last : In(1)
    read_at : In(pass)
        A beat of the oldest record that is not freed.
    codes : Out(ArrayLayout(8, P))
        That beat, ``latency`` clocks later.
    free : In(1)
        The oldest record is not needed any more. It may still be read a clock later.

    Latency: 2 cycles from ``read_at`` to ``codes``.
    """

    latency = 2

    def __init__(self, geometry, records):
        self.geometry = g = geometry
        self.records = records
        super().__init__(
            {
                **dict.fromkeys(("put", "last", "free"), In(1)),
                "written": In(data.ArrayLayout(CODE_WIDTH, g.lanes)),
                "read_at": In(max(1, (g.passes - 1).bit_length())),
                "codes": Out(data.ArrayLayout(CODE_WIDTH, g.lanes)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        g = self.geometry
        beat_bits = (g.passes - 1).bit_length()
        beat, newest, oldest = Signal(beat_bits), Signal(range(self.records)), Signal(range(self.records))
        with m.If(self.put):
            m.d.sync += beat.eq(beat + 1)
            with m.If(self.last):
                m.d.sync += [beat.eq(0), newest.eq(newest + 1)]
        with m.If(self.free):
            m.d.sync += oldest.eq(oldest + 1)
        # Some lanes to a memory, each with its own register for the address.
        for low in range(0, g.lanes, _LANES):
            part = slice(CODE_WIDTH * low, CODE_WIDTH * min(low + _LANES, g.lanes))
            codes = self.codes.as_value()[part]
            m.submodules[f"codes_{low}"] = kept = memory.Memory(
                shape=len(codes), depth=self.records << beat_bits, init=[]
            )
            write, read = kept.write_port(), kept.read_port()
            m.d.comb += [
                *drive(write, en=self.put, addr=Cat(beat, newest), data=self.written.as_value()[part]),
                read.addr.eq(duplicated(m, f"read_{low}", Cat(self.read_at[:beat_bits], oldest))),
                codes.eq(read.data),
            ]
        return m
