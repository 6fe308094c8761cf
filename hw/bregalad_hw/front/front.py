"""All that stands before the array: rows in, headers of records at their leaves out, and what leaves predict."""

from amaranth import Assert, Module, Mux, Signal
from amaranth.lib import data, fifo, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from bregalad.predictors import Predictor
from bregalad.protocol.commands import RecordFlag
from bregalad.protocol.leaf_rows import LEAF_ROWS, RowOp, RowWord
from bregalad.protocol.rows import WEIGHT_LOW

from ..mcmu.predictor import prediction_layout
from ..mcmu.tracker import header_layout
from ..members import assign, drive, members_of, pass_on
from ..registers import configuration_signature
from ..repeat import WEIGHT
from ..skid_buffer import SkidBuffer
from . import leaf_rows
from .leaf_rows import LeafRows
from .quantiser import Quantiser
from .store import RecordStore
from .walker import Walker

_WALKED = ("edit", "renumber", "last_number", "limit", "handed", "error")
_STORED = ("read_at", "codes", "free")
_STEPS = 8  # of a walk: mostly fewer
_UNKNOWN = 3  # records that `room` does not know of: this clock's, and those of the two before
_BEHIND = 16  # places for records that have left the walker
_PREDICTED = 64  # records that may wait for naive Bayes
# What a ROW command says.
ACCESS = data.StructLayout({"op": 8, "node": 16, "word": 16, "value": 32})


