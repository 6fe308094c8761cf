"""What `bench_tracker` drives, and the golden model that writes operations down beside it."""

from collections import deque

from amaranth import Cat, Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from bregalad.geometry import NONE
from bregalad.protocol.commands import RecordFlag
from bregalad_hw.array.operation import Op, slot_of
from bregalad_hw.mcmu.slots import SlotTable, answer_one, ask_one, table_signature
from bregalad_hw.mcmu.tracker import Tracker

from ..golden.tree import Tree
from .sides import SIDES

__all__ = ["COUNTED", "SPENT", "Counting", "Model"]

COUNTED = {"node": "nodes", "halved": "halvings", "beats": "beats"}  # members, and the model's events
SPENT = ("counting", "halving", "wait_lock", "wait_report")
_TABLE = ("table", "rows", "next_rows")  # members that do not lead outside, beside `locked` and `next_locked`


class Counting(wiring.Component):
    """Tracker and slot table as the memory controller unit has them.

    Members as of `Tracker`, but for ``locked``, a bit per slot, and ``table``, usable while ``idle``.
    """

    def __init__(self, geometry):
        self.geometry = g = geometry
        self.tracker = Tracker(g)
        given = {
            name: member
            for name, member in self.tracker.signature.members.items()
            if name not in (*_TABLE, "locked", "next_locked")
        }
        self._given = tuple(given)
        super().__init__({**given, "locked": In(g.slots), "table": In(table_signature(g))})

    def elaborate(self, platform):
        m = Module()
        m.submodules.tracker = tracker = self.tracker
        m.submodules.slots = slots = SlotTable(self.geometry)
        for name in self._given:
            inner, outer, member = getattr(tracker, name), getattr(self, name), tracker.signature.members[name]
            if member.is_port:
                m.d.comb += outer.eq(inner) if member.flow is Out else inner.eq(outer)
            elif isinstance(member.signature, stream.Signature) and member.flow is Out:
                connect(m, inner, flipped(outer))
            else:
                connect(m, flipped(outer), inner)
        m.d.comb += [
            tracker.locked.eq(self._locked(tracker.rows)),
            tracker.next_locked.eq(self._locked(tracker.next_rows)),
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


class Model(Tree):
    """The golden model, which writes down operations instead of counting cells.

    Nodes of a record are counted together as the last changes of their links have left it: see
    `together`.
    """

    def __init__(self, geometry):
        super().__init__(geometry)
        self.predicts = 0
        self.ops = deque()
        self.asks = deque()
        self.nodes = []  # of the record, from its slot on
        self.halved = False  # the node to come
        self.overdue = deque()  # numbers of those with which a leaf has waited too long
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

    def count(self, slot, label, flags, weight, there, codes, alternate=False):
        """Count a record at its slot, if there is one; where it has come down an alternate, it has been numbered."""
        test, minus = bool(flags & RecordFlag.TEST), bool(flags & RecordFlag.MINUS)
        self.number += not (test or minus or alternate)
        if not there:
            return
        self.nodes.clear()
        if self.predicts:
            entry = self.entries[slot]
            known = int(entry.n > 0 and not entry.inner)
            self.asks.append({"known": known, "class_counts": list(entry.class_counts)})
        if test:
            self._only_read(slot, label, codes)
        else:
            self._count_path(slot, label, minus, codes, weight, waits=not alternate)
        wanted = self.predicts
        while self.nodes:
            size = 1 if test else len(self.groups[self.nodes[0]["slot"]])
            together, self.nodes = self.nodes[:size], self.nodes[size:]
            self._count_together(together, codes, wanted)
            wanted = False

    def _end_early(self):
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
        self.ops[-1]["dues"] = [(node["slot"], self.number) for node in nodes if node["due"]]

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
                "last": at + lanes >= len(codes) and side == sides[-1],
                **fields,
                **({"test": 1} if side else {}),
            }
            for at in range(0, len(codes), lanes)
            for side in sides
        )

    def _come_due(self, slot):
        self.nodes[-1]["due"] = self.entries[slot].due = True

    def _node(self, slot, **fields):
        self.nodes.append({"slot": slot, "fields": fields, "halved": self.halved, "due": False})
        self.halved = False

    def _count_cell(self, slot, cell, code, label, minus):
        if cell == 0:
            self._node(slot, label=label, minus=minus, test=0)
        return False

    def _halve(self, slot):
        super()._halve(slot)
        self.halved = True
