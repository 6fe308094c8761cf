"""A checkpoint: what READ answers, as the commands that write it again."""

from amaranth import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from bregalad.geometry import NONE
from bregalad.protocol.commands import COMMAND_BYTES, Opcode
from bregalad.protocol.reports import Kind

from ..mcmu.report import word_layout

__all__ = ["SaveFilter"]

_COMMAND = COMMAND_BYTES // 4  # words


class SaveFilter(wiring.Component):
    """Take STATISTICS and ENTRY from the reports, and make of each a WRITE of the same.

    What follows a command begins at a bus word and is padded to the next one, so a row of them is a stream of commands.

    Parameters
    ----------
    data_width : int
        Bits of a bus word, a power of two, 32 to 512.

    Members
    -------
    i : In(stream of {data: 32, last})
        Reports.
    on : In(1)
        0: all reports go to ``o``. It matters at a report's first word.
    o : Out(stream of {data: 32, last})
        The other reports.
    saved : Out(stream of {data: 32, last})
        ``last`` with the last word of each command.

    Latency: 0 to ``o``; 1 from a report's header to its command. Throughput: a word per clock.
    """

    def __init__(self, data_width):
        self.lanes = data_width // 32
        super().__init__(
            {
                "i": In(stream.Signature(word_layout())),
                "on": In(1),
                "o": Out(stream.Signature(word_layout())),
                "saved": Out(stream.Signature(word_layout())),
            }
        )

    def elaborate(self, platform):
        m = Module()
        i, o, saved = self.i, self.o, self.saved
        slot, cell = Signal(16), Signal(16)
        words = max(_COMMAND, self.lanes)
        at = Signal(range(words))  # of the command
        lane = Signal(range(max(2, self.lanes)))
        full = lane == self.lanes - 1
        kind = i.p.data[:8]
        m.d.comb += o.payload.eq(i.payload)

        def hand_on():
            m.d.comb += [o.valid.eq(i.valid), i.ready.eq(o.ready)]

        with m.If(saved.valid & saved.ready):
            m.d.sync += lane.eq(Mux(full, 0, lane + 1))
        with m.FSM():
            with m.State("HEAD"):
                m.d.sync += [slot.eq(i.p.data[16:]), cell.eq(NONE), at.eq(0), lane.eq(0)]
                with m.If(self.on & ((kind == Kind.STATISTICS) | (kind == Kind.ENTRY))):
                    m.d.comb += i.ready.eq(1)
                    with m.If(i.valid):
                        m.next = "COMMAND"
                        with m.If(kind == Kind.STATISTICS):
                            m.next = "CELL"
                with m.Else():
                    hand_on()
                    with m.If(i.valid & i.ready & ~i.p.last):
                        m.next = "REST"
            with m.State("REST"):
                hand_on()
                with m.If(i.valid & i.ready & i.p.last):
                    m.next = "HEAD"
            with m.State("CELL"):
                m.d.comb += i.ready.eq(1)
                m.d.sync += cell.eq(i.p.data)
                with m.If(i.valid):
                    m.next = "COMMAND"
            with m.State("COMMAND"):
                m.d.comb += saved.valid.eq(1)
                with m.Switch(at):
                    with m.Case(0):
                        m.d.comb += saved.p.data.eq(Opcode.WRITE | slot << 16)
                    with m.Case(1):
                        m.d.comb += saved.p.data.eq(cell)
                with m.If(saved.ready):
                    m.d.sync += at.eq(at + 1)
                    with m.If(at == words - 1):
                        m.next = "BODY"
            with m.State("BODY"):
                m.d.comb += [
                    saved.valid.eq(i.valid),
                    saved.p.data.eq(i.p.data),
                    saved.p.last.eq(i.p.last & full),
                    i.ready.eq(saved.ready),
                ]
                with m.If(i.valid & i.ready & i.p.last):
                    m.next = "PAD"
                    with m.If(full):
                        m.next = "HEAD"
            with m.State("PAD"):
                m.d.comb += [saved.valid.eq(1), saved.p.last.eq(full)]
                with m.If(saved.ready & full):
                    m.next = "HEAD"
        return m
