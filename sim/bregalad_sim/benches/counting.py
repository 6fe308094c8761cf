"""What `bench_tracker` drives, and the golden model that writes operations down beside it."""

from collections import deque

from amaranth import Module, Mux
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from bregalad.protocol.commands import RecordFlag
from bregalad_hw.array.operation import Op
from bregalad_hw.mcmu.slots import SlotTable, table_signature
from bregalad_hw.mcmu.tracker import Tracker

from ..golden.tree import Tree
from .sides import SIDES

COUNTED = {"node": "nodes", "halved": "halvings", "beat": "beats"}  # members, and the model's events
SPENT = ("counting", "halving", "wait_lock", "wait_report")
_INSIDE = ("table", "path", "next_slot", "locked", "next_locked")  # members that do not lead outside


class Counting(wiring.Component):
    """Tracker and slot table as the memory controller unit has them.

    Members as of `Tracker`, but for ``locked``, a bit per slot, and ``table``, usable while ``idle``.
    """

    def __init__(self, geometry):
        self.geometry = g = geometry
        self.tracker = Tracker(g)
        given = {name: member for name, member in self.tracker.signature.members.items() if name not in _INSIDE}
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
            tracker.locked.eq(self.locked.bit_select(tracker.slot, 1)),
            tracker.next_locked.eq(self.locked.bit_select(tracker.next_slot, 1)),
            self.table.r_entry.eq(slots.port.r_entry),
            tracker.table.r_entry.eq(slots.port.r_entry),
        ]
        connect(m, tracker.path, slots.path)
        for name, member in slots.port.signature.members.items():
            if member.flow is In:
                given = Mux(self.idle, getattr(self.table, name), getattr(tracker.table, name))
                m.d.comb += getattr(slots.port, name).eq(given)
        return m


class Model(Tree):
    """The golden model, which writes down operations instead of counting cells."""

    def __init__(self, geometry):
        super().__init__(geometry)
        self.predicts = 0
        self.ops = deque()
        self.requests = deque()
        self.nodes = []  # of the record, from its slot on
        self.halved = False  # the node to come

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
            self.requests.append({"known": known, "class_counts": list(entry.class_counts)})
        if test:
            self._only_read(slot, label, codes)
        else:
            self._count_path(slot, label, minus, codes, weight)
        for place, node in enumerate(self.nodes):
            self._count_node(node, codes, self.predicts and not place)

    def _only_read(self, slot, label, codes):
        super()._only_read(slot, label, codes)
        self._node(slot, test=1)

    def _count_node(self, node, codes, wanted):
        """The operations on a node; its prediction is wanted or not."""
        g, slot = self.geometry, node["slot"]
        if node["halved"]:
            if wanted:
                self._beats(slot, codes, test=1, predict=True)
                wanted = False
            self.ops.extend(
                {"code": Op.HALVE, "slot": slot, "pass_": pass_, "bin": bin_}
                for pass_ in range(g.passes)
                for bin_ in range(g.bins)
            )
        self._beats(slot, codes, predict=wanted, **node["fields"])
        self.ops[-1]["due"] = self.number if node["due"] else None

    def _beats(self, slot, codes, **fields):
        lanes = self.geometry.lanes
        sides = (0, *SIDES) if fields["predict"] and self.fields["report.neighbours"] else (0,)
        self.ops.extend(
            {
                "code": Op.COUNT,
                "slot": slot,
                "pass_": at // lanes,
                "side": side,
                "last": at + lanes >= len(codes) and side == sides[-1],
                **fields,
                **({"test": 1} if side else {}),
            }
            for at in range(0, len(codes), lanes)
            for side in sides
        )

    def _become_due(self, slot):
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
