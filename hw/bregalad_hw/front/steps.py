"""The table of a row's steps."""

from amaranth import Assert, Module, Mux, Signal, signed
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out
from bregalad.protocol.rows import KEY_BYTES, STEP, StepFlag, places_of

from ..layout import struct
from ..members import drive

UNITS = STEP.size // KEY_BYTES  # in which a step comes
BYTES_WIDTH = 18  # bits of a signed number of bytes: a stride, what a step needs and some words


def step_layout(geometry, ring):
    """A step as it is carried out.

    Parameters
    ----------
    geometry : Geometry
    ring : int
        Bytes of the ring that it is read from, a power of two; places there are counted from the step's base on.
    """
    return data.StructLayout(
        {
            "window": range(ring),
            "head": range(ring),
            "advance": range(ring),  # of the base
            "uses": signed(BYTES_WIDTH),  # bytes: the next step needs so many more from this one's base on
            "first": range(geometry.lanes),
            "end": range(geometry.lanes + 1),
            "row": range(places_of(geometry)),
            "kind": 3,
            **{flag.name.lower(): 1 for flag in StepFlag},
        }
    )


class StepTable(wiring.Component):
    """Hold a row's steps, and have the next one ready.

    Parameters
    ----------
    geometry : Geometry
    steps : int
        Places, a power of two, at least 2.
    ring : int
        As of `step_layout`.

    Members
    -------
    write : In(1)
        Write ``value``, 32 bits of a step.
    unit : In
        Which ones, counted from those of the first step on.
    value : In(32)
    load : In(1)
        Go on to the next step; to the first one after a row's last.
    restart : In(1)
        Go on to the first step; no ``load`` in the clock after it.
    o : Out(step_layout(geometry, ring))
        It is the row's ``last`` in the table's last place, too.

    Latency: 1 clock from ``load`` to ``o``, a register, and 2 from ``restart``. Steps that were never written are
    none's attributes.
    """

    def __init__(self, geometry, steps, ring):
        if steps < 2 or steps & (steps - 1):
            raise ValueError(f"steps must be a power of two, at least 2, not {steps!r}")
        self.steps = steps
        self.layout = step_layout(geometry, ring)
        super().__init__(
            {
                **dict.fromkeys(("write", "load", "restart"), In(1)),
                "unit": In(range(steps * UNITS)),
                "value": In(8 * KEY_BYTES),
                "o": Out(self.layout),
            }
        )

    def elaborate(self, platform):
        m = Module()
        # A block RAM takes half a clock to answer, so the step behind `o` is read already.
        ahead, place, following = Signal(self.layout), Signal(range(self.steps)), Signal(range(self.steps))
        begins, moves, reads = Signal(), Signal(), Signal()
        m.d.comb += [
            moves.eq(self.load | begins),
            reads.eq(moves | self.restart),
            following.eq(Mux(self.restart | ahead.last, 0, place + 1)),
        ]
        m.d.sync += [begins.eq(self.restart), Assert(~(begins & self.load), "there is no step yet")]
        with m.If(reads):
            m.d.sync += place.eq(following)
        with m.If(moves):
            m.d.sync += self.o.eq(ahead)

        # As if each unit had all of them.
        incoming = data.View(struct(STEP), self.value.replicate(UNITS))
        units = [
            {"window": incoming.window, "head": incoming.head},
            {"advance": incoming.advance, "uses": incoming.advance + incoming.change},
            {"first": incoming.first, "end": incoming.end},
            {
                "row": incoming.row,
                "kind": incoming.kind,
                **{flag.name.lower(): (incoming.flags & int(flag)) != 0 for flag in StepFlag},
            },
        ]
        for unit, fields in enumerate(units):
            m.submodules[f"unit_{unit}"] = held = memory.Memory(
                shape=data.StructLayout({name: self.layout[name].shape for name in fields}), depth=self.steps, init=[]
            )
            write, read = held.write_port(), held.read_port()
            m.d.comb += [
                *drive(write, en=self.write & (self.unit % UNITS == unit), addr=self.unit // UNITS),
                *(write.data[name].eq(value) for name, value in fields.items()),
                *drive(read, en=reads, addr=following),
                *(ahead[name].eq(read.data[name]) for name in fields),
            ]
        with m.If(place == self.steps - 1):
            m.d.comb += ahead.last.eq(1)
        return m
