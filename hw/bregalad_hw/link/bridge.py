"""From taken frames to the accelerator's commands and registers."""

from amaranth import Assert, Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from bregalad.protocol.link import FrameType

from ..members import drive
from ..registers import ADDRESS_WIDTH, CSR, READ_LATENCY
from .words import VALUE


class Bridge(wiring.Component):
    """Hand on frames strictly in order.

    Parameters
    ----------
    bus_width : int
        Bits of a word of the command stream.

    Members
    -------
    i : In(stream of 32)
        Frames: their first header word, then the payload.
    commands : Out(stream of bus_width)
    csr : Out(CSR)
        An access begins once all commands before it are taken. An address that is no register's reads 0.
    values : Out(stream of {address: 16, value: 32})
        What was read.

    Latency: 1 clock from a bus word's last word to ``commands``, 7 from a read's second word to
    ``values``. Throughput: a word per clock; a clock more for each bus word of several.
    """

    def __init__(self, bus_width):
        self.bus_width = bus_width
        super().__init__(
            {
                "i": In(stream.Signature(32)),
                "commands": Out(stream.Signature(bus_width)),
                "csr": Out(CSR),
                "values": Out(stream.Signature(VALUE)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        i, csr = self.i, self.csr
        parts = self.bus_width // 32
        bus = self.commands
        word = i.payload

        left = Signal(14)  # words of the frame
        part = Signal(range(max(2, parts)))
        address, write = Signal(16), Signal()
        known = Signal()
        wait = Signal(range(READ_LATENCY + 2))
        moved = Signal()
        m.d.comb += moved.eq(i.valid & i.ready)
        with m.If(moved):
            m.d.sync += left.eq(left - 1)
        m.d.sync += csr.w_en.eq(0)

        with m.If(bus.ready):
            m.d.sync += bus.valid.eq(0)
        with m.FSM() as fsm:
            with m.State("HEAD"):
                m.d.comb += i.ready.eq(1)
                m.d.sync += left.eq(word[18:32])
                with m.If(i.valid & (word[18:32] != 0)):
                    with m.If(word[:8] == FrameType.COMMANDS):
                        m.next = "COMMANDS"
                    with m.Else():
                        m.next = "ADDRESS"
            with m.State("COMMANDS"):
                m.d.comb += i.ready.eq(~bus.valid | bus.ready)
                with m.If(moved):
                    m.d.sync += bus.payload.eq(Cat(bus.payload, word)[32:])
                    with m.If(part == parts - 1):
                        m.d.sync += [part.eq(0), bus.valid.eq(1)]
                    with m.Else():
                        m.d.sync += part.eq(part + 1)
                    with m.If(left == 1):
                        m.next = "HEAD"
            with m.State("ADDRESS"):
                m.d.comb += i.ready.eq(~bus.valid)
                m.d.sync += [address.eq(word[:16]), write.eq(word[16]), known.eq((word[:16] >> 2 + ADDRESS_WIDTH) == 0)]
                with m.If(moved):
                    m.next = "VALUE"
                    with m.If(left == 1):
                        m.next = "HEAD"
            with m.State("VALUE"):
                m.d.comb += i.ready.eq(1)
                m.d.sync += [csr.addr.eq(address >> 2), csr.w_data.eq(word), wait.eq(READ_LATENCY)]
                with m.If(moved):
                    m.d.sync += csr.w_en.eq(write & known)
                    m.next = "WAIT"
            with m.State("WAIT"):
                # A pulse field takes a clock more than a value to work, so a write waits too.
                m.d.sync += wait.eq(wait - 1)
                with m.If(wait == 0):
                    m.d.sync += [
                        self.values.valid.eq(~write),
                        *drive(self.values.p, address=address, value=csr.r_data),
                    ]
                    with m.If(~known):
                        m.d.sync += self.values.p.value.eq(0)
                    m.next = "ANSWER"
            with m.State("ANSWER"):
                with m.If(~self.values.valid | self.values.ready):
                    m.d.sync += self.values.valid.eq(0)
                    with m.If(left == 0):
                        m.next = "HEAD"
                    with m.Else():
                        m.next = "ADDRESS"
        m.d.sync += Assert(~self.values.valid | fsm.ongoing("ANSWER"), "a value out of turn")
        return m
