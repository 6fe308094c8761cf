"""What leaves predict by: class counts and guesses, a record per clock, in order."""

from amaranth import Assert, Cat, Module, Mux, Signal, signed
from amaranth.lib import data, fifo, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out, connect, flipped
from bregalad.complete import complete
from bregalad.predictors import Predictor
from bregalad.protocol.leaf_rows import COUNT_WIDTH, LEAF_ROWS, RowOp, RowWord

from ..members import drive
from ..registers import configuration_signature
from ..repeat import WEIGHT, Repeat, copy_layout

complete(Predictor, (Predictor.MAJORITY, Predictor.BAYES, Predictor.ADAPTIVE), __file__)  # what `_change` does

_WORDS = len(RowWord)  # before the class counts
_RESULTS = 16  # places of a distributed RAM
_STAGES = 5  # that an item may be from the clock in which there is room until its result is stored


def _label(geometry):
    return (geometry.classes - 1).bit_length()


def item_layout(geometry, nodes):
    """A record at its leaf, or what is done to a row or to the counters."""
    g = geometry
    return data.StructLayout(
        {
            "op": RowOp,
            "node": range(nodes),
            "label": _label(g),
            "test": 1,  # RECORD: predict only
            "weight": WEIGHT,  # RECORD: how often its class is counted; of all else, and with ``test``, 1
            "alternate": 1,  # RECORD: what it predicts is not the tree's prediction
            "known": 1,  # RECORD: naive Bayes knows a class
            "bayes": _label(g),  # that class
            "word": range(_WORDS + g.classes),  # READ, WRITE
            "value": 32,  # WRITE
        }
    )


def result_layout(geometry, nodes):
    """What an item has to tell; the words are those of ``sim/bregalad_sim/golden/leaf_rows.py``.

    What belongs to a bit that is 0 may be anything.
    """
    g = geometry
    return data.StructLayout(
        {
            "node": range(nodes),
            "reported": 1,
            "label": _label(g),
            "mark": 1,
            "instances": 32,
            "hits": 32,  # or the word that was read
            "read": 1,
        }
    )


def _row_layout(geometry, width):
    """What records change."""
    return data.StructLayout(
        {"majority": _label(geometry), "lead": width, **({"right": signed(32)} if geometry.naive_bayes else {})}
    )


