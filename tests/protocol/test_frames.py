"""Frames as bytes: COBS and CRC, what is taken and what is not."""

import random

import pytest
from bregalad.protocol.link import (
    MAX_PAYLOAD,
    OVERHEAD,
    WELCOME,
    Frame,
    FrameType,
    decode_cobs,
    encode_cobs,
    pack_frame,
    unpack_frame,
)


def test_cobs_keeps_any_bytes():
    rng = random.Random(1)
    for _ in range(3000):
        size = rng.choice([0, 1, 253, 254, 255, 256, 508, 509, rng.randrange(MAX_PAYLOAD)])
        zeros = rng.choice([0, 0.01, 0.5, 1])
        data = bytes(0 if rng.random() < zeros else rng.randrange(1, 256) for _ in range(size))
        encoded = encode_cobs(data)
        assert 0 not in encoded and len(encoded) <= size + 1 + size // 254
        assert decode_cobs(encoded) == data


@pytest.mark.parametrize(
    "data, decoded",
    [
        (b"\x01", b""),
        (b"\x01\x01", b"\0"),
        (b"\x03ab", b"ab"),
        (b"\x02a\x02b", b"a\0b"),
        (b"\x03a", None),
        (b"\xff", None),
        (b"\x01\x00\x01", None),
        (b"", b""),
        (b"\xff" + b"x" * 254, b"x" * 254),
        (b"\xff" + b"x" * 254 + b"\x01", b"x" * 254),
    ],
)
def test_cobs_examples(data, decoded):
    assert decode_cobs(data) == decoded


def test_frame():
    packed = pack_frame(FrameType.COMMANDS, 7, b"abcdefgh", flags=3, sequence=1, acknowledge=2, room=9)
    assert packed[:16] == bytes([0x10, 3, 8, 0, 7, 0, 0, 0, 1, 0, 2, 0, 9, 0, 0, 0])
    assert unpack_frame(packed) == Frame(FrameType.COMMANDS, 3, 7, 1, 2, 9, b"abcdefgh")
    assert unpack_frame(packed, limit=8) is not None
    assert unpack_frame(packed, limit=4) is None
    assert len(packed) == OVERHEAD + 8 and WELCOME.size == 28


def test_any_changed_bit_is_found():
    packed = pack_frame(FrameType.VALUE, 7, b"abcdefgh")
    for bit in range(8 * len(packed)):
        changed = bytearray(packed)
        changed[bit // 8] ^= 1 << bit % 8
        assert unpack_frame(changed) is None
    for size in range(len(packed)):
        assert unpack_frame(packed[:size]) is None
    assert unpack_frame(packed + bytes(4)) is None


@pytest.mark.parametrize("payload", [b"abc", bytes(MAX_PAYLOAD + 4)])
def test_payload_must_fit(payload):
    with pytest.raises(ValueError, match="payload must be whole words, at most 1452 bytes, not"):
        pack_frame(FrameType.COMMANDS, 1, payload)
