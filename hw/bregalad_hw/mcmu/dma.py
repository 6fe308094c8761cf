"""Fetch byte ranges from memory."""

from amaranth import Assert, Module, Mux, Signal
from amaranth.lib import data, fifo, stream, wiring
from amaranth.lib.wiring import In, Out, connect

from ..members import drive
from ..skid_buffer import SkidBuffer
from .axi import ADDRESS_WIDTH, BOUNDARY, Response, read_signature

_LENGTH_WIDTH = 48  # 32 bits of records times 16 bits of record bytes
# A byte range: any alignment, at least 1 byte.
DESCRIPTOR = data.StructLayout({"address": ADDRESS_WIDTH, "length": _LENGTH_WIDTH})


def _fetched_layout(data_width):
    """A bus word; with ``error`` (2: SLVERR, 3: DECERR) it has no data and is the last."""
    return data.StructLayout({"data": data_width, "last": 1, "error": 2, "address": ADDRESS_WIDTH})


class ReadDMA(wiring.Component):
    """Read the bus words that a byte range touches, in order.

    Every burst has its room in the queue reserved before it is asked for, so ``rready`` is always 1. After an error the
    words that are still under way are taken and dropped before the next descriptor is accepted.

    Parameters
    ----------
    data_width : int
        Bits of a bus word, a power of two, 32 to 512.
    outstanding : int
        Bursts under way at most, 1 to 64.
    burst : int
        Words of a burst at most, a power of two up to 256; bursts are aligned to their size.
    limited : bool
        Whether there is a ``limit``.

    Members
    -------
    descriptor : In(stream of {address: 64, length: 48})
        Taken while nothing is under way.
    o : Out(stream of {data, last, error: 2, address: 64})
        Bus words and their byte addresses.
    limit : In(32)
        Words from this byte on, a whole word's, are told as DECERR, whatever memory answers.
    axi : Out(AXI4 read)

    Latency: 4 cycles from descriptor to ``arvalid``, 3 from ``rvalid`` to ``o.valid``.
    Throughput: one word per cycle if the memory answers within ``outstanding * burst`` cycles.

    Source: Arm IHI 0022, section A3.4.1 for bursts and the 4 KiB rule.
    """

    def __init__(self, data_width, *, outstanding=4, burst=16, limited=False):
        if data_width & (data_width - 1) or not 32 <= data_width <= 512:
            raise ValueError(f"data_width must be a power of two, 32 to 512, not {data_width!r}")
        if burst & (burst - 1) or not 1 <= burst <= min(256, BOUNDARY * 8 // data_width):
            raise ValueError(f"burst must be a power of two, up to 256 words and 4 KiB, not {burst!r}")
        if not 1 <= outstanding <= 64:
            raise ValueError(f"outstanding must be 1 to 64, not {outstanding!r}")
        self.data_width = data_width
        self.outstanding = outstanding
        self.burst = burst
        self.limited = limited
        super().__init__(
            {
                "descriptor": In(stream.Signature(DESCRIPTOR)),
                "o": Out(stream.Signature(_fetched_layout(data_width))),
                "limit": In(32),
                "axi": Out(read_signature(data_width)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        word_bits = (self.data_width // 8 - 1).bit_length()
        burst_bits = self.burst.bit_length() - 1
        depth = max(2, self.outstanding * self.burst)
        axi = self.axi

        # Whether a word is an error is known late, and steers much: not in the clock of a block RAM.
        m.submodules.queue = queue = fifo.SyncFIFOBuffered(width=self.data_width + 2, depth=depth)
        m.submodules.skid = skid = SkidBuffer(self.data_width + 2)
        connect(m, queue.r_stream, skid.i)
        word = skid.o

        read_at = Signal(ADDRESS_WIDTH - word_bits)  # next word to ask for
        to_read = Signal(_LENGTH_WIDTH + 1)  # words
        output_at = Signal(ADDRESS_WIDTH - word_bits)  # next word to give
        to_output = Signal(_LENGTH_WIDTH + 1)
        active, draining = Signal(), Signal()
        reserved = Signal(range(depth + 1))
        bursts = Signal(range(self.outstanding + 1))

        m.d.comb += [
            *drive(axi, arsize=word_bits, arburst=0b01, arcache=0b0011, rready=1),
            *drive(queue, w_data=axi.rdata | (axi.rresp << self.data_width), w_en=axi.rvalid),
        ]

        in_block = Signal(range(self.burst + 1))  # words up to the next aligned block
        beats = Signal(range(self.burst + 1))
        m.d.comb += in_block.eq(self.burst - read_at[:burst_bits])
        # A burst's size, then whether there is room for it, a clock each.
        sized, fits = Signal(), Signal()
        m.d.sync += [
            beats.eq(Mux(to_read < in_block, to_read, in_block)),
            sized.eq(active),
            fits.eq(sized & (to_read != 0) & (reserved + beats <= depth)),
        ]

        requested, answered, taken = Signal(), Signal(), Signal()
        issue = Signal()
        m.d.comb += [
            requested.eq(axi.arvalid & axi.arready),
            answered.eq(axi.rvalid & axi.rlast),
            taken.eq(word.valid & word.ready),
            issue.eq(active & ~draining & fits & (~axi.arvalid | axi.arready) & (bursts < self.outstanding)),
        ]
        with m.If(requested):
            m.d.sync += axi.arvalid.eq(0)
        with m.If(issue | ~active):
            m.d.sync += [sized.eq(0), fits.eq(0)]
        with m.If(issue):
            m.d.sync += [
                *drive(axi, arvalid=1, araddr=read_at << word_bits, arlen=beats - 1),
                read_at.eq(read_at + beats),
                to_read.eq(to_read - beats),
            ]
        m.d.sync += [
            reserved.eq(Mux(issue, reserved + beats - taken, reserved - taken)),
            bursts.eq(bursts + issue - answered),
            Assert(~axi.rvalid | queue.w_rdy, "a word arrived without room"),
        ]

        answer = word.payload[self.data_width :]
        error = answer[1]
        if self.limited:
            outside, next_output_at = Signal(), Signal.like(output_at)
            m.d.comb += next_output_at.eq(
                Mux(active, output_at + (word.valid & self.o.ready), self.descriptor.p.address[word_bits:])
            )
            m.d.sync += outside.eq(next_output_at >= self.limit[word_bits:])
            error, answer = error | outside, Mux(outside, Response.DECERR, answer)
        m.d.comb += [
            *drive(self.o.p, data=word.payload[: self.data_width], last=error | (to_output == 1)),
            self.o.p.address.eq(output_at << word_bits),
            self.o.p.error.eq(Mux(error, answer, 0)),
            self.o.valid.eq(word.valid & active & ~draining),
            word.ready.eq(draining | (active & self.o.ready)),
        ]
        with m.If(self.o.valid & self.o.ready):
            m.d.sync += [output_at.eq(output_at + 1), to_output.eq(to_output - 1)]
            with m.If(error):
                m.d.sync += draining.eq(1)
            with m.Elif(to_output == 1):
                m.d.sync += active.eq(0)
        # Bursts that were asked for are answered whatever happens to one of them.
        with m.If(draining & (bursts == 0) & ~axi.arvalid & (reserved == 0)):
            m.d.sync += [draining.eq(0), active.eq(0)]

        offset = self.descriptor.p.address[:word_bits]
        words = (self.descriptor.p.length + offset + (1 << word_bits) - 1) >> word_bits
        m.d.comb += self.descriptor.ready.eq(~active)
        with m.If(~active):  # what is wide is loaded whether or not there is anything
            m.d.sync += [
                active.eq(self.descriptor.valid),
                read_at.eq(self.descriptor.p.address[word_bits:]),
                output_at.eq(self.descriptor.p.address[word_bits:]),
                to_read.eq(words),
                to_output.eq(words),
            ]
        return m
