"""The driver's end of a session: frames numbered, sent again, taken exactly once.

No input or output and no clock happens here: who uses it hands in the frames that came and the
time, and sends the frames that it is given. Times are seconds of any clock that does not go back.
"""

import secrets
from collections import deque, namedtuple
from dataclasses import dataclass

from ..protocol import link

_SHORTEST = 0.02  # seconds of a time-out
_MOST_BACKING_OFF = 64
_FIRST = 0.2  # seconds of the time-out before any answer has been timed
_QUIET = 1.0  # seconds of silence after which the driver asks whether its session still lives
_NOW = float("-inf")


@dataclass
class Statistics:
    """What has crossed the wire so far. Bytes are payloads, of frames taken or acknowledged."""

    frames_sent: int = 0  # numbered ones, for the first time
    frames_resent: int = 0
    frames_received: int = 0  # numbered ones that were taken
    frames_dropped: int = 0  # damaged, of another size or session, or out of turn
    bytes_sent: int = 0
    bytes_received: int = 0
    seconds: float = 0.0  # since the board was opened

    def __str__(self):
        rate = (self.bytes_sent + self.bytes_received) / self.seconds if self.seconds else 0
        return (
            f"{self.frames_sent} frames sent, {self.frames_resent} of them again; "
            f"{self.frames_received} received, {self.frames_dropped} dropped; "
            f"{self.bytes_sent / 1e6:.1f} MB there, {self.bytes_received / 1e6:.1f} MB back, "
            f"{rate / 1e6:.2f} MB/s"
        )


# The board's answer to a HELLO that it does not welcome: why, a Refusal, its version, and the session that has it.
Refused = namedtuple("Refused", "reason version owner")


@dataclass
class _Kept:
    """A numbered frame until it is acknowledged."""

    type: link.FrameType
    payload: bytes
    sequence: int
    sent: float = 0.0
    times: int = 0

    @property
    def words(self):
        """Words that it takes in the board's ring."""
        return len(self.payload) // 4 + 1


