"""The trees: a row for each node, read by walkers in every clock, written by edits."""

from amaranth import Module, Mux, Signal
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.wiring import In, Out
from bregalad.geometry import NONE
from bregalad.protocol.nodes import EDIT, KIND_LOW, EditError, EditFlag, NodeKind

from ..layout import struct

__all__ = ["NodeTable", "change_layout", "row_layout", "rows_signature", "slot_layout"]


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
    """A port for walks: a row, and whether its node is locked, ``NodeTable.latency`` clocks after the node."""
    return wiring.Signature(
        {"node": Out(range(nodes)), "row": In(row_layout(nodes, attributes)), "locked": In(1)},
    )


def slot_layout(slots):
    """What counts at a node, if anything does."""
    return data.StructLayout({"slot": range(slots), "there": 1})


def change_layout():
    """An EDIT, or a lock of its node."""
    return data.StructLayout({"edit": struct(EDIT), "lock": 1})


class NodeTable(wiring.Component):
    """Rows of nodes in block RAM. Walkers in pairs share a copy through its two ports.

    What walks need lies in those copies, a node's lock beside it. Its slot, which is asked for once a
    record is through, has a memory of its own, without copies.

    A change is checked, then written; walks meanwhile may see anything, so there must be none from
    the clock after the transfer on until ``busy`` falls. What names a row that there is not is
    refused. Rows are leaves without a slot after configuration; a reset leaves them as they are.

    Parameters
    ----------
    nodes, attributes, slots : int
        How many there are.
    walkers : int
        Ports for walks.

    Members
    -------
    change : In(stream of {edit, lock})
    busy : Out(1)
        A change is being written.
    refused : Out(range of EditError)
        For a clock: why one was not written; else 0.
    walks : In(ArrayLayout of rows_signature)
    ask : In(1), node : In
        For ``slot``, which stays until the next.
    slot : Out({slot, there})

    Latency: 2 cycles from ``walks[i].node`` to its ``row`` and ``locked``, 1 from `ask` to ``slot``.
    A change takes 4 clocks.

    Raises
    ------
    ValueError
        If a number is out of range.
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
                "change": In(stream.Signature(change_layout())),
                "busy": Out(1),
                "refused": Out(range(max(EditError) + 1)),
                "walks": In(rows_signature(nodes, attributes)).array(walkers),
                "ask": In(1),
                "node": In(range(nodes)),
                "slot": Out(slot_layout(slots)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        change = Signal(change_layout(), reset_less=True)
        edit = change.edit
        attribute, kind = edit.test[:KIND_LOW], edit.test[KIND_LOW:]

        # Registers between the steps: a change is rare, and its checks are wide.
        children = Signal(8)
        inner, absent = Signal(), Signal()
        last = Signal(18)  # the child
        wrong = Signal()
        refused = Signal.like(self.refused)
        row_written, lock_written = Signal(), Signal()
        m.d.sync += [self.refused.eq(0), row_written.eq(0), lock_written.eq(0)]
        m.d.comb += self.busy.eq(1)
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += [self.busy.eq(0), self.change.ready.eq(1)]
                m.d.sync += change.eq(self.change.payload)
                with m.If(self.change.valid):
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
                keep = (edit.flags & int(EditFlag.KEEP)) != 0
                impossible = ~change.lock & ~keep & (wrong | (inner & (last >= self.nodes)))
                m.d.comb += refused.eq(Mux(absent, EditError.NODE, Mux(impossible, EditError.ROW, 0)))
                m.d.sync += [
                    lock_written.eq(refused == 0),
                    row_written.eq((refused == 0) & ~change.lock & ~keep),
                    self.refused.eq(refused),
                ]
                m.next = "WRITE"
            with m.State("WRITE"):
                m.next = "IDLE"

        for first in range(0, self.walkers, 2):
            self._copy(m, first, change, row_written, lock_written)

        m.submodules.slots = slots = memory.Memory(shape=slot_layout(self.slots), depth=self.nodes, init=[])
        write, read = slots.write_port(), slots.read_port()
        m.d.comb += [
            write.en.eq(row_written),
            write.addr.eq(edit.node),
            write.data.slot.eq(edit.slot),
            write.data.there.eq(edit.slot != NONE),
            read.en.eq(self.ask),
            read.addr.eq(self.node),
            self.slot.eq(read.data),
        ]
        return m

    def _copy(self, m, first, change, row_written, lock_written):
        """Rows and locks for two walkers, or one. What is written goes through the first one's port."""
        walks = self.walks[first : first + 2]
        layout = row_layout(self.nodes, self.attributes)
        written = Signal(layout, name=f"written_{first}")
        edit = change.edit
        m.d.comb += [
            written.kind.eq(edit.test[KIND_LOW:]),
            written.attribute.eq(edit.test[:KIND_LOW]),
            written.value.eq(edit.value),
            written.default.eq(edit.default),
            written.child.eq(edit.child),
        ]
        # One address for reading and writing, or synthesis takes a third port, which a block RAM has not.
        address = Signal(range(self.nodes), name=f"address_{first}")
        m.d.comb += address.eq(Mux(lock_written, edit.node, walks[0].node))
        parts = {f"rows_{first}_{low}": low for low in range(0, layout.size, self._part)}
        for name, low in {**parts, f"locks_{first}": None}.items():
            value = change.lock if low is None else written.as_value()[low : low + self._part]
            m.submodules[name] = kept = memory.Memory(shape=len(value), depth=self.nodes, init=[])
            write = kept.write_port()
            m.d.comb += [
                write.en.eq(lock_written if low is None else row_written),
                write.addr.eq(address),
                write.data.eq(value),
            ]
            for number, port in enumerate(walks):
                read = kept.read_port()
                # A block RAM takes half a clock to answer; its register has a clock to itself.
                after = Signal(len(value), name=f"{name}_{number}", reset_less=True)
                shown = port.locked if low is None else port.row.as_value()[low : low + self._part]
                m.d.comb += [
                    read.addr.eq(port.node if number else address),
                    read.en.eq(1 if number else ~write.en),
                    shown.eq(after),
                ]
                m.d.sync += after.eq(read.data)

    @property
    def _part(self):
        """Bits of a row that fill a block RAM: were they more, its register would lie behind a multiplexer."""
        return next((width for width in (18, 9, 4, 2) if self.nodes * width <= _BLOCK), 1)
