"""The core's bus: what all blocks ask of memory, inside the window, by one AXI4 port."""

from amaranth import Array, Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..mcmu.axi import ADDRESS_WIDTH, BURST, Response, end_taken, read_signature, write_signature
from ..members import assign, drive

ID_WIDTH = 2
_UNDER_WAY = 7  # bits of how many bursts are
_PAGE = 12  # bits of an address below a page's


class SharedReads(wiring.Component):
    """Read bursts of several managers, in turns; each has an ID of its own.

    Parameters
    ----------
    data_width : int
    managers : int
        At most 4. Their bursts lie within a page, and they take words in every clock.

    Members
    -------
    i : In(AXI4 read) x managers
        Addresses count from the window's base. A burst outside is answered with DECERR, in order.
    base : In(64), pages : In(20)
        The window.
    stop : In(1)
        No more bursts are asked for.
    quiet : Out(1)
        All that were are answered. A clock later than ``stop``.
    o : Out(AXI4 read)
        ``arid`` is the manager's number.

    Latency: 1 clock to ``arvalid``, 0 from ``rvalid``. Throughput: a burst per clock, a word per clock.
    """

    def __init__(self, data_width, managers):
        self.managers = managers
        super().__init__(
            {
                "i": In(read_signature(data_width)).array(managers),
                "base": In(ADDRESS_WIDTH),
                "pages": In(20),
                "stop": In(1),
                "quiet": Out(1),
                "o": Out(read_signature(data_width, ID_WIDTH)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        o, every = self.o, range(self.managers)

        # Whose burst is outside, and its words less one.
        refusing, refused, left = Signal(), Signal(range(max(2, self.managers))), Signal(8)
        wants, outside = [], []
        under_way = [Signal(_UNDER_WAY, name=f"under_way_{number}") for number in every]
        for number in every:
            port, count = self.i[number], under_way[number]
            beyond = Signal(name=f"outside_{number}")
            m.d.comb += beyond.eq((port.araddr >> _PAGE) >= self.pages)
            # Its own bursts before are answered first; meanwhile none of its are asked for.
            free = Mux(beyond, ~refusing & (count == 0), ~(refusing & (refused == number)) & ~count.all())
            want = Signal(name=f"want_{number}")
            m.d.comb += want.eq(port.arvalid & free & ~self.stop)
            wants.append(want)
            outside.append(beyond)

        turn, chosen = Signal(range(max(2, self.managers))), Signal(range(max(2, self.managers)))
        m.d.comb += chosen.eq(turn)
        with m.Switch(turn):
            for number in every:
                with m.Case(number):
                    for further in reversed(range(1, self.managers + 1)):
                        other = (number + further) % self.managers
                        with m.If(wants[other]):
                            m.d.comb += chosen.eq(other)
        take = Signal()
        m.d.comb += take.eq(Cat(wants).any() & (~o.arvalid | o.arready))
        end_taken(m, o, "ar")
        with m.If(take):
            m.d.sync += turn.eq(chosen)
        ports = Array(self.i)
        first = ports[chosen]
        beyond = Array(outside)[chosen]
        with m.If(~o.arvalid | o.arready):
            m.d.sync += [
                *drive(o, arvalid=take & ~beyond, arid=chosen),
                o.araddr.eq(self.base + first.araddr[: _PAGE + len(self.pages)]),
                *assign(o, first, *(f"ar{name}" for name in BURST)),
            ]
        with m.If(take & beyond):
            m.d.sync += [refusing.eq(1), refused.eq(chosen), left.eq(first.arlen)]
        with m.Elif(refusing):
            m.d.sync += [left.eq(left - 1), refusing.eq(left != 0)]

        m.d.comb += o.rready.eq(1)
        for number in every:
            port, count = self.i[number], under_way[number]
            mine = refusing & (refused == number)
            m.d.comb += [
                *drive(port, arready=take & (chosen == number), rdata=o.rdata),
                port.rvalid.eq(mine | (o.rvalid & (o.rid == number))),
                port.rresp.eq(Mux(mine, Response.DECERR, o.rresp)),
                port.rlast.eq(Mux(mine, left == 0, o.rlast)),
            ]
            begun = take & ~beyond & (chosen == number)
            m.d.sync += count.eq(count + begun - (o.rvalid & o.rlast & (o.rid == number)))
        m.d.sync += self.quiet.eq(~take & ~refusing & ~Cat(under_way).any())
        return m


class SharedWrites(wiring.Component):
    """Write bursts of several managers, one after the other; each has an ID of its own.

    Parameters
    ----------
    data_width, managers : int
        As of `SharedReads`. Who offers a burst has all its words, and takes answers in every clock.

    Members
    -------
    i : In(AXI4 write) x managers
        Addresses count from the window's base, and lie in the window.
    base : In(64), stop : In(1), quiet : Out(1)
        As of `SharedReads`.
    o : Out(AXI4 write)
        ``awid`` is the manager's number.

    Latency: 1 clock to ``awvalid`` and ``wvalid``, 0 from ``bvalid``. Throughput: a word per clock, but for a clock
    between bursts.
    """

    def __init__(self, data_width, managers):
        self.managers = managers
        super().__init__(
            {
                "i": In(write_signature(data_width)).array(managers),
                "base": In(ADDRESS_WIDTH),
                "stop": In(1),
                "quiet": Out(1),
                "o": Out(write_signature(data_width, ID_WIDTH)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        o, every = self.o, range(self.managers)
        owner, writing = Signal(range(max(2, self.managers))), Signal()
        under_way = Signal(_UNDER_WAY)

        chosen, any_wants = Signal.like(owner), Signal()
        for number in every:
            with m.If(self.i[number].awvalid):
                m.d.comb += [chosen.eq(number), any_wants.eq(1)]
        begin = Signal()
        m.d.comb += begin.eq(any_wants & ~writing & ~o.awvalid & ~self.stop & ~under_way.all())
        first = Array(self.i)[chosen]
        end_taken(m, o, "aw")
        with m.If(begin):
            m.d.sync += [
                *drive(o, awvalid=1, awid=chosen, awaddr=self.base + first.awaddr),
                *assign(o, first, *(f"aw{name}" for name in BURST)),
                owner.eq(chosen),
                writing.eq(1),
            ]
        word = Array(self.i)[owner]
        m.d.comb += [o.wvalid.eq(writing & word.wvalid), *assign(o, word, "wdata", "wstrb", "wlast"), o.bready.eq(1)]
        with m.If(o.wvalid & o.wready & o.wlast):
            m.d.sync += writing.eq(0)
        for number in every:
            port = self.i[number]
            m.d.comb += [
                *drive(port, awready=begin & (chosen == number), wready=writing & (owner == number) & o.wready),
                *drive(port, bvalid=o.bvalid & (o.bid == number), bresp=o.bresp),
            ]
        m.d.sync += [
            under_way.eq(under_way + begin - o.bvalid),
            self.quiet.eq(~begin & ~writing & ~o.awvalid & (under_way == 0)),
        ]
        return m
