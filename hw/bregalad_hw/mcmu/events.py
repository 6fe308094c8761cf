"""Count many kinds of events in one memory."""

from amaranth import Array, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ..members import drive

_WIDTH = 32


class EventCounters(wiring.Component):
    """A counter for each kind of event, all in one distributed RAM.

    What has happened of each kind since it was last added is a small count in registers. Every other
    clock the next kind's is added to its counter, in the clocks between that of the counter that is read.

    Parameters
    ----------
    most : dict
        By kind of event, how many may come in a clock.

    Members
    -------
    <kind> : In(range(most + 1))
        Events of this clock.
    clear : In(1)
        All counters return to 0.
    read : In(range(len(most)))
        The counter that is looked at.
    value : Out(32)
        What it is, `latency` clocks after it was first asked for; it stays up to date. Wraps.

    Latency: 4 clocks from ``read`` to ``value``, 8 from an event to ``value``.
    """

    latency = 4

    def __init__(self, most):
        self.most = dict(most)
        super().__init__(
            {
                **{name: In(range(count + 1)) for name, count in self.most.items()},
                "clear": In(1),
                "read": In(range(len(self.most))),
                "value": Out(_WIDTH),
            }
        )

    def elaborate(self, platform):
        m = Module()
        kinds = len(self.most)
        m.submodules.totals = totals = Memory(shape=_WIDTH, depth=kinds, init=[])
        write, total = totals.write_port(), totals.read_port(domain="comb")

        # Each kind in turn, between them the one that is read.
        turn, between = Signal(range(kinds)), Signal()
        kind, next_kind, added = Signal.like(turn), Signal.like(turn), Signal.like(turn)
        visited, visits, adding, looked_at = Signal(), Signal(), Signal(), Signal()
        m.d.sync += [between.eq(~between), kind.eq(next_kind)]
        with m.If(between):
            m.d.sync += turn.eq(Mux(turn == kinds - 1, 0, turn + 1))
        # A counter that is being added to is not there yet: it is left for its next turn.
        m.d.comb += [next_kind.eq(Mux(between, self.read, turn)), visits.eq(~(visited & (next_kind == kind)))]

        recent = []
        empty = Signal(kinds, init=(1 << kinds) - 1)  # counters that have no total yet
        for index, (name, most) in enumerate(self.most.items()):
            events, count = (
                Signal(range(most + 1), name=f"{name}_now"),
                Signal(range(most * (2 * kinds + 2)), name=name),
            )
            chosen = Signal(name=f"{name}_chosen")
            m.d.sync += [
                chosen.eq(visits & (next_kind == index)),
                events.eq(getattr(self, name)),
                count.eq(Mux(chosen, 0, count) + events),
            ]
            with m.If(chosen):
                m.d.sync += empty[index].eq(0)
            with m.If(self.clear):
                m.d.sync += [events.eq(0), count.eq(0)]
            recent.append(count)
        with m.If(self.clear):
            m.d.sync += empty.eq(empty.init)

        before, more, after = Signal(_WIDTH), Signal(max(map(len, recent))), Signal(_WIDTH)
        m.d.comb += [
            total.addr.eq(kind),
            after.eq(before + more),
            *drive(write, addr=added, data=after, en=adding),
        ]
        m.d.sync += [
            visited.eq(visits),
            adding.eq(visited),
            added.eq(kind),
            looked_at.eq(kind == self.read),
            more.eq(Array(recent)[kind]),
            before.eq(total.data),
        ]
        with m.If(empty.bit_select(kind, 1)):
            m.d.sync += before.eq(0)
        with m.If(adding & looked_at):
            m.d.sync += self.value.eq(after)
        return m
