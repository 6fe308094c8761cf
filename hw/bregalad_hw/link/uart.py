"""Serial line: 8 data bits, no parity, one stop bit."""

from amaranth import Cat, Module, Signal
from amaranth.lib import cdc, stream, wiring
from amaranth.lib.wiring import In, Out

_FRACTION = 24  # bits of a bit's phase: the rate is within 1e-6 of the clock's share
_BITS = 10  # start, 8 data, stop


def _step(clock_hz, baud):
    """The phase that a clock adds; ValueError if a bit would take fewer than 4 clocks."""
    if baud <= 0 or 4 * baud > clock_hz:
        raise ValueError(f"baud must be at least 1 and at most a quarter of the clock ({clock_hz} Hz), not {baud!r}")
    return round(baud * (1 << _FRACTION) / clock_hz)


class UartReceiver(wiring.Component):
    """Bytes from a serial line, sampled in the middle of their bits.

    Parameters
    ----------
    clock_hz, baud : int
        Frequency of the clock domain and bits per second, at least 4 clocks each.

    Members
    -------
    rx : In(1)
        The line, asynchronous; 1 when idle.
    o : Out(stream of 8)
    lost : Out(1)
        A byte was dropped: its stop bit was missing, or the one before was not taken yet.

    Latency: 6 clocks and 9.5 bits from the start bit's edge to ``o.valid``. The line goes through a majority of three
    clocks, so a shorter pulse is not seen. From 8 clocks per bit on, the rates of both ends may differ by 2.5 %.
    """

    def __init__(self, clock_hz, baud):
        self.step = _step(clock_hz, baud)
        super().__init__({"rx": In(1, init=1), "o": Out(stream.Signature(8)), "lost": Out(1)})

    def elaborate(self, platform):
        m = Module()
        line = Signal(init=1)
        m.submodules.synchroniser = cdc.FFSynchronizer(self.rx, line, init=1)
        recent = Signal(2, init=3)
        level = Signal(init=1)
        m.d.sync += [
            recent.eq(Cat(line, recent)),
            level.eq((line & recent[0]) | (line & recent[1]) | (recent[0] & recent[1])),
        ]

        phase = Signal(_FRACTION)
        sample = Signal()
        left = Signal(range(_BITS + 1))
        bits = Signal(8)
        m.d.sync += Cat(phase, sample).eq(phase + self.step)
        with m.If(self.o.ready):
            m.d.sync += self.o.valid.eq(0)
        m.d.sync += self.lost.eq(0)
        with m.FSM():
            with m.State("IDLE"):
                m.d.sync += [
                    # Half a bit to the middle of the start bit, less what it takes to notice it.
                    phase.eq((1 << _FRACTION - 1) + 3 * self.step // 2),
                    sample.eq(0),
                    left.eq(_BITS),
                ]
                with m.If(~level):
                    m.next = "BITS"
            with m.State("BITS"):
                with m.If(sample):
                    m.d.sync += [left.eq(left - 1), bits.eq(Cat(bits, level)[1:])]
                    with m.If((left == _BITS) & level):
                        m.next = "IDLE"
                    with m.If(left == 1):
                        # The stop bit: what has come before is the byte.
                        m.d.sync += self.lost.eq(~level | (self.o.valid & ~self.o.ready))
                        with m.If(level & (~self.o.valid | self.o.ready)):
                            m.d.sync += [self.o.valid.eq(1), self.o.payload.eq(bits)]
                        # The next start bit may be half a bit away.
                        with m.If(level):
                            m.next = "IDLE"
                        with m.Else():
                            m.next = "BREAK"
            with m.State("BREAK"):
                with m.If(level):
                    m.next = "IDLE"
        return m


class UartTransmitter(wiring.Component):
    """Bytes to a serial line.

    Parameters
    ----------
    clock_hz, baud : int
        As of `UartReceiver`.

    Members
    -------
    i : In(stream of 8)
    tx : Out(1)
        The line; 1 when idle.

    Latency: 2 clocks from a transfer on ``i`` to the start bit. Throughput: a byte in 10 bits and 4 clocks at most.
    """

    def __init__(self, clock_hz, baud):
        self.step = _step(clock_hz, baud)
        super().__init__({"i": In(stream.Signature(8)), "tx": Out(1, init=1)})

    def elaborate(self, platform):
        m = Module()
        phase = Signal(_FRACTION)
        step = Signal()
        bits = Signal(_BITS, init=(1 << _BITS) - 1)
        left = Signal(range(_BITS + 1))
        taken = self.i.valid & self.i.ready
        m.d.sync += [Cat(phase, step).eq(phase + self.step), self.tx.eq(bits[0]), self.i.ready.eq((left == 0) & ~taken)]
        with m.If(left == 0):
            m.d.sync += [phase.eq(0), step.eq(0)]
            with m.If(taken):
                m.d.sync += [bits.eq(Cat(0, self.i.payload, 1)), left.eq(_BITS)]
        with m.Elif(step):
            m.d.sync += [bits.eq(Cat(bits[1:], 1)), left.eq(left - 1)]
        return m
