"""Statistics that lie in memory come to the array before an operation needs them."""

from amaranth import Assert, Cat, Module, Mux, Signal
from amaranth.lib import data, fifo, memory, wiring
from amaranth.lib.wiring import In, Out
from bregalad.protocol.pages import PageLayout

from ..array.operation import Op, operation_layout, operations_signature, slot_shape
from ..members import assign, drive, join
from .axi import BOUNDARY, axi_signature
from .dma import ReadDMA
from .page_walk import PageWalk
from .posted import PostedWriter

_LEVEL = 4  # operations that wait before others are held
_INCOMING = 8  # others that may come then, beside the SNAPs of a pass
_WAITING = ("op", "codes", "count_in", "attempt_current")  # what waits: codes come a clock later
_READS = 16  # of a page that are under way; the way round takes about as many clocks


def chip_geometry(geometry):
    """What the array is built for: as many slots as it holds at a time."""
    return geometry.replace(slots=geometry.resident, resident=0) if geometry.resident else geometry


class Pager(wiring.Component):
    """Operations of slots become operations of frames, places of the array that hold a slot's statistics.

    A slot without a frame has its statistics in memory, in a page, and behind them a log. Once all frames are taken, a
    COUNT of such a slot that predicts nothing goes to the log. Any other operation, or a log that is full, brings the
    page to a frame: the frame's last slot is saved, the page's bin windows and counts are written to the array, and the
    log is counted. The frame is the first behind the last one taken that has not been used since the search came past.
    While nothing else is under way, logs are counted one by one: so registers that say what a code counts may change.

    What memory fails to read or write is asked for again. Nothing is lost or counted twice, for a frame or a page is
    given up only when its copy is complete.

    Parameters
    ----------
    geometry : Geometry
        With ``resident``.

    Members
    -------
    work : In(operations_signature(geometry))
        Operations of slots, as if the array had all of them; nothing of each lane.
    hold : Out(1)
        No more operations, but for a few and the SNAPs of a pass that has begun.
    array : Out(operations_signature(chip_geometry(geometry)))
    base : In(32)
        Where the pages begin.
    rests : In(1)
        Nothing else is under way.
    axi : Out(axi_signature)
    failed : Out(1)
        Memory has not read or written what was asked for last.
    busy : Out(1)

    Latency: ``latency`` clocks more to a frame. A beat for the log takes some 10 clocks and memory's answer, a page as
    many clocks as it has items, or bus words if these are more, and as many for the one that it displaces.
    Throughput: an operation of a frame per clock.
    """

    latency = 5

    def __init__(self, geometry):
        self.geometry = g = geometry
        self.chip = chip_geometry(g)
        self.pages = PageLayout(g)
        work = operations_signature(g)
        # What waits for its slot; what a log has of a beat.
        self._waiting = data.StructLayout({name: work.members[name].shape for name in _WAITING})
        self._carried = ("pass_", "label", "minus")
        carried = {name: operation_layout(g)[name].shape for name in self._carried}
        self._logged = data.StructLayout({"codes": work.members["codes"].shape, **carried})
        super().__init__(
            {
                "work": In(work),
                "array": Out(operations_signature(self.chip)),
                "hold": Out(1),
                "base": In(32),
                "rests": In(1),
                "axi": Out(axi_signature(g.bus_width)),
                "failed": Out(1),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        g, pages = self.geometry, self.pages
        frame_shape = slot_shape(self.chip)
        place = data.StructLayout({"present": 1, "saved": 1, "frame": frame_shape, "log": range(pages.log_beats + 1)})
        held = data.StructLayout({"used": 1, "slot": slot_shape(g)})
        # Where each slot is; which slot each frame has. A reset leaves both, and how many logs have beats.
        m.submodules.places = places = memory.Memory(shape=place, depth=g.slots, init=[])
        m.submodules.frames = frames = memory.Memory(shape=held, depth=g.resident, init=[])
        look, put = places.read_port(), places.write_port()
        owner, take = frames.read_port(), frames.write_port()
        logs = Signal(range(g.slots + 1), reset_less=True)

        m.submodules.writer = writer = PostedWriter(g.bus_width)
        m.submodules.dma = dma = ReadDMA(g.bus_width, outstanding=2, burst=min(16, BOUNDARY * 8 // g.bus_width))
        join(m, self.axi, dma.axi, writer.axi)
        fails = Signal()
        m.d.comb += self.failed.eq(fails | writer.failed)
        with m.If(dma.o.valid & dma.o.ready):
            m.d.sync += fails.eq(dma.o.p.error != 0)

        # An operation waits in `behind` for its slot's place, and in `head` until it has gone.
        queue, empty = self._queue(m)
        incoming = data.View(self._waiting, queue.r_data)
        behind, head = Signal(self._waiting), Signal(self._waiting)
        behind_there, head_there = Signal(), Signal()
        at = Signal(place)  # the head's
        fast, idle = Signal(), Signal()  # it goes to its frame; it changes nothing
        running, moves, goes = Signal(), Signal(), Signal()
        snapped = Signal()  # the last bin of a pass, a clock ago

        # What goes to the array, codes a clock later.
        issued = Signal(operation_layout(self.chip))
        work, array = self.work, self.array
        codes, late_codes = Signal.like(work.codes), Signal.like(work.codes)
        m.d.sync += [
            late_codes.eq(codes),
            *drive(array, op=issued, codes=late_codes),
            *assign(array, head, "count_in", "attempt_current"),
        ]
        m.d.comb += codes.eq(head.codes)

        def issue(**fields):
            m.d.comb += [issued[name].eq(value) for name, value in fields.items()]

        def issue_head(parent):
            others = {name: head.op[name] for name in issued.shape().members}
            issue(**others | {"slot": at.frame, "parent": parent})

        snaps = head.op.code == Op.SNAP
        m.d.comb += [
            goes.eq(running & head_there & (idle | (fast & ~(snapped & snaps)))),
            moves.eq(running & (~head_there | goes)),
            queue.r_en.eq(moves),
            *drive(look, en=moves, addr=incoming.op.slot),
        ]
        m.d.sync += snapped.eq(goes & snaps & (head.op.bin == g.bins - 1))
        with m.If(goes & fast):
            issue_head(at.frame)
        with m.If(moves):
            m.d.sync += [
                behind.eq(incoming),
                behind_there.eq(queue.r_rdy),
                head.eq(behind),
                head_there.eq(behind_there),
                at.eq(look.data),
                fast.eq(look.data.present & (behind.op.code != Op.PLACE)),
                idle.eq(~look.data.present & (behind.op.code == Op.COUNT) & behind.op.test & ~behind.op.predict),
            ]

        # READs are the editor's, or the pager's as it saves a page.
        saving = Signal()
        reads, places_left = Signal(range(_READS + 1)), Signal(range(_READS + 1), init=_READS)
        m.submodules.counts = counts = fifo.SyncFIFOBuffered(width=pages.item_bits, depth=_READS)
        requests = issued.code == Op.READ
        m.d.comb += [
            *drive(work, count_out=array.count_out, count_valid=array.count_valid & ~saving),
            *drive(counts, w_en=array.counts_valid & saving, w_data=array.counts_out),
        ]
        m.d.sync += [
            reads.eq(reads + requests - array.count_valid),
            places_left.eq(places_left - (requests & saving) + (counts.r_en & counts.r_rdy)),
            Assert(~counts.w_en | counts.w_rdy, "no room for a count"),
        ]

        size, page_size = pages.size_words * g.bus_bytes, pages.words(g.passes) * g.bus_bytes
        beat_size = pages.beat_words * g.bus_bytes
        address, length = Signal(32), Signal(32)  # of what memory is asked for
        m.d.comb += [
            writer.i.p.address.eq(address),
            *drive(dma.descriptor.p, address=address, length=length),
        ]

        def request_page(of):
            m.d.sync += [address.eq(self.base + of * size), length.eq(page_size)]

        def request_log(of, beat, beats):
            m.d.sync += [address.eq(self.base + of * size + page_size + beat * beat_size), length.eq(beats * beat_size)]

        # A page's words: items are shifted in, or out. A beat's words.
        walk = PageWalk(m, g)
        word, words = Signal(pages.word_items * pages.item_bits), Signal(pages.item_words * g.bus_width)
        items = Signal(range(pages.word_items + 1))
        full = Signal()
        parts = Signal(range(max(pages.beat_words, pages.item_words) + 1))
        m.d.sync += array.counts_in.eq(word)
        m.d.comb += words.eq(word)
        beat = Signal(pages.beat_words * g.bus_width)
        logged, counted = Signal(self._logged), data.View(self._logged, beat[: self._logged.size])
        logged_words = Signal.like(beat)
        m.d.comb += [logged.codes.eq(head.codes), *assign(logged, head.op, *self._carried), logged_words.eq(logged)]

        def write(part, word_of):
            """Offer a word; whether it is taken."""
            m.d.comb += [writer.i.valid.eq(1), writer.i.p.data.eq(word_of.word_select(part, g.bus_width))]
            with m.If(writer.i.ready):
                m.d.sync += address.eq(address + g.bus_bytes)
            return writer.i.ready

        slot, wanted = Signal(slot_shape(g)), Signal(place)  # what is brought
        frame, old = Signal(frame_shape), Signal(slot_shape(g))
        recent = Signal(g.resident)
        hand = Signal(frame_shape)
        filled = Signal(reset_less=True)  # every frame has had a slot
        scan, parent = Signal(slot_shape(g)), Signal(frame_shape)
        left = Signal(range(pages.log_beats + 1))
        longer = Signal(place)
        m.d.comb += [longer.eq(at), longer.log.eq(at.log + 1)]
        with m.If(goes & fast):
            m.d.sync += recent.bit_select(at.frame, 1).eq(1)
        nothing = ~head_there & ~behind_there & empty

        def bring(which, what):
            m.d.sync += [slot.eq(which), wanted.eq(what)]
            m.next = "VICTIM"

        def look_at(which):
            m.d.comb += [look.en.eq(1), look.addr.eq(which)]

        with m.FSM(name="state") as fsm:
            with m.State("RUN"):
                m.d.comb += running.eq(1)
                with m.If(head_there & ~fast & ~idle):
                    m.next = "DECIDE"
                with m.Elif(nothing & self.rests & (logs != 0)):
                    m.next = "SCAN"

            # The head's place once more, for it has changed, and that of what is behind.
            with m.State("FETCH"):
                look_at(head.op.slot)
                m.next = "FETCHED"
            with m.State("FETCHED"):
                m.d.sync += [at.eq(look.data), fast.eq(look.data.present & (head.op.code != Op.PLACE))]
                look_at(behind.op.slot)
                m.next = "RUN"
            with m.State("FETCH_BEHIND"):
                look_at(behind.op.slot)
                m.next = "RUN"

            with m.State("DECIDE"):
                look_at(head.op.parent)
                request_log(head.op.slot, at.log, 1)
                m.d.sync += [parent.eq(at.frame), parts.eq(0)]
                with m.If(~at.present):
                    m.next = "LOG"
                    with m.If((head.op.code != Op.COUNT) | head.op.predict | ~filled):
                        bring(head.op.slot, at)
                with m.Elif(head.op.root | (head.op.parent == head.op.slot)):
                    m.next = "PLACE"
                with m.Else():
                    m.next = "PARENT"
            # Where the parent takes the slot's frame, the slot takes the next: the search comes to the parent's last.
            with m.State("PARENT"):
                m.d.sync += parent.eq(look.data.frame)
                m.next = "PLACE"
                with m.If(~look.data.present):
                    bring(head.op.parent, look.data)
            with m.State("PLACE"):
                issue_head(parent)
                m.d.sync += head_there.eq(0)
                m.next = "FETCH_BEHIND"

            with m.State("LOG"):
                with m.If(write(parts, logged_words)):
                    m.d.sync += parts.eq(parts + 1)
                    with m.If(parts == pages.beat_words - 1):
                        m.d.comb += [put.en.eq(1), put.addr.eq(head.op.slot), put.data.eq(longer)]
                        m.d.sync += [head_there.eq(0), logs.eq(logs + (at.log == 0))]
                        m.next = "FETCH_BEHIND"
                        with m.If(longer.log == pages.log_beats):
                            bring(head.op.slot, longer)

            with m.State("SCAN"):
                look_at(scan)
                m.next = "SCANNED"
            with m.State("SCANNED"):
                m.d.sync += scan.eq(Mux(scan == g.slots - 1, 0, scan + 1))
                m.next = "FETCH_BEHIND"
                with m.If(look.data.log != 0):
                    bring(scan, look.data)

            with m.State("VICTIM"):
                m.d.comb += owner.addr.eq(hand)
                m.d.sync += [
                    frame.eq(hand),
                    hand.eq(Mux(hand == g.resident - 1, 0, hand + 1)),
                    recent.bit_select(hand, 1).eq(0),
                ]
                with m.If(hand == g.resident - 1):
                    m.d.sync += filled.eq(1)
                with m.If(~recent.bit_select(hand, 1)):
                    m.next = "OWNER"
            with m.State("OWNER"):
                m.d.sync += old.eq(owner.data.slot)
                m.next = "BRING"
                with m.If(owner.data.used):
                    m.next = "SAVE"

            with m.State("SAVE"):
                request_page(old)
                walk.begin()
                m.d.sync += [items.eq(0), parts.eq(0)]
                with m.If(reads == 0):  # no one else's is under way
                    m.d.sync += saving.eq(1)
                    m.next = "SAVING"
            with m.State("SAVING"):
                with m.If(~walk.ended & (places_left != 0)):
                    issue(code=Op.READ, slot=frame, bin_window=walk.bin_windows, each=1, **walk.cell)
                    walk.go_on()
                gone = Signal()
                with m.If(full):
                    with m.If(write(parts, words)):
                        m.d.comb += gone.eq(parts == pages.item_words - 1)
                        m.d.sync += [parts.eq(Mux(gone, 0, parts + 1)), full.eq(~gone)]
                # Items to a word, and zeros behind the last.
                ended = walk.ended & (reads == 0) & (places_left == _READS)
                with m.If(~full | gone):
                    m.d.comb += counts.r_en.eq(1)
                    with m.If(counts.r_rdy | (ended & (items != 0))):
                        ends = items == pages.word_items - 1
                        m.d.sync += [
                            word.eq(Cat(word, Mux(counts.r_rdy, counts.r_data, 0))[-len(word) :]),
                            items.eq(Mux(ends, 0, items + 1)),
                            full.eq(ends),
                        ]
                with m.If(ended & (items == 0) & ~full & writer.empty):
                    m.d.sync += saving.eq(0)
                    m.d.comb += [put.en.eq(1), put.addr.eq(old), put.data.saved.eq(1)]
                    m.d.comb += [take.en.eq(1), take.addr.eq(frame)]
                    m.next = "BRING"

            with m.State("BRING"):
                request_page(slot)
                walk.begin()
                m.d.sync += [items.eq(0), parts.eq(0), left.eq(wanted.log)]
                m.next = "CLEAR"
                with m.If(wanted.saved):
                    m.next = "REQUEST"
            for state, after in (("REQUEST", "UNPACK"), ("REQUEST_LOG", "COUNT")):
                with m.State(state):
                    m.d.comb += dma.descriptor.valid.eq(1)
                    with m.If(dma.descriptor.ready):
                        m.next = after
            with m.State("UNPACK"):
                with m.If(items != 0):
                    m.d.sync += [word.eq(word >> pages.item_bits), items.eq(items - 1)]
                    issue(code=Mux(walk.bin_windows, Op.PLACE, Op.WRITE), slot=frame, **walk.cell)
                    issue(parent=frame, override=1, each=1)
                    walk.go_on()
                    with m.If(walk.last):
                        m.next = "REPLAY"
                with m.If(items <= 1):  # the next word, while the last item goes
                    m.d.comb += dma.o.ready.eq(1)
                    with m.If(dma.o.valid):
                        m.d.sync += word.word_select(parts, g.bus_width).eq(dma.o.p.data)
                        with m.If(parts == pages.item_words - 1):
                            m.d.sync += [parts.eq(0), items.eq(pages.word_items)]
                        with m.Else():
                            m.d.sync += parts.eq(parts + 1)
                        with m.If(dma.o.p.error != 0):
                            m.next = "BRING"
            # A page that was never saved is empty.
            with m.State("CLEAR"):
                issue(code=Mux(walk.bin_windows, Op.PLACE, Op.CLEAR), slot=frame, root=1, **walk.cell)
                walk.go_on()
                with m.If(walk.last):
                    m.next = "REPLAY"

            # After an error from the beat on that has not come.
            with m.State("REPLAY"):
                request_log(slot, wanted.log - left, left)
                m.d.sync += parts.eq(0)
                with m.If(left == 0):
                    m.next = "DONE"
                with m.Elif(writer.empty):
                    m.next = "REQUEST_LOG"
            with m.State("COUNT"):
                with m.If(parts != pages.beat_words):
                    m.d.comb += dma.o.ready.eq(1)
                    with m.If(dma.o.valid):
                        m.d.sync += [beat.eq(Cat(beat, dma.o.p.data)[g.bus_width :]), parts.eq(parts + 1)]
                        with m.If(dma.o.p.error != 0):
                            m.next = "REPLAY"
                with m.Else():
                    issue(code=Op.COUNT, slot=frame, **{name: counted[name] for name in self._carried})
                    m.d.comb += codes.eq(counted.codes)
                    m.d.sync += [parts.eq(0), left.eq(left - 1)]
                    with m.If(left == 1):
                        m.next = "DONE"

            with m.State("DONE"):
                m.d.comb += [put.en.eq(1), put.addr.eq(slot), take.en.eq(1), take.addr.eq(frame)]
                m.d.comb += [put.data.present.eq(1), put.data.saved.eq(wanted.saved), put.data.frame.eq(frame)]
                m.d.comb += [take.data.used.eq(1), take.data.slot.eq(slot)]
                m.d.sync += [logs.eq(logs - (wanted.log != 0)), recent.bit_select(frame, 1).eq(1)]
                m.next = "FETCH"
                with m.If(~head_there):
                    m.next = "FETCH_BEHIND"

            m.d.comb += self.busy.eq(~nothing | ~fsm.ongoing("RUN") | (logs != 0))
        return m

    def _queue(self, m):
        """Operations with all that goes with them; whether there is none, and none is coming."""
        g = self.geometry
        depth = _LEVEL + _INCOMING + g.bins
        m.submodules.queue = queue = fifo.SyncFIFOBuffered(width=self._waiting.size, depth=depth)
        arrived = Signal(self._waiting)  # its codes come now
        m.d.sync += [
            *assign(arrived, self.work, "op", "count_in", "attempt_current"),
            self.hold.eq(queue.level > _LEVEL),
            Assert(~queue.w_en | queue.w_rdy, "no room for an operation"),
        ]
        entering = Signal(self._waiting)
        m.d.comb += [
            entering.eq(arrived),
            entering.codes.eq(self.work.codes),
            *drive(queue, w_data=entering, w_en=arrived.op.code != Op.NONE),
        ]
        return queue, (self.work.op.code == Op.NONE) & (arrived.op.code == Op.NONE) & (queue.level == 0)
