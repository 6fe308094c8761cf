"""A model of the board's end of the link, rule by rule as docs/link.md has them.

No input or output and no clock, as the driver's end; behind it is any `Board`.
"""

from collections import deque, namedtuple

from bregalad.protocol import link
from bregalad.protocol.link import (
    LAPSE_SECONDS,
    LINK_VERSION,
    SEQUENCES,
    AckFlag,
    FrameType,
    HelloFlag,
    Refusal,
    ReportsFlag,
    WelcomeFlag,
)
from bregalad.protocol.registers import IDENTITY, REGISTERS, Access
from bregalad.protocol.reports import layout_of
from bregalad.protocol.tree import TREE_REGISTERS

_BUSY = 0.001  # seconds between two looks at a ring that is not empty
_BY_ADDRESS = {register.addr: register for register in REGISTERS}
_OF_TREES = {register.addr: register for register in TREE_REGISTERS}

_FROM_HOST = frozenset({FrameType.COMMANDS, FrameType.REGISTERS, FrameType.ACK, FrameType.BYE})

_Answer = namedtuple("_Answer", "type flags payload")  # a frame that is not numbered yet


class BoardEnd:
    """What a board does with the frames that come.

    Parameters
    ----------
    make : callable
        Gives a board as it is after a reset; called for every new session. (A real board keeps
        its statistics, but no driver may count on that.)
    ring_words, frame_bytes, up_frame_bytes, up_frames : int
        As in WELCOME.
    timeout : float
        Seconds after which frames that are not acknowledged are sent again.
    rng : random.Random, optional
        If given, frames stay in the ring for a while, as if the accelerator were busy.
    version : int
        Of the link; another one for tests.

    Members
    -------
    board : Board
        The one behind.
    session : int
        The living session, 0: none.
    dropped : int
        Frames that were not taken.
    """

    def __init__(
        self,
        make,
        *,
        ring_words=512,
        frame_bytes=512,
        up_frame_bytes=256,
        up_frames=4,
        timeout=0.05,
        rng=None,
        version=LINK_VERSION,
    ):
        self.make = make
        self.sizes = {
            "frame_bytes": frame_bytes,
            "ring_words": ring_words,
            "up_frame_bytes": up_frame_bytes,
            "up_frames": up_frames,
        }
        self.timeout = timeout
        self.rng = rng
        self.version = version
        self.dropped = 0
        self.restart()

    def restart(self):
        """Lose everything, as without power."""
        self.last_received = float("-inf")
        self._begin(0)

    def _begin(self, session):
        self.session = session
        self.board = self.make()
        self._expected = 0
        self._ring = deque()  # frames taken, not handed on
        self._room = self._told = self.sizes["ring_words"]
        self._to_pack = deque()  # whole reports as bytes, and (address, value)
        self._kept = deque()  # (number, answer): sent or to be sent, not acknowledged
        self._sent = 0  # how many of them are sent
        self._next = 0
        self._expires = float("inf")
        self._went_back_to = None
        self._owes = None  # flags of an ACK
        self._goes_on = float("inf")  # when the ring is looked at again
        self._unnumbered = []

    # What comes

    def take(self, data, now):
        """Take a frame's bytes."""
        frame = link.unpack_frame(data, self.sizes["frame_bytes"])
        if frame is None:
            self.dropped += 1
        elif frame.type == FrameType.HELLO and frame.session:
            self._welcome(frame, now)
        elif frame.session != self.session or frame.type not in _FROM_HOST or not frame.session:
            self.dropped += 1
        else:
            self.last_received = now
            self._acknowledge(frame, now)
            if frame.type in (FrameType.COMMANDS, FrameType.REGISTERS):
                self._accept(frame)
            elif frame.type == FrameType.ACK and frame.flags & AckFlag.PROBE:
                self._owes = self._owes or 0
            elif frame.type == FrameType.BYE:
                self._begin(0)

    def _welcome(self, frame, now):
        asked = int.from_bytes(frame.payload[:2], "little")
        known = frame.session == self.session and self.session
        if asked != self.version:
            return self._refuse(frame.session, Refusal.VERSION)
        if not known and frame.flags & HelloFlag.RESUME:
            return self._refuse(frame.session, Refusal.GONE)
        if not known:
            lives = self.session and now - self.last_received < LAPSE_SECONDS
            if lives and not frame.flags & HelloFlag.TAKE_OVER:
                return self._refuse(frame.session, Refusal.BUSY)
            self._begin(frame.session)
        self.last_received = now
        self._send(
            FrameType.WELCOME,
            link.WELCOME.pack(
                version=self.version, **self.sizes, **{name: self.board.read_register(name) for name in IDENTITY}
            ),
            flags=WelcomeFlag.RESUMED if known else 0,
        )

    def _refuse(self, session, reason):
        self._unnumbered.append(
            link.pack_frame(
                FrameType.REFUSED, session, link.REFUSED.pack(reason=reason, version=self.version, owner=self.session)
            )
        )

    def _acknowledge(self, frame, now):
        taken = (frame.acknowledge - (self._next - len(self._kept))) % SEQUENCES
        if taken > len(self._kept):
            return
        for _ in range(taken):
            self._kept.popleft()
        self._sent = max(0, self._sent - taken)
        if taken:
            self._expires = now + self.timeout
            self._went_back_to = None
        if frame.type == FrameType.ACK and frame.flags & AckFlag.NAK and self._went_back_to != frame.acknowledge:
            self._go_back()

    def _accept(self, frame):
        ahead = (frame.sequence - self._expected) % SEQUENCES
        words = len(frame.payload) // 4 + 1
        if ahead or words > self._room:
            self.dropped += 1
            self._owes = (self._owes or 0) | (AckFlag.NAK if 0 < ahead < SEQUENCES // 2 else 0)
            return
        self._expected = (self._expected + 1) % SEQUENCES
        self._owes = self._owes or 0
        self._ring.append(frame)
        self._room -= words

    # The accelerator

    def _hand_on(self):
        """Let the accelerator execute frames from the ring."""
        count = len(self._ring)
        if self.rng is not None:
            count = min(count, self.rng.choice((0, 0, 0, 1, 1, 2, count)))
        for _ in range(count):
            frame = self._ring.popleft()
            self._room += len(frame.payload) // 4 + 1
            if frame.type == FrameType.COMMANDS:
                self.board.send(frame.payload)
                self._collect()
            else:
                for at in range(0, len(frame.payload) // 8 * 8, 8):
                    self._access(*link.ACCESS.unpack(frame.payload[at : at + 8]).tolist())

    def _collect(self):
        data = self.board.receive()
        while data:
            cells = self.board.read("cells.count")
            size = layout_of(data[0], self.board.geometry, cells).size
            self._to_pack.append(data[:size])
            data = data[size:]

    def _access(self, address, write, value):
        known = _BY_ADDRESS | _OF_TREES if self.board.geometry.nodes else _BY_ADDRESS
        register = known.get(address)
        if not write:
            found = self.board.read_register(register.name) if register else 0
            self._to_pack.append((address, found))
        elif register and any(field.access is not Access.RO for field in register.fields):
            width = sum(field.width for field in register.fields)
            self.board.write_register(register.name, value & (1 << width) - 1)

    # What goes

    def frames(self, now):
        """The frames to be sent now, as bytes, in order."""
        self._hand_on()
        out, self._unnumbered = self._unnumbered, []
        if not self.session:
            return out
        while self._to_pack and len(self._kept) < self.sizes["up_frames"]:
            self._kept.append((self._next, self._close_frame()))
            self._next = (self._next + 1) % SEQUENCES
        if now >= self._expires:
            self._go_back()
        for number, answer in list(self._kept)[self._sent :]:
            self._send(answer.type, answer.payload, flags=answer.flags, sequence=number)
            self._expires = now + self.timeout
        self._sent = len(self._kept)
        if self._room - self._told >= self.sizes["ring_words"] // 4:
            self._owes = self._owes or 0
        if self._owes or (self._owes is not None and not self._unnumbered):
            self._send(FrameType.ACK, flags=self._owes)
        self._owes = None
        self._goes_on = now + _BUSY if self._ring else float("inf")
        out += self._unnumbered
        self._unnumbered = []
        return out

    def _close_frame(self):
        """The next numbered frame: a VALUE, or as many reports as there are and fit."""
        first = self._to_pack.popleft()
        if isinstance(first, tuple):
            return _Answer(FrameType.VALUE, 0, link.VALUE.pack(address=first[0], value=first[1]))
        most = self.sizes["up_frame_bytes"]
        payload = first
        while len(payload) < most and self._to_pack and not isinstance(self._to_pack[0], tuple):
            payload += self._to_pack.popleft()
        if len(payload) > most:
            self._to_pack.appendleft(payload[most:])  # it ends where a report ends
        whole = len(payload) <= most
        return _Answer(FrameType.REPORTS, ReportsFlag.LAST if whole else 0, payload[:most])

    def _go_back(self):
        if self._kept:
            self._went_back_to = self._kept[0][0]
        self._sent = 0
        self._expires = float("inf")

    def _send(self, type, payload=b"", **fields):
        self._told = self._room
        self._unnumbered.append(
            link.pack_frame(type, self.session, payload, acknowledge=self._expected, room=self._room, **fields)
        )

    @property
    def deadline(self):
        """When `frames` will have something to do though nothing comes."""
        return min(self._goes_on, self._expires if self._kept else float("inf"))
