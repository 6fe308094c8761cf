"""Count records: every node of a record's path, one beat per clock."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ...protocol.reports import SuggestionFlag
from ..array.operation import Op, operation_layout, slot_shape
from ..relay import Relay
from .buffer import header_layout
from .predictor import ask_layout
from .scheduler import trial_layout
from .slots import SINCE_WIDTH, entry_layout, table_signature

__all__ = ["PATH_LIMIT", "Tracker", "trial_of"]

_CHANGING = ("n", "since", "halved", "underflow", "class_counts")  # of a row, by counting

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


def _take(row, newer):
    """Assignments of what is newer in another row of the same slot."""
    return [row[name].eq(newer[name]) for name in _CHANGING]


class Tracker(wiring.Component):
    """Follow a record's links to the root, look up every node's row, count its beats.

    A relay and five stages. *Walk*: the node's slot is known, its link too, and its row is asked
    for. *Look*: the table's memory has answered. *Shown*: the table shows the row. *Fetched*: the
    row is in a register. *Node*: so is the row after the record, and whether a trial is due; the
    beats are issued, and the row is written back with the last. Rows behind the last stage may be
    older than what it writes: they take that over as they move on, and they move on whenever it is
    done. The first three stages move together.

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
        Beats of a record; like the next two steady from 2 clocks before a record on.
    grace, inner_grace : In(24)
    table : Out(table_signature)
    read_at, free : Out
        Of the record buffer: beat of the operation that is issued, end of a record.
    slot, next_slot : Out(slot); locked, next_locked : In(1)
        Whether these slots wait for a snapshot. A clock later the tracker knows; of its own trials
        it knows at once.
    trial : Out(stream of {head, current})
        Trials that are due; ``valid`` with the last beat of their node only. Ready must come only
        in clocks that were granted, so that the beat goes when the trial is taken.
    prediction : Out(stream of {slot, class_counts})
        Asks for predictions, each taken before or with its first beat.
    op : Out(operation), valid : Out(1), grant : In(1)
        The operation of this clock, and whether that of the next may go.
    idle : Out(1)
        No record is under way.
    node, halved : Out(1)
        A node was counted, a slot was halved.
    counting, halving, wait_lock, wait_queue, wait_report : Out(1)
        What this clock is spent on, at most one of them; none also in a clock that was
        not granted.

    Latency: 6 cycles from a header to its first operation. Throughput: one beat per cycle; one
    cycle is lost per node with a weight of -1.

    Source: design, sections 2 and 6.
    """

    latency = 6  # cycles from transfer on i to the record's first operation

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
            "next_slot": Out(slot),
            "next_locked": In(1),
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
            "wait_report": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        g = self.geometry
        # A node on its way, and whether it is the record's own slot, the end of its path.
        stage = data.StructLayout({"header": header_layout(g), "own": 1, "end": 1})
        entry = entry_layout(g)
        names = ("walk", "look", "shown", "fetched", "node")
        walk, look, shown, fetched, node = (Signal(stage, name=name) for name in names)
        walk_valid, look_valid, shown_valid, fetched_valid, node_valid = (
            Signal(name=f"{name}_valid") for name in names)
        written = Signal(entry)  # what the node's row is to become
        done, redo = Signal(), Signal()

        # The last two stages move on as soon as there is space, but those in front together, with
        # or without anything in them: did each ask the next, the first would know last.
        space, moves = Signal(), Signal()
        # A header has a clock for the way to here, and whoever gives it need not know of `walk`.
        m.submodules.relay = relay = Relay(header_layout(g))
        wiring.connect(m, wiring.flipped(self.i), relay.i)
        coming = relay.o
        m.d.comb += [
            space.eq(~node_valid | done),
            moves.eq(~fetched_valid | space),
            self.idle.eq(~(coming.valid | walk_valid | look_valid | shown_valid | fetched_valid
                           | node_valid)),
        ]
        linked = self._walk(m, coming, walk, walk_valid, moves)

        m.d.comb += [
            self.table.r_en.eq(moves), self.table.r_slot.eq(walk.header.slot),
            self.table.r_take.eq(moves),
            self.table.w_en.eq(done), self.table.w_slot.eq(node.header.slot),
            self.table.w_entry.eq(written), self.next_slot.eq(fetched.header.slot),
        ]
        # What was written as the row was asked for, or after that, is not what the table shows. So
        # what the node's row was as the stages moved is kept for as long, and whether it is the
        # slot's. Where the node was not done then, its row may change; but then it is taken again.
        # Only what counting changes has to be taken over.
        late, before = (Signal(entry, name=name, reset_less=True) for name in ("late", "before"))
        look_before, shown_before, shown_late, shown_now = (Signal(name=name) for name in (
            "look_before", "shown_before", "shown_late", "shown_now"))
        row = Signal(entry, reset_less=True)
        same = Signal()  # as the node's slot, if there is a node
        with m.If(moves):
            m.d.sync += [
                look_valid.eq(walk_valid), look.eq(walk), look.end.eq(~linked),
                look_before.eq(node_valid & (walk.header.slot == node.header.slot)),
                shown_valid.eq(look_valid), shown.eq(look),
                shown_before.eq(look_before),
                shown_late.eq(node_valid & (look.header.slot == node.header.slot)),
                shown_now.eq(look.header.slot == Mux(fetched_valid, fetched.header.slot,
                                                     node.header.slot)),
                fetched_valid.eq(shown_valid), fetched.eq(shown),
                same.eq(shown.header.slot == Mux(fetched_valid, fetched.header.slot,
                                                 node.header.slot)),
            ]
            m.d.sync += [row.eq(self.table.r_entry), *_take(late, written), *_take(before, late)]
            with m.If(shown_now & node_valid):
                m.d.sync += _take(row, written)
            with m.Elif(shown_late):
                m.d.sync += _take(row, late)
            with m.Elif(shown_before):
                m.d.sync += _take(row, before)

        granted = Signal()
        m.d.sync += granted.eq(self.grant)

        # A trial is due with the record before which ``since`` has reached the limit.
        graces = [(Signal(SINCE_WIDTH, name=f"{name}_limit"), Signal(name=f"{name}_never"))
                  for name in ("leaf", "inner")]
        for (limit, never), grace in zip(graces, (self.grace, self.inner_grace), strict=True):
            m.d.sync += [limit.eq(grace - 1), never.eq(grace == 0)]
        limit, never = Signal(SINCE_WIDTH), Signal()  # of the row
        plus, hits = Signal(), Signal(g.classes)  # the record adds one; its class
        with m.If(moves):
            shown_row = self.table.r_entry
            m.d.sync += [
                plus.eq(~shown.header.minus & ~shown.header.test),
                hits.eq(Cat(shown.header.label == k for k in range(g.classes))),
            ]
            with m.If(shown_row.timed):
                m.d.sync += [limit.eq(shown_row.limit), never.eq(0)]
            with m.Elif(shown_row.inner):
                m.d.sync += [limit.eq(graces[1][0]), never.eq(graces[1][1])]
            with m.Else():
                m.d.sync += [limit.eq(graces[0][0]), never.eq(graces[0][1])]

        self._node(m, granted, fetched, fetched_valid, row, same, limit, never, plus, hits, node,
                   node_valid, written, space, done, redo)
        return m

    def _walk(self, m, coming, walk, valid, go):
        """Take records, and go from node to node: the link that has come asks for the next."""
        depth = Signal(range(PATH_LIMIT))
        at_limit = Signal()
        linked, loads = Signal(), Signal()
        link = self.table.link
        m.d.comb += [
            linked.eq(valid & link.there & ~walk.header.test & (walk.own | ~at_limit)),
            loads.eq(~valid | go),
            coming.ready.eq(loads & ~linked),
            self.table.link_en.eq(loads),
            self.table.link_slot.eq(Mux(linked, link.slot, coming.payload.slot)),
        ]
        with m.If(loads):
            m.d.sync += [
                walk.own.eq(~linked), depth.eq(Mux(walk.own, 1, depth + 1)),
                at_limit.eq(~walk.own & (depth == PATH_LIMIT - 2)),
            ]
            with m.If(linked):
                m.d.sync += walk.header.slot.eq(link.slot)
            with m.Else():
                m.d.sync += [valid.eq(coming.valid), walk.header.eq(coming.payload)]
        return linked

    def _node(self, m, granted, fetched, fetched_valid, row, same, limit, never, plus, fetched_hits,
              node, valid, written, space, done, redo):
        """Count a node's beats, update its row."""
        g = self.geometry
        entry = entry_layout(g)
        after = Signal(entry, reset_less=True)
        due, full, held = Signal(), Signal(), Signal()
        clear, next_clear = Signal(), Signal()  # neither held nor full
        goes = Signal()  # clear, and this clock is granted
        pass_ = Signal(range(g.passes + 1))
        asked = Signal()  # its prediction is asked for
        predicted = Signal()  # the beats of its prediction are issued
        pushed = Signal()
        moves = fetched_valid & space

        last_beat = Signal()
        wanted, unasked, go = Signal(), Signal(), Signal()
        preview = Signal()  # beats for the prediction alone, before the slot is halved
        # A weight of -1 takes a clock more: whether it can be taken away is seen in the register.
        # A full node's class is taken back before it is halved.
        lowering, taking_back, stuck = Signal(), Signal(), Signal()
        back = lowering | taking_back
        # What is loaded: the node behind, or this one again, lowered or halved. No node moves then.
        source = Signal(entry)
        m.d.comb += source.eq(row)
        with m.If(redo):
            m.d.comb += [source.eq(after), source.n.eq(g.count_max >> 1), source.halved.eq(1)]
            m.d.comb += [source.class_counts[k].eq(after.class_counts[k] >> 1)
                         for k in range(g.classes)]
        with m.Elif((same & valid) | back):
            m.d.comb += _take(source, written)

        # What is added is one, or all ones to take one away.
        hits = Signal(g.classes)  # the node's class
        again = redo | back

        def added(one):
            return Cat(one, (one & back).replicate(g.count_width - 1))

        one = plus | again
        ones = Mux(again, hits, fetched_hits & plus.replicate(g.classes))
        fills = plus & ~redo & Mux(same & valid, after.n == g.count_max, row.n == g.count_max)
        with m.If(moves):
            m.d.sync += [node.header.eq(fetched.header), hits.eq(fetched_hits)]
        counts = ("n", "class_counts")
        with m.If(moves | redo):
            m.d.sync += [
                *(after[name].eq(source[name]) for name in entry.members if name not in counts),
                after.since.eq(source.since + (plus & ~redo)),
                full.eq(fills),
            ]
        with m.If(moves | redo | taking_back | (lowering & ~stuck)):
            m.d.sync += after.n.eq(source.n + added(one))
            for k in range(g.classes):
                m.d.sync += after.class_counts[k].eq(source.class_counts[k] + added(ones[k]))
        since = Signal(SINCE_WIDTH)  # of a node that moves
        m.d.comb += since.eq(Mux(same & valid, written.since, row.since))
        with m.If(moves):
            m.d.sync += due.eq(plus & ~never & (since >= limit) & ~since.all())
        lowers = fetched.header.minus & ~fetched.header.test
        m.d.comb += stuck.eq((after.class_counts[node.header.label] == 0) | (after.n == 0))
        m.d.sync += [lowering.eq(moves & lowers), taking_back.eq(moves & fills)]
        with m.If(lowering & stuck):
            m.d.sync += after.underflow.eq(1)
        holds = (self.next_locked | (pushed & same)) & ~fetched.header.test
        with m.If(self.prediction.valid & self.prediction.ready):
            m.d.sync += asked.eq(1)
        with m.If(self.halving & preview & last_beat):
            m.d.sync += predicted.eq(1)
        with m.If(moves):
            m.d.sync += [node.own.eq(fetched.own), node.end.eq(fetched.end), asked.eq(0),
                         predicted.eq(0), held.eq(holds)]
            m.d.comb += next_clear.eq(~holds & ~fills & ~lowers)
        with m.Elif(~done):
            stays = self.locked & ~node.header.test
            m.d.sync += held.eq(stays)
            m.d.comb += next_clear.eq(valid & ~stays & Mux(redo, ~fills, ~full))
        m.d.sync += [clear.eq(next_clear), goes.eq(next_clear & self.grant)]
        with m.If(space):
            m.d.sync += valid.eq(fetched_valid)
        m.d.sync += redo.eq(0)
        m.d.comb += written.eq(after)
        with m.If(due):
            m.d.comb += [written.since.eq(0), written.halved.eq(0), written.underflow.eq(0)]

        if g.naive_bayes:
            with m.If(moves | redo):
                m.d.sync += self.prediction.p.class_counts.eq(source.class_counts)

        # Operations.
        halve = full & ~preview
        blocked = due & last_beat & ~self.trial.ready
        halve_pass, halve_bin = Signal(range(g.passes)), Signal(range(g.bins))
        m.d.comb += [
            self.slot.eq(node.header.slot),
            wanted.eq(valid & self.predict & node.own & ~predicted),
            preview.eq(full & wanted),
            self.prediction.valid.eq(wanted & ~asked & ~held),
            self.prediction.p.slot.eq(node.header.slot),
            unasked.eq(self.prediction.valid & ~self.prediction.ready),
            go.eq(valid & ~held & ~unasked),
            self.counting.eq(goes & ~unasked & ~blocked),
            self.halving.eq(go & full & ~redo & granted),
            self.wait_lock.eq(valid & held & granted),
            self.wait_report.eq(unasked & granted),
            self.wait_queue.eq(goes & ~unasked & blocked),
            self.valid.eq(self.counting | self.halving),
            self.op.code.eq(Mux(halve, Op.HALVE, Op.COUNT)),
            self.op.slot.eq(node.header.slot),
            self.op.pass_.eq(Mux(halve, halve_pass, pass_)),
            self.op.bin.eq(halve_bin),
            self.op.label.eq(node.header.label),
            self.op.minus.eq(node.header.minus),
            self.op.test.eq(node.header.test | preview),
            self.op.predict.eq(wanted),
            self.op.last.eq(last_beat),
            self.read_at.eq(pass_),
            done.eq(self.counting & last_beat),
            self.node.eq(done),
            self.free.eq(done & node.end),
            self.trial.valid.eq(clear & ~unasked & last_beat & due),
            pushed.eq(self.trial.valid & self.trial.ready),
        ]
        trial_of(m, self.trial.p, node.header.slot, after, requested=False)

        # Whether a beat is the last is known as it comes.
        single, final = Signal(), Signal()
        m.d.sync += single.eq(self.passes == 1)
        m.d.comb += final.eq(pass_ + 2 == self.passes)
        with m.If(self.counting | (self.halving & preview)):
            m.d.sync += [pass_.eq(Mux(last_beat, 0, pass_ + 1)),
                         last_beat.eq(Mux(last_beat, single, final))]
        with m.Elif(~valid):
            m.d.sync += last_beat.eq(single)
        with m.If(self.halving & ~preview):
            m.d.sync += halve_bin.eq(halve_bin + 1)
            with m.If(halve_bin == g.bins - 1):
                m.d.sync += halve_pass.eq(halve_pass + 1)
                with m.If(halve_pass == g.passes - 1):
                    m.d.comb += self.halved.eq(1)
                    m.d.sync += [halve_pass.eq(0), redo.eq(1)]
