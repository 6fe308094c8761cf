"""Read and change one slot: what CLEAR, PLACE, READ, WRITE, NODE and PERIOD do, and an attempt."""

from functools import reduce
from operator import or_

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out, connect, flipped
from bregalad.complete import complete
from bregalad.geometry import NONE
from bregalad.protocol.commands import CommandFlag, Opcode
from bregalad.protocol.reports import EntryFlag, Kind, entry_body
from bregalad.protocol.tree import MANY, TreeOpcode

from ..array.operation import Op, operation_layout
from ..members import drive
from .command import HEAD_BITS, execute, view
from .report import job_layout, job_words
from .scheduler import attempt_layout, attempt_of
from .slots import EMPTY_ENTRY, SINCE_WIDTH, entry_layout, table_signature

EDITS = (Opcode.ATTEMPT, Opcode.CLEAR, Opcode.PLACE, Opcode.READ, Opcode.WRITE)  # what the editor executes
TREE_EDITS = (TreeOpcode.NODE, TreeOpcode.PERIOD)

_READS = 16  # counts of a READ that are under way; the way round takes about as many clocks


def edit_signature(geometry):
    """A command for the slot editor, seen from who gives it.

    ``head`` stays from the clock before ``start`` until ``done``, the command's last clock. Beside ``start``,
    ``drop`` lets a WRITE's payload be taken and nothing be written.
    """
    g = geometry
    return wiring.Signature(
        {
            "head": Out(HEAD_BITS),
            "start": Out(1),
            "drop": Out(1),
            "done": In(1),
            "payload": Out(stream.Signature(g.bus_width)),  # of WRITE
            "job": In(stream.Signature(job_layout(g))),
        }
    )


