"""The report ring: reports to memory."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import memory, stream, wiring
from amaranth.lib.wiring import In, Out
from bregalad.protocol.soc import REPORT_RING, Stop

from ..mcmu.axi import BOUNDARY, Response, end_taken, write_signature
from ..mcmu.report import REPORT_WORD
from ..members import drive


class ReportRing(wiring.Component):
    """Write reports to memory in bursts; nothing is lost, whatever memory answers.

    Words stay here until memory has answered for them. Twice as many fit as a burst has, so the next ones are taken
    meanwhile, and go together in the next burst. One begins as soon as none is under way, and a burst's words or the
    end of a report are here or no more can come.

    Parameters
    ----------
    data_width : int
        Bits of a bus word, a power of two, 32 to 512.
    burst : int
        Bus words of a burst at most, a power of two.

    Members
    -------
    i : In(stream of {data: 32, last})
    page : In(20), size : In(5)
        Of the ring: its place, and the log2 of its bytes. Steady while not ``idle``.
    pages : In(20)
        Of the window.
    consumed : In(32), produced : Out(32)
        Words that are read, and that are in memory. While all places but one are taken, no word is.
    resume : In(1)
        For a clock: go on after a stop with what has failed.
    clear : In(1)
        Nothing is produced that is not consumed, as of now; beside a reset.
    stop : Out(Stop), address : Out(32)
        Why the ring has stalled, and the first word's place.
    idle : Out(1)
    axi : Out(AXI4 write)

    Latency: 4 clocks from a report's last word to ``awvalid``. Throughput: a word per clock, if memory answers a
    burst within the clocks in which the next one's words come.
    """

    latency = 4

    def __init__(self, data_width, *, burst=16):
        if burst & (burst - 1) or not 1 <= burst <= min(256, BOUNDARY * 8 // data_width):
            raise ValueError(f"burst must be a power of two, up to 256 words and 4 KiB, not {burst!r}")
        self.data_width = data_width
        self.burst = burst
        super().__init__(
            {
                "i": In(stream.Signature(REPORT_WORD)),
                "page": In(20),
                "size": In(range(REPORT_RING[1] + 1)),
                "pages": In(20),
                "consumed": In(32),
                "produced": Out(32),
                "resume": In(1),
                "clear": In(1),
                "stop": Out(Stop),
                "address": Out(32),
                "idle": Out(1),
                "axi": Out(write_signature(data_width)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        axi = self.axi
        lanes = self.data_width // 32
        lane_bits = (lanes - 1).bit_length()
        row_bits = self.burst.bit_length()  # two bursts
        block_bits = row_bits - 1 + lane_bits
        words = memory.Memory(shape=self.data_width, depth=2 * self.burst, init=[])
        m.submodules.words = words
        put, get = words.write_port(granularity=32), words.read_port()

        produced = Signal(32, reset_less=True)
        m.d.comb += self.produced.eq(produced)
        # Words taken in; those up to `produced` are in memory, the others here.
        taken = Signal(32, reset_less=True)
        held = (taken - produced)[:32]
        open_ = Signal()
        moved = self.i.valid & self.i.ready
        places = Signal(REPORT_RING[1])  # of the ring, less one
        m.d.sync += [
            places.eq((1 << self.size) - 1 >> 2),
            # A clock late, so a place is kept free.
            open_.eq((held < (1 << block_bits + 1) - 1) & ((taken - self.consumed)[:32] < places) & ~self.clear),
        ]
        m.d.comb += [
            self.i.ready.eq(open_),
            *drive(put, addr=taken[lane_bits:], data=self.i.p.data.replicate(lanes)),
            put.en.eq(Mux(moved, 1 << taken[:lane_bits], 0)),
        ]
        ended = Signal()  # the last word was a report's
        with m.If(moved):
            m.d.sync += [taken.eq(taken + 1), ended.eq(self.i.p.last)]

        waiting, whole, due = Signal(), Signal(), Signal()
        m.d.comb += [
            waiting.eq(taken != produced),
            whole.eq(taken[block_bits:] != produced[block_bits:]),
        ]
        m.d.sync += due.eq(waiting & (whole | ended | ~open_))

        count = Signal(block_bits + 1)
        beats = Signal(range(self.burst + 1))
        first, end = produced[:lane_bits], (produced + count)[:lane_bits]  # lanes
        row, next_row, done = Signal(row_bits), Signal(row_bits), Signal(range(self.burst + 1))
        inside = Signal()
        last_page = Signal(21)
        m.d.sync += last_page.eq(self.page + (places >> 10))
        m.d.sync += inside.eq(last_page < self.pages)
        m.d.comb += [next_row.eq(row), get.addr.eq(next_row)]
        m.d.sync += row.eq(next_row)

        begins, last = done == 0, done == beats - 1
        strobe = Cat((~begins | (first <= lane)) & (~last | (end == 0) | (end > lane)) for lane in range(lanes))
        m.d.comb += [
            *drive(axi, awsize=(self.data_width // 8 - 1).bit_length(), awburst=0b01, awcache=0b0011, wdata=get.data),
            *drive(axi, wlast=last, bready=1),
            axi.wstrb.eq(Cat(bit.replicate(4) for bit in strobe)),
        ]
        end_taken(m, axi, "aw")
        at = Signal(32)
        m.d.comb += at.eq((self.page << 12) + ((produced & places) << 2))
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.idle.eq(~waiting)
                m.d.sync += count.eq(Mux(whole, (1 << block_bits) - produced[:block_bits], held))
                with m.If(self.stop != Stop.NOTHING):
                    with m.If(self.resume):
                        m.d.sync += self.stop.eq(Stop.NOTHING)
                with m.Elif(due):
                    m.next = "SIZE"
            with m.State("SIZE"):
                m.d.comb += next_row.eq(produced[lane_bits:])
                m.d.sync += [
                    beats.eq((first + count + lanes - 1) >> lane_bits),
                    done.eq(0),
                    due.eq(0),
                    axi.awaddr.eq(at >> lane_bits + 2 << lane_bits + 2),
                    axi.awlen.eq(((first + count + lanes - 1) >> lane_bits) - 1),
                    self.address.eq(at),
                    axi.awvalid.eq(inside),
                ]
                m.next = "WRITE"
                with m.If(~inside):
                    m.d.sync += self.stop.eq(Stop.DECERR)
                    m.next = "IDLE"
            with m.State("WRITE"):
                m.d.comb += axi.wvalid.eq(1)
                with m.If(axi.wready):
                    m.d.comb += next_row.eq(row + 1)
                    m.d.sync += done.eq(done + 1)
                    with m.If(last):
                        m.next = "ANSWER"
            with m.State("ANSWER"):
                m.d.sync += due.eq(0)
                with m.If(axi.bvalid):
                    m.next = "IDLE"
                    with m.If(axi.bresp >= Response.SLVERR):
                        m.d.sync += self.stop.eq(axi.bresp)
                    with m.Else():
                        m.d.sync += produced.eq(produced + count)
        with m.If(self.clear):
            m.d.sync += [taken.eq(self.consumed), produced.eq(self.consumed)]
        return m
