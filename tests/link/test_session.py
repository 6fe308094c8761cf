"""Session and board model over a bad wire: every byte arrives once, in order."""

import random

import pytest
from bregalad.boards import BoardError, linked
from bregalad.boards.linked import LinkedBoard
from bregalad.link import session
from bregalad.protocol.registers import find
from bregalad.protocol.reports import FENCE, Kind
from bregalad_sim.ctrl_c import interrupted
from bregalad_sim.link import BoardEnd
from bregalad_sim.wire import Faults, SimulatedWire
from tape import GEOMETRY, TapeBoard


def connect(seed, faults=None, cuts=(), **options):
    print(f"seed {seed}")
    rng = random.Random(seed)
    sizes = {
        "ring_words": rng.choice((128, 200, 1000, 5000)),
        "frame_bytes": rng.choice((64, 200, 500)),
        "up_frame_bytes": rng.choice((32, 64, 256)),
        "up_frames": rng.choice((1, 2, 8)),
    }
    end = BoardEnd(lambda: TapeBoard(seed), rng=rng, **sizes)
    wire = SimulatedWire(end, rng, faults, cuts=cuts)
    return LinkedBoard(wire, **{"timeout": 60.0, **options}), end, rng


def traffic(board, rng, length):
    """Send, write and read at random; returns (what the tape should hold, reports received)."""
    sent, received = [], b""
    expected = {}
    for _ in range(length):
        action = rng.random()
        if action < 0.5:
            count = rng.choice((1, 1, 5, 40, 700)) * GEOMETRY.bus_bytes
            data = rng.randbytes(count)
            board.send(data)
            if sent and isinstance(sent[-1], bytes):
                sent[-1] += data
            else:
                sent.append(data)
        elif action < 0.7:
            name, value = rng.choice((("grace", 24), ("inner_grace", 24)))
            value = rng.getrandbits(value)
            board.write_register(name, value)
            sent.append((find(name).addr, value))
            expected[name] = value
        elif action < 0.75 and expected:
            name = rng.choice(list(expected))
            assert board.read_register(name) == expected[name]
        else:
            received += board.receive()
    board.read_register("status")  # all before it is handed on
    received += board.receive()
    return sent, received


@pytest.mark.parametrize("kind", ["none", "drop", "flip", "duplicate", "delay", "all"])
@pytest.mark.parametrize("share", [0.01, 0.05, 0.2])
def test_every_byte_once_and_in_order(kind, share):
    for seed in range(3):
        faults = Faults.all(share) if kind == "all" else (Faults() if kind == "none" else Faults(**{kind: share}))
        board, end, rng = connect(seed, faults)
        sent, received = traffic(board, rng, 60)
        assert end.board.tape == sent
        assert received == end.board.reported
        if kind in ("drop", "flip", "all") and share == 0.2:
            assert board.statistics().frames_resent
        if kind == "none":
            assert board.statistics().frames_resent == end.dropped == 0
        board.close()


@pytest.mark.parametrize("timeout", [0.2, 7.0])
def test_board_that_answers_is_waited_for(timeout):
    """However long it does nothing: a warning, but no decision."""
    board, end, rng = connect(4, timeout=timeout)
    with pytest.raises(BoardError, match="no report can come"):
        board.receive(wait=True)
    wire, busy = board._wire, end.board._read_register
    end.board._read_register = lambda register: 2 if wire.time < 100 else busy(register)
    with (
        pytest.warns(UserWarning, match="answers, but for 60 s .*simulated and slow, or its accelerator hangs"),
        pytest.raises(BoardError, match="no report can come"),
    ):
        board.receive(wait=True)
    assert 100 < wire.time < 100 + 5 * timeout
    hand_on = end._hand_on
    end._hand_on = lambda: None if wire.time < 200 else hand_on()
    with pytest.warns(UserWarning, match="answers, but for 60 s"):
        board.send(bytes(1 << 17))  # takes it all; the ring is full for long
    assert wire.time > 200
    board.read("status.busy")
    assert end.board.tape[-1] == bytes(1 << 17)


@pytest.mark.parametrize("rate", [30, 500])
def test_slow_line(rate):
    """Nothing piles up on it, so that each answer comes, however many seconds a frame takes."""
    end = BoardEnd(lambda: TapeBoard(5), ring_words=256, frame_bytes=128, timeout=30)
    board = LinkedBoard(SimulatedWire(end, random.Random(5), rate=rate), timeout=60.0)
    sent = b""
    for _ in range(20):
        data = random.Random(len(sent)).randbytes(125 * GEOMETRY.bus_bytes)
        sent += data
        board.send(data)
        board.read("status.busy")
    assert end.board.tape == [sent]
    found = board.statistics()
    assert found.frames_resent < found.frames_sent / 4


@pytest.mark.parametrize(
    "report, message",
    [
        (FENCE.pack(kind=Kind.FENCE)[:-4], "a report without its end: its bitstream is not sound"),
        (bytes([77, 0, 0, 0]), "no report is of kind 77"),
    ],
)
def test_report_that_is_none(report, message):
    board, end, _ = connect(5)
    end.board.rng.random = lambda: 1.0
    board.send(bytes(GEOMETRY.bus_bytes))
    end.board._waiting = report
    end._collect = lambda: end._to_pack.append(end.board.receive())
    with pytest.raises(BoardError, match=message):
        board.receive(wait=True)


def test_ctrl_c_tears_nothing():
    """Wherever it comes: what was called is done or not begun, and all that follows is sound."""
    data = bytes(range(200)) * GEOMETRY.bus_bytes
    known = [data, (find("grace").addr, 5)]
    for at in range(1, 10_000, 23):
        board, end, _ = connect(2)
        came = interrupted(
            lambda board=board: (
                board.send(data),
                board.write_register("grace", 5),
                board.read("grace.leaf"),
                board.read("status.busy"),
            ),
            at,
            linked,
            session,
        )
        board.write("inner_grace.inner", 9)
        assert board.read("inner_grace.inner") == 9
        assert board.read("grace.leaf") == (5 if known[1] in end.board.tape else 200)
        assert end.board.tape[:-1] == known[: len(end.board.tape) - 1]
        assert board.receive() == end.board.reported
        if not came:
            break
    assert at > 500