class SlotEditor(wiring.Component):
    """Execute a command on a slot's row in the table and its bins and bin window in the array.

    Members
    -------
    edit : In(edit_signature)
        One of EDITS or TREE_EDITS, of a slot and a cell that exist, unless it is dropped.
        Nothing else uses slot, table and array meanwhile.
    table : Out(table_signature)
    attempt : Out(stream of {head, current})
        Of a slot that is due; ATTEMPT of another does nothing.
    decides : In(1), tried : Out(1)
        A node whose instances have one class is kept without a scan; static. For a clock: a slot is tried.
    number : In(32), mark : Out(1)
        Records so far, steady during a command; a slot that PERIOD or WRITE has changed is due.
    op : Out(operation), valid : Out(1), grant : In(1)
    count : Out(W)
        Of WRITE.
    answer : In(W), answer_valid : In(1)
        A READ's count, from the array.
    counts : Out(stream of W)
        Counts of READs, to the report writer.

    Latency: 1 cycle from `start` to the first effect. CLEAR and PLACE take a clock for every bin of
    every pass, a READ one for every count, a WRITE two, or three for every word of an entry.

    Source: design, section 6.
    """

    def __init__(self, geometry):
        self.geometry = g = geometry
        super().__init__(
            {
                "number": In(32),
                **dict.fromkeys(("decides", "grant", "answer_valid"), In(1)),
                **dict.fromkeys(("mark", "tried"), Out(1)),
                "edit": In(edit_signature(g)),
                "table": Out(table_signature(g)),
                "attempt": Out(stream.Signature(attempt_layout(g))),
                "op": Out(operation_layout(g)),
                "valid": Out(1),
                "count": Out(g.count_width),
                "answer": In(g.count_width),
                "counts": Out(stream.Signature(g.count_width)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        g, edit = self.geometry, self.edit

        place, access = view(edit.head, Opcode.PLACE), view(edit.head, Opcode.READ)
        opcode, flags = access.opcode, place.flags
        # What the head says, in registers.
        keep = Signal()  # of PLACE
        is_ = {each: Signal(name=f"is_{each.name.lower()}") for each in (*EDITS, *TREE_EDITS)}
        m.d.sync += [
            keep.eq((flags & int(CommandFlag.KEEP)) != 0),
            *(signal.eq(opcode == each) for each, signal in is_.items()),
        ]

        entry = entry_body(g)
        entry_words, head_words = entry.size // 4, entry.offset("class_counts") // 4

        row = Signal(entry_layout(g))
        left = Signal(range(max(entry_words, g.bins * g.classes) + 1))  # words of the payload
        dropping = Signal()
        pass_, lane = Signal(range(g.passes + 1)), Signal(16)
        window_pass, bin_ = Signal(range(g.passes)), Signal(range(g.bins))
        column = Signal(range(entry_words))  # word of an entry, or class of a bin
        entry_access, unplaced = Signal(), Signal()
        m.d.sync += [entry_access.eq(access.cell == NONE), unplaced.eq(place.cell == NONE)]
        incoming = Signal(32)
        m.d.comb += [
            *drive(self.table, r_slot=access.slot, w_slot=access.slot, w_entry=row),
            self.count.eq(incoming),
        ]
        # Fields that change are whole signals: Icarus leaves constant parts of a signal X when
        # others are assigned in a process.
        code, op_pass, override = Signal(Op), Signal.like(window_pass), Signal()
        kind, count = Signal(8), Signal.like(edit.job.p.count)
        words = [Signal(32, name=f"word_{i}") for i in range(len(edit.job.p.words))]
        m.d.comb += [
            *drive(self.op, code=code, slot=access.slot, pass_=op_pass, bin=bin_, label=column),
            *drive(self.op, root=is_[Opcode.CLEAR], override=override, lane=lane, lo=place.lo, shift=place.shift),
            self.op.parent.eq(Mux(keep, access.slot, place.parent)),
        ]
        clear_row = row.eq(entry_layout(g).const(EMPTY_ENTRY))
        attempt_of(m, self.attempt.p, access.slot, row, self.number)

        parts = {  # of the word that has come, if it is theirs
            field.name: incoming[8 * (entry.offset(field.name) % 4) :][: field.width]
            for field in entry.fields
            if field.count is None
        }

        # What a command or a word says of a row is worked out a clock ahead.
        placed_timed, placed_limit = _period(m, "placed", place.period)
        timed, limit = _period(m, "written", parts["period"])
        own_timed, own_limit = _period(m, "own", view(edit.head, TreeOpcode.PERIOD).period)
        link, current = Signal(16), Signal(16)
        m.d.sync += [
            link.eq(Mux(parts["link"] < g.slots, parts["link"], NONE)),
            current.eq(Mux(parts["current"] < g.max_cells, parts["current"], NONE)),
        ]
        flags_in = parts["entry_flags"]
        stow = complete(
            parts,
            {
                "n": [row.n.eq(parts["n"])],
                "since": [row.since.eq(parts["since"][:SINCE_WIDTH])],
                "link": [row.link.eq(link)],
                "current": [row.current.eq(current)],
                "entry_flags": [row[flag.name.lower()].eq((flags_in & flag) != 0) for flag in EntryFlag],
                "period": [row.timed.eq(timed), row.limit.eq(limit)],
                "tried": [row.tried_at.eq(parts["tried"])],
            },
            __file__,
        )

        # As many READs are under way at most as there are places for their counts.
        m.submodules.fifo = fifo = SyncFIFOBuffered(width=g.count_width, depth=_READS)
        reads, reads_next = Signal(range(_READS + 1)), Signal(range(_READS + 1))
        requested, room = Signal(), Signal(init=1)
        m.d.comb += [
            *drive(fifo, w_data=self.answer, w_en=self.answer_valid),
            reads_next.eq(reads + requested - (fifo.r_rdy & self.counts.ready)),
        ]
        connect(m, fifo.r_stream, flipped(self.counts))
        m.d.sync += [reads.eq(reads_next), room.eq(reads_next != _READS)]

        bus_parts = g.bus_bytes // 4
        unpacked = Signal(range(bus_parts))
        unpacks = Signal()  # a clock ago its last part was taken: whether a word goes is told by a register
        m.d.sync += unpacks.eq(0)
        m.d.comb += [
            edit.payload.ready.eq(unpacks),
            *drive(edit.job.p, kind=kind, count=count, slot=access.slot, class_counts=row.class_counts),
            *(edit.job.p.words[i].eq(word) for i, word in enumerate(words)),
        ]

        def end():
            m.d.comb += edit.done.eq(1)
            m.next = "IDLE"

        def next_count():
            m.d.sync += column.eq(column + 1)
            with m.If(column == g.classes - 1):
                m.d.sync += [column.eq(0), bin_.eq(bin_ + 1)]

        def begin_write():
            m.next = "UNPACK"
            with m.If(~entry_access & ~edit.drop):
                m.next = "DIVIDE"
            m.d.sync += clear_row  # the row has more than what comes

        def begin_read():
            m.next = "LOOK"
            with m.If(~entry_access):
                m.next = "DIVIDE"

        def begin_place():
            m.next = "DIVIDE"
            with m.If(unplaced):
                m.next = "WINDOW"
                with m.If(keep):
                    m.next = "LOOK"

        begin = complete(
            (*EDITS, *TREE_EDITS),
            {
                Opcode.WRITE: begin_write,
                Opcode.READ: begin_read,
                Opcode.PLACE: begin_place,
                Opcode.CLEAR: "WINDOW",
                **dict.fromkeys((Opcode.ATTEMPT, *TREE_EDITS), "LOOK"),
            },
            __file__,
        )
        go_on = {  # with the row
            Opcode.ATTEMPT: "MIXED",
            TreeOpcode.NODE: "NODE",
            TreeOpcode.PERIOD: "PERIOD",
            Opcode.READ: "ENTRY",
            Opcode.PLACE: "ROLE",
        }
        divided = {Opcode.READ: "STATISTICS", Opcode.WRITE: "UNPACK", Opcode.PLACE: "WINDOW"}
        capped = self._capped(m)
        mixed = self._mixed(m, row)

        with m.FSM(name="state"):
            with m.State("IDLE"):
                m.d.comb += self.table.r_en.eq(1)  # whether there is a command is known late
                m.d.sync += [
                    left.eq(Mux(entry_access, entry_words, g.bins * g.classes)),
                    lane.eq(Mux(is_[Opcode.PLACE], place.cell, access.cell)),
                    pass_.eq(0),
                    window_pass.eq(0),
                    bin_.eq(0),
                    column.eq(0),
                    unpacked.eq(0),
                    dropping.eq(edit.drop),
                ]
                with m.If(edit.start):
                    execute(m, is_, begin)

            with m.State("LOOK"):
                m.d.comb += self.table.r_take.eq(1)
                m.next = "ROW"

            with m.State("ROW"):
                m.d.sync += row.eq(self.table.r_entry)
                execute(m, is_, go_on)

            with m.State("MIXED"):
                m.next = "ATTEMPT"

            with m.State("ATTEMPT"):
                kept = self.decides & ~mixed
                m.d.comb += [
                    self.attempt.valid.eq(row.due & ~kept),
                    self.tried.eq(row.due & (self.attempt.ready | kept)),
                ]
                with m.If(self.attempt.ready | kept):
                    m.d.sync += [
                        *(row[name].eq(0) for name in ("since", "halved", "underflow", "due")),
                        *drive(row, tried=1, tried_at=self.number),
                    ]
                    m.next = "STORE"
                with m.If(~row.due):
                    end()

            with m.State("NODE"):
                m.d.sync += row.only.eq(view(edit.head, TreeOpcode.NODE).only)
                m.d.sync += [row[name].eq(number) for name, number in capped.items()]
                m.next = "STORE"

            with m.State("PERIOD"):
                m.d.sync += [
                    *drive(row, timed=own_timed, limit=own_limit),
                    row.due.eq(own_timed & (row.since > own_limit)),
                ]
                m.next = "STORE"

            with m.State("ENTRY"):
                shown = job_words(
                    Kind.ENTRY,
                    g,
                    **{name: row[name] for name in ("n", "since", "link", "current")},
                    entry_flags=reduce(or_, (Mux(row[flag.name.lower()], flag, 0) for flag in EntryFlag)),
                    period=Mux(row.timed, row.limit + 1, 0),
                    tried=row.tried_at,
                )
                m.d.comb += [
                    edit.job.valid.eq(1),
                    kind.eq(Kind.ENTRY),
                    count.eq(len(shown)),
                    *(word.eq(value) for word, value in zip(words, shown, strict=True)),
                ]
                with m.If(edit.job.ready):
                    end()

            # cell = pass * P + lane, by repeated subtraction: P need not be a power of two.
            with m.State("DIVIDE"):
                with m.If(lane >= g.lanes):
                    m.d.sync += [lane.eq(lane - g.lanes), pass_.eq(pass_ + 1)]
                with m.Else():
                    execute(m, is_, divided)

            with m.State("STATISTICS"):
                (shown,) = job_words(Kind.STATISTICS, g, cell=access.cell)
                m.d.comb += [
                    edit.job.valid.eq(1),
                    kind.eq(Kind.STATISTICS),
                    count.eq(1),
                    words[0].eq(shown),
                ]
                with m.If(edit.job.ready):
                    m.next = "READ"

            with m.State("READ"):
                m.d.comb += [
                    self.valid.eq(room),
                    code.eq(Op.READ),
                    op_pass.eq(pass_),
                    requested.eq(room & self.grant),
                ]
                with m.If(requested):
                    next_count()
                    with m.If((column == g.classes - 1) & (bin_ == g.bins - 1)):
                        end()

            # PLACE and CLEAR: pass by pass, the bin window and then every bin. With KEEP the bin window of a cell
            # alone.
            with m.State("WINDOW"):
                m.d.sync += clear_row
                m.d.comb += [
                    self.valid.eq(1),
                    code.eq(Op.PLACE),
                    op_pass.eq(window_pass),
                    override.eq(is_[Opcode.PLACE] & ~unplaced & (pass_ == window_pass)),
                ]
                with m.If(is_[Opcode.PLACE] & keep):
                    m.d.comb += [op_pass.eq(pass_), override.eq(1)]
                with m.If(self.grant):
                    m.next = "BINS"
                    with m.If(is_[Opcode.PLACE] & keep):
                        end()

            with m.State("BINS"):
                m.d.comb += [self.valid.eq(1), code.eq(Op.CLEAR), op_pass.eq(window_pass)]
                with m.If(self.grant):
                    m.d.sync += bin_.eq(bin_ + 1)
                    with m.If(bin_ == g.bins - 1):
                        m.d.sync += window_pass.eq(window_pass + 1)
                        m.next = "WINDOW"
                        with m.If(window_pass == g.passes - 1):
                            m.next = "STORE"
                            with m.If(is_[Opcode.PLACE]):
                                m.next = "ROLE"

            with m.State("ROLE"):
                m.d.sync += [
                    *drive(row, since=0, link=place.link, current=place.current, timed=placed_timed),
                    *drive(row, limit=placed_limit, inner=(flags & int(CommandFlag.INNER)) != 0, due=0),
                ]
                m.next = "STORE"

            with m.State("STORE"):
                m.d.comb += [
                    *drive(self.table, w_en=1, w_link=1),
                    self.mark.eq(row.due & (is_[TreeOpcode.PERIOD] | is_[Opcode.WRITE])),
                ]
                end()

            # Payload of WRITE, two clocks for a count: taken, then put to the array; three for a
            # word of an entry. The last takes the padding with it.
            with m.State("UNPACK"):
                m.d.sync += incoming.eq(edit.payload.payload.word_select(unpacked, 32))
                with m.If(edit.payload.valid):
                    m.d.sync += [unpacked.eq(unpacked + 1), unpacks.eq((unpacked == bus_parts - 1) | (left == 1))]
                    m.next = "WRITE"
                    with m.If(dropping | entry_access):
                        m.next = "SORT"

            with m.State("SORT"):
                m.next = "STOW"

            with m.State("STOW"):
                last = left == 1
                m.next = "UNPACK"
                m.d.sync += [left.eq(left - 1), column.eq(column + 1)]
                with m.If(column < head_words):
                    with m.Switch(column):
                        for word in range(head_words):
                            with m.Case(word) if word < head_words - 1 else m.Default():
                                m.d.sync += [row_of for name, row_of in stow.items() if entry.offset(name) // 4 == word]
                with m.Else():
                    m.d.sync += row.class_counts.eq(
                        Cat(row.class_counts.as_value(), incoming[: g.count_width])[g.count_width :]
                    )
                with m.If(last):
                    with m.If(dropping):
                        end()
                    with m.Else():
                        m.next = "STORE"

            with m.State("WRITE"):
                m.d.comb += [self.valid.eq(1), code.eq(Op.WRITE), op_pass.eq(pass_)]
                with m.If(self.grant):
                    next_count()
                    m.d.sync += left.eq(left - 1)
                    m.next = "UNPACK"
                    with m.If(left == 1):
                        end()
        return m

    def _mixed(self, m, row):
        """A clock after the row is there: its instances have several classes, as far as that is known."""
        g = self.geometry
        there, other, none, many = Signal(g.classes), Signal(g.classes), Signal(), Signal()
        m.d.sync += [
            there.eq(Cat(count.any() for count in row.class_counts)),
            other.eq(Cat(row.only != k for k in range(g.classes))),
            none.eq(row.only == NONE),
            many.eq(row.halved | (row.only == MANY)),
        ]
        return many | Mux(none, (there & (there - 1)).any(), (there & other).any())

    def _capped(self, m):
        """A clock ahead: numbers of a NODE, at most a count's."""
        g, node = self.geometry, view(self.edit.head, TreeOpcode.NODE)
        capped = {name: Signal(g.count_width, name=name) for name in ("inherited", "all_up_to")}
        m.d.sync += [
            number.eq(Mux(node[name] > g.count_max, g.count_max, node[name])) for name, number in capped.items()
        ]
        return capped


def _period(m, name, period):
    """A period as a row has it, a clock later: whether there is one, and one less."""
    timed, limit = Signal(name=f"{name}_timed"), Signal(16, name=f"{name}_limit")
    m.d.sync += [timed.eq(period != 0), limit.eq(period - 1)]
    return timed, limit
