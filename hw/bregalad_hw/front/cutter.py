"""Cut rows into steps: the bytes of neighbouring attributes, out of the bus words that carry them."""

from amaranth import Module, Mux, Signal, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from bregalad.geometry import CODE_WIDTH
from bregalad.protocol.rows import KEY_BYTES, ROW_COMMAND, RowKind, RowOpcode, places_of

from ..delay import delay
from ..layout import struct
from ..mcmu.aligner import Aligner
from ..members import assign, drive
from .steps import BYTES_WIDTH, UNITS, StepTable

_HEAD = 2  # bytes: label and flags


def _beside_layout(geometry):
    """What goes with a window's bytes."""
    return data.StructLayout(
        {
            "step": 1,  # of a row
            "begins": 1,  # is its first
            "kind": 3,
            "first": range(geometry.lanes),
            "end": range(geometry.lanes + 1),
            "row": range(places_of(geometry)),
            "beat": 1,
            "last": 1,
            "edge": 1,
            "searcher": range(geometry.searchers),
            "path": CODE_WIDTH,  # an edge's number plus 1
            "out": 1,  # there is no such edge
        }
    )


def cut_layout(geometry):
    """A step of a row, or an edge, which lies where its searcher has a number's bytes."""
    return data.StructLayout(
        {
            "beside": _beside_layout(geometry),
            "window": data.ArrayLayout(8, geometry.bus_bytes),
            "label": 8,
            "flags": 8,
            "has_label": 1,
            "has_flags": 1,
        }
    )


