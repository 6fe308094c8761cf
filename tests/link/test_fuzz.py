"""The frame receiver, its model and the driver's, on frames that are no good."""

import random

import pytest
from bregalad.link import Session
from bregalad.protocol.link import HELLO, LINK_VERSION, REFUSED, WELCOME, FrameType, pack_frame
from bregalad_sim.link import BoardEnd
from marks import nightly
from tape import TapeBoard


def mutated(rng, frame):
    """A frame with something wrong, never the frame itself."""
    data = bytearray(frame)
    match rng.randrange(5):
        case 0:
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        case 1:
            del data[rng.randrange(len(data)) :]
        case 2:
            data += rng.randbytes(rng.choice((1, 4, 2000)))
        case 3:
            at = rng.randrange(len(data))
            data[at:at] = rng.randbytes(rng.randrange(1, 5))
        case _:
            data = bytearray(rng.randbytes(rng.choice((0, 3, 20, 24, 500))))
    return bytes(data) if bytes(data) != frame else b""


def fuzz(seed, count):
    print(f"seed {seed}")
    rng = random.Random(seed)
    end = BoardEnd(lambda: TapeBoard(seed), rng=rng)
    host = Session()
    host.begin()
    now, sent, got = 0.0, [], b""

    def exchange():
        for frame in host.frames(now):
            end.take(frame, now)
        for frame in end.frames(now):
            host.take(frame, now)
        return host.reports()

    exchange()
    assert host.welcome is not None
    good = pack_frame(FrameType.COMMANDS, host.number, rng.randbytes(64), sequence=0)
    other = pack_frame(FrameType.COMMANDS, host.number ^ 1, rng.randbytes(64))
    for i in range(count):
        bad = rng.choice(
            (mutated(rng, good), other, pack_frame(rng.choice((0, 4, 0x12, 0x80, 0xFF)), host.number, b"abcd"))
        )
        end.take(bad, now)
        host.take(bad, now)
        if i % 100 == 0:  # a good frame after garbage is received
            now += 0.001
            sent.append(rng.randbytes(8 * rng.randrange(1, 20)))
            host.send(memoryview(sent[-1]).cast("B"))
            good = pack_frame(FrameType.COMMANDS, host.number, sent[-1], sequence=end._expected + rng.randrange(3))
            got += exchange()
    while host.backlog or host._flight or end._ring or end._kept:
        now += 0.3
        got += exchange()
    assert b"".join(end.board.tape) == b"".join(sent)
    assert got == end.board.reported


@pytest.mark.parametrize("seeds, count", [(2, 10_000), *nightly((20, 50_000))])
def test_garbage_is_dropped_and_locks_nothing_up(seeds, count):
    for seed in range(seeds):
        fuzz(seed, count)


def test_payloads_of_any_size():
    """Of every type, to a driver that is welcome and to one that is not: only what has the right size is taken."""
    sizes = {FrameType.ACK: 0, FrameType.WELCOME: WELCOME.size, FrameType.REFUSED: REFUSED.size, FrameType.VALUE: 8}
    welcome = WELCOME.pack(version=LINK_VERSION, frame_bytes=512, ring_words=512)
    for known in (False, True):
        for type in FrameType:
            for size in range(0, 80, 4):
                host = Session()
                host.begin()
                if known:
                    host.take(pack_frame(FrameType.WELCOME, host.number, welcome), 0.0)
                host.take(pack_frame(type, host.number, bytes(size)), 1.0)
                taken = type == FrameType.REPORTS or sizes.get(type) == size
                early = not known and type not in (FrameType.WELCOME, FrameType.REFUSED)
                assert host.statistics.frames_dropped == (early or not taken), (type, size)
                assert (host.last_received == 1.0) == taken and len(host.values) == (
                    known and taken and type == FrameType.VALUE
                )


def test_hello_without_a_session_or_a_payload():
    end = BoardEnd(lambda: TapeBoard(1))
    hello = HELLO.pack(version=LINK_VERSION)
    for frame in (pack_frame(FrameType.HELLO, 0, hello), pack_frame(FrameType.HELLO, 5)):
        end.take(frame, 0.0)
        assert not end.session
    end.take(pack_frame(FrameType.HELLO, 5, hello), 0.0)
    assert end.session == 5
