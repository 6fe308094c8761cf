"""Frames in, words of those that are taken out."""

from amaranth import Module, ResetInserter
from amaranth.lib import wiring
from amaranth.lib.wiring import connect

from ..members import members_of, pass_on
from .receiver import FrameReceiver
from .ring import Ring

_REPORTED = ("header", "version", "from_peer", "good", "same", "expected", "answer", "nak", "dropped")
_CHECKED = ("i", "peer", "session", "begin", *_REPORTED)  # of the receiver


class Intake(wiring.Component):
    """A receiver and the ring that it fills.

    Parameters
    ----------
    ring_words, frame_bytes, peer_width : int
        As of `Link`; a frame must fit into the ring.

    Members
    -------
    i : In(stream of {data: 32, last, bad}), peer : In(peer_width)
    session : In(32), begin : In(1)
        With ``begin`` the ring is emptied, too.
    header, version, from_peer, good, same, expected, answer, nak, dropped : Out
        As of `FrameReceiver`.
    o : Out(stream of 32)
        The first header word and the payload of each frame that was taken.
    room : Out(range(ring_words + 1))
        Words free after all frames before ``expected``.

    Latency: 10 clocks from a frame's last word to ``o.valid``, 5 of them the receiver's.
    """

    def __init__(self, ring_words, frame_bytes, peer_width=0):
        self.receiver = FrameReceiver(frame_bytes, peer_width)
        self.ring = Ring(ring_words)
        if frame_bytes // 4 >= ring_words:
            raise ValueError(
                f"a ring of {ring_words} words cannot hold a frame of {frame_bytes} "
                "bytes: make frame_bytes smaller or ring_words larger"
            )
        super().__init__({**members_of(self.receiver, *_CHECKED), **members_of(self.ring, "o", "room")})

    def elaborate(self, platform):
        m = Module()
        m.submodules.receiver = self.receiver
        m.submodules.ring = ResetInserter(self.begin)(self.ring)
        connect(m, self.receiver.ring, self.ring.w)
        pass_on(m, self.receiver, self, *_CHECKED)
        pass_on(m, self.ring, self, "o", "room")
        return m
