"""The accelerator behind frames: what every board wraps, whatever carries them."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect

from ..accelerator import RESET_CLOCKS, Accelerator
from ..duplicate import add_with_reset
from ..mcmu.axi import axi_signature
from ..mcmu.row_memory import RowMemory
from ..members import members_of, pass_on
from .link import Link

_FRAMES = ("i", "peer", "o", "to_peer")
_SHOWN = 50  # milliseconds that an event lights its output


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
        Of `Link`: ``ring_words``, ``frame_bytes``, ``up_frames``, ``up_frame_bytes``, ``timeout``, ``peer_width``.

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

    Attributes
    ----------
    outside : list of str
        Members that have nothing to do with frames: what wraps this has them, too.

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
                **members_of(self.link, *_FRAMES, "alive"),
                "receiving": Out(1),
                "dropping": Out(1),
                **({"m_axi": Out(axi_signature(geometry.bus_width)), "reset": Out(1), "lost": In(1)} if memory else {}),
            }
        )
        self.outside = [name for name in self.signature.members if name not in _FRAMES]

    def elaborate(self, platform):
        m = Module()
        m.submodules.link = link = self.link
        m.submodules.accelerator = accelerator = Accelerator(self.geometry, walkers=self.walkers)

        pass_on(m, link, self, *_FRAMES, "alive")
        connect(m, link.commands, accelerator.commands)
        connect(m, accelerator.reports, link.reports)
        connect(m, link.csr, accelerator.csr)
        if self.memory:
            pass_on(m, accelerator, self, "m_axi")
            m.d.comb += [accelerator.memory_size.eq(Mux(self.lost, 0, self.memory)), self.reset.eq(link.reset)]
        else:
            rows = RowMemory(self.geometry.bus_width, self.row_bytes)
            add_with_reset(m, "rows", rows, link.reset)
            connect(m, accelerator.m_axi, rows.i)
            m.d.comb += accelerator.memory_size.eq(self.row_bytes)
        m.d.comb += accelerator.reset.eq(link.reset)
        for event, shown in ((link.taken, self.receiving), (link.dropped, self.dropping)):
            left = Signal(range(_SHOWN + 1), name=f"{shown.name}_left")
            m.d.sync += shown.eq(left != 0)
            with m.If(event):
                m.d.sync += left.eq(_SHOWN)
            with m.Elif(link.tick & (left != 0)):
                m.d.sync += left.eq(left - 1)
        return m
