"""Memories between the link and what it feeds."""

from amaranth import Assert, Module, Mux, Signal
from amaranth.lib import fifo, memory, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ..members import drive

# A ring's entry, seen from who writes: words, then whether they stay.
ENTRY = wiring.Signature({"data": Out(32), **dict.fromkeys(("en", "commit", "rollback"), Out(1)), "overflow": In(1)})
_AHEAD = 8  # words read ahead of their reader


class StreamMemory(wiring.Component):
    """A block memory that is read as a stream, with a register after it.

    Parameters
    ----------
    depth : int
        32-bit words.

    Members
    -------
    w_en : In(1), w_addr : In(range(depth)), w_data : In(32)
    i : In(stream of addresses)
    o : Out(stream of 32)
        The words at those addresses, in order. They are read in the clock after their transfer on
        ``i``: that is when a write may replace them.

    Latency: 4 clocks. Throughput: a word per clock.
    """

    def __init__(self, depth):
        self.depth = depth
        super().__init__(
            {
                "w_en": In(1),
                "w_addr": In(range(depth)),
                "w_data": In(32),
                "i": In(stream.Signature(range(depth))),
                "o": Out(stream.Signature(32)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.words = words = memory.Memory(shape=32, depth=self.depth, init=[])
        write, read = words.write_port(), words.read_port()
        m.submodules.queue = queue = fifo.SyncFIFOBuffered(width=32, depth=_AHEAD)
        free = Signal(range(_AHEAD + 1), init=_AHEAD)  # places in the queue that nothing heads for
        stages = Signal(2)  # words on their way to it
        moved, out = Signal(), Signal()
        m.d.comb += [
            self.i.ready.eq(free != 0),
            moved.eq(self.i.valid & self.i.ready),
            *drive(write, en=self.w_en, addr=self.w_addr, data=self.w_data),
            read.addr.eq(self.i.payload),
            queue.w_en.eq(stages[1]),
            out.eq(self.o.valid & self.o.ready),
        ]
        connect(m, queue.r_stream, flipped(self.o))
        m.d.sync += [
            stages[0].eq(moved),
            stages[1].eq(stages[0]),
            queue.w_data.eq(read.data),
            free.eq(free + out - moved),
            Assert(~queue.w_en | queue.w_rdy, "a word was read without room"),
            Assert(free + stages[0] + stages[1] + queue.level == _AHEAD, "a place was lost"),
        ]
        return m


class Ring(wiring.Component):
    """Words that come to be read only once they are committed.

    Parameters
    ----------
    depth : int
        Words, a power of two, 16 to 32768.

    Members
    -------
    w : In(ENTRY)
        ``overflow``: words since the last commit or rollback found no room; then ``commit`` is not
        allowed. Neither comes together with ``en``.
    o : Out(stream of 32)
        Committed words.
    room : Out(range(depth + 1))
        Words free besides the committed ones.

    Latency: 5 clocks from commit to ``o.valid``, 1 to ``room``. Throughput: a word per clock.
    """

    def __init__(self, depth):
        if not isinstance(depth, int) or depth & (depth - 1) or not 16 <= depth <= 32768:
            raise ValueError(f"depth must be a power of two, 16 to 32768 words, not {depth!r}")
        self.depth = depth
        super().__init__({"w": In(ENTRY), "o": Out(stream.Signature(32)), "room": Out(range(depth + 1), init=depth)})

    def elaborate(self, platform):
        m = Module()
        bits = self.depth.bit_length() - 1
        m.submodules.words = words = StreamMemory(self.depth)
        connect(m, words.o, flipped(self.o))

        # One bit more than an address: full and empty differ.
        put, kept, oldest = Signal(bits + 1), Signal(bits + 1), Signal(bits + 1)
        space = Signal(range(self.depth + 1), init=self.depth)  # words free besides all
        wrote, freed = Signal(), Signal()
        w = self.w
        m.d.comb += [
            wrote.eq(w.en & (space != 0)),
            *drive(words, w_en=wrote, w_addr=put[:bits], w_data=w.data),
            *drive(words.i, valid=oldest != kept, payload=oldest[:bits]),
            freed.eq(words.i.valid & words.i.ready),
        ]
        m.d.sync += [
            put.eq(Mux(w.rollback, kept, put + wrote)),
            oldest.eq(oldest + freed),
            self.room.eq(Mux(w.commit, space, self.room) + freed),
            space.eq(Mux(w.rollback, self.room, space) + freed - wrote),
            Assert(~w.commit | ~w.overflow, "words that were not stored were committed"),
            Assert(w.en + w.commit + w.rollback <= 1, "a word came with its decision"),
            Assert(self.room + (kept - oldest)[: bits + 1] == self.depth, "room was miscounted"),
            Assert(space + (put - oldest)[: bits + 1] == self.depth, "space was miscounted"),
            Assert(space <= self.room, "a committed word was given up"),
        ]
        with m.If(w.en & (space == 0)):
            m.d.sync += w.overflow.eq(1)
        with m.If(w.commit):
            m.d.sync += kept.eq(put)
        with m.If(w.commit | w.rollback):
            m.d.sync += w.overflow.eq(0)
        return m