class Cutter(wiring.Component):
    """Take commands one after the other, and what follows each from the words.

    Words go into a ring of bytes, where a step's window is read at any byte, and its head at another. What decides is
    kept up to date rather than worked out: how many bytes are there beyond those that the next step needs, how many
    are still to be taken. Edges and the steps of a layout are read by the same ring, as rows of four bytes.

    A row is opened before its words are taken, and no word is taken but for an open row. Whatever the table of steps
    says, a command comes to its end: a step waits for bytes only while there are some to come, and the table's last
    place ends a row.

    Parameters
    ----------
    geometry : Geometry
    steps : int
        Places of the table of steps, a power of two, at least 2.

    Members
    -------
    command : In(stream of ROW_COMMAND)
        Taken when the one before has ended. One that is not known does nothing; what names a step or an attribute
        beyond those built is taken, and dropped.
    i : In(stream of bus words)
    room : In(1)
        Steps of rows are cut only then.
    o : Out(cut_layout(geometry))
        To be taken when it comes; nothing unless it is a ``step`` or an ``edge``. ``label`` and ``flags`` are the
        record's from where they are marked on.
    stop : In(1)
        No more rows are opened; those that are want their words.
    begun : Out(1)
        A clock ago a row's first step was cut.
    starved : Out(1)
        Words are wanted, and without them no step can be cut.
    busy : Out(1)
        A command has not ended.

    Latency: ``latency`` clocks from the transfer of the word that completes a step to `o`. Throughput: 1 step per
    clock while the words bring enough bytes.
    """

    latency = 6
    table = StepTable

    def __init__(self, geometry, steps):
        self.geometry = g = geometry
        self.steps = steps
        super().__init__(
            {
                "command": In(stream.Signature(struct(ROW_COMMAND))),
                "i": In(stream.Signature(g.bus_width)),
                "o": Out(cut_layout(g)),
                **dict.fromkeys(("room", "stop"), In(1)),
                **dict.fromkeys(("begun", "starved", "busy"), Out(1)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        g = self.geometry
        size = g.bus_bytes
        m.submodules.aligner = aligner = Aligner(g.bus_width, _HEAD, size)
        ring = aligner.size
        command, head = self.command, self.command.p

        # The command under way.
        working, begun = Signal(), Signal()  # begun: a clock ago
        records, edges, table = Signal(), Signal(), Signal()
        searcher, row, place_known = Signal(range(g.searchers)), Signal(range(places_of(g))), Signal()
        flags = Signal(8)
        path = Signal(CODE_WIDTH, init=1)  # of the next edge; 0 after the last place
        unit = Signal(range(2 * UNITS * self.steps))  # of the table; its highest bit: beyond
        stride, need = Signal(16, init=1), Signal(16)

        # Rows to be opened, open ones, and bytes of these that are not taken.
        more, left = Signal(), Signal(32)
        opened = Signal(range(2 * ring))
        opening, opens, want = Signal(), Signal(), Signal(signed(BYTES_WIDTH))
        next_row = Signal(BYTES_WIDTH)  # bytes; the first row's with those before it
        # Places in the ring; bytes there beyond the next step's.
        put, base = Signal(range(ring // size)), Signal(range(ring))
        spare = Signal(signed(BYTES_WIDTH))
        taken, roomy, ended = Signal(), Signal(), Signal()

        m.submodules.table = steps = self.table(g, self.steps, ring)
        step = steps.o
        begins = Signal()  # the next step is a row's first
        step_goes, unit_goes, fills, goes, ends = (Signal() for _ in range(5))
        ready = (opened != 0) & ((spare >= 0) | ended)
        m.d.comb += [
            opening.eq(more & ~opened[-1]),
            opens.eq(opening & (want < 2 * size)),
            self.i.ready.eq(working & roomy & (want > 0)),
            taken.eq(self.i.valid & self.i.ready),
            step_goes.eq(records & ready & self.room),
            unit_goes.eq(~records & ready),
            # Places without an edge.
            fills.eq(edges & ~begun & ~more & (opened == 0) & (path != 0)),
            goes.eq(step_goes | unit_goes),
            self.starved.eq(records & self.i.ready & ~ready),
            ends.eq(unit_goes | (step_goes & step.last)),
        ]
        advance, uses = Mux(records, step.advance, KEY_BYTES), Mux(records, step.uses, KEY_BYTES)
        m.d.sync += [
            # A clock late: two words may come when there is just no room. The ring has half of its bytes for what a
            # step needs, and a quarter for what is beyond it.
            roomy.eq((spare < ring // 4) | (opened == 0)),
            ended.eq(~opening & (want <= 0)),
            opened.eq(opened + opens - ends),
            want.eq(want + Mux(opens, next_row, 0) - Mux(taken, size, 0)),
            put.eq(put + taken),
            spare.eq(Mux(taken, Mux(goes, spare - uses + size, spare + size), Mux(goes, spare - uses, spare))),
            begun.eq(0),
            self.begun.eq(step_goes & begins),
        ]
        with m.If(goes):
            m.d.sync += base.eq(base + advance)
        with m.If(begun | step_goes):
            m.d.sync += begins.eq(begun | step.last)
        with m.If(opens):
            m.d.sync += [left.eq(left - 1), more.eq(left != 1), next_row.eq(Mux(records, stride, KEY_BYTES))]
        with m.If(begun):
            m.d.sync += more.eq((left != 0) & (records | edges | table))
        with m.If(self.stop):
            m.d.sync += more.eq(0)
        with m.If((unit_goes | fills) & (path != 0)):
            m.d.sync += path.eq(path + 1)
        with m.If(unit_goes & ~unit[-1]):
            m.d.sync += unit.eq(unit + 1)
        m.d.comb += [steps.load.eq(step_goes), steps.restart.eq(begun)]

        settling = Signal(range(self.latency + 1))  # clocks until a layout is written
        with m.If(working & ~begun & ~more & (opened == 0) & (want <= 0) & (~edges | (path == 0))):
            m.d.sync += settling.eq(settling - 1)
            with m.If(~table | (settling == 0)):
                m.d.sync += working.eq(0)
        m.d.comb += [self.busy.eq(working), command.ready.eq(~working)]
        with m.If(command.valid & ~working):
            is_records = head.opcode == RowOpcode.RECORDS
            offset = Mux(is_records, head.offset[: (size - 1).bit_length()], 0)
            m.d.sync += [
                working.eq(1),
                begun.eq(1),
                records.eq(is_records),
                edges.eq(head.opcode == RowOpcode.EDGES),
                table.eq(head.opcode == RowOpcode.LAYOUT),
                searcher.eq(head.lane),
                row.eq(head.row),
                place_known.eq((head.lane < g.searchers) & (head.row < places_of(g))),
                flags.eq(head.flags),
                path.eq(1),
                unit.eq(0),
                left.eq(Mux(head.opcode == RowOpcode.LAYOUT, head.count * UNITS, head.count)),
                next_row.eq(offset + Mux(is_records, stride, KEY_BYTES)),
                want.eq(0),
                put.eq(0),
                base.eq(offset),
                spare.eq(-(offset + Mux(is_records, need, KEY_BYTES))),
                settling.eq(self.latency),
            ]
            with m.If(head.opcode == RowOpcode.LAYOUT):
                m.d.sync += [stride.eq(head.stride | (head.stride == 0)), need.eq(head.need)]

        # A clock later the ring is asked; the rest waits for its answer.
        window_at, head_at = Signal(range(ring)), Signal(range(ring))
        beside = Signal(_beside_layout(g))
        marks = Signal(data.StructLayout({"label": 1, "flags": 1, "given": 8, "table": 1, "unit": len(unit)}))
        m.d.sync += [
            window_at.eq(base + Mux(records, step.window, -(KEY_BYTES * searcher))),
            head_at.eq(base + step.head),
            *drive(beside, step=step_goes, begins=begins),
            beside.kind.eq(Mux(records, step.kind, RowKind.CODE)),
            *assign(beside, step, "first", "end", "last"),
            *drive(beside, beat=step.beat | step.last, edge=edges & (unit_goes | fills) & place_known),
            *drive(beside, searcher=searcher, path=path, out=fills),
            beside.row.eq(Mux(records, step.row, row)),
            *assign(marks, step, "label", "flags"),
            *drive(marks, given=flags, table=table & unit_goes & ~unit[-1], unit=unit),
        ]
        m.d.comb += drive(aligner, word=self.i.payload, put=taken, put_at=put, codes_at=window_at, header_at=head_at)
        beside, marks = delay(m, beside, aligner.latency, "beside"), delay(m, marks, aligner.latency, "marks")
        m.d.sync += [
            *drive(self.o, beside=beside, window=aligner.codes, has_label=marks.label | beside.begins),
            self.o.has_flags.eq(marks.flags | beside.begins),
            self.o.label.eq(Mux(marks.label, aligner.header[:8], 0)),
            self.o.flags.eq(Mux(marks.flags, aligner.header[8:], marks.given)),
            *drive(steps, write=marks.table, unit=marks.unit),
        ]
        m.d.comb += steps.value.eq(self.o.window.as_value()[: 8 * KEY_BYTES])
        return m
