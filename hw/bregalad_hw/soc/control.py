"""The core's reset: the bus is left as it must be, then everything begins anew."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..accelerator import RESET_CLOCKS


class ResetControl(wiring.Component):
    """Stop the bus, wait for what is under way, reset.

    Members
    -------
    start : In(1)
        For a clock: begin.
    quiet : In(1)
        Nothing was under way on the bus a clock ago, nor began then.
    stop : Out(1)
        Nothing may begin there: with `quiet`, nothing is under way now.
    reset : Out(1)
        For 64 clocks; from the beginning on, too.
    ready : Out(1)
        All is over: nothing is stopped or reset.

    Latency: 2 clocks from ``start`` to ``reset``, or as long as the bus takes; 64 from there to ``ready``.
    """

    start: In(1)
    quiet: In(1)
    stop: Out(1)
    reset: Out(1)
    ready: Out(1)

    def elaborate(self, platform):
        m = Module()
        left = Signal(range(RESET_CLOCKS), init=RESET_CLOCKS - 1)
        with m.If(left != 0):
            m.d.sync += left.eq(left - 1)
        with m.FSM(init="RESET") as fsm:
            m.d.comb += [
                self.reset.eq(fsm.ongoing("RESET")),
                self.stop.eq(fsm.ongoing("STOP") | self.reset),
                self.ready.eq(fsm.ongoing("READY")),
            ]
            with m.State("READY"):
                with m.If(self.start):
                    m.next = "STOP"
            with m.State("STOP"):
                with m.If(self.quiet):
                    m.d.sync += left.eq(RESET_CLOCKS - 1)
                    m.next = "RESET"
            with m.State("RESET"):
                with m.If(left == 0):
                    m.next = "READY"
        return m
