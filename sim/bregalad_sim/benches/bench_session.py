"""Who has the board: any HELLOs and silences, against the rules in Python."""

import cocotb
from bregalad.protocol.link import LAPSE_SECONDS, LINK_VERSION, FrameType, HelloFlag, Refusal
from bregalad_hw.link.session import Session
from cocotb.triggers import RisingEdge

from bregalad_sim.runner import parameters
from bregalad_sim.streams import BlockBench

_PEER = 4  # bits


class Bench(BlockBench):
    def __init__(self, dut):
        super().__init__(dut, Session(_PEER))
        self.begun = 0
        self.reply = None
        self.session = self.peer = self.silence = 0

    async def clock(self, tick=0):
        dut = self.dut
        dut.tick.value = tick
        self.drive()
        reply = (await self.settle())["reply"]
        if reply is not None:
            assert self.reply is None, "two answers"
            self.reply = reply
        self.begun += int(dut.begin.value)
        await RisingEdge(dut.clk)
        dut.good.value = 0
        if tick:
            self.silence = min(self.silence + 1, 1000 * LAPSE_SECONDS)

    async def frame(self, type, session, flags=0, version=0, peer=0):
        """A good frame; the answer, None if there is none."""
        rng = self.rng
        header = {
            "type": type,
            "flags": flags,
            "session": session,
            "sequence": rng.getrandbits(16),
            "length": rng.getrandbits(16),
        }
        self.set_inputs(header=header, version=version, from_peer=peer, same=session == self.session, good=1)
        self.begun, self.reply = 0, None
        await self.clock()
        self.set_inputs(same=rng.getrandbits(1))
        for _ in range(40):
            await self.clock()
        return self.reply

    async def hello(self, stranger=False):
        """Any HELLO, or one that only a session that lives is in the way of."""
        rng = self.rng
        session = rng.choice([self.session or 7, rng.randrange(1, 5), rng.randrange(1, 1 << 32)])
        flags = rng.choice([0, 0, HelloFlag.TAKE_OVER, HelloFlag.RESUME, HelloFlag.TAKE_OVER | HelloFlag.RESUME, 0xFC])
        version = rng.choices([LINK_VERSION, 0, LINK_VERSION + 1, LINK_VERSION | 0x100], [10, 1, 1, 1])[0]
        if stranger:
            session, flags, version = 6 - (self.session == 6), 0, LINK_VERSION
        peer = rng.getrandbits(_PEER)
        same = session == self.session
        lapsed = self.silence == 1000 * LAPSE_SECONDS
        owner, begins, reason = self.session, False, 0
        if version != LINK_VERSION:
            reason = Refusal.VERSION
        elif not same and flags & HelloFlag.RESUME:
            reason = Refusal.GONE
        elif not same and self.session and not lapsed and not flags & HelloFlag.TAKE_OVER:
            reason = Refusal.BUSY
        else:
            begins = not same
        got = await self.frame(FrameType.HELLO, session, flags, version, peer)
        assert got == {"reason": reason, "resumed": same, "session": session, "owner": owner, "peer": peer}
        assert self.begun == begins
        if begins or same:
            self.session, self.peer, self.silence = session, peer, 0
        return reason, lapsed, begins

    async def silent(self, ticks):
        for _ in range(ticks):
            await self.clock(1)


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def rules(dut):
    """Every answer, session and peer is that of docs/link.md."""
    bench = Bench(dut)
    rng = bench.rng
    await bench.start()
    seen = set()
    for index in range(parameters()["count"]):
        bench.stall(rng.choice([0, 0.5]))
        match rng.choices(["hello", "bye", "other"], [10, 1, 3])[0]:
            case "hello":
                seen.add(await bench.hello())
            case "bye" if bench.session:
                assert await bench.frame(FrameType.BYE, bench.session) is None
                bench.session, bench.silence = 0, 0
            case "other" if bench.session:
                bench.peer = rng.getrandbits(_PEER)
                assert await bench.frame(FrameType.ACK, bench.session, peer=bench.peer) is None
                bench.silence = 0
        assert int(dut.session.value) == bench.session
        assert not bench.session or int(dut.peer.value) == bench.peer
        if index % 40 == 20 and bench.session:
            # Just not lapsed, and just so.
            await bench.silent(1000 * LAPSE_SECONDS - 1 - bench.silence)
            assert not int(dut.lapsed.value)
            await bench.silent(rng.choice([0, 1, 1, 30]))
            seen.add(await bench.hello(stranger=rng.getrandbits(1)))
    if not bench.session:
        await bench.hello(stranger=True)
    await bench.silent(1000 * LAPSE_SECONDS)
    seen.add(await bench.hello(stranger=True))
    assert {reason for reason, _, _ in seen} == {0, *Refusal}
    assert (0, True, True) in seen, "nobody began after a silence"


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def waits(dut):
    """While an answer waits another HELLO is not looked at: no session begins unanswered."""
    bench = Bench(dut)
    await bench.start()
    bench.stall(1.0)
    await bench.frame(FrameType.HELLO, 5, version=LINK_VERSION)
    bench.session = 5
    await bench.frame(FrameType.HELLO, 6, HelloFlag.TAKE_OVER, LINK_VERSION)
    assert not bench.begun and int(dut.session.value) == 5
    bench.stall(0)
    for _ in range(20):
        await bench.clock()
    assert bench.reply["session"] == 5
