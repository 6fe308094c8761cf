"""Execute commands one after the other, in the order they arrive."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ...geometry import NONE
from ...protocol.commands import COMMAND_BYTES, COMMANDS, RECORD_HEADER, CommandFlag, Opcode
from ...protocol.reports import EntryFlag, ErrorCode, Kind
from ..array.operation import Op, operation_layout, slot_shape
from ..layout import struct
from .dma import descriptor_layout
from .report import job_layout
from .scheduler import trial_layout
from .slots import SINCE_WIDTH, empty_entry, entry_layout, table_signature
from .tracker import trial_of

__all__ = ["Sequencer", "start_layout"]


def start_layout(geometry):
    """Records to dispense, and the byte of the first bus word that they begin at."""
    return data.StructLayout({"count": 32, "offset": (geometry.bus_bytes - 1).bit_length()})


class Sequencer(wiring.Component):
    """Decode commands; execute all but the counting itself.

    A LEARN may follow a LEARN while the tracker still works; every other command waits until the
    tracker is idle, READ and FENCE and errors until every trial and prediction is reported, and
    what changes a slot until its snapshot is taken.

    Parameters
    ----------
    geometry : Geometry

    Members
    -------
    commands : In(stream of bus words)
    cells : In(16)
        Codes of a record.
    start : Out(stream of {count, offset}); inline : Out(stream of bus words)
        To the dispenser; ``memory`` and ``discard`` say where its words come from and whether its
        beats are dropped.
    descriptor : Out(stream of {address, length})
        To the DMA.
    dispensing, failed, error, address, counted : In
        From the dispenser.
    table : Out(table_signature)
        Used only while the tracker is idle.
    slot : Out(slot); locked : In(1)
    trial : Out(stream of {head, current})
    idle : In(1)
        No record is in buffer or tracker.
    quiet : In(1)
        Every trial and prediction is reported.
    op : Out(operation), valid : Out(1), grant : In(1)
    word : Out(ArrayLayout(W, C))
        Of WRITE; stays for one clock more than ``op``.
    want_word, word_valid : In(1)
        A READ's bin can be taken, is taken.
    job : Out(stream of job_layout)
    learning : Out(1)
        A LEARN is decoded or dispensed.
    halted, waiting : Out(1)
        Status; ``waiting``: no command is begun.

    Latency: 2 cycles from a command's last word to its first effect.

    Source: design, section 6.
    """

    def __init__(self, geometry):
        self.geometry = g = geometry
        bus = stream.Signature(g.bus_width)
        super().__init__({
            "commands": In(bus),
            "cells": In(16),
            "start": Out(stream.Signature(start_layout(g))),
            "inline": Out(bus),
            "memory": Out(1),
            "discard": Out(1),
            "descriptor": Out(stream.Signature(descriptor_layout())),
            "dispensing": In(1),
            "failed": In(1),
            "error": In(2),
            "address": In(64),
            "counted": In(32),
            "table": Out(table_signature(g)),
            "slot": Out(slot_shape(g)),
            "locked": In(1),
            "trial": Out(stream.Signature(trial_layout(g))),
            "idle": In(1),
            "quiet": In(1),
            "op": Out(operation_layout(g)),
            "valid": Out(1),
            "grant": In(1),
            "word": Out(data.ArrayLayout(g.count_width, g.classes)),
            "want_word": In(1),
            "word_valid": In(1),
            "job": Out(stream.Signature(job_layout(g))),
            "learning": Out(1),
            "halted": Out(1),
            "waiting": Out(1),
        })

    def _in_range(self, as_command):
        """Whether every slot and cell that the command names exists."""
        g = self.geometry
        opcode = as_command(Opcode.TRIAL).opcode
        fine = 0
        for known, layout in COMMANDS.items():
            command = as_command(known)
            ok = opcode == known
            for field in layout.fields:
                if field.name in ("slot", "parent", "link"):
                    there = command[field.name] < g.slots
                elif field.name in ("cell", "current"):
                    there = command[field.name] < g.max_cells
                else:
                    continue
                if field.name not in ("slot", "parent"):
                    there |= command[field.name] == NONE
                ok &= there
            fine |= ok
        return fine

    def elaborate(self, platform):
        m = Module()
        g = self.geometry
        size = g.bus_bytes

        head = Signal(COMMAND_BYTES * 8)
        layouts = {opcode: struct(layout) for opcode, layout in COMMANDS.items()}

        def as_command(opcode):
            return data.View(layouts[opcode], head)

        learn, place = as_command(Opcode.LEARN), as_command(Opcode.PLACE)
        access, fence = as_command(Opcode.READ), as_command(Opcode.FENCE)
        opcode, flags = learn.opcode, learn.flags

        row = Signal(entry_layout(g))
        fine = Signal()  # every slot and cell that the command names exists
        failing = Signal()  # the error to report is the bus's, not the command's
        payload = Signal(range(max(4 + g.classes, g.bins * g.classes) + 1))  # words of 32 bits
        pass_, lane = Signal(range(g.passes + 1)), Signal(16)
        zoom_pass, bin_ = Signal(range(g.passes)), Signal(range(g.bins))
        column = Signal(range(4 + g.classes))  # word of an entry or of a bin
        entry_access = Signal()
        m.d.comb += [
            entry_access.eq(access.cell == NONE),
            self.slot.eq(access.slot),
            self.table.r_slot.eq(access.slot),
            self.table.w_slot.eq(access.slot),
            self.table.w_entry.eq(row),
            self.word.eq(row.class_counts),
        ]
        # Fields that change are whole signals: Icarus leaves constant parts of a signal X when
        # others are assigned in a process.
        code, op_pass, override = Signal(Op), Signal.like(zoom_pass), Signal()
        m.d.comb += [
            self.op.code.eq(code),
            self.op.slot.eq(access.slot),
            self.op.pass_.eq(op_pass),
            self.op.bin.eq(bin_),
            self.op.parent.eq(place.parent),
            self.op.root.eq(opcode == Opcode.CLEAR),
            self.op.override.eq(override),
            self.op.lane.eq(lane),
            self.op.lo.eq(place.lo),
            self.op.shift.eq(place.shift),
        ]
        clear_row = row.eq(data.Const(entry_layout(g), _bits(entry_layout(g), empty_entry())))
        trial_of(m, self.trial.p, access.slot, row, requested=True)

        # Bytes of a LEARN's records, one bit of a record's size per clock.
        length = Signal.like(self.descriptor.p.length)
        summand, factor = Signal.like(length), Signal(17)

        part = Signal(range(max(1, COMMAND_BYTES // size)))
        bus_parts = size // 4
        unpacked = Signal(range(bus_parts))
        incoming = Signal(32)
        m.d.comb += [
            incoming.eq(self.commands.payload.word_select(unpacked, 32)),
            self.inline.payload.eq(self.commands.payload),
            self.start.p.count.eq(learn.count),
            self.start.p.offset.eq(
                Mux((flags & int(CommandFlag.MEMORY)) != 0, learn.address, 0)),
            self.descriptor.p.address.eq(learn.address),
            self.descriptor.p.length.eq(length),
        ]
        job = self.job.p
        m.d.comb += [job.slot.eq(access.slot), job.class_counts.eq(row.class_counts)]

        def next_bin(state):
            m.d.sync += bin_.eq(bin_ + 1)
            with m.If(bin_ == g.bins - 1):
                m.next = state

        def fetch():
            m.next = "FETCH"
            m.d.comb += self.commands.ready.eq(1)
            m.d.sync += [
                pass_.eq(0), zoom_pass.eq(0), bin_.eq(0), column.eq(0), unpacked.eq(0),
                failing.eq(0), self.discard.eq(self.halted), self.memory.eq(0),
            ]
            with m.If(self.commands.valid):
                if size >= COMMAND_BYTES:
                    m.d.sync += head.eq(self.commands.payload)
                    m.next = "DECODE"
                else:
                    m.d.sync += head.eq(Cat(head, self.commands.payload)[g.bus_width:])
                    m.d.sync += part.eq(part + 1)
                    with m.If(part == COMMAND_BYTES // size - 1):
                        m.d.sync += part.eq(0)
                        m.next = "DECODE"

        with m.FSM(name="state") as fsm:
            m.d.comb += [
                self.waiting.eq(fsm.ongoing("FETCH") & (part == 0)),
                self.learning.eq(fsm.ongoing("LEARN") | fsm.ongoing("DISPENSE")
                                 | fsm.ongoing("MULTIPLY") | fsm.ongoing("DESCRIBE")),
            ]
            with m.State("FETCH"):
                fetch()

            with m.State("DECODE"):
                memory = (flags & int(CommandFlag.MEMORY)) != 0
                m.d.sync += [
                    self.memory.eq(memory),
                    payload.eq(Mux(entry_access, 4 + g.classes, g.bins * g.classes)),
                    lane.eq(access.cell),
                    length.eq(0),
                    summand.eq(learn.count),
                    factor.eq(self.cells + RECORD_HEADER.size),
                ]
                with m.If(opcode == Opcode.PLACE):
                    m.d.sync += lane.eq(place.cell)
                m.d.sync += fine.eq(self._in_range(as_command))
                m.next = "CHECK"
                with m.If(opcode == Opcode.LEARN):
                    m.next = "FETCH"
                    with m.If((learn.count != 0) & ~(self.halted & memory)):
                        m.d.comb += self.start.valid.eq(~self.dispensing & ~memory)
                        m.next = "LEARN"
                        with m.If(self.start.valid & self.start.ready):
                            m.next = "DISPENSE"

            with m.State("CHECK"):
                m.next = "FETCH"
                with m.If(self.halted):
                    with m.If(opcode == Opcode.RESET):
                        m.d.sync += self.halted.eq(0)
                    with m.If(opcode == Opcode.WRITE):
                        m.next = "UNPACK"
                with m.Elif(~fine):
                    m.next = "ERROR"
                with m.Elif(opcode != Opcode.RESET):
                    m.next = "SETTLE"

            with m.State("LEARN"):
                m.d.comb += self.start.valid.eq(~self.dispensing)
                with m.If(self.start.valid & self.start.ready):
                    m.next = "DISPENSE"
                    with m.If(self.memory):
                        m.next = "MULTIPLY"

            with m.State("MULTIPLY"):
                m.d.sync += [
                    length.eq(length + Mux(factor[0], summand, 0)),
                    summand.eq(summand << 1),
                    factor.eq(factor >> 1),
                ]
                with m.If(factor == 0):
                    m.next = "DESCRIBE"

            with m.State("DESCRIBE"):
                m.d.comb += self.descriptor.valid.eq(1)
                with m.If(self.descriptor.ready):
                    m.next = "DISPENSE"

            with m.State("DISPENSE"):
                m.d.comb += [
                    self.inline.valid.eq(self.commands.valid & ~self.memory),
                    self.commands.ready.eq(self.inline.ready & ~self.memory),
                ]
                with m.If(~self.dispensing):
                    with m.If(self.failed):
                        m.d.sync += failing.eq(1)
                        m.next = "ERROR"
                    with m.Else():
                        fetch()

            with m.State("SETTLE"):
                quiet = (opcode != Opcode.READ) & (opcode != Opcode.FENCE) | self.quiet
                with m.If(self.idle & quiet & ~self.locked):
                    m.d.comb += self.table.r_en.eq(1)
                    with m.Switch(opcode):
                        with m.Case(Opcode.FENCE):
                            m.next = "FENCE"
                        with m.Case(Opcode.WRITE):
                            m.next = "UNPACK"
                            with m.If(~entry_access):
                                m.next = "DIVIDE"
                        with m.Case(Opcode.READ):
                            m.next = "ROW"
                            with m.If(~entry_access):
                                m.next = "DIVIDE"
                        with m.Case(Opcode.PLACE):
                            m.next = "DIVIDE"
                            with m.If((flags & int(CommandFlag.KEEP)) != 0):
                                m.next = "ROW"
                            with m.Elif(place.cell == NONE):
                                m.next = "ZOOM"
                        with m.Case(Opcode.CLEAR):
                            m.next = "ZOOM"
                        with m.Default():
                            m.next = "ROW"

            # The slot may be a FENCE's reserved bytes: no slot is locked then.
            with m.State("FENCE"):
                m.d.comb += [
                    self.job.valid.eq(1), job.kind.eq(Kind.FENCE), job.slot.eq(0),
                    job.count.eq(1), job.words[0].eq(fence.token),
                ]
                with m.If(self.job.ready):
                    m.next = "FETCH"

            with m.State("ROW"):
                m.d.sync += row.eq(self.table.r_entry)
                with m.Switch(opcode):
                    with m.Case(Opcode.TRIAL):
                        m.next = "TRIAL"
                    with m.Case(Opcode.READ):
                        m.next = "ENTRY"
                    with m.Default():
                        m.next = "ROLE"

            with m.State("TRIAL"):
                m.d.comb += self.trial.valid.eq(1)
                with m.If(self.trial.ready):
                    m.d.sync += [row.since.eq(0), row.halved.eq(0), row.underflow.eq(0)]
                    m.next = "STORE"

            with m.State("ENTRY"):
                m.d.comb += [
                    self.job.valid.eq(1), job.kind.eq(Kind.ENTRY), job.count.eq(4),
                    job.words[0].eq(row.n),
                    job.words[1].eq(row.since),
                    job.words[2].eq(Cat(row.link, row.current)),
                    job.words[3].eq(Mux(row.halved, EntryFlag.HALVED, 0)
                                    | Mux(row.underflow, EntryFlag.UNDERFLOW, 0)
                                    | Mux(row.inner, EntryFlag.INNER, 0)
                                    | (Mux(row.timed, row.limit + 1, 0) << 16)),
                ]
                with m.If(self.job.ready):
                    m.next = "FETCH"

            # cell = pass * P + lane, by repeated subtraction: P need not be a power of two.
            with m.State("DIVIDE"):
                with m.If(lane >= g.lanes):
                    m.d.sync += [lane.eq(lane - g.lanes), pass_.eq(pass_ + 1)]
                with m.Else():
                    with m.Switch(opcode):
                        with m.Case(Opcode.READ):
                            m.next = "STATISTICS"
                        with m.Case(Opcode.WRITE):
                            m.next = "UNPACK"
                        with m.Default():
                            m.next = "ZOOM"

            with m.State("STATISTICS"):
                m.d.comb += [
                    self.job.valid.eq(1), job.kind.eq(Kind.STATISTICS), job.count.eq(1),
                    job.words[0].eq(access.cell),
                ]
                with m.If(self.job.ready):
                    m.next = "READ"

            with m.State("READ"):
                m.d.comb += [
                    self.valid.eq(self.want_word),
                    code.eq(Op.READ),
                    op_pass.eq(pass_),
                ]
                with m.If(self.valid & self.grant):
                    m.next = "ANSWER"

            with m.State("ANSWER"):
                with m.If(self.word_valid):
                    m.next = "READ"
                    next_bin("FETCH")

            # PLACE and CLEAR: pass by pass, the zoom and then every bin.
            with m.State("ZOOM"):
                m.d.sync += clear_row
                m.d.comb += [
                    self.valid.eq(1),
                    code.eq(Op.PLACE),
                    op_pass.eq(zoom_pass),
                    override.eq((opcode == Opcode.PLACE) & (place.cell != NONE)
                                        & (pass_ == zoom_pass)),
                ]
                with m.If(self.grant):
                    m.next = "BINS"

            with m.State("BINS"):
                m.d.comb += [
                    self.valid.eq(1),
                    code.eq(Op.CLEAR),
                    op_pass.eq(zoom_pass),
                ]
                with m.If(self.grant):
                    next_bin("ZOOM")
                    with m.If(bin_ == g.bins - 1):
                        m.d.sync += zoom_pass.eq(zoom_pass + 1)
                        with m.If(zoom_pass == g.passes - 1):
                            m.next = "STORE"
                            with m.If(opcode == Opcode.PLACE):
                                m.next = "ROLE"

            with m.State("ROLE"):
                m.d.sync += [
                    row.since.eq(0),
                    row.link.eq(place.link),
                    row.current.eq(place.current),
                    row.timed.eq(place.period != 0),
                    row.limit.eq(place.period - 1),
                    row.inner.eq((flags & int(CommandFlag.INNER)) != 0),
                ]
                m.next = "STORE"

            with m.State("STORE"):
                m.d.comb += [self.table.w_en.eq(1), self.table.w_link.eq(1)]
                m.next = "FETCH"

            # Payload of WRITE, one 32-bit word per clock; the last takes the padding with it.
            with m.State("UNPACK"):
                last = payload == 1
                m.d.comb += self.commands.ready.eq((unpacked == bus_parts - 1) | last)
                with m.If(self.commands.valid):
                    m.d.sync += [
                        unpacked.eq(unpacked + 1),
                        payload.eq(payload - 1),
                        column.eq(column + 1),
                    ]
                    with m.If(entry_access & (column < 4)):
                        with m.Switch(column):
                            with m.Case(0):
                                m.d.sync += row.n.eq(incoming)
                            with m.Case(1):
                                m.d.sync += row.since.eq(incoming[:SINCE_WIDTH])
                            with m.Case(2):
                                link, current = incoming[:16], incoming[16:]
                                m.d.sync += [
                                    row.link.eq(Mux(link < g.slots, link, NONE)),
                                    row.current.eq(Mux(current < g.max_cells, current, NONE)),
                                ]
                            with m.Default():
                                m.d.sync += [
                                    row.inner.eq((incoming & EntryFlag.INNER) != 0),
                                    row.halved.eq((incoming & EntryFlag.HALVED) != 0),
                                    row.underflow.eq((incoming & EntryFlag.UNDERFLOW) != 0),
                                    row.timed.eq(incoming[16:] != 0),
                                    row.limit.eq(incoming[16:] - 1),
                                ]
                    with m.Else():
                        m.d.sync += row.class_counts.eq(
                            Cat(row.class_counts.as_value(),
                                incoming[:g.count_width])[g.count_width:])
                    with m.If(~self.discard & ~entry_access & (column == g.classes - 1)):
                        m.d.sync += column.eq(0)
                        m.next = "WRITE"
                    with m.Elif(last):
                        m.next = "FETCH"
                        with m.If(~self.discard):
                            m.next = "STORE"

            with m.State("WRITE"):
                m.d.comb += [
                    self.valid.eq(1), code.eq(Op.WRITE), op_pass.eq(pass_),
                ]
                with m.If(self.grant):
                    m.d.sync += bin_.eq(bin_ + 1)
                    m.next = "HOLD"

            with m.State("HOLD"):
                m.next = "UNPACK"
                with m.If(payload == 0):
                    m.next = "FETCH"

            with m.State("ERROR"):
                m.d.comb += [
                    self.job.valid.eq(self.idle & self.quiet),
                    job.kind.eq(Kind.ERROR), job.slot.eq(0), job.count.eq(3),
                    job.flags.eq(Mux(failing, self.error, ErrorCode.COMMAND)),
                    job.words[0].eq(Mux(failing, self.address[:32], head[:32])),
                    job.words[1].eq(Mux(failing, self.address[32:], head[32:64])),
                    job.words[2].eq(Mux(failing, self.counted, 0)),
                ]
                with m.If(self.job.valid & self.job.ready):
                    m.d.sync += [self.halted.eq(1), self.discard.eq(1)]
                    m.next = "FETCH"
                    with m.If(~failing & (opcode == Opcode.WRITE)):
                        m.next = "UNPACK"
        return m


def _bits(layout, values):
    """The integer that a row with the given fields is."""
    return sum(value << layout[name].offset for name, value in values.items())
