"""Count records: every node of a record's path, one beat per clock."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from bregalad.protocol.commands import PATH_LIMIT
from bregalad.protocol.tree import TREE

from ..array.operation import Op, operation_layout, slot_shape
from ..members import assign, drive
from ..registers import configuration_signature
from ..repeat import WEIGHT, Repeat, copy_layout
from ..skid_buffer import SkidBuffer
from .numbering import Numbers
from .predictor import request_layout
from .rows import Row, Stages, count, take_over
from .slots import SINCE_WIDTH, path_signature, table_signature


def header_layout(geometry):
    """What the tracker needs to know of a record."""
    return data.StructLayout(
        {
            "slot": slot_shape(geometry),
            "label": max(1, (geometry.classes - 1).bit_length()),
            "minus": 1,
            "test": 1,
            "there": 1,  # its node has a slot
            "weight": WEIGHT,  # how often it is counted
            # It has come down an alternate; the record goes down another way behind this.
            **({"alternate": 1, "follows": 1} if geometry.alternates else {}),
        }
    )


class Tracker(wiring.Component):
    """Follow a record's links to the root, look up every node's row, count its beats.

    A skid buffer and five stages. *Walk*: the node's slot is known, its link too, and its row is asked for. *Look*: the
    table's memory has answered. *Shown*: the table shows the row. *Fetched*: the row is in a register. *Node*: so is
    the row after the record, and whether an attempt is due; the beats are issued, and the row is written back with the
    last. Rows that follow the last stage may be older than what it writes: they take that over as they move on, and
    they move on whenever it is done. The first three stages move together.

    The beats of a record's own slot are those of its prediction too, and with ``report.neighbours`` each is followed by
    two of the bins beside, which are only read. Where the slot is halved between the two, they are issued once more for
    the prediction alone. A record with TEST only reads, so that a lock does not stop it.

    Records are numbered, from 1, but those with MINUS or TEST. A record whose node has no slot takes a
    clock of the last stage, and nothing is counted. What becomes due is tried at the block's end: ``due``
    names the slot, and the row keeps it. An instance that weighs comes as so many copies of one number:
    the first is predicted, with the last slots become due, and its record is freed.

    Members
    -------
    i : In(stream of header_layout)
        Records, each wholly in the record store.
    predict : In(1)
        Records shall be predicted.
    passes : In
        Beats of a record; like the next steady from 2 clocks before a record on.
    configuration : In(configuration_signature())
        Its grace periods.
    tree : In(configuration_signature(TREE))
        How often inner slots are due.
    renumber : In(1), last_number : In(32)
        For a clock, while no record is under way nor comes: the last record's number is this from now on,
        ``counted`` 3 clocks later.
    counted : Out(32)
        Number of the last record that is counted; all slots that are due by those up to it have been named, in
        this clock at the latest.
    table : Out(table_signature), path : Out(path_signature)
        Of the slot table.
    read_at, free : Out
        Of the record store: beat of the operation that is issued, end of a record.
    slot, next_slot : Out(slot); locked, next_locked : In(1)
        Whether these slots wait for a snapshot. A clock later the tracker knows.
    due : Out(1)
        For a clock: ``slot`` has become due. With the last beat of its node.
    prediction : Out(stream of {known, class_counts})
        Asks for predictions, each taken before or with its first beat.
    op : Out(operation), valid : Out(1), grant : In(1)
        The operation of this clock, and whether that of the next may go.
    idle : Out(1)
        No record is under way.
    node, halved, beat : Out(1)
        A node was counted, a slot was halved in this clock; it is a beat, as those beside a record's bins are not.
    counting, halving, wait_lock, wait_report : Out(1)
        What this clock is spent on, at most one of them; none also in a clock that was not granted.

    Latency: 6 cycles from a header to its first operation. Throughput: one beat per cycle, and those
    beside the bins of a prediction; one cycle is lost per node with a weight of -1.

    Source: design, sections 2 and 6; docs/hardware.md draws the stages.
    """

    latency = 6  # cycles from transfer on i to the record's first operation

    def __init__(self, geometry):
        self.geometry = g = geometry
        super().__init__(
            {
                "tree": In(configuration_signature(TREE)),
                **dict.fromkeys(("renumber", "predict", "locked", "next_locked", "grant"), In(1)),
                "last_number": In(32),
                "counted": Out(32),
                "i": In(stream.Signature(header_layout(g))),
                "passes": In(range(g.passes + 1)),
                "configuration": In(configuration_signature()),
                "table": Out(table_signature(g)),
                "path": Out(path_signature(g)),
                "read_at": Out(max(1, (g.passes - 1).bit_length())),
                "free": Out(1),
                "slot": Out(slot_shape(g)),
                "next_slot": Out(slot_shape(g)),
                "due": Out(1),
                "prediction": Out(stream.Signature(request_layout(g))),
                "op": Out(operation_layout(g)),
                "valid": Out(1),
                **dict.fromkeys(("idle", "node", "halved", "beat"), Out(1)),
                **dict.fromkeys(("counting", "halving", "wait_lock", "wait_report"), Out(1)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        g = self.geometry
        # A node on its way, the header's slot, and whether that is the record's own, whether it is the
        # end of its path. In an empty stage none counts.
        stage = data.StructLayout({"header": copy_layout(header_layout(g)), "own": 1, "end": 1, "counts": 1})
        names = ("walk", "look", "shown", "fetched", "node")
        walk, look, shown, fetched, node = (Signal(stage, name=name) for name in names)
        walk_valid, look_valid, shown_valid, fetched_valid, node_valid = (
            Signal(name=f"{name}_valid") for name in names
        )
        row = Row(g)
        done, redo = Signal(), Signal()

        # The last two stages move on as soon as there is space, but those in front together, with
        # or without anything in them: did each ask the next, the first would know last.
        space, moves = Signal(), Signal()
        # A header has a clock for the way to here, and whoever gives it need not know of `walk`.
        m.submodules.repeat = repeat = Repeat(header_layout(g))
        m.submodules.skid = skid = SkidBuffer(copy_layout(header_layout(g)))
        numbers = Numbers(self)
        numbers.number_records(m, shown, shown_valid, moves)
        wiring.connect(m, repeat.o, skid.i)
        incoming = skid.o
        m.d.comb += [
            *drive(repeat.i, payload=self.i.payload, valid=self.i.valid & numbers.ready),
            self.i.ready.eq(repeat.i.ready & numbers.ready),
            space.eq(~node_valid | done),
            moves.eq(~fetched_valid | space),
            self.idle.eq(~(incoming.valid | walk_valid | look_valid | shown_valid | fetched_valid | node_valid)),
        ]
        slot = self.path.link.slot
        linked, counts = self._walk(m, incoming, walk, walk_valid, moves)
        m.d.comb += [
            *drive(self.table, r_en=moves, r_slot=slot, r_take=moves, w_en=done & node.counts),
            *drive(self.table, w_slot=node.header.slot, w_entry=row.written),
            self.next_slot.eq(fetched.header.slot),
        ]

        # What was written as the row was asked for, or after that, is not what the table shows. So what the node's row
        # was as the stages moved is kept for as long, and whether it is the slot's. Where the node was not done then,
        # its row may change; but then it is taken again. Only what counting changes has to be taken over.
        def is_of(stage, slot):
            return stage.counts & (slot == stage.header.slot)

        def same(requested):
            """What is asked for is what will be the node."""
            return Mux(fetched_valid, is_of(fetched, requested), is_of(node, requested))

        with m.If(moves):
            m.d.sync += [
                look_valid.eq(walk_valid),
                look.eq(walk),
                look.header.slot.eq(slot),
                *drive(look, end=~linked, counts=counts),
                shown_valid.eq(look_valid),
                shown.eq(look),
                fetched_valid.eq(shown_valid),
                fetched.eq(shown),
                *drive(row, look_before=is_of(node, slot), shown_before=row.look_before),
                *drive(row, shown_late=is_of(node, look.header.slot), shown_now=same(look.header.slot)),
                *drive(row, same=same(shown.header.slot), row=self.table.r_entry),
                *take_over(row.late, row.written),
                *take_over(row.before, row.late),
            ]
            with m.If(row.shown_now & node_valid):
                m.d.sync += take_over(row.row, row.written)
            with m.Elif(row.shown_late):
                m.d.sync += take_over(row.row, row.late)
            with m.Elif(row.shown_before):
                m.d.sync += take_over(row.row, row.before)

        granted = Signal()
        m.d.sync += granted.eq(self.grant)

        # An attempt is due with the record before which ``since`` has reached the limit.
        graces = [
            (Signal(SINCE_WIDTH, name=f"{name}_limit"), Signal(name=f"{name}_never")) for name in ("leaf", "inner")
        ]
        periods = self.configuration.grace.leaf, self.configuration.inner_grace.inner
        for (limit, never), grace in zip(graces, periods, strict=True):
            m.d.sync += [limit.eq(grace - 1), never.eq(grace == 0)]
        plus, hits = Signal(), Signal(g.classes)  # the record adds one; its class
        learns = ~shown.header.minus & ~shown.header.test
        with m.If(moves):
            m.d.sync += [
                plus.eq(learns & ~shown.header.zero),
                hits.eq(Cat(shown.header.label == k for k in range(g.classes))),
            ]
            shown_row = self.table.r_entry
            with m.If(shown_row.timed):
                m.d.sync += [row.limit.eq(shown_row.limit), row.never.eq(0)]
            with m.Elif(shown_row.inner):
                m.d.sync += [row.limit.eq(graces[1][0]), row.never.eq(graces[1][1])]
            with m.Else():
                m.d.sync += [row.limit.eq(graces[0][0]), row.never.eq(graces[0][1])]

        stages = Stages(fetched, fetched_valid, plus, hits, node, node_valid, redo, numbers)
        self._node(m, granted, stages, row, space, done)
        return m

    def _walk(self, m, incoming, walk, valid, go):
        """Take records, and go from node to node: the link that has come asks for the next.

        Whether the node that is there is not the last; whether there is one that counts.
        """
        path, header = self.path, walk.header
        spare = Signal(range(PATH_LIMIT), init=PATH_LIMIT - 1)  # nodes that may come after the next
        linked, loads, counts = Signal(), Signal(), Signal()
        m.d.comb += [
            counts.eq(valid & header.there),
            linked.eq(counts & path.link.there & ~header.test & spare.any()),
            loads.eq(~valid | go),
            incoming.ready.eq(loads & ~linked),
            path.en.eq(loads),
            path.slot.eq(Mux(linked, path.link.next, incoming.payload.slot)),
        ]
        with m.If(loads):
            m.d.sync += [walk.own.eq(~linked), spare.eq(Mux(linked, spare - 1, PATH_LIMIT - 1))]
            with m.If(~linked):
                m.d.sync += [valid.eq(incoming.valid), header.eq(incoming.payload)]
        return linked, counts

    def _node(self, m, granted, stages, row, space, done):
        """Count a node's beats, update its row."""
        g = self.geometry
        fetched, fetched_valid, _, _, node, valid, redo, numbers = stages
        held = Signal()
        next_clear = Signal()  # neither held nor full
        goes = Signal()  # so it was, and this clock is granted
        pass_ = Signal(range(g.passes + 1))
        requested = Signal()  # its prediction is asked for
        predicted = Signal()  # the beats of its prediction are issued
        moves = fetched_valid & space
        last_beat, last_pass = Signal(), Signal()
        # Beats of the bins beside follow, of the node's prediction; which of a pass's this is.
        sided, side = Signal(), Signal(2)
        wanted, unasked, go = Signal(), Signal(), Signal()
        skips = Signal()  # the node is none
        # Where a full node's class is taken back there are beats for the prediction alone first.
        lowering, preview = Signal(), Signal(name="preview")
        fills, lowers = count(m, g, row, stages, moves, lowering)
        holds = self.next_locked & fetched.counts & ~fetched.header.test
        with m.If(self.prediction.valid & self.prediction.ready):
            m.d.sync += requested.eq(1)
        with m.If(self.halving & preview & last_beat):
            m.d.sync += [predicted.eq(1), sided.eq(0)]
        m.d.sync += skips.eq(0)
        with m.If(moves):
            m.d.sync += [
                skips.eq(~fetched.header.there),  # one without a slot is passed over
                numbers.node.eq(numbers.fetched),
                *assign(node, fetched, "own", "end"),
                requested.eq(0),
                predicted.eq(0),
                sided.eq(self.predict & self.configuration.report.neighbours & fetched.own & ~fetched.header.again),
                held.eq(holds),
            ]
            m.d.comb += next_clear.eq(~holds & ~fills & ~lowers & fetched.header.there)
        with m.Elif(~done):
            stays = self.locked & node.counts & ~node.header.test
            m.d.sync += held.eq(stays)
            m.d.comb += next_clear.eq(valid & ~stays & (redo | ~row.full))
        m.d.sync += goes.eq(next_clear & self.grant)
        with m.If(space):
            m.d.sync += [valid.eq(fetched_valid), node.counts.eq(fetched.counts)]
        m.d.sync += redo.eq(0)
        m.d.comb += row.written.eq(row.after)
        with m.If(row.due):
            m.d.comb += row.written.due.eq(1)

        with m.If(moves):  # it is asked for before a slot is halved
            m.d.sync += [
                self.prediction.p.class_counts.eq(row.source.class_counts),
                # A leaf without a slot is counted by an inner node's.
                self.prediction.p.known.eq(~row.source.inner & row.source.n.any()),
            ]

        # Operations.
        predicts = valid & self.predict & ~skips & ~node.header.again
        last_copy = ~node.header.more
        last = last_copy  # of the record
        if g.alternates:
            last = last_copy & ~node.header.follows
        halve = row.full & ~preview
        closing = self.counting & last_beat  # the node's last beat goes
        halve_pass, halve_bin = Signal(range(g.passes)), Signal(range(g.bins))
        m.d.comb += [
            self.slot.eq(node.header.slot),
            wanted.eq(predicts & node.own & ~predicted),
            preview.eq(row.full & wanted),
            self.prediction.valid.eq(wanted & ~requested & ~held),
            unasked.eq(self.prediction.valid & ~self.prediction.ready),
            go.eq(valid & ~held & ~unasked),
            self.counting.eq(goes & ~unasked),
            self.halving.eq(go & row.full & ~redo & granted),
            self.wait_lock.eq(valid & held & granted),
            self.wait_report.eq(unasked & granted),
            self.valid.eq(self.counting | self.halving),
            self.op.code.eq(Mux(halve, Op.HALVE, Op.COUNT)),
            *assign(self.op, node.header, "slot", "label", "minus"),
            *drive(self.op, bin=halve_bin, side=side, predict=wanted, last=last_beat),
            self.op.pass_.eq(Mux(halve, halve_pass, pass_)),
            self.op.test.eq(node.header.test | node.header.zero | preview | side.any()),
            self.read_at.eq(pass_),
            done.eq(closing | skips),
            self.node.eq(closing),
            self.beat.eq(self.counting & ~side.any()),
            self.free.eq(done & node.end & last),
            self.due.eq(closing & row.due),
        ]
        numbers.report(m, ended=done & node.end & last)

        # Whether a pass is the last is known as it comes.
        single, final = Signal(), Signal()
        m.d.sync += single.eq(self.passes == 1)
        m.d.comb += [final.eq(pass_ + 2 == self.passes), last_beat.eq(last_pass & (~sided | side[1]))]
        with m.If(self.counting | (self.halving & preview)):
            with m.If(sided & ~side[1]):
                m.d.sync += side.eq(Mux(side[0], 2, 1))
            with m.Else():
                m.d.sync += [
                    side.eq(0),
                    pass_.eq(Mux(last_pass, 0, pass_ + 1)),
                    last_pass.eq(Mux(last_pass, single, final)),
                ]
        with m.Elif(~valid):
            m.d.sync += last_pass.eq(single)
        with m.If(self.halving & ~preview):
            m.d.sync += halve_bin.eq(halve_bin + 1)
            with m.If(halve_bin == g.bins - 1):
                m.d.sync += halve_pass.eq(halve_pass + 1)
                with m.If(halve_pass == g.passes - 1):
                    m.d.comb += self.halved.eq(1)
                    m.d.sync += [halve_pass.eq(0), redo.eq(1)]
