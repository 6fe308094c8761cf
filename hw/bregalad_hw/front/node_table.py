"""The trees: a row for each node, read by walkers in every clock, written by edits."""

from amaranth import Module, Mux, Signal
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.wiring import In, Out
from bregalad.geometry import NONE
from bregalad.protocol.nodes import EDIT, KIND_LOW, EditError, NodeKind

from ..layout import struct
from ..members import assign, drive

_BLOCK = 18 * 1024  # bits of a block RAM with two ports


def row_layout(nodes, attributes):
    """What a walk needs to know of a node."""
    return data.StructLayout(
        {
            "kind": max(NodeKind).bit_length(),
            "attribute": range(attributes),
            "value": 8,
            "default": 8,
            "child": range(nodes),
        }
    )


def rows_signature(nodes, attributes):
    """A port for walks: a row, ``NodeTable.latency`` clocks after its node."""
    return wiring.Signature({"node": Out(range(nodes)), "row": In(row_layout(nodes, attributes))})


def slot_layout(slots):
    """What counts at a node, if anything does."""
    return data.StructLayout({"slot": range(slots), "there": 1})


class NodeTable(wiring.Component):
    """Rows of nodes in block RAM. Walkers in pairs share a copy through its two ports.

    What walks need lies in those copies. A node's slot, which is asked for once a record is through,
    has a memory of its own, without copies.

    An edit is checked, then written; walks meanwhile may see anything, so there must be none from
    the clock after the transfer on until ``busy`` falls. What names a row that there is not is
    refused. Rows are leaves without a slot after configuration; a reset leaves them as they are.

    Parameters
    ----------
    nodes, attributes, slots : int
        How many there are: 1 to 65536, to 8192, to 65535.
    walkers : int
        Ports for walks, 1 to 64.

    Members
    -------
    edit : In(stream of EDIT)
    busy : Out(1)
        One is being written.
    refused : Out(range of EditError)
        Beside the transfer: why it is not written; else 0.
    walks : In(ArrayLayout of rows_signature)
    request : In(1), node : In
        For ``slot``, which stays until the next.
    slot : Out({slot, there})

    Latency: 2 cycles from ``walks[i].node`` to its ``row``, 1 from `request` to ``slot``. An edit takes 4 clocks.
    """

    latency = 2

    def __init__(self, nodes, attributes, slots, *, walkers=1):
        for name, value, most in (
            ("nodes", nodes, 1 << 16),
            ("attributes", attributes, 1 << KIND_LOW),
            ("slots", slots, NONE),
            ("walkers", walkers, 64),
        ):
            if not 1 <= value <= most:
                raise ValueError(f"{name} must be 1 to {most}, not {value!r}")
        self.nodes, self.attributes, self.slots, self.walkers = nodes, attributes, slots, walkers
        super().__init__(
            {
                "edit": In(stream.Signature(struct(EDIT))),
                "busy": Out(1),
                "refused": Out(range(max(EditError) + 1)),
                "walks": In(rows_signature(nodes, attributes)).array(walkers),
                "request": In(1),
                "node": In(range(nodes)),
                "slot": Out(slot_layout(slots)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        edit = Signal(struct(EDIT), reset_less=True)
        attribute, kind = edit.test[:KIND_LOW], edit.test[KIND_LOW:]

        # Registers between the steps: an edit is rare, and its checks are wide.
        children = Signal(8)
        inner, absent = Signal(), Signal()
        last = Signal(18)  # the child
        wrong = Signal()
        refused = Signal.like(self.refused)
        written = Signal()
        m.d.sync += [self.refused.eq(0), written.eq(0)]
        m.d.comb += self.busy.eq(1)
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.busy.eq(0)
                m.d.sync += edit.eq(self.edit.payload)
                with m.If(self.edit.valid):
                    m.next = "COUNT"
            with m.State("COUNT"):
                m.d.sync += [
                    inner.eq(kind != NodeKind.LEAF),
                    children.eq(Mux(kind == NodeKind.MULTIWAY, edit.value, 2)),
                    absent.eq(edit.node >= self.nodes),
                ]
                m.next = "CHECK"
            with m.State("CHECK"):
                m.d.sync += [
                    last.eq(edit.child + children - 1),
                    wrong.eq(
                        (kind > max(NodeKind))
                        | ((edit.slot >= self.slots) & (edit.slot != NONE))
                        | (
                            inner
                            & (
                                (edit.default >= children)  # and so there is a child
                                | ((attribute >= self.attributes) & (kind != NodeKind.FORK))
                            )
                        )
                    ),
                ]
                m.next = "DECIDE"
            with m.State("DECIDE"):
                impossible = wrong | (inner & (last >= self.nodes))
                m.d.comb += refused.eq(Mux(absent, EditError.NODE, Mux(impossible, EditError.ROW, 0)))
                m.d.sync += [written.eq(refused == 0), self.refused.eq(refused)]
                m.next = "WRITE"
            with m.State("WRITE"):
                m.d.comb += self.edit.ready.eq(1)
                m.next = "IDLE"

        for first in range(0, self.walkers, 2):
            self._copy(m, first, edit, written)

        m.submodules.slots = slots = memory.Memory(shape=slot_layout(self.slots), depth=self.nodes, init=[])
        write, read = slots.write_port(), slots.read_port()
        m.d.comb += [
            *drive(write, en=written, addr=edit.node),
            *drive(write.data, slot=edit.slot, there=edit.slot != NONE),
            *drive(read, en=self.request, addr=self.node),
            self.slot.eq(read.data),
        ]
        return m

    def _copy(self, m, first, edit, written):
        """Rows for two walkers, or one. What is written goes through the first one's port."""
        walks = self.walks[first : first + 2]
        layout = row_layout(self.nodes, self.attributes)
        row = Signal(layout, name=f"row_{first}")
        m.d.comb += [
            *drive(row, kind=edit.test[KIND_LOW:], attribute=edit.test[:KIND_LOW]),
            *assign(row, edit, "value", "default", "child"),
        ]
        # One address for reading and writing, or synthesis takes a third port, which a block RAM has not.
        address = Signal(range(self.nodes), name=f"address_{first}")
        m.d.comb += address.eq(Mux(written, edit.node, walks[0].node))
        for low in range(0, layout.size, self._part):
            name, value = f"rows_{first}_{low}", row.as_value()[low : low + self._part]
            m.submodules[name] = kept = memory.Memory(shape=len(value), depth=self.nodes, init=[])
            write = kept.write_port()
            m.d.comb += [write.en.eq(written), write.addr.eq(address), write.data.eq(value)]
            for number, port in enumerate(walks):
                read = kept.read_port()
                # A block RAM takes half a clock to answer; its register has a clock to itself.
                after = Signal(len(value), name=f"{name}_{number}", reset_less=True)
                m.d.comb += [
                    *drive(read, addr=port.node if number else address, en=1 if number else ~write.en),
                    port.row.as_value()[low : low + self._part].eq(after),
                ]
                m.d.sync += after.eq(read.data)

    @property
    def _part(self):
        """Bits of a row that fill a block RAM: were they more, its register would lie behind a multiplexer."""
        return next((width for width in (18, 9, 4, 2) if self.nodes * width <= _BLOCK), 1)
