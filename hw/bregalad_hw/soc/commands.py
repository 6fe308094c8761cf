"""The command ring: descriptors in memory to the stream of commands."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from bregalad.protocol.soc import BUFFER, DESCRIPTOR, RING, Stop

from ..layout import struct
from ..mcmu.axi import ADDRESS_WIDTH, read_signature
from ..mcmu.dma import ReadDMA
from ..members import drive

_BATCH = 16  # descriptors that are read ahead
_WORD = 8 * DESCRIPTOR.size


class CommandRing(wiring.Component):
    """Fetch descriptors, and what they name, and hand on the commands.

    Parameters
    ----------
    data_width : int
        Bits of a bus word, a power of two, 32 to 512.
    outstanding, burst
        As of `ReadDMA`, for what BUFFER names.

    Members
    -------
    page : In(20), size : In(5)
        Of the ring: its place, and the log2 of its descriptors. Steady while not ``idle``.
    produced : In(32), consumed : Out(32)
        Descriptors that are written, and that are done: their commands are taken.
    run : In(1)
        0: stop after the descriptor that is under way, and forget those that were read ahead.
    resume : In(1)
        For a clock: go on after a stop with what has failed.
    clear : In(1)
        All that is produced is consumed, as of now; beside a reset.
    stop : Out(Stop), address : Out(64)
        Why the ring has stalled, and where.
    idle : Out(1)
        No descriptor is under way, none is read ahead.
    commands : Out(stream of bus words)
    axi : Out(AXI4 read) x 2
        Of descriptors, and of what BUFFER names.

    Latency: 5 clocks from ``produced`` to ``arvalid``, 4 from a descriptor's last word to the first one of ``commands``
    or to ``arvalid``. Throughput: a word per clock within a BUFFER; a descriptor takes 4 clocks more. All 16
    descriptors, or at the ring's end, the next ones are asked for.
    """

    latency = 5

    def __init__(self, data_width, *, outstanding=4, burst=16):
        self.data_width = data_width
        self.buffer = ReadDMA(data_width, outstanding=outstanding, burst=burst)
        words = max(1, _BATCH * _WORD // data_width)
        self.ring = ReadDMA(data_width, outstanding=2, burst=min(words, 16))
        super().__init__(
            {
                "page": In(20),
                "size": In(range(RING[1] + 1)),
                "produced": In(32),
                "consumed": Out(32),
                **dict.fromkeys(("run", "resume", "clear"), In(1)),
                "stop": Out(Stop),
                "address": Out(ADDRESS_WIDTH),
                "idle": Out(1),
                "commands": Out(stream.Signature(data_width)),
                "axi": Out(read_signature(data_width)).array(2),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.ring, m.submodules.buffer = ring, buffer = self.ring, self.buffer
        connect(m, ring.axi, flipped(self.axi[0]))
        connect(m, buffer.axi, flipped(self.axi[1]))
        word_bits = (self.data_width // 8 - 1).bit_length()

        consumed = Signal(32, reset_less=True)
        m.d.comb += self.consumed.eq(consumed)

        # The ring, read ahead.
        head = Signal(_WORD)
        held = Signal()  # there is a descriptor
        requested = Signal(32, reset_less=True)  # the index of the next one to ask for
        left = Signal(range(_BATCH + 1))  # descriptors asked for that are not in `head`
        fetching, forget = Signal(), Signal()
        place, count = Signal(RING[1]), Signal(range(_BATCH + 1))
        mask = Signal(RING[1] + 1)
        ahead, beyond = Signal(32), Signal()
        requesting = Signal(range(4))  # a clock each for where, how many, whether
        m.d.comb += ahead.eq(self.produced - requested)
        to_block = _BATCH - place[: (_BATCH - 1).bit_length()]
        to_end = (mask + 1) - place  # the ring may be smaller than a block
        m.d.sync += [
            mask.eq((1 << self.size) - 1),
            place.eq(requested & mask),
            beyond.eq((self.produced - consumed)[:32] > mask + 1),
            requesting.eq(
                Mux(ring.descriptor.valid | fetching | ~self.run | forget, 0, requesting + (requesting != 3))
            ),
        ]
        nearest = Mux(to_end < to_block, to_end, to_block)
        m.d.sync += count.eq(Mux(ahead < nearest, ahead, nearest))
        begin = Signal()
        m.d.comb += [
            begin.eq(self.run & (requesting == 3) & (count != 0) & ~beyond & ring.descriptor.ready),
            ring.descriptor.valid.eq(begin),
            ring.descriptor.p.address.eq((self.page << 12) + (place << (DESCRIPTOR.size - 1).bit_length())),
            ring.descriptor.p.length.eq(count << (DESCRIPTOR.size - 1).bit_length()),
        ]
        with m.If(begin):
            m.d.sync += [requested.eq(requested + count), left.eq(count), fetching.eq(1)]
        got, failed = ring.o.valid & ring.o.ready, ring.o.valid & (ring.o.p.error != 0)
        with m.If(got & ring.o.p.last):
            m.d.sync += fetching.eq(0)
        free = ~held & ~failed
        if self.data_width > _WORD:
            per = self.data_width // _WORD
            lane = Signal(range(per))
            with m.If(begin):
                m.d.sync += lane.eq(place)
            m.d.comb += ring.o.ready.eq(forget | (free & ((lane == per - 1) | (left == 1))))
            with m.If(ring.o.valid & free & ~forget):
                m.d.sync += [
                    head.eq(ring.o.p.data.word_select(lane, _WORD)),
                    held.eq(1),
                    lane.eq(lane + 1),
                    left.eq(left - 1),
                ]
        else:
            parts = _WORD // self.data_width
            part = Signal(range(max(2, parts)))
            m.d.comb += ring.o.ready.eq(forget | free)
            with m.If(begin):
                m.d.sync += part.eq(0)
            with m.If(ring.o.valid & free & ~forget):
                m.d.sync += [head.eq(Cat(head, ring.o.p.data)[-_WORD:]), part.eq(part + 1)]
                with m.If(part == parts - 1):
                    m.d.sync += [held.eq(1), part.eq(0)]

        # What a descriptor brings.
        wanted = data.View(struct(DESCRIPTOR), head)
        address, rest = Signal(ADDRESS_WIDTH), Signal(32)
        misaligned, fill = Signal(), Signal()
        m.d.comb += [buffer.descriptor.p.address.eq(address), buffer.descriptor.p.length.eq(rest)]
        again = Signal()  # a BUFFER has failed
        parts = max(1, _WORD // self.data_width)
        piece = Signal(range(max(2, parts)))
        with m.FSM() as fsm:
            with m.State("IDLE"):
                m.d.comb += self.idle.eq(~fetching & ~held)
                m.d.sync += [
                    address.eq(wanted.address),
                    rest.eq(wanted.count),
                    misaligned.eq((wanted.address[:word_bits] != 0) | (wanted.count[:word_bits] != 0)),
                    fill.eq(wanted.opcode == BUFFER),
                    piece.eq(0),
                    again.eq(0),
                ]
                with m.If(~self.run):
                    with m.If(held | fetching):
                        m.next = "FORGET"
                with m.Elif(beyond):
                    m.d.sync += [self.stop.eq(Stop.INDEX), self.address.eq(0)]
                    m.next = "STOPPED"
                with m.Elif(held):
                    m.next = "CHECK"
                with m.Elif(failed):
                    m.d.comb += ring.o.ready.eq(1)
                    m.d.sync += [self.stop.eq(ring.o.p.error), self.address.eq(ring.o.p.address)]
                    m.next = "STOPPED"
            with m.State("CHECK"):
                m.next = "COMMAND"
                with m.If(fill):
                    m.next = "BEGIN"
                    with m.If(misaligned):
                        m.d.sync += [self.stop.eq(Stop.MISALIGNED), self.address.eq(address)]
                        m.next = "STOPPED"
                    with m.Elif(rest == 0):
                        m.next = "DONE"
            with m.State("COMMAND"):
                m.d.comb += [
                    self.commands.valid.eq(1),
                    self.commands.payload.eq(head.word_select(piece, min(_WORD, self.data_width))),
                ]
                with m.If(self.commands.ready):
                    m.d.sync += piece.eq(piece + 1)
                    with m.If(piece == parts - 1):
                        m.next = "DONE"
            with m.State("BEGIN"):
                m.d.comb += buffer.descriptor.valid.eq(1)
                with m.If(buffer.descriptor.ready):
                    m.next = "BUFFER"
            with m.State("BUFFER"):
                broken = buffer.o.p.error != 0
                m.d.comb += [
                    *drive(self.commands, valid=buffer.o.valid & ~broken, payload=buffer.o.p.data),
                    buffer.o.ready.eq(self.commands.ready | broken),
                ]
                with m.If(buffer.o.valid & broken):
                    m.d.sync += [self.stop.eq(buffer.o.p.error), self.address.eq(address), again.eq(1)]
                    m.next = "STOPPED"
                with m.Elif(buffer.o.valid & buffer.o.ready):
                    m.d.sync += [address.eq(address + self.data_width // 8), rest.eq(rest - self.data_width // 8)]
                    with m.If(buffer.o.p.last):
                        m.next = "DONE"
            with m.State("DONE"):
                m.d.sync += [consumed.eq(consumed + 1), held.eq(0)]
                m.next = "IDLE"
            with m.State("STOPPED"):
                with m.If(self.resume):
                    m.d.sync += self.stop.eq(Stop.NOTHING)
                    m.next = "FORGET"
                    with m.If(again):
                        m.next = "BEGIN"
            with m.State("FORGET"):
                m.d.comb += forget.eq(1)
                m.d.sync += [held.eq(0), requested.eq(consumed)]
                with m.If(~fetching):
                    m.next = "IDLE"
        # While it stalls nothing is read ahead: what is in memory may be put right.
        with m.If(fsm.ongoing("STOPPED")):
            m.d.sync += requesting.eq(0)
        with m.If(self.clear):
            m.d.sync += [consumed.eq(self.produced), requested.eq(self.produced)]
        return m
