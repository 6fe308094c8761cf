"""The accelerator behind frames: what every board wraps, whatever carries them."""

from amaranth import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ..accelerator import RESET_CLOCKS, Accelerator
from ..mcmu.axi import axi_signature
from ..mcmu.report import word_layout
from ..mcmu.row_memory import RowMemory
from ..replica import add_with_reset
from .link import Link
from .words import frame_layout

__all__ = ["FramedAccelerator", "memory_members", "pass_memory"]

_SHOWN = 50  # milliseconds that an event lights its output


def memory_members(geometry, memory):
    """The members of what wraps an accelerator with so many bytes of memory."""
    return {"m_axi": Out(axi_signature(geometry.bus_width)), "reset": Out(1), "lost": In(1)} if memory else {}


def pass_memory(m, inner, outer):
    """Connect these members of an accelerator to those of what wraps it."""
    connect(m, inner.m_axi, flipped(outer.m_axi))
    m.d.comb += [outer.reset.eq(inner.reset), inner.lost.eq(outer.lost)]


class FramedAccelerator(wiring.Component):
    """Accelerator and link.

    Parameters
    ----------
    geometry : Geometry
    clock_hz : int
        Frequency of the clock domain.
    memory : int
        Bytes of the memory behind ``m_axi``; 0: there is none, and rows are in a `RowMemory` here.
    row_bytes : int
        Of that, a power of two.
    walkers : int, optional
        Of the `Front`.
    **sizes
        Of `Link`: ``ring_words``, ``frame_bytes``, ``up_frames``, ``up_frame_bytes``, ``timeout``,
        ``peer_width``.

    Members
    -------
    i : In(stream of {data: 32, last, bad}), peer : In(peer_width)
    o : Out(stream of {data: 32, last}), to_peer : Out(peer_width)
        As of `Link`.
    alive : Out(1)
        A session lives.
    receiving, dropping : Out(1)
        A good frame, one that was damaged or a stranger's: for 50 ms, long enough for an LED.
    m_axi : Out(AXI4), reset : Out(1)
        As of `Accelerator` and of `Link`; with ``memory`` only.
    lost : In(1)
        The memory cannot be used: the host is told of 0 bytes; with ``memory`` only.

    Latency: that of `Link`, `Accelerator` and `Link` again, one after the other.
    """

    def __init__(self, geometry, *, clock_hz, memory=0, row_bytes=4096, walkers=None, **sizes):
        self.geometry = geometry
        self.memory = memory
        self.row_bytes = row_bytes
        self.walkers = walkers
        self.link = Link(geometry, clock_hz=clock_hz, reset_clocks=RESET_CLOCKS, **sizes)
        super().__init__(
            {
                "i": In(stream.Signature(frame_layout())),
                "peer": In(self.link.peer_width),
                "o": Out(stream.Signature(word_layout())),
                "to_peer": Out(self.link.peer_width),
                "alive": Out(1),
                "receiving": Out(1),
                "dropping": Out(1),
                **memory_members(geometry, memory),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.link = link = self.link
        m.submodules.accelerator = accelerator = Accelerator(self.geometry, walkers=self.walkers)

        connect(m, flipped(self.i), link.i)
        connect(m, link.o, flipped(self.o))
        connect(m, link.commands, accelerator.commands)
        connect(m, accelerator.reports, link.reports)
        connect(m, link.csr, accelerator.csr)
        if self.memory:
            connect(m, accelerator.m_axi, flipped(self.m_axi))
            m.d.comb += [accelerator.memory_size.eq(Mux(self.lost, 0, self.memory)), self.reset.eq(link.reset)]
        else:
            rows = RowMemory(self.geometry.bus_width, self.row_bytes)
            add_with_reset(m, "rows", rows, link.reset)
            connect(m, accelerator.m_axi, rows.i)
            m.d.comb += accelerator.memory_size.eq(self.row_bytes)
        m.d.comb += [
            accelerator.reset.eq(link.reset),
            link.peer.eq(self.peer),
            self.to_peer.eq(link.to_peer),
            self.alive.eq(link.alive),
        ]
        for event, shown in ((link.taken, self.receiving), (link.dropped, self.dropping)):
            left = Signal(range(_SHOWN + 1), name=f"{shown.name}_left")
            m.d.sync += shown.eq(left != 0)
            with m.If(event):
                m.d.sync += left.eq(_SHOWN)
            with m.Elif(link.tick & (left != 0)):
                m.d.sync += left.eq(left - 1)
        return m