class Session:
    """One session with a board, of a number of 32 bits, not 0; random if not given.

    A frame of commands is whole words of ``bus_bytes``, to be set before commands are sent. After ``longest`` seconds
    of silence the board is asked for a sign of life, if something is expected from it (``waiting``).

    ``welcome``, of ``link.WELCOME``, is what the board said of itself, ``refused``, a Refused, why it does not go on
    with this session; else they are None. ``last_received`` is the time of its last frame that belongs to this session,
    ``moved`` the time at which a numbered frame was last taken, on either side, or the ring had new room. ``values``
    has answers to register reads, (address, value) in order; the user removes them.

    Source: docs/link.md.
    """

    def __init__(self, number=None, bus_bytes=4, longest=1.0):
        self.number = number or secrets.randbits(32) or 1
        self.bus_bytes = bus_bytes
        self.longest = longest
        self.welcome = None
        self.refused = None
        self.waiting = False
        self.last_received = self.moved = _NOW
        self.values = deque()
        self.statistics = Statistics()
        # To the board
        self._queue = deque()  # [type, bytes]: not in frames yet
        self.backlog = 0  # bytes in it
        self._flight = deque()  # sent, not acknowledged
        self._words = 0  # that they take in the ring
        self._again = deque()  # to be sent again, after those in flight
        self._oldest = 0  # number of the first frame that is not acknowledged
        self._next = 0  # number of the next new frame
        self._room = 0
        self._largest = 0  # bytes of a frame's payload
        self._went_back_to = None
        # From the board
        self._expected = 0
        self._reports = []
        self._tail = []  # the beginning of a report
        # When
        self._hello = None  # flags of the HELLO that is repeated until it is answered
        self._urgent = False  # something may be sent, whatever the time
        self._owes = None  # flags of the ACK that the board has to get
        self._expires = 0.0  # of the frames in flight, the HELLO or the wait
        self._since = 0.0  # when frames began to be in flight, or one of them was acknowledged
        self._mean, self._spread = None, 0.0  # of the round trip
        self._backing_off = 1  # doubles when a time-out was too short, or the wire is bad
        self._calm = 1  # doubles with every HELLO or PROBE

    # What the session's user does

    def begin(self, take_over=False):
        """Ask for a new session; `welcome` or `refused` is the answer."""
        self._request(link.HelloFlag.TAKE_OVER if take_over else 0)

    def resume(self):
        """Ask to go on with this session after a cut."""
        self.refused = None
        self._backing_off = 1
        self._go_back()
        self._request(link.HelloFlag.RESUME)

    @property
    def requesting(self):
        """Whether a HELLO has no answer yet."""
        return self._hello is not None

    def send(self, data):
        """Queue commands: a uint8 array of whole bus words, which is copied."""
        if len(data):
            self._push(link.FrameType.COMMANDS, data.tobytes())

    def access(self, address, write=False, value=0):
        """Queue a register access; what a read gives comes to ``values``."""
        self._push(link.FrameType.REGISTERS, link.ACCESS.pack(address=address, write=int(write), value=value))

    def reports(self):
        """Remove and return all complete reports, as bytes."""
        reports, self._reports = b"".join(self._reports), []
        return reports

    @property
    def reported(self):
        """Whether there are complete reports."""
        return bool(self._reports)

    def bye(self):
        """The frame that ends the session."""
        return self._pack(link.FrameType.BYE)

    def _push(self, type, data):
        self._queue.append([type, data])
        self.backlog += len(data)
        self._urgent = True

    def _request(self, flags):
        self._hello = flags
        self._expires = _NOW
        self._calm = 1
        self._urgent = True

    # What comes

    def take(self, data, now):
        """Take a frame's bytes; whatever is no proper frame of this session is dropped."""
        frame = link.unpack_frame(data)
        if (
            frame is None
            or frame.session != self.number
            or _FROM_BOARD.get(frame.type, -1) not in (None, len(frame.payload))
        ):
            self.statistics.frames_dropped += 1
            return
        self.last_received = now
        if frame.type == link.FrameType.REFUSED:
            self._refuse(frame)
        elif frame.type == link.FrameType.WELCOME:
            self._be_welcome(frame, now)
        elif self.welcome is None:
            self.statistics.frames_dropped += 1  # of a session that is not known to have begun
        else:
            self._acknowledge(frame, now)
            if frame.type in link.NUMBERED:
                self._accept(frame, now)
            elif frame.flags & link.AckFlag.PROBE:
                self._owes = self._owes or 0

    def _refuse(self, frame):
        reason, version, owner = link.REFUSED.unpack(frame.payload).tolist()
        if reason in list(link.Refusal):
            self.refused = Refused(link.Refusal(reason), version, owner)
            self._hello = None

    def _be_welcome(self, frame, now):
        if self.welcome is None:
            self.welcome = link.WELCOME.unpack(frame.payload)
            self._room = int(self.welcome["ring_words"])
            self._largest = min(int(self.welcome["frame_bytes"]), 4 * (self._room - 1), link.MAX_PAYLOAD)
        self._hello = None
        self._urgent = True
        self._acknowledge(frame, now)

    def _acknowledge(self, frame, now):
        taken = (frame.acknowledge - self._oldest) % link.SEQUENCES
        if taken > len(self._flight) + len(self._again):
            return  # old and delayed
        if not taken:
            if frame.room > self._room:
                self._room = frame.room
                self._move(now)
        else:
            for _ in range(taken):
                if self._flight:
                    self._words -= self._flight[0].words
                kept = (self._flight or self._again).popleft()
                self.statistics.bytes_sent += len(kept.payload)
            if kept.times == 1:
                self._time(now - kept.sent)
            self._oldest = frame.acknowledge
            self._room = frame.room
            self._went_back_to = None
            self._restart(now)
            self._move(now)
        if (
            frame.type == link.FrameType.ACK
            and frame.flags & link.AckFlag.NAK
            and self._flight
            and self._went_back_to != self._oldest
        ):
            self._go_back()

    def _move(self, now):
        self.moved = now
        self._calm = 1
        self._urgent = True

    def _accept(self, frame, now):
        ahead = (frame.sequence - self._expected) % link.SEQUENCES
        if ahead:
            self.statistics.frames_dropped += 1
            self._owes = link.AckFlag.NAK if ahead < link.SEQUENCES // 2 else self._owes or 0
            return
        self._expected = (self._expected + 1) % link.SEQUENCES
        self._owes = self._owes or 0
        self._move(now)
        self.statistics.frames_received += 1
        self.statistics.bytes_received += len(frame.payload)
        if frame.type == link.FrameType.VALUE:
            self.values.append(tuple(link.VALUE.unpack(frame.payload).tolist()))
        else:
            self._tail.append(frame.payload)
            if frame.flags & link.ReportsFlag.LAST:
                self._reports += self._tail
                self._tail = []

    # What goes

    def frames(self, now):
        """The frames to be sent now, as bytes, in order."""
        self._urgent = False
        out = []
        late = now >= self._expires
        if self.requesting:
            if late:
                out.append(self._pack_hello(self._hello))
                self._expires = now + min(_FIRST * self._calm, self.longest)
                self._calm = min(2 * self._calm, _MOST_BACKING_OFF)
            return out
        if late and self._flight:
            if now >= self._since + self._timeout:
                self._go_back()
                # On a bad wire few round trips can be timed, which would end the backing off.
                most = _MOST_BACKING_OFF if self._mean is None else _MOST_BACKING_OFF // 8
                self._backing_off = min(2 * self._backing_off, most)
                self._since = now
            self._expires = min(self._since + self._timeout, now + self.longest)
        while (kept := self._sendable()) is not None:
            if not self._flight:
                self._restart(now)
                self._calm = 1
            self._flight.append(kept)
            self._words += kept.words
            self.statistics.frames_sent += not kept.times
            self.statistics.frames_resent += bool(kept.times)
            kept.sent = now
            kept.times += 1
            out.append(self._pack(kept.type, kept.payload, sequence=kept.sequence))
        quiet = now - self.last_received
        if late and self._is_timed and not out and (not self._flight or quiet >= self.longest):
            self._probe(now)
        if self._owes or (self._owes is not None and not out):
            out.append(self._pack(link.FrameType.ACK, flags=self._owes))
        self._owes = None
        if late and self._is_timed and quiet > max(_QUIET, self.round_trip):
            # The board may have lost power, or have gone to another program: it then drops all
            # that this session sends, but tells so if it is asked.
            out.append(self._pack_hello(link.HelloFlag.RESUME))
        return out

    def _probe(self, now):
        """Ask whether the board is there."""
        self._owes = (self._owes or 0) | link.AckFlag.PROBE
        if self._flight:
            self._expires = min(self._since + self._timeout, now + self.longest * self._calm)
        else:
            self._expires = now + min(self._timeout * self._calm, self.longest)
        self._calm = min(2 * self._calm, _MOST_BACKING_OFF)

    @property
    def deadline(self):
        """When `frames` will have something to send though nothing comes; may be past."""
        if not self.requesting and (self._urgent or self._owes is not None):
            return _NOW
        return self._expires if self._is_timed else float("inf")

    @property
    def _is_timed(self):
        return self.requesting or bool(self._flight or self._again or self._queue) or self.waiting

    def _go_back(self):
        self._went_back_to = self._oldest
        self._flight.extend(self._again)
        self._again, self._flight = self._flight, deque()
        self._words = 0
        self._urgent = True

    def _sendable(self):
        """The next frame for which the ring has room, None if there is none."""
        free = self._room - self._words
        if self._again:
            return self._again.popleft() if self._again[0].words <= free else None
        if not self._queue or len(self._flight) >= link.SEQUENCES // 2:
            return None
        type = self._queue[0][0]
        unit = self.bus_bytes if type is link.FrameType.COMMANDS else link.ACCESS.size
        most = min(self._largest, 4 * (free - 1)) // unit * unit
        # A nearly full ring must not chop a stream into crumbs: each of them costs a header.
        if most < max(unit, min(self.backlog, self._largest // 2 // unit * unit)):
            return None
        kept = _Kept(type, self._cut(type, most), self._next)
        self._next = (self._next + 1) % link.SEQUENCES
        return kept

    def _cut(self, type, most):
        """Take up to ``most`` bytes of one type off the queue."""
        parts = []
        while most and self._queue and self._queue[0][0] is type:
            data = self._queue[0][1]
            part = data[:most]
            parts.append(part)
            most -= len(part)
            self.backlog -= len(part)
            if len(part) == len(data):
                self._queue.popleft()
            else:
                self._queue[0][1] = memoryview(data)[len(part) :]
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _pack(self, type, payload=b"", **fields):
        return link.pack_frame(type, self.number, payload, acknowledge=self._expected, **fields)

    def _pack_hello(self, flags):
        return self._pack(link.FrameType.HELLO, link.HELLO.pack(version=link.LINK_VERSION), flags=flags)

    # Time-outs

    @property
    def round_trip(self):
        """Seconds that the board's answer may well take, by those that were timed."""
        return _FIRST if self._mean is None else max(_SHORTEST, self._mean + 4 * self._spread)

    @property
    def _timeout(self):
        """Of frames in flight. On a slow line it may be long: what is sent again too early fills the line."""
        return self.round_trip * self._backing_off

    def _restart(self, now):
        """Let the time-out of the frames in flight begin."""
        self._since = now
        self._expires = now + min(self._timeout, self.longest)

    def _time(self, seconds):
        """Take in the time of a round trip; those of frames that were sent twice tell nothing.

        Source: RFC 6298, sections 2 and 3.
        """
        if self._mean is None:
            self._mean, self._spread = seconds, seconds / 2
        else:
            self._spread += (abs(self._mean - seconds) - self._spread) / 4
            self._mean += (seconds - self._mean) / 8
        self._backing_off = 1


# Bytes of the payload of the frames that a board sends; None: any number.
_FROM_BOARD = {
    link.FrameType.ACK: 0,
    link.FrameType.WELCOME: link.WELCOME.size,
    link.FrameType.REFUSED: link.REFUSED.size,
    link.FrameType.REPORTS: None,
    link.FrameType.VALUE: link.VALUE.size,
}
