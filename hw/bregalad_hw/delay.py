"""Registers, or a memory, that a value passes through while others are worked on."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .members import drive

_PLACES = 16  # of a distributed RAM


class DelayLine(wiring.Component):
    """A long delay in distributed RAM: up to 16 registers of 4 bits in three slices of an ECP5.

    Parameters
    ----------
    width : int
        Bits of the value.
    clocks : int
        3 to 17.

    Members
    -------
    i : In(width)
    o : Out(width)
        From a register without reset, which a multiplier can take in.

    Latency: ``clocks``. Throughput: 1 value per clock, no stalls.
    """

    def __init__(self, width, clocks):
        if not 3 <= clocks <= _PLACES + 1:
            raise ValueError(f"clocks must be 3 to {_PLACES + 1}, not {clocks!r}")
        self.clocks = clocks
        super().__init__({"i": In(width), "o": Out(width)})

    def elaborate(self, platform):
        m = Module()
        places = self.clocks - 1  # the output's register is the last
        m.submodules.memory = memory = Memory(shape=len(self.i), depth=places, init=[])
        write, read = memory.write_port(), memory.read_port(domain="comb")
        # The oldest value is read where the newest is written at the end of the clock.
        place = Signal(range(places), reset_less=True)
        oldest = Signal.like(self.o, reset_less=True)
        m.d.sync += [place.eq(place + 1), oldest.eq(read.data)]
        with m.If(place == places - 1):
            m.d.sync += place.eq(0)
        m.d.comb += [
            *drive(write, en=1, addr=place, data=self.i),
            read.addr.eq(place),
            self.o.eq(oldest),
        ]
        return m


def stages(m, value, clocks, name, *, reset_less=False):
    """``value`` as it was one to so many clocks ago: registers, named ``name`` with a number from 0 on."""
    after = [Signal.like(value, name=f"{name}_{i}", reset_less=reset_less) for i in range(clocks)]
    m.d.sync += [late.eq(early) for early, late in zip([value, *after], after, strict=False)]
    return after


def delay(m, value, clocks, name, *, reset_less=True):
    """``value`` as it was so many clocks ago.

    Its registers have no reset unless told: a reset outlasts what is under way (``RESET_CLOCKS``).
    """
    return [value, *stages(m, value, clocks, name, reset_less=reset_less)][-1]
