"""Which frames are taken: random, damaged and doubled ones, against the rules in Python."""

import cocotb
from bregalad.protocol.link import (
    HEADER,
    LINK_VERSION,
    NUMBERED,
    SEQUENCES,
    AckFlag,
    FrameType,
    pack_frame,
    unpack_frame,
)
from bregalad_hw.link.intake import Intake
from cocotb.triggers import RisingEdge

from bregalad_sim.bits import words_of
from bregalad_sim.runner import parameters
from bregalad_sim.streams import BlockBench

_TAKEN = (FrameType.HELLO, FrameType.BYE, FrameType.ACK, FrameType.COMMANDS, FrameType.REGISTERS)


class Bench(BlockBench):
    def __init__(self, dut):
        self.ring_words, self.limit = parameters()["ring_words"], parameters()["frame_bytes"]
        super().__init__(dut, Intake(self.ring_words, self.limit, peer_width=3))
        self.source, self.sink = self.ends["i"], self.ends["o"]
        self.session = 0
        self.expected = 0
        self.want = []
        self.got = 0
        self.recent = [b""]
        self.seen = dict.fromkeys(("taken", "no_room", "dropped", "old", "early", "hello"), 0)

    def frame(self):
        """The bytes of some frame, mostly one that is wanted."""
        rng = self.rng
        type = rng.choices(
            [*FrameType, rng.randrange(256)], [1, 1, 2, 16, 16, *(0.3 for _ in range(len(FrameType) - 5)), 0.5]
        )[0]
        sequence = (
            self.expected + rng.choices([0, 1, -1, rng.randrange(SEQUENCES), 0x7FFF, 0x8000], [20, 2, 2, 1, 1, 1])[0]
        )
        words = rng.choice([0, 1, rng.randint(0, 8), rng.randint(0, self.limit // 4 + 3)])
        session = rng.choices([self.session, 0, self.session ^ 1 << rng.randrange(32)], [20, 1, 1])[0]
        flags = rng.choice([0, AckFlag.PROBE, rng.randrange(256)])
        payload = rng.choice([rng.randbytes(4 * words), bytes(4 * words)])
        if type == FrameType.HELLO and words and rng.random() < 0.7:
            payload = LINK_VERSION.to_bytes(2, "little") + payload[2:]
        return pack_frame(
            type,
            session,
            payload,
            flags=flags,
            sequence=sequence % SEQUENCES,
            acknowledge=rng.randrange(SEQUENCES),
            room=rng.randrange(SEQUENCES),
        )

    def mutated(self):
        """Words that arrive, and whether the byte stream knew them to be damaged."""
        rng = self.rng
        data = bytearray(self.frame())
        match rng.choices(
            ["keep", "flip", "short", "long", "repeat", "join", "noise", "torn"], [20, 2, 2, 1, 3, 1, 1, 1]
        )[0]:
            case "flip":
                for _ in range(rng.choice([1, 1, 2, 30])):
                    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            case "short":
                del data[4 * rng.randrange(1, len(data) // 4) :]
            case "long":
                data += rng.randbytes(4 * rng.randint(1, self.limit // 2))
            case "repeat":
                data = self.recent[-1] or data
            case "join":
                data += self.frame()
            case "noise":
                data = rng.randbytes(4 * rng.randint(1, 40))
            case "torn":
                return bytes(data), True
        self.recent = [bytes(data)]
        return bytes(data), False

    async def clock(self):
        """One clock; whether a outcome came."""
        self.drive()
        word = (await self.settle())["o"]
        dut = self.dut
        outcome = int(dut.good.value) or int(dut.dropped.value)
        if outcome:
            self.outcome = {
                name: int(getattr(dut, name).value) for name in ("good", "same", "answer", "nak", "dropped")
            }
        if word is not None:
            assert self.got < len(self.want), "a word that no frame has"
            assert word == self.want[self.got], f"word {self.got}"
            self.got += 1
        await RisingEdge(dut.clk)
        return outcome

    async def deliver(self, data, torn):
        rng, dut = self.rng, self.dut
        words = words_of(data, 4)
        self.source.items.extend(
            {"data": word, "last": at == len(words) - 1, "bad": torn if at == len(words) - 1 else rng.random() < 0.5}
            for at, word in enumerate(words)
        )
        room = int(dut.room.value)
        for _ in range(2000 + 100 * len(words)):
            if await self.clock():
                break
        else:
            raise AssertionError("no outcome: the receiver is locked up")
        frame = None if torn else unpack_frame(data, self.limit)
        good = bool(
            frame
            and frame.type in _TAKEN
            and frame.session
            and (frame.session == self.session or frame.type == FrameType.HELLO)
        )
        numbered = good and frame.type in NUMBERED
        ahead = (frame.sequence - self.expected) % SEQUENCES if frame else 0
        probe = good and frame.type == FrameType.ACK and bool(frame.flags & AckFlag.PROBE)
        want = {
            "good": good,
            "dropped": not good,
            "answer": numbered or probe,
            "nak": numbered and 0 < ahead < SEQUENCES // 2,
        }
        if good:
            want["same"] = frame.session == self.session
            for name, field in zip(
                frame._fields[:6], ("type", "flags", "session", "sequence", "acknowledge", "room"), strict=True
            ):
                bits = int(dut.header.value) >> 8 * HEADER.offset(field)
                width = next(f.width for f in HEADER.fields if f.name == field)
                assert bits & (1 << width) - 1 == getattr(frame, name)
            if frame.type == FrameType.HELLO:
                version = int.from_bytes(frame.payload[:2], "little")
                assert int(dut.version.value) == version
        got = {name: bool(self.outcome[name]) for name in want}
        assert got == want, f"{frame}: {got}, not {want}"
        await self.clock()
        taken = int(dut.expected.value) != self.expected
        if numbered and not ahead:
            assert taken or room < len(frame.payload) // 4 + 1, "room, but it was not taken"
        else:
            assert not taken, f"{frame} was taken"
        self.seen["taken"] += taken
        self.seen["no_room"] += numbered and not ahead and not taken
        self.seen["dropped"] += not good
        self.seen["old"] += numbered and ahead >= SEQUENCES // 2
        self.seen["early"] += want["nak"]
        self.seen["hello"] += good and frame.type == FrameType.HELLO
        if taken:
            self.expected = (self.expected + 1) % SEQUENCES
            assert int(dut.expected.value) == self.expected
            self.want.append(int.from_bytes(data[:4], "little"))
            self.want += words_of(frame.payload, 4)
        for _ in range(rng.choice([0, 0, 0, 20])):
            await self.clock()

    async def fill(self):
        """Frames that are wanted, and nobody who reads, until one finds no room."""
        self.sink.stall = 1
        for _ in range(self.ring_words + 1):
            if self.seen["no_room"]:
                return
            await self.deliver(
                pack_frame(
                    FrameType.COMMANDS,
                    self.session,
                    self.rng.randbytes(4 * self.rng.randint(0, 8)),
                    flags=0,
                    sequence=self.expected,
                    acknowledge=0,
                    room=0,
                ),
                False,
            )
        raise AssertionError("a ring without end")

    async def begin(self, session):
        """Another session: all that is in the ring is gone."""
        dut = self.dut
        dut.session.value, dut.begin.value = session, 1
        # Words may leave in the very clock; what comes is watched again from the next on.
        self.sink.stall = 1.0
        await self.clock()
        self.sink.held = None
        dut.begin.value = 0
        await self.clock()
        self.session, self.expected = session, 0
        self.want, self.got = [], 0
        assert int(dut.room.value) == self.ring_words


@cocotb.test(timeout_time=4000, timeout_unit="ms")
async def frames(dut):
    """Any frames: exactly those are taken that should be, and nothing ever locks up."""
    bench = Bench(dut)
    rng = bench.rng
    await bench.start()
    for index in range(parameters()["count"]):
        if index % 500 == 0:
            await bench.begin(rng.choice([0, 1, 0xFFFFFFFF, rng.getrandbits(32)][index == 0 :]))
            bench.source.stall = rng.choice([0, 0.5])
        if index % 40 == 0:
            bench.sink.stall = rng.choice([0, 0, 0.5, 1])
        if index == 200:
            await bench.fill()
        await bench.deliver(*bench.mutated())
    bench.sink.stall = 0
    for _ in range(2 * bench.ring_words + 20):
        await bench.clock()
    assert bench.got == len(bench.want), "words were lost"
    assert int(dut.room.value) == bench.ring_words
    dut._log.info("%s", bench.seen)
    assert all(bench.seen.values()), bench.seen
