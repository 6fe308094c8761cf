"""Attempts: queue them, lock their slots, take the snapshots."""

from functools import reduce
from operator import or_

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, fifo, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from bregalad.protocol.reports import AttemptFlag

from ..array.operation import CELL_WIDTH, Op, operation_layout, slot_shape
from ..gain.scan import SNAPSHOTS
from ..members import assign, drive
from .slots import entry_layout

ATTEMPTS = 4  # that may wait for their snapshot
_COPIED = ("n", "class_counts", "inherited", "all_up_to")  # of a slot's row to its attempt


def head_layout(geometry):
    """A slot as it is when it is tried: what its report and the decider are told."""
    g = geometry
    entry = entry_layout(g)
    return data.StructLayout(
        {
            "slot": slot_shape(g),
            "flags": 8,
            "number": 32,  # of the last record before
            **{name: entry[name].shape for name in _COPIED},
        }
    )


def attempt_layout(geometry):
    """An attempt: its report's head, and the node's split cell."""
    return data.StructLayout({"head": head_layout(geometry), "current": CELL_WIDTH})


def attempt_of(m, attempt, slot, entry, number):
    """Drive ``attempt`` with what an attempt of ``slot`` captures of its entry, and with the record's number."""
    m.d.comb += [
        *drive(attempt.head, slot=slot, number=number),
        *assign(attempt.head, entry, *_COPIED),
        attempt.head.flags.eq(reduce(or_, (Mux(entry[flag.name.lower()], flag, 0) for flag in AttemptFlag))),
        attempt.current.eq(entry.current),
    ]


