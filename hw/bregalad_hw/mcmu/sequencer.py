"""Execute commands one after the other, in the order they arrive."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from bregalad.complete import complete
from bregalad.protocol.commands import COMMAND_BYTES, RECORD_HEADER, WITH_PAYLOAD, CommandFlag, Opcode
from bregalad.protocol.reports import ErrorCode, Kind

from ..array.operation import slot_shape
from .command import head_shape, in_range, view
from .dma import descriptor_layout
from .editor import EDITS, edit_signature
from .loader import load_signature
from .report import job_layout, job_words

__all__ = ["Sequencer", "start_layout"]

# Every command is executed here, by the slot editor or by the loader.
complete(Opcode, (Opcode.LEARN, Opcode.FENCE, Opcode.RESET, Opcode.LOAD, *EDITS), __file__)
# What follows a command that is not executed is dropped, by what would have taken it: dispenser, editor or
# loader.
complete(WITH_PAYLOAD, (Opcode.LEARN, Opcode.WRITE, Opcode.LOAD), __file__)


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
    edit : Out(edit_signature)
        To the slot editor, only while the tracker is idle.
    load : Out(load_signature)
        To the loader, as the editor's.
    slot : Out(slot); locked : In(1)
    idle : In(1)
        No record is in buffer or tracker.
    quiet : In(1)
        Every trial and prediction is reported.
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
        super().__init__(
            {
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
                "edit": Out(edit_signature(g)),
                "load": Out(load_signature(g.bus_width)),
                "slot": Out(slot_shape(g)),
                "locked": In(1),
                "idle": In(1),
                "quiet": In(1),
                "job": Out(stream.Signature(job_layout(g))),
                "learning": Out(1),
                "halted": Out(1),
                "waiting": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        g = self.geometry
        size = g.bus_bytes

        head = Signal(head_shape())
        learn, slot_command, fence = (view(head, opcode) for opcode in (Opcode.LEARN, Opcode.TRIAL, Opcode.FENCE))
        opcode, flags = learn.opcode, learn.flags
        load_head = view(head, Opcode.LOAD)
        fine = Signal()
        failing = Signal()  # the error to report is the bus's, not the command's

        m.d.comb += [
            self.slot.eq(slot_command.slot),
            self.edit.head.eq(head),
            self.edit.payload.payload.eq(self.commands.payload),
            self.load.address.eq(load_head.address),
            self.load.count.eq(load_head.count),
            self.load.payload.payload.eq(self.commands.payload),
        ]

        # Bytes of a LEARN's records, one bit of a record's size per clock.
        length = Signal.like(self.descriptor.p.length)
        summand, factor = Signal.like(length), Signal(17)

        part = Signal(range(max(1, COMMAND_BYTES // size)))
        coming = Signal.like(head)
        whole = size >= COMMAND_BYTES  # head, in one word
        if whole:
            m.d.comb += coming.eq(self.commands.payload)
        else:
            m.d.comb += coming.eq(Cat(head, self.commands.payload)[g.bus_width :])
        learns = Signal()  # the head is a LEARN's, with records
        inlined = Signal()  # its records come with the commands: a register, for much waits for it
        m.d.comb += [
            self.inline.valid.eq(self.commands.valid & inlined),
            self.commands.ready.eq(self.inline.ready & inlined),
            self.inline.payload.eq(self.commands.payload),
            self.start.p.count.eq(learn.count),
            self.start.p.offset.eq(Mux((flags & int(CommandFlag.MEMORY)) != 0, learn.address, 0)),
            self.descriptor.p.address.eq(learn.address),
            self.descriptor.p.length.eq(length),
        ]
        job = self.job.p

        def load():
            new = view(coming, Opcode.LEARN)
            m.d.sync += [
                head.eq(coming),
                learns.eq((new.opcode == Opcode.LEARN) & (new.count != 0)),
            ]

        def fetch():
            m.next = "FETCH"
            m.d.comb += self.commands.ready.eq(1)
            m.d.sync += [failing.eq(0), self.discard.eq(self.halted), self.memory.eq(0)]
            with m.If(self.commands.valid):
                if whole:
                    m.next = "DECODE"
                else:
                    load()
                    m.d.sync += part.eq(part + 1)
                    with m.If(part == COMMAND_BYTES // size - 1):
                        m.d.sync += part.eq(0)
                        m.next = "DECODE"

        def edit(drop):
            m.d.comb += [self.edit.start.eq(1), self.edit.drop.eq(drop)]
            m.next = "EDIT"

        def to_memory(drop):
            m.d.comb += [self.load.start.eq(1), self.load.drop.eq(drop)]
            m.next = "LOAD"

        with m.FSM(name="state") as fsm:
            m.d.comb += [
                self.waiting.eq(fsm.ongoing("FETCH") & (part == 0)),
                self.learning.eq(
                    fsm.ongoing("LEARN") | fsm.ongoing("DISPENSE") | fsm.ongoing("MULTIPLY") | fsm.ongoing("DESCRIBE")
                ),
            ]
            with m.State("FETCH"):
                if whole:
                    load()  # what is no command yet does no harm: this need not wait for `valid`
                fetch()

            with m.State("DECODE"):
                memory = (flags & int(CommandFlag.MEMORY)) != 0
                m.d.sync += [
                    self.memory.eq(memory),
                    fine.eq(in_range(head, g)),
                    length.eq(0),
                    summand.eq(learn.count),
                    factor.eq(self.cells + RECORD_HEADER.size),
                ]
                m.next = "CHECK"
                with m.If(opcode == Opcode.LEARN):
                    m.next = "FETCH"
                    with m.If(learns & ~(self.halted & memory)):
                        m.d.comb += self.start.valid.eq(~self.dispensing & ~memory)
                        m.next = "LEARN"
                        with m.If(self.start.valid & self.start.ready):
                            m.d.sync += inlined.eq(1)
                            m.next = "DISPENSE"

            with m.State("CHECK"):
                m.next = "FETCH"
                with m.If(self.halted):
                    with m.If(opcode == Opcode.RESET):
                        m.d.sync += self.halted.eq(0)
                    with m.If(opcode == Opcode.WRITE):
                        edit(drop=1)
                    with m.If(opcode == Opcode.LOAD):
                        to_memory(drop=1)
                with m.Elif(~fine):
                    m.next = "ERROR"
                with m.Elif(opcode != Opcode.RESET):
                    m.next = "SETTLE"

            with m.State("LEARN"):
                m.d.comb += self.start.valid.eq(~self.dispensing)
                with m.If(self.start.valid & self.start.ready):
                    m.d.sync += inlined.eq(~self.memory)
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
                if whole:
                    load()
                with m.If(~self.dispensing):
                    m.d.sync += inlined.eq(0)
                    with m.If(self.failed):
                        m.d.sync += failing.eq(1)
                        m.next = "ERROR"
                    with m.Else():
                        fetch()

            with m.State("SETTLE"):
                quiet = (opcode != Opcode.READ) & (opcode != Opcode.FENCE) | self.quiet
                with m.If(self.idle & quiet & ~self.locked):
                    with m.If(opcode == Opcode.FENCE):
                        m.next = "FENCE"
                    with m.Elif(opcode == Opcode.LOAD):
                        to_memory(drop=0)
                    with m.Else():
                        edit(drop=0)

            with m.State("EDIT"):
                connect(m, flipped(self.edit.job), flipped(self.job))
                m.d.comb += [
                    self.edit.payload.valid.eq(self.commands.valid),
                    self.commands.ready.eq(self.edit.payload.ready),
                ]
                with m.If(self.edit.done):
                    m.next = "FETCH"

            with m.State("LOAD"):
                m.d.comb += [
                    self.load.payload.valid.eq(self.commands.valid),
                    self.commands.ready.eq(self.load.payload.ready),
                ]
                with m.If(self.load.done):
                    m.next = "FETCH"
                    with m.If(self.load.failed):
                        m.next = "ERROR"

            # The slot may be a FENCE's reserved bytes: no slot is locked then.
            with m.State("FENCE"):
                words = job_words(Kind.FENCE, g, token=fence.token)
                m.d.comb += [
                    self.job.valid.eq(1),
                    job.kind.eq(Kind.FENCE),
                    job.slot.eq(0),
                    job.count.eq(len(words)),
                    *(job.words[i].eq(word) for i, word in enumerate(words)),
                ]
                with m.If(self.job.ready):
                    m.next = "FETCH"

            with m.State("ERROR"):
                words = job_words(
                    Kind.ERROR,
                    g,
                    address=Mux(failing, self.address, head[:64]),
                    count=Mux(failing, self.counted, 0),
                )
                m.d.comb += [
                    self.job.valid.eq(self.idle & self.quiet),
                    job.kind.eq(Kind.ERROR),
                    job.slot.eq(0),
                    job.count.eq(len(words)),
                    job.flags.eq(Mux(failing, self.error, ErrorCode.COMMAND)),
                    *(job.words[i].eq(word) for i, word in enumerate(words)),
                ]
                with m.If(self.job.valid & self.job.ready):
                    m.d.sync += [self.halted.eq(1), self.discard.eq(1)]
                    m.next = "FETCH"
                    with m.If(~failing & (opcode == Opcode.WRITE)):
                        edit(drop=1)
        return m
