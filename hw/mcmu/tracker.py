"""Count records: every node of a record's path, one beat per clock."""

from amaranth import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ...geometry import NONE
from ...protocol.reports import SuggestionFlag
from ..array.operation import Op, operation_layout, slot_shape
from .buffer import header_layout
from .predictor import ask_layout
from .scheduler import trial_layout
from .slots import SINCE_WIDTH, entry_layout, table_signature

__all__ = ["PATH_LIMIT", "Tracker", "trial_of"]

PATH_LIMIT = 256  # nodes that one record updates at most, should links ever form a ring


def trial_of(m, trial, slot, entry, requested):
    """Drive ``trial`` with what a trial of ``slot`` captures of its entry."""
    m.d.comb += [
        trial.head.slot.eq(slot),
        trial.head.n.eq(entry.n),
        trial.head.class_counts.eq(entry.class_counts),
        trial.head.flags.eq(
            Mux(entry.halved, SuggestionFlag.HALVED, 0)
            | Mux(entry.underflow, SuggestionFlag.UNDERFLOW, 0)
            | Mux(entry.inner, SuggestionFlag.INNER, 0)
            | (SuggestionFlag.REQUESTED if requested else 0)),
        trial.current.eq(entry.current),
    ]


class Tracker(wiring.Component):
    """Look up a record's slot, count its beats, follow the links to the root.

    Three stages: a header is taken and its row asked for; the row arrives; the row is updated
    while the beats are issued, and written back with the last beat. A row on its way from the
    third stage to the table is forwarded to the second.

    The beats of a record's own slot are those of its prediction too. Where the slot is halved
    between the two, they are issued once more for the prediction alone. A record with TEST only
    reads, so that a lock does not stop it.

    Parameters
    ----------
    geometry : Geometry

    Members
    -------
    i : In(stream of {slot, label, minus, test})
        Records, each wholly in the record buffer.
    predict : In(1)
        Records shall be predicted.
    passes : In
        Beats of a record.
    grace, inner_grace : In(24)
    table : Out(table_signature)
    read_at, free : Out
        Of the record buffer: beat of the operation that is issued, end of a record.
    slot : Out(slot); locked : In(1)
        Whether this slot waits for a snapshot.
    trial : Out(stream of {head, current})
        Trials that are due; ``valid`` with the last beat of their node only. Ready must come with
        ``grant`` only, so that the beat goes when the trial is taken.
    prediction : Out(stream of {slot, class_counts})
        Asks for predictions, each taken before or with its first beat.
    op : Out(operation), valid : Out(1), grant : In(1)
        The operation of this clock, and whether it may go.
    idle : Out(1)
        No record is under way.
    node, halved : Out(1)
        A node was counted, a slot was halved.
    counting, halving, wait_lock, wait_queue, wait_path, wait_report : Out(1)
        What this clock is spent on, at most one of them; none also while ``grant`` is 0.

    Latency: 2 cycles from a header to its first operation. Throughput: one beat per cycle; one
    cycle is lost per further node of a path of one beat.

    Source: design, sections 2 and 6.
    """

    latency = 2  # cycles from transfer on i to the record's first operation

    def __init__(self, geometry):
        self.geometry = g = geometry
        slot = slot_shape(g)
        super().__init__({
            "i": In(stream.Signature(header_layout(g))),
            "predict": In(1),
            "passes": In(range(g.passes + 1)),
            "grace": In(SINCE_WIDTH),
            "inner_grace": In(SINCE_WIDTH),
            "table": Out(table_signature(g)),
            "read_at": Out(max(1, (g.passes - 1).bit_length())),
            "free": Out(1),
            "slot": Out(slot),
            "locked": In(1),
            "trial": Out(stream.Signature(trial_layout(g))),
            "prediction": Out(stream.Signature(ask_layout(g))),
            "op": Out(operation_layout(g)),
            "valid": Out(1),
            "grant": In(1),
            "idle": Out(1),
            "node": Out(1),
            "halved": Out(1),
            "counting": Out(1),
            "halving": Out(1),
            "wait_lock": Out(1),
            "wait_queue": Out(1),
            "wait_path": Out(1),
            "wait_report": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        g = self.geometry
        header, entry = header_layout(g), entry_layout(g)

        # Stage 1: a record whose row is asked for; `fresh` while the table shows that row.
        next_, next_valid, next_fresh = Signal(header), Signal(), Signal()
        # Stage 2: the node that is counted.
        node, node_valid, row = Signal(header), Signal(), Signal(entry)
        pass_ = Signal(range(g.passes + 1))
        depth = Signal(range(PATH_LIMIT))
        path_fresh = Signal()  # the table shows the row of the path's next node
        parent = Signal.like(node.slot)  # that node
        own = Signal()  # it is the record's own slot
        asked = Signal()  # its prediction is asked for
        predicted = Signal()  # the beats of its prediction are issued

        # Update of the row.
        full, stuck, locked = Signal(), Signal(), Signal()
        after = Signal(entry)
        due = Signal()
        grace = Signal(SINCE_WIDTH)
        count = row.class_counts[node.label]
        m.d.comb += [
            full.eq(~node.minus & ~node.test & (row.n == g.count_max)),
            stuck.eq((count == 0) | (row.n == 0)),
            locked.eq(self.locked & ~node.test),
            after.eq(row),
        ]
        with m.If(node.test):
            pass
        with m.Elif(~node.minus):
            m.d.comb += [
                after.n.eq(row.n + 1),
                after.class_counts[node.label].eq(count + 1),
                after.since.eq(row.since + 1),
                due.eq((grace != 0) & (after.since >= grace)),
            ]
        with m.Elif(stuck):
            m.d.comb += after.underflow.eq(1)
        with m.Else():
            m.d.comb += [
                after.n.eq(row.n - 1),
                after.class_counts[node.label].eq(count - 1),
            ]
        written = Signal(entry)
        m.d.comb += written.eq(after)
        with m.If(due):
            m.d.comb += [written.since.eq(0), written.halved.eq(0), written.underflow.eq(0)]

        # Operations.
        last_beat, done, linked = Signal(), Signal(), Signal()
        wanted, unasked, go = Signal(), Signal(), Signal()
        preview = Signal()  # beats for the prediction alone, before the slot is halved
        halve = full & ~preview
        blocked = due & last_beat & ~self.trial.ready
        halve_pass, halve_bin = Signal(range(g.passes)), Signal(range(g.bins))
        m.d.comb += [
            self.slot.eq(node.slot),
            wanted.eq(node_valid & self.predict & own & ~predicted),
            preview.eq(full & wanted),
            self.prediction.valid.eq(wanted & ~asked & ~locked),
            self.prediction.p.slot.eq(node.slot),
            self.prediction.p.class_counts.eq(row.class_counts),
            unasked.eq(self.prediction.valid & ~self.prediction.ready),
            go.eq(node_valid & ~locked & ~unasked),
            last_beat.eq(pass_ + 1 == self.passes),
            linked.eq((row.link != NONE) & (depth != PATH_LIMIT - 1) & ~node.test),
            self.counting.eq(go & ~full & ~blocked & self.grant),
            self.halving.eq(go & full & self.grant),
            self.wait_lock.eq(node_valid & locked & self.grant),
            self.wait_report.eq(unasked & self.grant),
            self.wait_queue.eq(go & ~full & blocked & self.grant),
            self.wait_path.eq(~node_valid & path_fresh & self.grant),
            self.valid.eq(self.counting | self.halving),
            self.op.code.eq(Mux(halve, Op.HALVE, Op.COUNT)),
            self.op.slot.eq(node.slot),
            self.op.pass_.eq(Mux(halve, halve_pass, pass_)),
            self.op.bin.eq(halve_bin),
            self.op.label.eq(node.label),
            self.op.minus.eq(node.minus),
            self.op.test.eq(node.test | preview),
            self.op.predict.eq(wanted),
            self.op.last.eq(last_beat),
            self.read_at.eq(pass_),
            done.eq(self.counting & last_beat),
            self.node.eq(done),
            self.free.eq(done & ~linked),
            self.trial.valid.eq(go & ~full & last_beat & due),
            self.table.w_en.eq(done),
            self.table.w_slot.eq(node.slot),
            self.table.w_entry.eq(written),
            self.idle.eq(~next_valid & ~node_valid & ~path_fresh),
        ]
        trial_of(m, self.trial.p, node.slot, after, requested=False)

        with m.If(self.counting | (self.halving & preview)):
            m.d.sync += pass_.eq(Mux(last_beat, 0, pass_ + 1))
        with m.If(self.prediction.valid & self.prediction.ready):
            m.d.sync += asked.eq(1)
        with m.If(self.halving & preview & last_beat):
            m.d.sync += predicted.eq(1)
        with m.If(self.halving & ~preview):
            m.d.sync += halve_bin.eq(halve_bin + 1)
            with m.If(halve_bin == g.bins - 1):
                m.d.sync += halve_pass.eq(halve_pass + 1)
                with m.If(halve_pass == g.passes - 1):
                    m.d.comb += self.halved.eq(1)
                    m.d.sync += [halve_pass.eq(0), row.n.eq(row.n >> 1), row.halved.eq(1)]
                    m.d.sync += [row.class_counts[k].eq(row.class_counts[k] >> 1)
                                 for k in range(g.classes)]

        # Stage 2 takes the path's next node before another record's first.
        space, follow, take, ask_path = Signal(), Signal(), Signal(), Signal()
        shown = Signal(entry)
        m.d.comb += [
            space.eq(~node_valid | done),
            ask_path.eq(node_valid & linked & ~path_fresh & ~full),
            follow.eq(space & path_fresh),
            take.eq(space & ~path_fresh & ~ask_path & next_valid & next_fresh),
            shown.eq(self.table.r_entry),
        ]
        with m.If(done & (node.slot == Mux(path_fresh, parent, next_.slot))):
            m.d.comb += shown.eq(written)
        with m.If(done):
            m.d.sync += node_valid.eq(0)
        with m.If(follow):
            m.d.sync += [
                node.slot.eq(parent), node_valid.eq(1), row.eq(shown), path_fresh.eq(0),
                depth.eq(depth + 1), own.eq(0),
            ]
        with m.Elif(take):
            m.d.sync += [
                node.eq(next_), node_valid.eq(1), row.eq(shown), next_valid.eq(0), depth.eq(0),
                own.eq(1), asked.eq(0), predicted.eq(0),
            ]
        with m.If(follow | take):
            with m.If(shown.period != 0):
                m.d.sync += grace.eq(shown.period)
            with m.Else():
                m.d.sync += grace.eq(Mux(shown.inner, self.inner_grace, self.grace))

        # The table's one read port: the path's next node, then a record that was pushed aside by
        # one, then a new record.
        with m.If(ask_path):
            m.d.comb += [self.table.r_en.eq(1), self.table.r_slot.eq(row.link)]
            m.d.sync += [path_fresh.eq(1), parent.eq(row.link), next_fresh.eq(0)]
        with m.Elif(~path_fresh | follow):
            with m.If(next_valid & ~next_fresh):
                m.d.comb += [self.table.r_en.eq(1), self.table.r_slot.eq(next_.slot)]
                m.d.sync += next_fresh.eq(1)
            with m.Elif(~next_valid | take):
                m.d.comb += [
                    self.i.ready.eq(1),
                    self.table.r_en.eq(self.i.valid),
                    self.table.r_slot.eq(self.i.p.slot),
                ]
                with m.If(self.i.valid):
                    m.d.sync += [next_.eq(self.i.payload), next_valid.eq(1), next_fresh.eq(1)]
        return m