def rings_of(geometry):
    """Rings that walk trees of some depth as fast as records of codes come, eight at most."""
    g = geometry
    clocks = max(g.passes, -(-g.max_cells // g.bus_bytes))  # of a record
    return min(8, -(-_STEPS // clocks))


class Front(wiring.Component):
    """Find codes and leaf of each record; hand it to the tracker and to its leaf's row. ::

        rows -> Quantiser -> codes -+-> Walker -> leaf -+-> header -> tracker
                                    |                   +-> (naive Bayes) -> LeafRows -> result
                                    +-> RecordStore -> codes, whenever the tracker asks

    Nothing in the quantiser waits, so a row's first step is cut only if there is a place for its record in the walker
    and in the store. Labels that are no class, and what an error has cut off, go through it all as records that have no
    slot, only TEST, and nothing to tell, so that order and places stay right.

    Accesses to rows take place between two records: they wait for those that have been handed over, and nothing is
    handed over meanwhile.

    Parameters
    ----------
    geometry : Geometry
        Its ``lanes`` is a power of two, its ``nodes`` are 2 to 32768.
    walkers, records : int
        Of the `Walker`; as many rings as `rings_of` says, unless given.
    steps : int
        Of the `Quantiser`.

    Members
    -------
    configuration : In(configuration_signature(LEAF_ROWS))
        Static while a record is in here.
    command : In(stream of ROW_COMMAND), i : In(stream of bus words)
        To the quantiser.
    root : In(node)
        Where the records of a command begin; static until ``busy`` has fallen.
    abort : In(1)
        The words end before the rows do. All rows that are whole are learnt, no others; it stays until ``busy`` has
        fallen, if there is no record in here that waits for something else.
    header : Out(stream of header_layout)
        Of every record, in order, and of each of its ways down alternates. One without ``there`` counts nowhere; a
        record's codes are freed with its last.
    bayes : In(stream of prediction_layout)
        With ``naive_bayes`` only. Unless the predictor is MAJORITY, one for every header with ``there``, in order.
    edit, renumber, last_number, limit, handed, error
        Of the `Walker`. Nothing is handed over while there is an edit.
    row : In(stream of ACCESS)
        Taken when it is carried out, once the headers of all records before it are taken.
    refused : Out(1)
        For a clock: a row command named what there is not, and did nothing.
    result : Out(stream of leaf_rows.result_layout)
    read_at, codes, free
        Of the `RecordStore`. Each record is freed.
    good, bad : Out(1)
        For a clock: a header without TEST was given to the tracker; a record came whose label is no class.
    quiet : Out(1)
        All that has been handed over has been taken, predicted, told.
    busy : Out(1)
        A command or a record is in here.

    Latency: 2 clocks from the walker's item to ``header``. Throughput: a record per clock.
    """

    def __init__(self, geometry, *, walkers=None, records=16, steps=64):
        self.geometry = g = geometry
        walkers = rings_of(g) if walkers is None else walkers
        self.rows = LeafRows(g, g.nodes)
        self.quantiser = Quantiser(g, steps)
        ways = {"walkers": walkers, "records": records, "alternates": g.alternates}
        self.walker = Walker(g.nodes, g.max_cells, g.slots, g.lanes, **ways)
        self.walking = walkers * records
        self.store = RecordStore(g, 1 << (self.walking + _BEHIND - 1).bit_length())
        super().__init__(
            {
                "configuration": In(configuration_signature(LEAF_ROWS)),
                **members_of(self.quantiser, "command"),
                "i": In(stream.Signature(g.bus_width)),
                "root": In(range(g.nodes)),
                "abort": In(1),
                "header": Out(stream.Signature(header_layout(g))),
                **({"bayes": In(stream.Signature(prediction_layout(g)))} if g.naive_bayes else {}),
                **members_of(self.walker, *_WALKED),
                "row": In(stream.Signature(ACCESS)),
                "refused": Out(1),
                "result": Out(stream.Signature(leaf_rows.result_layout(g, g.nodes))),
                **members_of(self.store, *_STORED),
                **dict.fromkeys(("good", "bad", "quiet", "busy"), Out(1)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.quantiser = quantiser = self.quantiser
        m.submodules.walker = walk = self.walker
        m.submodules.store = self.store
        m.submodules.rows = rows = self.rows
        pass_on(m, quantiser, self, "command")
        pass_on(m, walk, self, *_WALKED)
        pass_on(m, self.store, self, *_STORED)
        connect(m, rows.o, flipped(self.result))
        connect(m, flipped(self.configuration), rows.configuration)
        self._words(m)
        header, waiting, outcomes = self._join(m, self._records(m))
        behind = header.valid | waiting | outcomes.valid
        self._access(m, outcomes, walk.quiet & ~waiting & ~header.valid)
        m.d.comb += self.quiet.eq(walk.quiet & rows.quiet & ~behind)
        return m

    def _words(self, m):
        """Give the quantiser its words; where they end early, once all before is through, any."""
        quantiser = self.quantiser
        passed = Signal(range(quantiser.under_way + 3))  # clocks in which it has been starved
        self._cut_off = cut_off = Signal()
        with m.If(~self.abort):
            m.d.sync += [passed.eq(0), cut_off.eq(0)]
        with m.Elif(~quantiser.starved):
            m.d.sync += passed.eq(0)
        with m.Elif(passed == quantiser.under_way + 2):
            m.d.sync += cut_off.eq(1)
        with m.Else():
            m.d.sync += passed.eq(passed + 1)
        m.d.comb += [
            *drive(quantiser.i, valid=self.i.valid | cut_off, payload=self.i.payload),
            self.i.ready.eq(quantiser.i.ready & ~cut_off),
            quantiser.stop.eq(cut_off),
        ]

    def _records(self, m):
        """Put the quantiser's beats where they belong; what is known of each record besides, in order."""
        g, quantiser, walk, store = self.geometry, self.quantiser, self.walker, self.store
        beat = quantiser.o.payload
        # From the clock after their first steps are cut on.
        walking, stored = Signal(range(self.walking + 1)), Signal(range(store.records + 1))
        left, full = Signal(), Signal()
        m.d.comb += [left.eq(walk.o.valid & walk.o.ready & walk.o.p.last), self.busy.eq(quantiser.busy | full)]
        m.d.sync += [
            walking.eq(walking + quantiser.begun - left),
            stored.eq(stored + quantiser.begun - self.free),
            quantiser.room.eq((walking <= self.walking - _UNKNOWN) & (stored <= store.records - _UNKNOWN)),
            full.eq(quantiser.begun | (stored != 0) | ~self.quiet),
        ]

        known, test, minus, weight = Signal(), Signal(), Signal(), Signal(WEIGHT)
        arrives = Signal()
        layout = data.StructLayout(
            {"label": header_layout(g)["label"].shape, "known": 1, "test": 1, "minus": 1, "weight": WEIGHT}
        )
        m.submodules.beside = beside = fifo.SyncFIFOBuffered(width=layout.size, depth=self.walking)
        written, read = data.View(layout, beside.w_data), data.View(layout, beside.r_data)
        m.d.comb += [
            arrives.eq(quantiser.o.valid & beat.last),
            known.eq((beat.label < g.classes) & ~self._cut_off),
            test.eq((beat.flags & int(RecordFlag.TEST)) != 0),
            minus.eq((beat.flags & int(RecordFlag.MINUS)) != 0),
            weight.eq(Mux(known & ~test & ~minus, beat.flags[WEIGHT_LOW:] + 1, 1)),
            self.bad.eq(arrives & ~known & ~self._cut_off),
            walk.i.valid.eq(quantiser.o.valid),
            *drive(walk.i.p, codes=beat.codes, root=self.root, numbered=known & ~test & ~minus, last=beat.last),
            *drive(store, put=quantiser.o.valid, written=beat.codes, last=beat.last),
            beside.w_en.eq(arrives),
            *drive(written, label=beat.label, known=known, test=test | ~known, minus=minus & known, weight=weight),
            beside.r_en.eq(left),
        ]
        m.d.sync += [
            Assert(walk.i.ready | ~walk.i.valid, "no room for a record"),
            Assert(beside.w_rdy | ~beside.w_en, "no room for what is known of a record"),
            Assert(beside.r_rdy | ~walk.o.valid, "nothing is known of a record"),
        ]
        return read

    def _join(self, m, beside):
        """Hand records over to the tracker, and to their leaf's rows once it is known what naive Bayes says.

        The headers' stream, whether records wait for naive Bayes, and the stream of those that do not any more.
        """
        g, found = self.geometry, self.walker.o
        m.submodules.header = header = SkidBuffer(header_layout(g))
        layout = data.StructLayout(
            {
                "node": found.p.node.shape(),
                "label": beside.label.shape(),
                "test": 1,
                "weight": WEIGHT,
                "alternate": 1,
                "requests": 1,
                "has_outcome": 1,
            }
        )
        m.submodules.waiting = waiting = fifo.SyncFIFOBuffered(
            width=layout.size, depth=_PREDICTED if g.naive_bayes else 4
        )
        m.submodules.outcomes = outcomes = SkidBuffer(_outcome_layout(g))
        written, first = data.View(layout, waiting.w_data), data.View(layout, waiting.r_data)
        requests = Signal()  # as the predictor is
        there = Signal()
        m.d.sync += requests.eq(self.configuration.leaf_predictor.by != Predictor.MAJORITY)
        m.d.comb += [
            there.eq(found.p.slot.there & beside.known),
            found.ready.eq(header.i.ready & waiting.w_rdy),
            header.i.valid.eq(found.valid & waiting.w_rdy),
            *drive(header.i.p, slot=found.p.slot.slot, there=there),
            *assign(header.i.p, beside, "label", "test", "minus", "weight"),
            waiting.w_en.eq(found.valid & header.i.ready),
            written.node.eq(found.p.node),
            *assign(written, beside, "label", "test", "weight"),
            *drive(written, alternate=found.p.alternate, requests=there & requests),
            written.has_outcome.eq(beside.known & ~beside.minus),
            self.good.eq(self.header.valid & self.header.ready & ~self.header.p.test),
        ]
        if g.alternates:
            m.d.comb += [header.i.p.alternate.eq(found.p.alternate), header.i.p.follows.eq(~found.p.last)]
        connect(m, header.o, flipped(self.header))

        answered, taken = Signal(), Signal()
        m.d.comb += [
            answered.eq(waiting.r_rdy),
            taken.eq(answered & (outcomes.i.ready | ~first.has_outcome)),
            waiting.r_en.eq(taken),
            outcomes.i.valid.eq(answered & first.has_outcome),
            *assign(outcomes.i.p, first, "node", "label", "test", "weight", "alternate"),
        ]
        if g.naive_bayes:
            m.d.comb += [
                answered.eq(waiting.r_rdy & (self.bayes.valid | ~first.requests)),
                self.bayes.ready.eq(taken & first.requests),
                *drive(outcomes.i.p, known=first.requests & self.bayes.p.known, bayes=self.bayes.p.label),
            ]
        return self.header, waiting.level != 0, outcomes.o

    def _access(self, m, outcomes, through):
        """Give leaf rows their items: those of records, or a ROW command's when all records before are through."""
        g, rows, row = self.geometry, self.rows, self.row
        offered, known, goes = Signal(), Signal(), Signal()
        by_node = (row.p.op == RowOp.READ) | (row.p.op == RowOp.WRITE)
        m.d.comb += self.walker.hold.eq(row.valid)
        m.d.sync += [
            offered.eq(row.valid & ~row.ready),
            known.eq(
                (row.p.op == RowOp.MARK) | (by_node & (row.p.node < g.nodes) & (row.p.word < len(RowWord) + g.classes))
            ),
            # A record that was handed over in the clock of the offer is seen a clock later.
            goes.eq(offered & ~row.ready & through & ~outcomes.valid),
        ]
        item = rows.i.p
        m.d.comb += [
            rows.i.valid.eq(Mux(goes, known, outcomes.valid)),
            outcomes.ready.eq(rows.i.ready & ~goes),
            row.ready.eq(goes & (rows.i.ready | ~known)),
            self.refused.eq(goes & ~known),
            item.op.eq(Mux(goes, row.p.op[: len(item.op)], RowOp.RECORD)),
            item.node.eq(Mux(goes, row.p.node, outcomes.p.node)),
            item.weight.eq(Mux(goes, 1, outcomes.p.weight)),
            *assign(item, outcomes.p, "label", "test", "alternate", "known", "bayes"),
            *assign(item, row.p, "word", "value"),
        ]


def _outcome_layout(geometry):
    """A record that goes to its leaf's row."""
    item = leaf_rows.item_layout(geometry, geometry.nodes)
    return data.StructLayout({name: field.shape for name, field in item if name not in ("op", "word", "value")})
