"""Which numbers are multiples."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from bregalad.protocol.registers import find

_BITS = find("every").fields[0].width


class Phase(wiring.Component):
    """Say of a number that mostly goes up by one at a time whether it is a multiple.

    Members
    -------
    every : In
        Of what; 0: no number is. Steady from 3 clocks before ``ready`` is looked at on.
    number : In(32)
    next : In(1)
        The number goes up by one with this clock.
    jumps : In(1)
        The number becomes any other with this clock, instead.
    multiple : Out(1)
        What it has become is a multiple.
    ready : Out(1)
        ``next`` may come. Falls for some 34 clocks as ``every`` has changed, and 2 clocks after ``jumps``.

    Latency: 1 cycle from ``next`` to ``multiple``, which stays up to the next.
    """

    every: In(_BITS)
    number: In(32)
    next: In(1)
    jumps: In(1)
    multiple: Out(1)
    ready: Out(1)

    def elaborate(self, platform):
        m = Module()
        divisor, last, ever = Signal(_BITS), Signal(_BITS), Signal()
        same = Signal(init=1)
        rest, wraps = Signal(_BITS), Signal()  # of the number
        left, bits = Signal(range(33)), Signal(32)  # of the division
        shifted = Signal(_BITS + 1)
        m.d.comb += [wraps.eq(rest == last), shifted.eq(Cat(bits[-1], rest))]
        m.d.sync += [
            self.ready.eq(same & (left == 0)),
            same.eq(self.every == divisor),
            last.eq(divisor - 1),
            ever.eq(divisor.any()),
        ]
        with m.If(left != 0):
            m.d.sync += [
                left.eq(left - 1),
                bits.eq(bits << 1),
                rest.eq(Mux(shifted >= divisor, shifted - divisor, shifted)),
            ]
        with m.Elif(~same):
            m.d.sync += [divisor.eq(self.every), same.eq(1), left.eq(32), bits.eq(self.number), rest.eq(0)]
        with m.Elif(self.next):
            m.d.sync += [rest.eq(Mux(wraps, 0, rest + 1)), self.multiple.eq(wraps & ever)]
        with m.If(self.jumps):  # it is divided anew, whatever goes on
            m.d.sync += [same.eq(0), left.eq(0)]
        return m
