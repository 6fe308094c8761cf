"""Where a block begins and ends, how far records may go, and which slots are tried at its end."""

from amaranth import Module, Signal
from amaranth.lib import data, fifo, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from bregalad.protocol.tree import DUE

from ..array.operation import slot_shape
from ..members import drive

# What TURN says of a tree's place in its stream.
TURN_LAYOUT = data.StructLayout({"number": 32, "since": 16, "left": 16, "length": 16})


class Blocks(wiring.Component):
    """Numbers of the records at which a block begins and ends.

    Members
    -------
    turn : In(TURN_LAYOUT), turns : In(1)
        For a clock, while there is no record.
    go : In(1), length : In(16)
        For a clock: blocks are so long from the next one on, plus 1.
    next : In(1)
        For a clock, while ``ended``: the next block begins.
    counted : In(32)
        Number of the last record that is counted.
    limit : Out(32)
        Number of the block's last record.
    ended : Out(1)
        All records of the block are counted.
    since, left : Out(16)
        Records of the block that are counted; those that are to come, less 1.

    Latency: 1 cycle from ``counted`` to ``ended``, ``since`` and ``left``.
    """

    turn: In(TURN_LAYOUT)
    turns: In(1)
    go: In(1)
    length: In(16)
    next: In(1)
    counted: In(32)
    limit: Out(32)
    ended: Out(1)
    since: Out(16)
    left: Out(16)

    def elaborate(self, platform):
        m = Module()
        begun, end, length = Signal(32), Signal(32, init=1), Signal(16)
        with m.If(self.next):
            m.d.sync += [begun.eq(end), end.eq(end + length + 1)]
        with m.If(self.go):
            m.d.sync += length.eq(self.length)
        with m.If(self.turns):
            turn = self.turn
            m.d.sync += [
                begun.eq(turn.number - turn.since),
                end.eq(turn.number + turn.left + 1),
                length.eq(turn.length),
            ]
        m.d.comb += self.limit.eq(end)
        m.d.sync += [
            self.since.eq(self.counted - begun),
            self.left.eq(end - self.counted - 1),
            self.ended.eq((self.counted == end) & ~self.next & ~self.turns),
        ]
        return m


class DueSlots(wiring.Component):
    """Slots that are due, in the order in which they became so, or all of a tree.

    Parameters
    ----------
    geometry : Geometry
    depth : int
        `DUE`, but in a proof.

    Members
    -------
    i : In(stream of slot)
        Always taken.
    mark : In(1)
        Others may be due.
    turns : In(1), first, slots : In(16)
        For a clock: slots of this tree only, and any of them may be due.
    done : In(1)
        For a clock: all that was offered has been taken.
    o : Out(stream of slot), incoming : Out(1)
        What is due, and with ``mark``, or if more are due than there is room for, what is not; another will be offered.
        To be taken while nothing comes in.

    Latency: 2 cycles. Throughput: a slot per cycle.
    """

    def __init__(self, geometry, *, depth=DUE):
        self.geometry, self.depth = geometry, depth
        slot = slot_shape(geometry)
        super().__init__(
            {
                "i": In(stream.Signature(slot)),
                **dict.fromkeys(("mark", "turns", "done"), In(1)),
                "first": In(16),
                "slots": In(16),
                "o": Out(stream.Signature(slot)),
                "incoming": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.queue = queue = fifo.SyncFIFOBuffered(width=len(self.i.payload), depth=self.depth)
        known = Signal(range(self.depth + 1))  # in the queue
        all_, at, begin, end = Signal(), Signal(17), Signal(16), Signal(17, init=self.geometry.slots)
        m.d.comb += [
            self.i.ready.eq(1),
            self.incoming.eq((known != 0) & ~self.o.valid),
            *drive(queue, w_data=self.i.payload, w_en=self.i.valid & (known != self.depth)),
        ]
        m.d.sync += known.eq(known + queue.w_en - (queue.r_en & queue.r_rdy))
        with m.If(all_):  # what is in the queue is among them
            m.d.comb += [queue.r_en.eq(1), self.o.payload.eq(at), self.o.valid.eq((at != end) & (known == 0))]
            with m.If(self.o.valid & self.o.ready):
                m.d.sync += at.eq(at + 1)
            with m.If(self.done):
                m.d.sync += [all_.eq(0), at.eq(begin)]
        with m.Else():
            connect(m, queue.r_stream, flipped(self.o))
        with m.If(self.mark | (self.i.valid & (known == self.depth))):
            m.d.sync += all_.eq(1)
        with m.If(self.turns):
            m.d.sync += [all_.eq(1), at.eq(self.first), begin.eq(self.first), end.eq(self.first + self.slots)]
        return m
