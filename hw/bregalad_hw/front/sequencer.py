"""Execute the commands of a board that holds trees, some of them while records are being learnt."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from bregalad.complete import complete
from bregalad.protocol.commands import COMMAND_BYTES, WITH_PAYLOAD, CommandFlag, Opcode
from bregalad.protocol.nodes import EDIT
from bregalad.protocol.reports import ErrorCode, Kind
from bregalad.protocol.rows import KEY_BYTES, ROW_COMMAND, STEP, RowOpcode
from bregalad.protocol.tree import TREE_REPORTS, TreeKind, TreeOpcode

from ..array.operation import slot_shape
from ..layout import struct, words_of
from ..mcmu.command import HEAD_BITS, in_range, view
from ..mcmu.dma import DESCRIPTOR
from ..mcmu.editor import EDITS, TREE_EDITS, edit_signature
from ..mcmu.loader import load_signature
from ..mcmu.report import job_layout, job_words
from ..members import assign, drive
from .blocks import TURN_LAYOUT
from .front import ACCESS

# Every command is executed here, by the slot editor or by the loader.
complete(Opcode, (Opcode.LEARN, Opcode.FENCE, Opcode.RESET, Opcode.LOAD, *EDITS), __file__)
_OWN = (TreeOpcode.EDIT, TreeOpcode.ROW, TreeOpcode.LAYOUT, TreeOpcode.EDGES, TreeOpcode.GO)
complete(TreeOpcode, (*_OWN, TreeOpcode.TURN, *TREE_EDITS), __file__)
complete(WITH_PAYLOAD, (Opcode.WRITE, Opcode.LOAD), __file__)

# Where commands are executed; RESET, TURN and GO are when they are begun.
_STATES = {
    Opcode.FENCE: "QUIET",
    Opcode.LEARN: "MULTIPLY",
    TreeOpcode.EDIT: "EDIT",
    TreeOpcode.ROW: "ROW",
    TreeOpcode.LAYOUT: "ROWS",
    TreeOpcode.EDGES: "ROWS",
    **dict.fromkeys((*EDITS, *TREE_EDITS), "START"),
}
# What waits until a LEARN has ended.
_LATE = (Opcode.LEARN, Opcode.FENCE, TreeOpcode.LAYOUT, TreeOpcode.EDGES, TreeOpcode.TURN)


class Sequencer(wiring.Component):
    """Decode commands; have them executed in their order; see to the ends of blocks.

    LEARN is begun, and goes on by itself up to a block's end. There the slots that are due are tried, and where
    something is proposed GO is waited for. All commands but LOAD wait until LEARN has ended or waits for GO. Then
    nothing is under way, so what a command finds does not depend on how fast records come; neither does when a LOAD
    that fails is told. What would wait for GO for ever is refused: LEARN, LAYOUT, EDGES, TURN and FENCE.

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
    edit : Out(stream of EDIT), refused : In(1)
        To the walker; beside the transfer, that the edit is refused.
    turns : Out(1), turn : Out(TURN_LAYOUT), first, slots_of : Out(16)
        For a clock, while there is no record: TURN.
    go : Out(1), length : Out(16)
        For a clock: GO.
    next : Out(1)
        For a clock: the next block begins.
    ended : In(1)
        All records of the block are counted.
    since, left : In(16)
        Of `Blocks`.
    candidate_found : In(1)
        For a clock: an attempt is a candidate.
    at_once, waits : In(1)
        Of the register ``block``.
    due : In(stream of slot), due_incoming : In(1), due_done : Out(1)
        Of `DueSlots`.
    row : Out(stream of ACCESS), row_refused : In(1)
        To the leaf rows; beside the transfer, that there is no such row or word.
    slots : Out(edit_signature)
        To the slot editor.
    load : Out(load_signature)
        To the loader.
    flowing : In(1)
        A command of the quantiser, or any record, is anywhere, or was a clock ago.
    idle : In(1)
        No record that was handed over is still to be counted.
    undecided : In(1)
        There are attempts that are not decided or reported.
    quiet : In(1)
        Every attempt is decided and reported, every result given.
    number : In(32)
        Of the last record handed over.
    job : Out(stream of job_layout)
    learning, halted, waiting : Out(1)
        Status; ``waiting``: no command is begun.

    Latency: 4 cycles from a command's last word to its first effect, where it need not wait.

    Source: host/bregalad/protocol/tree.py; docs/hardware.md.
    """

    def __init__(self, geometry):
        self.geometry = g = geometry
        bus = stream.Signature(g.bus_width)
        super().__init__(
            {
                "commands": In(bus),
                "row_command": Out(stream.Signature(struct(ROW_COMMAND))),
                "inline": Out(bus),
                "descriptor": Out(stream.Signature(DESCRIPTOR)),
                "edit": Out(stream.Signature(struct(EDIT))),
                "row": Out(stream.Signature(ACCESS)),
                "slots": Out(edit_signature(g)),
                "load": Out(load_signature(g.bus_width)),
                "job": Out(stream.Signature(job_layout(g))),
                "turn": Out(TURN_LAYOUT),
                **dict.fromkeys(("root", "first", "slots_of", "length"), Out(16)),
                **dict.fromkeys(("memory", "turns", "go", "next", "due_done", "learning", "halted", "waiting"), Out(1)),
                "due": In(stream.Signature(slot_shape(g))),
                "number": In(32),
                **dict.fromkeys(("since", "left"), In(16)),
                "address": In(64),
                "error": In(2),
                **dict.fromkeys(("failed", "refused", "row_refused", "candidate_found", "due_incoming"), In(1)),
                **dict.fromkeys(("at_once", "waits", "flowing", "idle", "ended", "undecided", "quiet"), In(1)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        g = self.geometry
        head = Signal(HEAD_BITS)
        learn, fence, read = (view(head, opcode) for opcode in (Opcode.LEARN, Opcode.FENCE, Opcode.READ))
        row, rows, edit, turn, go = (
            view(head, opcode)
            for opcode in (TreeOpcode.ROW, TreeOpcode.EDGES, TreeOpcode.EDIT, TreeOpcode.TURN, TreeOpcode.GO)
        )
        opcode = learn.opcode

        stride, length = Signal(16), Signal.like(self.descriptor.p.length)
        summand, factor = Signal.like(length), Signal(16)
        ended, broken = Signal(), Signal()
        # At the block's end: all is counted and decided; something is proposed, slots are tried, GO is waited for.
        rest, owed, tried, held = Signal(), Signal(), Signal(), Signal()
        slot = Signal.like(self.due.payload)  # that is tried
        trying = Signal()
        editable = Signal()  # the slot editor has table and array
        # All of them as of one clock, in which nothing is between two blocks.
        over, begins = Signal(), Signal()
        # What goes to many goes by a register. That the next block has begun is told to this one three clocks later.
        nexts, recent = Signal(), Signal(2)
        goes, turned, done = Signal(), Signal(), Signal()
        m.d.comb += begins.eq(self.row_command.valid)
        m.d.sync += [
            self.next.eq(nexts),
            recent.eq(Cat(nexts, recent)),
            self.go.eq(goes),
            self.turns.eq(turned),
            self.due_done.eq(done),
            over.eq(self.idle & self.quiet),
            ended.eq(self.learning & ~self.flowing & ~begins & self.idle & self.quiet & ~self.ended),
            rest.eq(self.learning & self.ended & self.idle & ~self.undecided & ~held & ~nexts & ~recent.any()),
            owed.eq(owed | self.candidate_found),
            editable.eq(self.idle),
        ]

        self._outputs(m, head, learn, row, rows, edit, length)
        tries = view(attempt_head := Signal(HEAD_BITS), Opcode.ATTEMPT)
        m.d.comb += [
            *assign(self.turn, turn, "number", "since", "left", "length"),
            self.first.eq(turn.first),
            self.slots_of.eq(turn.slots),
            self.length.eq(Mux(self.turns, turn.length, go.length)),
            *drive(tries, opcode=Opcode.ATTEMPT, slot=slot),
            self.slots.head.eq(Mux(trying, attempt_head, head)),
        ]
        part = Signal(range(max(1, COMMAND_BYTES // g.bus_bytes)))
        # What the command is, from CHECK on.
        fine, late = Signal(), Signal()
        is_ = {each: Signal(name=f"is_{each.name.lower()}") for each in (*Opcode, *TreeOpcode)}
        m.d.sync += [
            late.eq(Cat(opcode == each for each in _LATE).any()),
            *(known.eq(opcode == each) for each, known in is_.items()),
        ]
        waits = Signal()  # a command does, for a LEARN's end, or for its turn to be executed until GO
        loads, loading, unloaded = Signal(), Signal(), Signal()  # a LOAD is executed; is not done; has failed
        with m.If(self.load.start):
            m.d.sync += loading.eq(1)
        with m.Elif(self.load.done):
            m.d.sync += [loading.eq(0), unloaded.eq(self.load.failed)]

        def back():
            """What waits or loads is looked at again, or else the next command."""
            m.next = "FETCH"
            with m.If(waits):
                m.next = "WAIT"
            with m.If(loads):
                m.next = "LOAD"

        left = Signal(32 + (STEP.size - 1).bit_length())  # bytes that follow a command
        job = self.job.p

        def report(kind, layout_words, flags=0):
            m.d.comb += [
                self.job.valid.eq(1),
                *drive(job, kind=kind, flags=flags, count=len(layout_words)),
                *(job.words[i].eq(word) for i, word in enumerate(layout_words)),
            ]

        with m.FSM(name="state") as fsm:
            m.d.comb += self.waiting.eq(fsm.ongoing("FETCH") & (part == 0) & ~self.learning)
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
                with m.Elif((part == 0) & rest & ~held):
                    m.next = "REST"
                with m.Elif((part == 0) & ended):
                    m.next = "ENDED"

            with m.State("DECODE"):
                m.d.sync += [
                    fine.eq(self._in_range(head, learn)),
                    length.eq(0),
                    summand.eq(learn.count),
                    factor.eq(stride),
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
                        m.d.sync += loads.eq(1)
                        m.next = "LOAD"
                with m.Else():
                    m.next = "WAIT"

            with m.State("WAIT"):
                m.d.sync += waits.eq(1)
                with m.If(rest & ~held):
                    m.next = "REST"
                with m.Elif(ended):
                    m.next = "ENDED"
                with m.Elif(is_[Opcode.LOAD]):
                    m.d.comb += self.load.start.eq(1)
                    m.d.sync += [waits.eq(0), loads.eq(1)]
                    m.next = "LOAD"
                with m.Elif((held | ~self.learning) & (~fine | Mux(is_[TreeOpcode.GO], ~held, held & late))):
                    m.next = "ERROR"
                with m.Elif(held | ~self.learning):
                    m.d.sync += waits.eq(0)
                    m.next = "FETCH"
                    m.d.comb += [turned.eq(is_[TreeOpcode.TURN]), goes.eq(is_[TreeOpcode.GO])]
                    with m.If(is_[TreeOpcode.TURN]):
                        m.d.sync += owed.eq(turn.flags[0])
                    with m.If(is_[TreeOpcode.GO]):
                        m.d.sync += [owed.eq(0), held.eq(0)]
                    with m.If(is_[TreeOpcode.LAYOUT]):
                        m.d.sync += stride.eq(rows.stride)
                    for known, state in _STATES.items():
                        with m.If(is_[known]):
                            m.next = state

            # The end of a block.
            with m.State("REST"):
                with m.If(owed):
                    m.next = "REPORTED"
                with m.Elif(tried):
                    m.d.comb += nexts.eq(1)
                    m.d.sync += tried.eq(0)
                    back()
                with m.Else():
                    m.next = "TRY"

            # The host hears of a block's end after what its records have told.
            with m.State("REPORTED"):
                with m.If(over):
                    m.next = "BLOCK"

            with m.State("BLOCK"):
                report(TreeKind.BLOCK, _number_words(TreeKind.BLOCK, number=self.number))
                with m.If(self.job.ready):
                    m.d.sync += held.eq(1)
                    back()

            with m.State("TRY"):
                m.d.comb += self.due.ready.eq(1)
                m.d.sync += slot.eq(self.due.payload)
                with m.If(self.due.valid):
                    m.d.sync += trying.eq(1)
                    m.next = "START"
                with m.Elif(~self.due_incoming):
                    m.d.comb += [done.eq(1), nexts.eq(~self.at_once)]  # where it is, all is decided first
                    m.d.sync += [tried.eq(self.at_once), trying.eq(0)]
                    with m.If(self.waits):
                        m.d.sync += owed.eq(1)
                    back()

            with m.State("START"):
                with m.If(editable):
                    m.d.comb += self.slots.start.eq(1)
                    m.next = "SLOTS"

            with m.State("QUIET"):
                with m.If(over):
                    m.next = "FENCE"

            with m.State("MULTIPLY"):
                m.d.sync += [
                    length.eq(length + Mux(factor[0], summand, 0)),
                    summand.eq(summand << 1),
                    factor.eq(factor >> 1),
                    self.root.eq(learn.root),
                ]
                with m.If(factor == 0):
                    m.d.sync += [self.learning.eq(1), self.memory.eq(1)]
                    m.next = "DESCRIBE"
                    with m.If(length == 0):
                        m.next = "FETCH"

            with m.State("DESCRIBE"):
                m.d.comb += self.descriptor.valid.eq(1)
                with m.If(self.descriptor.ready):
                    m.next = "ROWS"

            with m.State("ROWS"):
                m.d.comb += self.row_command.valid.eq(1)
                with m.If(self.row_command.ready):
                    m.next = "FETCH"
                    with m.If(opcode != Opcode.LEARN):
                        m.d.sync += self.memory.eq(0)
                        m.next = "BEGUN"

            # The quantiser takes the words that follow as it needs them.
            with m.State("BEGUN"):
                with m.If(~self.flowing):
                    m.next = "FETCH"

            with m.State("DROP"):
                m.d.comb += self.commands.ready.eq(1)
                with m.If(self.commands.valid):
                    m.d.sync += left.eq(left - g.bus_bytes)
                    with m.If(left <= g.bus_bytes):
                        m.next = "FETCH"

            for state, to, refused in (("ROW", self.row, self.row_refused), ("EDIT", self.edit, self.refused)):
                with m.State(state):
                    m.d.comb += to.valid.eq(1)
                    with m.If(to.ready):
                        m.next = "FETCH"
                        with m.If(refused):
                            m.next = "ERROR"

            with m.State("SLOTS"):
                connect(m, flipped(self.slots.job), flipped(self.job))
                with m.If(self.slots.done):
                    m.next = "FETCH"
                    with m.If(trying):
                        m.next = "TRY"

            with m.State("LOAD"):
                with m.If(rest & ~held):
                    m.next = "REST"
                with m.Elif(ended):
                    m.next = "ENDED"
                with m.Elif(~loading & (~unloaded | held | ~self.learning)):
                    m.d.sync += loads.eq(0)
                    m.next = "FETCH"
                    with m.If(unloaded & ~self.halted):
                        m.next = "ERROR"

            with m.State("FENCE"):
                report(Kind.FENCE, job_words(Kind.FENCE, g, token=fence.token))
                with m.If(self.job.ready):
                    m.next = "FETCH"

            with m.State("ENDED"):
                report(TreeKind.LEARNT, _number_words(TreeKind.LEARNT, number=self.number, left=self.left))
                m.d.comb += job.slot.eq(self.since)
                with m.If(self.failed):
                    m.d.comb += self.job.valid.eq(0)
                    m.d.sync += broken.eq(1)
                    m.next = "ERROR"
                with m.Elif(self.job.ready):
                    m.d.sync += [self.learning.eq(0), ended.eq(0)]
                    back()

            with m.State("ERROR"):
                where = {"address": Mux(broken, self.address, head[:64]), "count": Mux(broken, self.number, 0)}
                report(Kind.ERROR, job_words(Kind.ERROR, g, **where), flags=Mux(broken, self.error, ErrorCode.COMMAND))
                with m.If(self.job.ready):
                    m.d.sync += self.halted.eq(1)
                    m.next = "FETCH"
                    with m.If(waits):  # what has waited is dropped, and what follows it
                        m.d.sync += waits.eq(0)
                        m.next = "CHECK"
                    with m.If(loads):
                        m.next = "LOAD"
                    with m.If(broken):
                        m.d.sync += [broken.eq(0), self.learning.eq(0), ended.eq(0)]
        # A clock late: who takes the words that follow a command takes none before it begins, nor when it is done.
        for name, payload in (("SLOTS", self.slots.payload), ("LOAD", self.load.payload), ("BEGUN", self.inline)):
            takes = Signal(name=f"takes_{name.lower()}")
            m.d.sync += takes.eq(fsm.ongoing(name))
            m.d.comb += payload.valid.eq(self.commands.valid & takes)
            with m.If(takes & payload.ready):
                m.d.comb += self.commands.ready.eq(1)
        return m

    def _outputs(self, m, head, learn, row, rows, edit, length):
        """What commands say, to whom it concerns."""
        place = (self.geometry.bus_bytes - 1).bit_length()
        m.d.comb += [
            self.slots.payload.payload.eq(self.commands.payload),
            self.inline.payload.eq(self.commands.payload),
            *drive(self.load, address=view(head, Opcode.LOAD).address, count=view(head, Opcode.LOAD).count),
            self.load.payload.payload.eq(self.commands.payload),
            *drive(self.descriptor.p, address=learn.address, length=length),
            self.edit.payload.eq(edit),
            self.row.p.op.eq(row.flags),
            *assign(self.row.p, row, "node", "word", "value"),
            self.row_command.payload.eq(rows),
        ]
        with m.Switch(learn.opcode):
            with m.Case(TreeOpcode.LAYOUT):
                m.d.comb += self.row_command.p.opcode.eq(RowOpcode.LAYOUT)
            with m.Case(TreeOpcode.EDGES):
                m.d.comb += self.row_command.p.opcode.eq(RowOpcode.EDGES)
            with m.Default():
                m.d.comb += [
                    *drive(self.row_command.p, opcode=RowOpcode.RECORDS, flags=0, offset=learn.address[:place]),
                    self.row_command.p.count.eq(learn.count),
                ]

    def _in_range(self, head, learn):
        """Whether there is such a command, and all that it names."""
        g = self.geometry
        known = in_range(head, g) & (
            (learn.opcode != Opcode.LEARN) | (((learn.flags & int(CommandFlag.MEMORY)) != 0) & (learn.root < g.nodes))
        )
        known &= learn.opcode != Opcode.ATTEMPT
        for opcode in _OWN:
            known |= learn.opcode == opcode
        turn = view(head, TreeOpcode.TURN)
        known |= (learn.opcode == TreeOpcode.TURN) & (turn.first + turn.slots <= g.slots)
        for opcode in TREE_EDITS:
            there = view(head, Opcode.ATTEMPT).slot < g.slots
            if opcode == TreeOpcode.NODE:
                there &= view(head, opcode).node < g.nodes
            known |= (learn.opcode == opcode) & there
        return known


def _number_words(kind, **values):
    """The words of a report that tells a number, after its head."""
    return words_of(TREE_REPORTS[kind], **values)[1:]
