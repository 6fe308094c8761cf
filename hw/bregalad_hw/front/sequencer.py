"""Execute the commands of a board that holds trees, some of them while records are being learnt."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from bregalad.complete import complete
from bregalad.protocol.commands import COMMAND_BYTES, WITH_PAYLOAD, CommandFlag, Opcode
from bregalad.protocol.nodes import EDIT, EditFlag
from bregalad.protocol.reports import ErrorCode, Kind
from bregalad.protocol.rows import KEY_BYTES, ROW_COMMAND, STEP, RowOpcode
from bregalad.protocol.tree import TREE_COMMANDS, TREE_REPORTS, TreeKind, TreeOpcode

from ..array.operation import slot_shape
from ..layout import struct, words_of
from ..mcmu.command import head_shape, in_range, view
from ..mcmu.dma import descriptor_layout
from ..mcmu.editor import EDITS, TREE_EDITS, edit_signature
from ..mcmu.loader import load_signature
from ..mcmu.report import job_layout, job_words
from .front import access_layout
from .verdicts import cancel_layout

__all__ = ["TreeSequencer"]

# Every command is executed here, by the slot editor or by the loader.
complete(Opcode, (Opcode.LEARN, Opcode.FENCE, Opcode.RESET, Opcode.LOAD, *EDITS), __file__)
complete(
    TreeOpcode,
    (TreeOpcode.EDIT, TreeOpcode.ROW, TreeOpcode.LAYOUT, TreeOpcode.EDGES, TreeOpcode.TURN, *TREE_EDITS),
    __file__,
)
complete(WITH_PAYLOAD, (Opcode.LEARN, Opcode.WRITE, Opcode.LOAD), __file__)

_HOLDS = ("SETTLE", "CANCEL", "EDIT", "CHECKED", "SLOTS")  # states that commands are carried out in between two records
_CALM = 16  # clocks without anything under way, until all that tells of it has come; more than from block to block
_CHECKED = 8  # clocks from an edit to its refusal, and some


class TreeSequencer(wiring.Component):
    """Decode commands; have them executed in their order, between two records.

    LEARN is begun, and goes on by itself. LEARN, LAYOUT, EDGES, TURN, FENCE and LOAD wait until it has ended; where the
    stream stands, or an EDIT is to follow, they are refused instead. All others are executed while records are held
    back and those before are counted, READ and FENCE after all reports. So what a command finds does not depend on how
    fast records come, where the host has reason to send it: at a locked node, or after a LEARN.

    Parameters
    ----------
    geometry : Geometry

    Members
    -------
    commands : In(stream of bus words)
    row_command : Out(stream of ROW_COMMAND), inline : Out(stream of bus words), memory : Out(1)
        To the quantiser; whether its words come from memory.
    descriptor : Out(stream of {address, length})
        To the DMA.
    failed : In(1), error : In(2), address : In(64)
        The memory's next word is an error, and stays until the next descriptor.
    root : Out(16)
        Of the LEARN under way.
    cancel : Out(stream of cancel_layout)
        Before each EDIT: locks of the node that are still to come. In a TURN all.
    edit : Out(stream of EDIT), refused : In(1)
        To the walker; for a clock, `_CHECKED` after the transfer at the latest, that the edit was refused. One of a
        TURN names no node: it comes behind locks whose time has come, and sets modes.
    renumber : Out(1), last_number : Out(32)
        For a clock, while there is no record and no lock: what number the last record has from now on.
    hold : Out(1)
        No record is handed over from the next clock on.
    stands, unfinished : In(1)
        The next record waits at a lock; records wait for another EDIT.
    row : Out(stream of access_layout), row_refused : In(1)
        To the leaf rows; beside the transfer, that there is no such row or word.
    slots : Out(edit_signature)
        To the slot editor.
    load : Out(load_signature)
        To the loader.
    slot : Out(slot), locked : In(1)
    flowing : In(1)
        A command of the quantiser, or any record, is anywhere; two clocks late at most.
    idle : In(1)
        No record that was handed over is still to be counted.
    quiet : In(1)
        Every trial is judged and reported, every result given.
    number : In(32)
        Of the last record handed over.
    job : Out(stream of job_layout)
    learning, halted, waiting : Out(1)
        Status; ``waiting``: no command is begun.

    Latency: 3 cycles from a command's last word to its first effect, and `_CALM` where records are under way.

    Source: host/bregalad/protocol/tree.py; docs/front.md.
    """

    def __init__(self, geometry):
        self.geometry = g = geometry
        bus = stream.Signature(g.bus_width)
        super().__init__(
            {
                "commands": In(bus),
                "row_command": Out(stream.Signature(struct(ROW_COMMAND))),
                "inline": Out(bus),
                "memory": Out(1),
                "descriptor": Out(stream.Signature(descriptor_layout())),
                "failed": In(1),
                "error": In(2),
                "address": In(64),
                "root": Out(16),
                "cancel": Out(stream.Signature(cancel_layout())),
                "edit": Out(stream.Signature(struct(EDIT))),
                "refused": In(1),
                "renumber": Out(1),
                "last_number": Out(32),
                "hold": Out(1),
                "stands": In(1),
                "unfinished": In(1),
                "row": Out(stream.Signature(access_layout())),
                "row_refused": In(1),
                "slots": Out(edit_signature(g)),
                "load": Out(load_signature(g.bus_width)),
                "slot": Out(slot_shape(g)),
                "locked": In(1),
                "flowing": In(1),
                "idle": In(1),
                "quiet": In(1),
                "number": In(32),
                "job": Out(stream.Signature(job_layout(g))),
                "learning": Out(1),
                "halted": Out(1),
                "waiting": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        g = self.geometry
        head = Signal(head_shape())
        learn, fence, read = (view(head, opcode) for opcode in (Opcode.LEARN, Opcode.FENCE, Opcode.READ))
        row, rows, edit, turn = (
            data.View(struct(TREE_COMMANDS[opcode]), head)
            for opcode in (TreeOpcode.ROW, TreeOpcode.EDGES, TreeOpcode.EDIT, TreeOpcode.TURN)
        )
        opcode = learn.opcode
        turns = Signal()
        m.d.comb += turns.eq(opcode == TreeOpcode.TURN)

        # Whether anything goes on, for some clocks: who goes on may tell of it late.
        calm, still, over = Signal(range(_CALM)), Signal(), Signal()
        # A record that was handed over a clock ago is known by `idle` alone, and the clocks are not counted anew yet.
        m.d.comb += over.eq((calm == _CALM - 1) & still & self.idle)
        m.d.sync += still.eq(self.idle & self.quiet)
        with m.If(~still):
            m.d.sync += calm.eq(0)
        with m.Elif(calm != _CALM - 1):
            m.d.sync += calm.eq(calm + 1)

        stride, length = Signal(16), Signal.like(self.descriptor.p.length)
        summand, factor = Signal.like(length), Signal(16)
        told = Signal()  # that the stream stands
        barred = Signal()  # what waits for the end of the LEARN would do so for ever
        edits = Signal(16)
        ended, stuck, broken = Signal(), Signal(), Signal()
        flows = Signal(range(_CALM))  # clocks without records
        with m.If(self.flowing):
            m.d.sync += flows.eq(0)
        with m.Elif(flows != _CALM - 1):
            m.d.sync += flows.eq(flows + 1)
        m.d.sync += [
            ended.eq(self.learning & (flows == _CALM - 1) & over),
            stuck.eq(self.learning & self.stands & ~told & over & ~self.halted),
            barred.eq(self.learning & ((self.stands & told) | self.unfinished) & over),
        ]

        self._outputs(m, head, learn, row, rows, edit, turns, length)
        m.d.comb += self.last_number.eq(turn.number)
        part = Signal(range(max(1, COMMAND_BYTES // g.bus_bytes)))
        fine, checked = Signal(), Signal(range(_CHECKED))
        waits = Signal()  # a command does, for a LEARN's end
        left = Signal(32 + (STEP.size - 1).bit_length())  # bytes that follow a command
        job = self.job.p

        def report(kind, layout_words, flags=0):
            m.d.comb += [
                self.job.valid.eq(1),
                job.kind.eq(kind),
                job.flags.eq(flags),
                job.count.eq(len(layout_words)),
                *(job.words[i].eq(word) for i, word in enumerate(layout_words)),
            ]

        with m.FSM(name="state") as fsm:
            m.d.comb += [
                self.waiting.eq(fsm.ongoing("FETCH") & (part == 0) & ~self.learning),
                self.hold.eq(self.halted | Cat(fsm.ongoing(state) for state in _HOLDS).any()),
            ]
            with m.State("FETCH"):
                m.d.comb += self.commands.ready.eq(1)
                with m.If(self.commands.valid):
                    m.d.sync += head.eq(Cat(head, self.commands.payload)[-len(head) :])
                    if g.bus_bytes >= COMMAND_BYTES:
                        m.d.sync += head.eq(self.commands.payload)
                        m.next = "DECODE"
                    else:
                        m.d.sync += part.eq(part + 1)
                        with m.If(part == COMMAND_BYTES // g.bus_bytes - 1):
                            m.d.sync += part.eq(0)
                            m.next = "DECODE"
                with m.Elif((part == 0) & ended):
                    m.next = "ENDED"
                with m.Elif((part == 0) & stuck):
                    m.next = "STUCK"

            with m.State("DECODE"):
                m.d.sync += [
                    fine.eq(self._in_range(head, learn)),
                    length.eq(0),
                    summand.eq(learn.count),
                    factor.eq(stride),
                    checked.eq(0),
                ]
                m.next = "CHECK"

            with m.State("CHECK"):
                m.next = "FETCH"
                follows = (opcode == TreeOpcode.LAYOUT) | (opcode == TreeOpcode.EDGES)
                m.d.sync += left.eq(Mux(opcode == TreeOpcode.LAYOUT, rows.count * STEP.size, rows.count * KEY_BYTES))
                with m.If(self.halted):
                    with m.If(follows & (rows.count != 0)):
                        m.next = "DROP"
                    with m.If(opcode == Opcode.RESET):
                        m.d.sync += self.halted.eq(0)
                    with m.If(opcode == Opcode.WRITE):
                        m.d.comb += [self.slots.start.eq(1), self.slots.drop.eq(1)]
                        m.next = "SLOTS"
                    with m.If(opcode == Opcode.LOAD):
                        m.d.comb += [self.load.start.eq(1), self.load.drop.eq(1)]
                        m.next = "LOAD"
                with m.Elif(~fine):
                    m.next = "ERROR"
                with m.Elif(
                    (opcode == Opcode.LEARN) | (opcode == Opcode.FENCE) | (opcode == Opcode.LOAD) | follows | turns
                ):
                    m.next = "WAIT"
                with m.Elif(opcode == TreeOpcode.ROW):
                    m.next = "ROW"
                with m.Elif(opcode != Opcode.RESET):
                    m.next = "SETTLE"
                    with m.If(self.learning):  # a record may be handed over in this clock and the next
                        m.d.sync += calm.eq(0)

            # What waits until a LEARN has ended. If the stream stands it never would: what could help it is behind.
            with m.State("WAIT"):
                m.d.sync += waits.eq(1)
                with m.If(ended):
                    m.next = "ENDED"
                with m.Elif(stuck):
                    m.next = "STUCK"
                with m.Elif(barred):
                    m.next = "ERROR"
                with m.Elif(~self.learning & over):
                    m.d.sync += waits.eq(0)
                    with m.Switch(opcode):
                        with m.Case(Opcode.FENCE):
                            m.next = "FENCE"
                        with m.Case(Opcode.LEARN):
                            m.next = "MULTIPLY"
                        with m.Case(Opcode.LOAD):
                            m.d.comb += self.load.start.eq(1)
                            m.next = "LOAD"
                        with m.Case(TreeOpcode.TURN):
                            m.next = "EDIT"
                        with m.Default():
                            with m.If(opcode == TreeOpcode.LAYOUT):
                                m.d.sync += stride.eq(rows.stride)
                            m.next = "ROWS"

            with m.State("MULTIPLY"):
                m.d.sync += [
                    length.eq(length + Mux(factor[0], summand, 0)),
                    summand.eq(summand << 1),
                    factor.eq(factor >> 1),
                    self.root.eq(learn.root),
                    told.eq(0),
                ]
                with m.If(factor == 0):
                    m.d.sync += [self.learning.eq(1), self.memory.eq(1), flows.eq(0)]
                    m.next = "DESCRIBE"
                    with m.If(length == 0):
                        m.next = "FETCH"

            with m.State("DESCRIBE"):
                m.d.comb += self.descriptor.valid.eq(1)
                with m.If(self.descriptor.ready):
                    m.next = "ROWS"

            with m.State("ROWS"):
                m.d.comb += self.row_command.valid.eq(1)
                m.d.sync += flows.eq(0)
                with m.If(self.row_command.ready):
                    m.next = "FETCH"
                    with m.If(opcode != Opcode.LEARN):
                        m.d.sync += self.memory.eq(0)
                        m.next = "BEGUN"

            # The quantiser takes the words that follow as it needs them.
            with m.State("BEGUN"):
                m.d.comb += [
                    self.inline.valid.eq(self.commands.valid),
                    self.commands.ready.eq(self.inline.ready),
                ]
                m.d.sync += checked.eq(checked + ~checked.all())
                with m.If(~self.flowing & checked.all()):
                    m.next = "FETCH"

            with m.State("DROP"):
                m.d.comb += self.commands.ready.eq(1)
                with m.If(self.commands.valid):
                    m.d.sync += left.eq(left - g.bus_bytes)
                    with m.If(left <= g.bus_bytes):
                        m.next = "FETCH"

            with m.State("ROW"):
                m.d.comb += self.row.valid.eq(1)
                with m.If(self.row.ready):
                    m.next = "FETCH"
                    with m.If(self.row_refused):
                        m.next = "ERROR"

            with m.State("SETTLE"):
                with m.If(over & ~self.locked):
                    with m.If(opcode == TreeOpcode.EDIT):
                        m.next = "CANCEL"
                    with m.Else():
                        m.d.comb += self.slots.start.eq(1)
                        m.next = "SLOTS"

            with m.State("CANCEL"):
                m.d.comb += self.cancel.valid.eq(1)
                with m.If(self.cancel.ready):
                    m.next = "EDIT"
                    with m.If(turns):
                        m.next = "RENUMBER"
            # The edit of a TURN comes behind locks whose time has come. The others are dropped while the table is busy
            # with it, before it could take one: where locks stopped records the edit may have ended that.
            with m.State("EDIT"):
                m.d.comb += self.edit.valid.eq(1)
                with m.If(self.edit.ready):
                    m.next = "CHECKED"
                    with m.If(turns):
                        m.next = "CANCEL"
            with m.State("CHECKED"):
                m.d.sync += checked.eq(checked + 1)
                with m.If(self.refused):
                    m.next = "ERROR"
                with m.Elif(checked == _CHECKED - 1):
                    m.d.sync += [edits.eq(edits + 1), told.eq(0)]
                    m.next = "FETCH"

            with m.State("RENUMBER"):
                m.d.comb += self.renumber.eq(1)
                m.next = "FETCH"

            with m.State("SLOTS"):
                connect(m, flipped(self.slots.job), flipped(self.job))
                m.d.comb += [
                    self.slots.payload.valid.eq(self.commands.valid),
                    self.commands.ready.eq(self.slots.payload.ready),
                ]
                with m.If(self.slots.done):
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

            with m.State("FENCE"):
                report(Kind.FENCE, job_words(Kind.FENCE, g, token=fence.token))
                with m.If(self.job.ready):
                    m.next = "FETCH"

            with m.State("ENDED"):
                report(TreeKind.LEARNT, _number_words(number=self.number))
                m.d.comb += job.slot.eq(edits)
                with m.If(self.failed):
                    m.d.comb += self.job.valid.eq(0)
                    m.d.sync += broken.eq(1)
                    m.next = "ERROR"
                with m.Elif(self.job.ready):
                    m.d.sync += [self.learning.eq(0), ended.eq(0), flows.eq(0)]
                    m.next = "FETCH"
                    with m.If(waits):
                        m.next = "WAIT"

            with m.State("STUCK"):
                report(TreeKind.STANDS, _number_words(number=self.number))
                m.d.comb += job.slot.eq(edits)
                with m.If(self.job.ready):
                    m.d.sync += [told.eq(1), stuck.eq(0)]
                    m.next = "FETCH"
                    with m.If(waits):
                        m.next = "WAIT"

            with m.State("ERROR"):
                report(
                    Kind.ERROR,
                    job_words(
                        Kind.ERROR,
                        g,
                        address=Mux(broken, self.address, head[:64]),
                        count=Mux(broken, self.number, 0),
                    ),
                    flags=Mux(broken, self.error, ErrorCode.COMMAND),
                )
                with m.If(self.job.ready):
                    m.d.sync += self.halted.eq(1)
                    m.next = "FETCH"
                    with m.If(waits):  # what has waited is dropped, and what follows it
                        m.d.sync += waits.eq(0)
                        m.next = "CHECK"
                    with m.If(broken):
                        m.d.sync += [broken.eq(0), self.learning.eq(0), ended.eq(0), flows.eq(0)]
                    with m.Elif(opcode == Opcode.WRITE):
                        m.d.comb += [self.slots.start.eq(1), self.slots.drop.eq(1)]
                        m.next = "SLOTS"
        with m.If(self.renumber):
            m.d.sync += edits.eq(0)
        return m

    def _outputs(self, m, head, learn, row, rows, edit, turns, length):
        """What commands say, to whom it concerns."""
        place = (self.geometry.bus_bytes - 1).bit_length()
        m.d.comb += [
            self.slot.eq(view(head, Opcode.TRIAL).slot),
            self.slots.head.eq(head),
            self.slots.payload.payload.eq(self.commands.payload),
            self.inline.payload.eq(self.commands.payload),
            self.load.address.eq(view(head, Opcode.LOAD).address),
            self.load.count.eq(view(head, Opcode.LOAD).count),
            self.load.payload.payload.eq(self.commands.payload),
            self.descriptor.p.address.eq(learn.address),
            self.descriptor.p.length.eq(length),
            self.cancel.p.node.eq(edit.node),
            self.cancel.p.all.eq(turns),
            self.edit.payload.eq(edit),
            self.row.p.op.eq(row.flags),
            *(getattr(self.row.p, name).eq(row[name]) for name in ("node", "word", "value")),
            self.row_command.payload.eq(rows),
            self.row_command.p.flags.eq(0),
        ]
        with m.If(turns):  # the edit of a node that no table has
            m.d.comb += [
                self.edit.p.node.eq(0xFFFF),
                self.edit.p.flags.eq((edit.flags & int(EditFlag.STOP)) | int(EditFlag.KEEP)),
            ]
        with m.Switch(learn.opcode):
            with m.Case(TreeOpcode.LAYOUT):
                m.d.comb += self.row_command.p.opcode.eq(RowOpcode.LAYOUT)
            with m.Case(TreeOpcode.EDGES):
                m.d.comb += self.row_command.p.opcode.eq(RowOpcode.EDGES)
            with m.Default():
                m.d.comb += [
                    self.row_command.p.opcode.eq(RowOpcode.RECORDS),
                    self.row_command.p.offset.eq(learn.address[:place]),
                    self.row_command.p.count.eq(learn.count),
                ]

    def _in_range(self, head, learn):
        """Whether there is such a command, and all that it names."""
        g = self.geometry
        known = in_range(head, g) & (
            (learn.opcode != Opcode.LEARN) | (((learn.flags & int(CommandFlag.MEMORY)) != 0) & (learn.root < g.nodes))
        )
        for opcode in (TreeOpcode.EDIT, TreeOpcode.ROW, TreeOpcode.LAYOUT, TreeOpcode.EDGES, TreeOpcode.TURN):
            known |= learn.opcode == opcode
        for opcode in TREE_EDITS:
            there = view(head, Opcode.TRIAL).slot < g.slots
            if opcode == TreeOpcode.NODE:
                there &= view(head, opcode).node < g.nodes
            known |= (learn.opcode == opcode) & there
        return known


def _number_words(**values):
    """The words of a report that tells a number, after its head."""
    return words_of(TREE_REPORTS[TreeKind.LEARNT], **values)[1:]
