"""The accelerator at the end of a serial line: what boards with a UART wrap."""

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect

from ..members import members_of, pass_on
from .cobs import CobsDecoder, CobsEncoder
from .framed import FramedAccelerator
from .uart import UartReceiver, UartTransmitter


class LinkedAccelerator(wiring.Component):
    """Accelerator, link and UART.

    Parameters
    ----------
    geometry, clock_hz, memory, walkers, **sizes
        As of `FramedAccelerator`; one walker is faster than a line.
    baud : int
        Bits per second of the line, at most a quarter of ``clock_hz``.

    Members
    -------
    rx : In(1)
        The line from the host, asynchronous, 1 when idle.
    tx : Out(1)
        The line to the host.
    alive, receiving, dropping : Out(1)
    m_axi : Out(AXI4), reset : Out(1), lost : In(1)
        As of `FramedAccelerator`.

    Latency: that of UART, COBS, `FramedAccelerator`, COBS and UART, one after the other; the line's bits take longest.
    """

    def __init__(self, geometry, *, clock_hz, baud, memory=0, walkers=1, **sizes):
        self.framed = FramedAccelerator(geometry, clock_hz=clock_hz, memory=memory, walkers=walkers, **sizes)
        self.receiver = UartReceiver(clock_hz, baud)
        self.transmitter = UartTransmitter(clock_hz, baud)
        super().__init__({"rx": In(1, init=1), "tx": Out(1, init=1), **members_of(self.framed, *self.framed.outside)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.receiver = receiver = self.receiver
        m.submodules.decoder = decoder = CobsDecoder()
        m.submodules.framed = framed = self.framed
        m.submodules.encoder = encoder = CobsEncoder()
        m.submodules.transmitter = transmitter = self.transmitter

        connect(m, receiver.o, decoder.i)
        connect(m, decoder.o, framed.i)
        connect(m, framed.o, encoder.i)
        connect(m, encoder.o, transmitter.i)
        pass_on(m, framed, self, *framed.outside)
        m.d.comb += [receiver.rx.eq(self.rx), self.tx.eq(transmitter.tx)]
        return m
