"""Memory for rows in the chip's block RAMs."""

from amaranth import Module, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In

from ..members import drive
from .axi import Response, axi_signature


class RowMemory(wiring.Component):
    """What LOAD writes and LEARN reads on a board without a memory chip.

    A burst that begins behind the end is answered with DECERR. Its content stays at a reset.

    Parameters
    ----------
    data_width : int
        Bits of a bus word, a power of two.
    size : int
        Bytes, a power of two, of two bus words at least.

    Members
    -------
    i : In(axi_signature)
        Incrementing bursts of whole bus words to read, and writes of a word each, as `ReadDMA` and `Loader` ask for
        them.

    Latency: 2 clocks from ``arvalid`` to ``rvalid``, 1 from a written word to ``bvalid``. Throughput: a word per clock
    in each direction, a burst after another without a pause.

    Source: Arm IHI 0022, chapter A3.
    """

    def __init__(self, data_width, size):
        if size & (size - 1) or size < data_width // 4:
            raise ValueError(f"size must be a power of two, at least {data_width // 4} bytes, not {size!r}")
        self.data_width = data_width
        self.size = size
        super().__init__({"i": In(axi_signature(data_width))})

    def elaborate(self, platform):
        m = Module()
        i, width = self.i, self.data_width
        low, high = (width // 8 - 1).bit_length(), self.size.bit_length() - 1
        m.submodules.rows = rows = memory.Memory(shape=width, depth=1 << high - low, init=[])
        write, read = rows.write_port(granularity=8), rows.read_port()

        put = Signal()
        m.d.comb += [
            put.eq(i.awvalid & i.wvalid & (~i.bvalid | i.bready)),
            *drive(i, awready=put, wready=put),
            *drive(write, addr=i.awaddr[low:high], data=i.wdata, en=i.wstrb & put.replicate(width // 8)),
        ]
        with m.If(put):
            m.d.sync += [i.bvalid.eq(1), i.bid.eq(i.awid)]
        with m.Elif(i.bready):
            m.d.sync += i.bvalid.eq(0)

        # The word that is read next, and how many come after it.
        at, left = Signal.like(read.addr), Signal.like(i.arlen)
        reading, goes = Signal(), Signal()
        number, response = Signal.like(i.rid), Signal.like(i.rresp)
        m.d.comb += [
            goes.eq(~i.rvalid | i.rready),
            i.arready.eq(~reading | (goes & (left == 0))),
            *drive(read, addr=at, en=goes),
            i.rdata.eq(read.data),
        ]
        with m.If(goes):
            m.d.sync += drive(i, rvalid=reading, rlast=left == 0, rid=number, rresp=response)
            with m.If(reading):
                m.d.sync += [at.eq(at + 1), left.eq(left - 1), reading.eq(left != 0)]
        with m.If(i.arvalid & i.arready):
            m.d.sync += [
                reading.eq(1),
                at.eq(i.araddr[low:high]),
                left.eq(i.arlen),
                number.eq(i.arid),
                response.eq((i.araddr[high:] != 0) * Response.DECERR),
            ]
        return m
