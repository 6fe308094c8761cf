"""The accelerator at a UDP port: what boards with Ethernet wrap."""

from amaranth import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ..members import members_of, pass_on
from .datagram import PEER, RECEIVED, SENT, DatagramReceiver, DatagramTransmitter
from .framed import FramedAccelerator

# A frame fills a datagram; the ring, and each half of the row memory, hold what is on the way there and back.
_SIZES = {"row_bytes": 32768, "ring_words": 8192, "frame_bytes": 1440, "up_frame_bytes": 1024}


class NetworkedAccelerator(wiring.Component):
    """Accelerator, link and the way to a UDP core's clock domain, ``network``.

    Parameters
    ----------
    geometry, clock_hz, memory, **sizes
        As of `FramedAccelerator`; as large as a Gigabit Ethernet wants them unless given.

    Members
    -------
    i : In(stream of RECEIVED), o : Out(stream of SENT)
        Datagrams, in domain ``network``.
    alive, receiving, dropping : Out(1)
    m_axi : Out(AXI4), reset : Out(1), lost : In(1)
        As of `FramedAccelerator`.

    Latency: that of `DatagramReceiver`, `FramedAccelerator` and `DatagramTransmitter`, one after the other.
    """

    def __init__(self, geometry, *, clock_hz, memory=0, **sizes):
        sizes = _SIZES | sizes
        self.framed = FramedAccelerator(geometry, clock_hz=clock_hz, memory=memory, peer_width=PEER.size, **sizes)
        self.transmitter = DatagramTransmitter(sizes["up_frame_bytes"])
        super().__init__(
            {
                "i": In(stream.Signature(RECEIVED)),
                "o": Out(stream.Signature(SENT)),
                **members_of(self.framed, *self.framed.outside),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.receiver = receiver = DatagramReceiver()
        m.submodules.framed = framed = self.framed
        m.submodules.transmitter = transmitter = self.transmitter
        connect(m, flipped(self.i), receiver.i)
        connect(m, receiver.o, framed.i)
        connect(m, framed.o, transmitter.i)
        connect(m, transmitter.o, flipped(self.o))
        pass_on(m, framed, self, *framed.outside)
        m.d.comb += [framed.peer.eq(receiver.peer), transmitter.peer.eq(framed.to_peer)]
        return m