class LeafRows(wiring.Component):
    """A row per node: predict a record by it, then count the record.

    Rows lie in block RAM. An item has its row read in its first clock, the row arrives in the next one, where what the
    items right before have made of it takes its place, is changed in the third and written in the fourth. A class count
    is read and written likewise, one for each record: the label's. So any number of classes takes as long, and no more
    logic.

    An instance that weighs is counted in as many clocks; all else that it changes it changes in the first of them.

    Nothing ever stops in the pipeline: items are taken while there is room for the results of all.

    Parameters
    ----------
    geometry : Geometry
    nodes : int
        2 to 32768.
    width : int
        Bits of a class count, 4 to 32.

    Members
    -------
    configuration : In(configuration_signature(LEAF_ROWS))
        Static while items are under way.
    i : In(stream of item_layout)
        ``word`` is below 3 + C; the labels are below C.
    o : Out(stream of result_layout)
        Of the items that have something to tell, in order.
    quiet : Out(1)
        No item is under way, and no result waits.

    Latency: ``latency`` cycles from an item to its result. Throughput: an item per cycle, or as many cycles as it
    weighs, while no more than 10 results wait. Rows are 0 after configuration; a
    reset of the clock domain leaves them as they are.

    Source: sim/bregalad_sim/golden/leaf_rows.py; docs/learners.md, Prediction.
    """

    latency = 5

    def __init__(self, geometry, nodes, *, width=COUNT_WIDTH):
        for name, value, low, high in (("nodes", nodes, 2, 32768), ("width", width, 4, 32)):
            if not low <= value <= high:
                raise ValueError(f"{name} must be {low} to {high}, not {value}")
        self.geometry = g = geometry
        self.nodes = nodes
        self.width = width
        super().__init__(
            {
                "configuration": In(configuration_signature(LEAF_ROWS)),
                "i": In(stream.Signature(item_layout(g, nodes))),
                "o": Out(stream.Signature(result_layout(g, nodes))),
                "quiet": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.repeat = repeat = Repeat(item_layout(self.geometry, self.nodes))
        connect(m, flipped(self.i), repeat.i)
        self.copies = copies = repeat.o
        valid, item = self._take(m, copies.valid & copies.ready)
        self._rows(m, valid, item)
        room, under_way = self._results(m, *self._report(m, valid[2], item[2]))
        m.d.comb += [copies.ready.eq(room), self.quiet.eq(~(Cat(valid[1:]).any() | under_way))]
        return m

    def _take(self, m, taken):
        """``(valid, item)`` of the input and of stages 1 and 2."""
        layout = copy_layout(item_layout(self.geometry, self.nodes))
        valid, item = [taken], [self.copies.p]
        for i in (1, 2):
            valid.append(Signal(name=f"valid_{i}"))
            item.append(Signal(layout, name=f"item_{i}", reset_less=True))
            m.d.sync += [valid[i].eq(valid[i - 1]), item[i].eq(item[i - 1])]
        return valid, item

    def _rows(self, m, valid, item):
        """Stages 0 to 3: read row and count, change and write them."""
        after = Signal(_row_layout(self.geometry, self.width), name="after")
        counted = Signal(self.width, name="counted")
        place = [Signal(_label(self.geometry), name=f"place_{i}") for i in range(3)]
        m.d.comb += place[0].eq(Mux(_is_access(item[0]), (item[0].word - _WORDS)[: len(place[0])], item[0].label))
        m.d.sync += [place[1].eq(place[0]), place[2].eq(place[1])]
        nodes = [each.node for each in item]
        self.row = self._memory(m, "rows", nodes, valid, valid[2], after)
        places = [Cat(each, node) for each, node in zip(place, nodes, strict=True)]
        self.count = self._memory(m, "counts", places, valid, valid[2], counted)
        self._change(m, item[2], after, counted)

    def _memory(self, m, name, address, valid, write_en, new):
        """A memory read at stage 0 and written at stage 3: what it has at stage 2, the items before counted in.

        ``new`` is what stage 2 makes of it. Of the three items before, the last is being changed, and two have been.
        """
        m.submodules[name] = memory = Memory(shape=new.shape(), depth=1 << len(address[0]), init=[])
        read, write = memory.read_port(), memory.write_port()
        now, older = (Signal.like(new, name=f"{name}_{what}", reset_less=True) for what in ("2", "older"))
        made = Signal.like(new, name=f"{name}_made", reset_less=True)
        made_en, made_at = Signal(name=f"{name}_made_en"), Signal.like(address[0], name=f"{name}_made_at")
        before = [(valid[1], address[1]), (valid[2], address[2]), (made_en, made_at)]
        same = Signal(len(before), name=f"{name}_same")
        m.d.comb += [
            read.addr.eq(address[0]),
            *drive(write, en=made_en, addr=made_at, data=made),
        ]
        m.d.sync += [
            made.eq(new),
            made_en.eq(write_en),
            made_at.eq(address[2]),
            older.eq(made),
            same.eq(Cat(there & (at == address[0]) for there, at in before)),
            now.eq(Mux(same[0], new, Mux(same[1], made, Mux(same[2], older, read.data)))),
        ]
        return now

    def _change(self, m, item, after, counted):
        """Stage 2: prediction, and what row and count become."""
        row, count, rule = self.row, self.count, self.configuration.leaf_predictor
        label = item.label
        self.predicted = predicted = Signal(_label(self.geometry))
        learns = (item.op == RowOp.RECORD) & ~item.test
        first = learns & ~item.again
        writes = item.op == RowOp.WRITE
        m.d.comb += [after.eq(row), counted.eq(count), predicted.eq(row.majority)]
        if self.geometry.naive_bayes:
            differs = Signal()
            m.d.comb += differs.eq(item.known & (item.bayes != row.majority))
            adaptive = rule.by == Predictor.ADAPTIVE
            with m.If(differs & ((rule.by == Predictor.BAYES) | (adaptive & (row.right <= 0)))):
                m.d.comb += predicted.eq(item.bayes)
            with m.If(first & adaptive & differs):
                with m.If(label == row.majority):
                    m.d.comb += after.right.eq(row.right + item.weight)
                with m.Elif(label == item.bayes):
                    m.d.comb += after.right.eq(row.right - item.weight)
        with m.If(learns & ~item.zero):
            is_majority = label == row.majority
            more = Signal(self.width)
            m.d.comb += more.eq(count + 1)
            with m.If(~row.lead.all()):
                m.d.comb += counted.eq(more)
                # No count is above the lead; of equal ones the lower class leads.
                with m.If(is_majority | (count == row.lead) | (_is_next(count, row.lead) & (label < row.majority))):
                    m.d.comb += [after.majority.eq(label), after.lead.eq(more)]
        with m.If(writes):
            with m.Switch(item.word):
                for word in RowWord:
                    name = word.name.lower()
                    with m.Case(word):
                        if name in row.shape().members:
                            m.d.comb += after[name].eq(item.value)
                with m.Default():
                    m.d.comb += counted.eq(item.value)

    def _report(self, m, valid, item):
        """Stage 3: ``(valid, result, counts, hit)``: what there is to tell, and of records whether they count."""
        g, rule = self.geometry, self.configuration.leaf_predictor
        result = Signal(result_layout(g, self.nodes), name="result_3", reset_less=True)
        there, counts, hit = Signal(name="valid_3"), Signal(name="counts_3"), Signal(name="hit_3")
        record = item.op == RowOp.RECORD
        m.d.sync += [
            there.eq(valid),
            *drive(result, node=item.node, label=self.predicted, mark=item.op == RowOp.MARK),
            *drive(result, read=item.op == RowOp.READ, hits=self._word(m, item)),
            result.reported.eq(record & (rule.reported | item.test & ~item.alternate) & ~item.again),
            counts.eq(valid & record & ~item.test & ~item.alternate & ~item.again),
            hit.eq(item.label == self.predicted),
        ]
        return there, result, counts, hit

    def _word(self, m, item):
        """The word of the row in stage 2 that an item names."""
        row, word = self.row, Signal(32, name="word_2")
        known = {name: row[name] for name in row.shape().members}
        with m.Switch(item.word):
            for each in RowWord:
                with m.Case(each):
                    m.d.comb += word.eq(known.get(each.name.lower(), 0))
            with m.Default():
                m.d.comb += word.eq(self.count)
        return word

    def _results(self, m, valid, result, counts, hit):
        """Stage 3: a queue of what there is to tell, and the records since the last mark.

        Whether it has room for all under way, and whether anything is to come.
        """
        layout = result_layout(self.geometry, self.nodes)
        m.submodules.queue = queue = fifo.SyncFIFOBuffered(width=layout.size, depth=_RESULTS)
        instances, hits = Signal(32), Signal(32)
        queued, room = Signal(layout), Signal(init=1)
        m.d.comb += [
            queued.eq(result),
            queued.instances.eq(instances),
            queue.w_en.eq(valid & (result.reported | result.mark | result.read)),
            queue.w_data.eq(queued),
        ]
        connect(m, queue.r_stream, flipped(self.o))
        m.d.sync += [instances.eq(instances + counts), hits.eq(hits + (counts & hit))]
        with m.If(result.mark):
            m.d.comb += queued.hits.eq(hits)
            with m.If(valid):
                m.d.sync += [instances.eq(0), hits.eq(0)]
        m.d.sync += [
            room.eq(queue.level <= _RESULTS - _STAGES - 1),
            Assert(queue.w_rdy | ~queue.w_en, "no room for a result"),
        ]
        return room, valid | (queue.level != 0)


def _is_next(count, more):
    """Whether ``more`` is ``count + 1``, without the carries of a sum: each bit differs where one has come to it."""
    differs, carries = count ^ more, Cat(1, count & ~more)
    return differs == carries[: len(count)]


def _is_access(item):
    return (item.op == RowOp.READ) | (item.op == RowOp.WRITE)
