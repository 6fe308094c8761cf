"""What `bench_tracker` drives, and the golden model that writes operations down beside it."""

from collections import deque

from amaranth import Cat, Module, Mux
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from bregalad.geometry import CODE_WIDTH, NONE
from bregalad.protocol.commands import RecordFlag
from bregalad.protocol.reports import SuggestionFlag
from bregalad.protocol.tree import TREE
from bregalad_hw.array.operation import Op, operation_layout, slot_of
from bregalad_hw.configuration import configuration_signature
from bregalad_hw.mcmu.buffer import RecordBuffer
from bregalad_hw.mcmu.dispenser import beat_layout
from bregalad_hw.mcmu.predictor import ask_layout
from bregalad_hw.mcmu.scheduler import trial_layout
from bregalad_hw.mcmu.slots import SlotTable, answer_one, ask_one, table_signature
from bregalad_hw.mcmu.tracker import Tracker
from bregalad_hw.repeat import WEIGHT

from ..golden import Golden
from .sides import SIDES

__all__ = ["COUNTED", "NAMES", "SPENT", "Counting", "Model"]

COUNTED = {
    "good": "records",
    "bad": "bad_records",
    "node": "nodes",
    "halved": "halvings",
    "beats": "beats",
}  # members, and the model's events
NAMES = ("node", "only", "base", "ask_up_to")  # of an entry, that a trial's head has with numbers
SPENT = ("counting", "halving", "wait_lock", "wait_queue", "wait_report")


