"""Frames: how commands, registers and reports cross a wire, see docs/link.md.

A frame is a header, a payload of whole 32-bit words and a CRC-32. On a byte stream it is
COBS-encoded and ends with a zero byte; in UDP a datagram is one frame.
"""

import struct
import zlib
from enum import IntEnum, IntFlag
from typing import NamedTuple

from .layout import Field, Layout
from .registers import IDENTITY

LINK_VERSION = 1  # changes whenever an old driver could not talk to a new board
MAX_PAYLOAD = 1452  # bytes; with header and CRC just fits a UDP datagram in an Ethernet frame
SEQUENCES = 1 << 16  # numbered frames are counted modulo this
LAPSE_SECONDS = 10  # of silence, after which another program may have the board


class FrameType(IntEnum):
    """First byte of a frame; those of the board have the top bit set, ACK is sent by both."""

    HELLO = 0x01
    BYE = 0x02
    ACK = 0x03
    COMMANDS = 0x10
    REGISTERS = 0x11
    WELCOME = 0x81
    REFUSED = 0x82
    REPORTS = 0x90
    VALUE = 0x91


NUMBERED = frozenset({FrameType.COMMANDS, FrameType.REGISTERS, FrameType.REPORTS, FrameType.VALUE})


class HelloFlag(IntFlag):
    """Flags of HELLO."""

    TAKE_OVER = 1  # end another program's session
    RESUME = 2  # do not begin a new session


class WelcomeFlag(IntFlag):
    """Flags of WELCOME."""

    RESUMED = 1  # the session lived already, nothing was changed


class ReportsFlag(IntFlag):
    """Flags of REPORTS."""

    LAST = 1  # the frame ends with a report's last word


class AckFlag(IntFlag):
    """Flags of ACK."""

    NAK = 1  # a numbered frame came out of turn
    PROBE = 2  # answer with an ACK


class Refusal(IntEnum):
    """``reason`` of REFUSED."""

    BUSY = 1  # another session has the board
    GONE = 2  # the session to resume does not live any more
    VERSION = 3  # the board speaks another version of the link


HEADER = Layout(
    "frame",
    Field("type", 8, "FrameType."),
    Field("flags", 8),
    Field("length", 16, "Payload bytes, a multiple of 4."),
    Field("session", 32),
    Field("sequence", 16, "Of a numbered frame; else 0."),
    Field("acknowledge", 16, "The number that the sender expects next."),
    Field("room", 16, "Free words of the board's ring; 0 from the host."),
    Field("reserved", 16),
)

HELLO = Layout("hello", Field("version", 16, "LINK_VERSION."), Field("reserved", 16))

ACCESS = Layout(
    "access",
    Field("address", 16, "Of a register, in bytes."),
    Field("write", 16, "0 or 1."),
    Field("value", 32, "Written; 0 in a read."),
)

WELCOME = Layout(
    "welcome",
    Field("version", 16, "LINK_VERSION."),
    Field("frame_bytes", 16, "Largest payload that the board takes."),
    Field("ring_words", 16, "Words of the board's ring."),
    Field("up_frame_bytes", 16, "Largest payload that the board sends in a numbered frame."),
    Field("up_frames", 16, "Numbered frames that the board keeps at most."),
    Field("reserved", 16),
    *(Field(name, 32) for name in IDENTITY),
)

REFUSED = Layout(
    "refused",
    Field("reason", 16, "Refusal."),
    Field("version", 16, "LINK_VERSION."),
    Field("owner", 32, "The session that has the board, 0: none."),
)

VALUE = Layout("value", Field("address", 32, "Of the register read."), Field("value", 32))

_FORMATS = {8: "B", 16: "H", 32: "I"}
_HEADER = struct.Struct("<" + "".join(_FORMATS[field.width] for field in HEADER.fields))
_CRC = struct.Struct("<I")
OVERHEAD = HEADER.size + _CRC.size  # bytes of a frame besides its payload
_BLOCK = 254  # bytes of the longest COBS block


class Frame(NamedTuple):
    """A frame that was taken."""

    type: int
    flags: int
    session: int
    sequence: int
    acknowledge: int
    room: int
    payload: bytes


def pack_frame(type, session, payload=b"", *, flags=0, sequence=0, acknowledge=0, room=0):
    """Bytes of a frame, as in a UDP datagram; ValueError for a payload of no whole words, or above `MAX_PAYLOAD`."""
    if len(payload) % 4 or len(payload) > MAX_PAYLOAD:
        raise ValueError(f"payload must be whole words, at most {MAX_PAYLOAD} bytes, not {len(payload)} bytes")
    frame = _HEADER.pack(type, flags, len(payload), session, sequence, acknowledge, room, 0)
    frame += bytes(payload)
    return frame + _CRC.pack(zlib.crc32(frame))


def unpack_frame(data, limit=MAX_PAYLOAD):
    """The `Frame` that a datagram is, or what `decode_cobs` gave; None: it is to be dropped.

    ``limit`` are the bytes of the largest payload that is taken.
    """
    data = bytes(data)
    if len(data) % 4 or not OVERHEAD <= len(data) <= OVERHEAD + limit:
        return None
    type, flags, length, session, sequence, acknowledge, room, _ = _HEADER.unpack_from(data)
    if length != len(data) - OVERHEAD or zlib.crc32(data[:-4]) != _CRC.unpack(data[-4:])[0]:
        return None
    return Frame(type, flags, session, sequence, acknowledge, room, data[HEADER.size : -4])


def encode_cobs(data):
    """``data`` without zero bytes; the zero byte that ends a frame is not included.

    The bytes are those of `CobsEncoder`: after a last block of 254 bytes comes an empty one, which the package
    cobs leaves out.

    Source: Cheshire and Baker, "Consistent overhead byte stuffing", 1999.
    """
    out = bytearray()
    for run in bytes(data).split(b"\0"):
        while len(run) >= _BLOCK:
            out.append(_BLOCK + 1)
            out += run[:_BLOCK]
            run = run[_BLOCK:]
        out.append(len(run) + 1)
        out += run
    return bytes(out)


def decode_cobs(data):
    """What was encoded as ``data`` (bytes between two zeros), or None if nothing gives that."""
    out = bytearray()
    at, zero = 0, False
    while at < len(data):
        code = data[at]
        if code == 0 or at + code > len(data):
            return None
        if zero:
            out.append(0)
        out += data[at + 1 : at + code]
        at += code
        zero = code <= _BLOCK
    return bytes(out)