class AttemptScheduler(wiring.Component):
    """Keep attempts in order and take their snapshots as soon as the gain units have room.

    A slot is locked from its attempt's push until its last SNAP is issued. SNAPs take the place of other operations.

    Parameters
    ----------
    geometry : Geometry
    depth : int
        Attempts that may wait for their snapshot, at least 1.
    heads : int
        Attempts that may wait for their report, at least ``depth``.
    snapshots : int
        Passes that the array holds.

    Members
    -------
    i : In(stream of {head, current})
        Taken only in clocks that are not `held`. ``ready`` comes from a register.
    slot_a, slot_c : In(slot); locked_a, locked_c : Out(1)
        Whether a slot is still locked in the next clock, but for this clock's push.
    passes : In
        Beats of an instance.
    snap_freed : In(1)
        For one clock per pass: the array has its place free again.
    wait : In(1)
        No pass begins.
    op : Out(operation); valid : Out(1)
        A SNAP that goes to the array this clock.
    hold : Out(1)
        No other operation may go in the next clock.
    held : Out(1)
        Nor in this one.
    current : Out(16)
        Beside ``op``.
    head : Out(stream of head_layout)
        Heads of the reports to come.
    reported : In(1)
        An attempt's report is written.
    quiet : Out(1)
        Every attempt is reported.

    Latency: 1 cycle from a push to its lock, 2 at least to its first SNAP: the push's operation comes to the array a
    clock later.

    Source: design, sections 5 and 6.
    """

    def __init__(self, geometry, *, depth=ATTEMPTS, heads=16, snapshots=SNAPSHOTS):
        if depth < 1:
            raise ValueError(f"depth must be at least 1, not {depth!r}")
        if heads < max(depth, 2):
            raise ValueError(f"heads must be at least depth and 2, not {heads!r}")
        self.geometry = g = geometry
        self.depth = depth
        self.heads = heads
        self.snapshots = snapshots
        super().__init__(
            {
                "i": In(stream.Signature(attempt_layout(g))),
                "slot_a": In(slot_shape(g)),
                "slot_c": In(slot_shape(g)),
                **dict.fromkeys(("locked_a", "locked_c", "valid", "hold", "held", "quiet"), Out(1)),
                "passes": In(range(g.passes + 1)),
                "snap_freed": In(1),
                "wait": In(1),
                "op": Out(operation_layout(g)),
                "current": Out(CELL_WIDTH),
                "head": Out(stream.Signature(head_layout(g))),
                "reported": In(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        g = self.geometry

        m.submodules.heads = heads = fifo.SyncFIFOBuffered(width=head_layout(g).size, depth=self.heads)
        pushing = Signal(head_layout(g))
        waiting = data.StructLayout({"slot": slot_shape(g), "current": CELL_WIDTH})
        queue = [Signal(waiting, name=f"queue_{i}") for i in range(self.depth)]
        level = Signal(range(self.depth + 1))
        used = [level > i for i in range(self.depth)]
        pushed, popped = Signal(), Signal()
        upcoming = Signal()  # a SNAP, in the next clock
        out = Signal(range(self.heads + 1))  # attempts pushed and not reported
        room, next_room = Signal(init=1), Signal()
        ready = Signal(init=1)

        # An attempt is taken down in the clock of its push, and put to the others a clock later.
        arrived, current = Signal(), Signal(CELL_WIDTH)
        m.d.sync += [arrived.eq(pushed), current.eq(self.i.p.current), pushing.eq(self.i.p.head)]
        connect(m, heads.r_stream, flipped(self.head))
        m.d.comb += [
            self.i.ready.eq(ready),
            pushed.eq(self.i.valid & ready),
            *drive(heads, w_en=arrived, w_data=pushing),
            self.quiet.eq(out == 0),
            *(
                locked.eq(
                    (arrived & (pushing.slot == slot))
                    | Cat(
                        u & (q.slot == slot) for u, q in zip([used[0] & ~popped, *used[1:]], queue, strict=True)
                    ).any()
                )
                for slot, locked in ((self.slot_a, self.locked_a), (self.slot_c, self.locked_c))
            ),
        ]
        m.d.sync += [
            out.eq(out + pushed - self.reported),
            level.eq(level + arrived - popped),
        ]

        # Who pushes is told by a register, for many wait for the word. No more heads wait than
        # attempts are out.
        last_place = level + arrived == self.depth - 1
        m.d.comb += next_room.eq(popped | (room & ~(pushed & last_place)))
        m.d.sync += [
            room.eq(next_room),
            ready.eq(next_room & ~self.hold & (out - self.reported < self.heads - 1)),
        ]
        with m.If(popped):
            for here, behind in zip(queue[:-1], queue[1:], strict=True):
                m.d.sync += here.eq(behind)
        with m.If(arrived):
            with m.Switch(level - popped):
                for index, place in enumerate(queue):
                    with m.Case(index):
                        m.d.sync += [place.slot.eq(pushing.slot), place.current.eq(current)]

        pass_ = Signal(range(g.passes + 1))
        bin_ = Signal(range(g.bins))
        begins = Signal()
        begun = Signal(range(self.snapshots + 1))  # passes whose place in the array is not free again
        m.d.comb += [
            *drive(self.op, code=Op.SNAP, slot=queue[0].slot, pass_=pass_, bin=bin_),
            self.current.eq(queue[0].current),
        ]
        # The last SNAP of an attempt is told by a register, too.
        m.d.sync += [
            self.valid.eq(upcoming),
            popped.eq(upcoming & (bin_ + self.valid == g.bins - 1) & (pass_ + 1 == self.passes)),
        ]
        with m.If(self.valid):
            m.d.sync += bin_.eq(bin_ + 1)
            with m.If(bin_ == g.bins - 1):
                m.d.sync += pass_.eq(Mux(popped, 0, pass_ + 1))
        m.d.sync += begun.eq(begun + begins - self.snap_freed)
        m.d.comb += [
            begins.eq(~self.valid & (used[0] | arrived) & (begun != self.snapshots) & ~self.wait),
            upcoming.eq(begins | self.valid & (bin_ != g.bins - 1)),
            self.hold.eq(upcoming),
            self.held.eq(self.valid),
        ]
        return m