class Counting(wiring.Component):
    """Record buffer, tracker and slot table as the memory controller unit has them.

    Members as of `RecordBuffer` and `Tracker`, but for ``locked``, a bit per slot, and ``table``,
    usable while ``idle``. On boards that number records ``nowhere`` has a bit per slot, too: of its
    records the node has none; and ``weights`` what those weigh that have neither TEST nor MINUS.
    """

    def __init__(self, geometry):
        self.geometry = g = geometry
        number = range(g.levels + 1)
        tree = {
            "tree": In(configuration_signature(TREE)),
            "renumber": In(1),
            "last_number": In(32),
            "counted": Out(32),
            "begun": In(32),
            "overdue": Out(1),
            "overdue_at": Out(32),
            "nowhere": In(g.slots),
            "weights": In(data.ArrayLayout(WEIGHT, g.slots)),
        }
        super().__init__(
            {
                **(tree if g.nodes else {}),
                "i": In(stream.Signature(beat_layout(g))),
                "discard": In(1),
                "rewind": In(1),
                "passes": In(range(g.passes + 1)),
                "predict": In(1),
                "configuration": In(configuration_signature()),
                "locked": In(g.slots),
                "trial": Out(stream.Signature(trial_layout(g))),
                "prediction": Out(stream.Signature(ask_layout(g))),
                "op": Out(operation_layout(g)),
                "valid": Out(1),
                "grant": In(1),
                "codes": Out(data.ArrayLayout(CODE_WIDTH, g.lanes)),
                "table": In(table_signature(g)),
                "idle": Out(1),
                **{name: Out(number) for name in COUNTED},
                **{name: Out(1) for name in SPENT},
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.buffer = buffer = RecordBuffer(self.geometry)
        m.submodules.tracker = tracker = Tracker(self.geometry)
        m.submodules.slots = slots = SlotTable(self.geometry)
        m.d.comb += [
            buffer.i.valid.eq(self.i.valid & self.i.ready),
            buffer.i.payload.eq(self.i.payload),
            self.i.ready.eq(buffer.room),
        ]
        connect(m, buffer.o, tracker.i)
        connect(m, flipped(self.configuration), tracker.configuration)
        if self.geometry.nodes:
            connect(m, flipped(self.tree), tracker.tree)
            m.d.comb += [
                tracker.i.p.there.eq(~self.nowhere.bit_select(buffer.o.p.slot, 1)),
                tracker.i.p.weight.eq(Mux(buffer.o.p.minus | buffer.o.p.test, 1, self.weights[buffer.o.p.slot])),
                tracker.renumber.eq(self.renumber),
                tracker.last_number.eq(self.last_number),
                self.counted.eq(tracker.counted),
                tracker.begun.eq(self.begun),
                self.overdue.eq(tracker.overdue),
                self.overdue_at.eq(tracker.overdue_at),
            ]
        connect(m, tracker.trial, flipped(self.trial))
        connect(m, tracker.prediction, flipped(self.prediction))
        m.d.comb += [
            buffer.discard.eq(self.discard),
            buffer.rewind.eq(self.rewind),
            buffer.passes.eq(self.passes),
            tracker.passes.eq(self.passes),
            buffer.read_at.eq(tracker.read_at),
            buffer.free.eq(tracker.free),
            tracker.predict.eq(self.predict),
            tracker.locked.eq(self._locked(tracker.rows)),
            tracker.next_locked.eq(self._locked(tracker.next_rows)),
            tracker.grant.eq(self.grant),
            self.op.eq(tracker.op),
            self.valid.eq(tracker.valid),
            self.codes.eq(buffer.codes),
            self.good.eq(buffer.good),
            self.bad.eq(buffer.bad),
            self.node.eq(tracker.node),
            self.halved.eq(tracker.halved),
            self.beats.eq(tracker.beats),
            self.idle.eq(buffer.empty & tracker.idle),
            *(getattr(self, name).eq(getattr(tracker, name)) for name in SPENT),
        ]
        answer_one(m, self.geometry, flipped(self.table), slots.port)
        with m.If(self.idle):
            ask_one(m, self.geometry, flipped(self.table), slots.port)
        with m.Else():
            connect(m, tracker.table, slots.port)
        return m

    def _locked(self, asked):
        """The answer to the slots that are asked for, by their place in each level."""
        return Cat(self.locked.bit_select(slot_of(self.geometry, level, place), 1) for level, place in enumerate(asked))


class Model(Golden):
    """The golden model, which writes down operations instead of counting cells.

    Nodes of a record are counted together as the last changes of their links have left it: see
    `together`.
    """

    def __init__(self, geometry):
        super().__init__(geometry)
        self.ops = deque()
        self.asks = deque()
        self.nodes = []  # of the record, from its slot on
        self.halved = False  # the node to come
        self.number = self.begun = 0  # records learnt: all, and before the block
        self.overdue = deque()  # numbers of those with which a leaf has waited too long
        self.nowhere = set()  # slots that are none of their records' nodes
        self.weights = [1] * geometry.slots  # of their records
        self.groups = {slot: [slot] for slot in range(geometry.slots)}

    def linked(self, slot):
        """Bring the groups up to date: a slot's link has changed.

        A group is a slot and those of its path that are counted together with it, each of another
        level.
        """
        link, levels = self.entries[slot].link, self.geometry.levels
        behind = self.groups[link] if link != NONE else []
        for head, group in self.groups.items():
            if slot in group:
                group = group[: group.index(slot) + 1]
                if not {each % levels for each in group} & {each % levels for each in behind}:
                    group = group + behind
                self.groups[head] = group

    def _record(self, record):
        g = self.geometry
        self.nodes.clear()
        asks = len(self.asks)
        known = record["slot"] < g.slots and record["label"] < g.classes
        if g.nodes and known:
            self.number += not record["flags"] & (RecordFlag.MINUS | RecordFlag.TEST)
            if record["slot"] in self.nowhere:
                self.events["records"] += not record["flags"] & RecordFlag.TEST
                return
        super()._record(record)
        wanted = len(self.asks) > asks
        test = record["flags"] & RecordFlag.TEST
        while self.nodes:
            size = 1 if test else len(self.groups[self.nodes[0]["slot"]])
            together, self.nodes = self.nodes[:size], self.nodes[size:]
            self._count_together(together, list(record["codes"]), wanted)
            wanted = False

    def _count_path(self, slot, label, minus, codes):
        weight = 1 if minus else self.weights[slot]
        super()._count_path(slot, label, minus, codes, weight)
        if not self.geometry.nodes or minus or not weight:
            return
        entry, margin = self.entries[slot], self.fields["block.margin"]
        period = self._period_of(entry)
        fresh = entry.tried and entry.tried_at == self.begun
        if not entry.inner and margin and period and entry.since >= margin + (0 if fresh else period):
            self.overdue.append(self.number)

    def _only_read(self, slot, label, codes):
        super()._only_read(slot, label, codes)
        self._node(slot, test=1)

    def _count_together(self, nodes, codes, wanted):
        """The operations on nodes that are counted together."""
        g = self.geometry
        if halved := [node["slot"] for node in nodes if node["halved"]]:
            if wanted:
                self._beats(nodes, codes, test=1, predict=True)
                wanted = False
            self.ops.extend(
                {"code": Op.HALVE, "slots": halved, "pass_": pass_, "bin": bin_}
                for pass_ in range(g.passes)
                for bin_ in range(g.bins)
            )
        self._beats(nodes, codes, predict=wanted, **nodes[0]["fields"])
        self.ops[-1]["trials"] = [node["trial"] for node in nodes if node["trial"]]

    def _beats(self, nodes, codes, **fields):
        lanes = self.geometry.lanes
        sides = (0, *SIDES) if fields["predict"] and self.fields["report.neighbours"] else (0,)
        self.ops.extend(
            {
                "code": Op.COUNT,
                "slots": [node["slot"] for node in nodes],
                "slot": nodes[0]["slot"],
                "pass_": at // lanes,
                "side": side,
                "codes": codes[at : at + lanes],
                "last": at + lanes >= len(codes) and side == sides[-1],
                **fields,
                **({"test": 1} if side else {}),
            }
            for at in range(0, len(codes), lanes)
            for side in sides
        )

    def _due(self, entry, minus, weight=1):
        due = super()._due(entry, minus, weight)
        if self.geometry.nodes and not minus:
            every = self.fields["every.records"]
            due = due or (entry.inner and every and self.number % every == 0)
            due = due and not entry.due
        return due

    def _come_due(self, slot):
        if not self.geometry.nodes:
            self._trial(slot, requested=False)
            return
        self.nodes[-1]["trial"] = {"slot": slot, "number": self.number}
        self.entries[slot].due = True
        self.events["trials"] += 1

    def _predict(self, slot, codes):
        entry = self.entries[slot]
        known = {"known": int(entry.n > 0 and not entry.inner)} if self.geometry.nodes else {}
        self.asks.append({"slot": slot, **known, "class_counts": list(entry.class_counts)})

    def _node(self, slot, **fields):
        self.nodes.append({"slot": slot, "fields": fields, "halved": self.halved, "trial": None})
        self.halved = False

    def _count_cell(self, slot, cell, code, label, minus):
        if cell == 0:
            self._node(slot, label=label, minus=minus, test=0)
        return False

    def _halve(self, slot):
        super()._halve(slot)
        self.halved = True

    def _trial(self, slot, requested):
        entry = self.entries[slot]
        flags = (
            SuggestionFlag.HALVED * entry.halved
            | SuggestionFlag.INNER * entry.inner
            | SuggestionFlag.UNDERFLOW * entry.underflow
        )
        head = {"slot": slot, "flags": int(flags), "n": entry.n, "class_counts": list(entry.class_counts)}
        self.nodes[-1]["trial"] = {"head": head, "current": entry.current}
        entry.since = 0
        entry.halved = entry.underflow = False
        self.events["trials"] += 1
