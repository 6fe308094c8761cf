"""Hand an item over as often as it weighs."""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from bregalad.protocol.rows import MOST_WEIGHT

from .members import drive

WEIGHT = MOST_WEIGHT.bit_length()  # bits


def copy_layout(layout):
    """An item of a layout, and which of its copies it is."""
    return data.StructLayout({name: field.shape for name, field in layout} | {"zero": 1, "again": 1, "more": 1})


class Repeat(wiring.Component):
    """Copies of each item, as many as its weight says; one with ``zero`` if that is 0.

    Parameters
    ----------
    layout : StructLayout
        With a ``weight``.

    Members
    -------
    i : In(stream of layout)
        Taken with its last copy.
    o : Out(stream of copy_layout(layout))
        ``again``: it is not the first, ``more``: it is not the last.

    Latency: 0 cycles. Throughput: a copy per cycle.
    """

    latency = 0

    def __init__(self, layout):
        super().__init__({"i": In(stream.Signature(layout)), "o": Out(stream.Signature(copy_layout(layout)))})

    def elaborate(self, platform):
        m = Module()
        item, copy = self.i.payload, self.o.payload
        passed, again = Signal(WEIGHT), Signal()
        m.d.comb += [
            copy.as_value()[: len(Value.cast(item))].eq(item),
            *drive(copy, zero=item.weight == 0, again=again),
            copy.more.eq((item.weight != 0) & (passed + 1 != item.weight)),
            self.o.valid.eq(self.i.valid),
            self.i.ready.eq(self.o.ready & ~copy.more),
        ]
        with m.If(self.o.valid & self.o.ready):
            m.d.sync += [passed.eq(Mux(copy.more, passed + 1, 0)), again.eq(copy.more)]
        return m
