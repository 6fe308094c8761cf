"""The accelerator at the end of a serial line: what boards with a UART wrap."""

from amaranth import Module, ResetInserter, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect

from ..accelerator import Accelerator
from .absent import AbsentMemory
from .cobs import CobsDecoder, CobsEncoder
from .link import Link
from .uart import UartReceiver, UartTransmitter

__all__ = ["LinkedAccelerator"]

_SHOWN = 50  # milliseconds that an event lights its output


class LinkedAccelerator(wiring.Component):
    """Accelerator, link and UART.

    Parameters
    ----------
    geometry : Geometry
    clock_hz : int
        Frequency of the clock domain.
    baud : int
        Bits per second of the line, at most a quarter of ``clock_hz``.
    **sizes
        Of `Link`: ``ring_words``, ``frame_bytes``, ``up_frames``, ``up_frame_bytes``, ``timeout``.

    Members
    -------
    rx : In(1)
        The line from the host, asynchronous, 1 when idle.
    tx : Out(1)
        The line to the host.
    alive : Out(1)
        A session lives.
    receiving, dropping : Out(1)
        A good frame, one that was damaged or a stranger's: for 50 ms, long enough for an LED.

    There is no memory: LEARN with the MEMORY flag ends with a DECODE error.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Source: docs/link.md.
    """

    def __init__(self, geometry, *, clock_hz, baud, **sizes):
        self.geometry = geometry
        self.link = Link(geometry, clock_hz=clock_hz, **sizes)
        self.receiver = UartReceiver(clock_hz, baud)
        self.transmitter = UartTransmitter(clock_hz, baud)
        super().__init__({
            "rx": In(1, init=1), "tx": Out(1, init=1),
            "alive": Out(1), "receiving": Out(1), "dropping": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        m.submodules.receiver = receiver = self.receiver
        m.submodules.decoder = decoder = CobsDecoder()
        m.submodules.link = link = self.link
        m.submodules.encoder = encoder = CobsEncoder()
        m.submodules.transmitter = transmitter = self.transmitter
        accelerator = Accelerator(self.geometry)
        memory = AbsentMemory(self.geometry.bus_width)
        m.submodules.accelerator = ResetInserter(link.reset)(accelerator)
        m.submodules.memory = ResetInserter(link.reset)(memory)

        connect(m, receiver.o, decoder.i)
        connect(m, decoder.o, link.i)
        connect(m, link.o, encoder.i)
        connect(m, encoder.o, transmitter.i)
        connect(m, link.commands, accelerator.commands)
        connect(m, accelerator.reports, link.reports)
        connect(m, link.csr, accelerator.csr)
        connect(m, accelerator.m_axi, memory.axi)
        m.d.comb += [
            receiver.rx.eq(self.rx), self.tx.eq(transmitter.tx), self.alive.eq(link.alive),
        ]
        for event, shown in ((link.taken, self.receiving), (link.dropped, self.dropping)):
            left = Signal(range(_SHOWN + 1), name=f"{shown.name}_left")
            m.d.sync += shown.eq(left != 0)
            with m.If(event):
                m.d.sync += left.eq(_SHOWN)
            with m.Elif(link.tick & (left != 0)):
                m.d.sync += left.eq(left - 1)
        return m
