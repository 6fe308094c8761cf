"""Between datagrams and frames: nothing lost, in order, whole, whatever the two clocks are."""

import random

import pytest
from amaranth.sim import Simulator
from bregalad_hw.link.datagram import DatagramReceiver, DatagramTransmitter

FRAME_BYTES = 64
PERIODS = pytest.mark.parametrize("sync, network", [(8e-9, 16e-9), (16e-9, 8e-9), (10e-9, 9.7e-9)])
STALLS = pytest.mark.parametrize("stalls", [(0, 0), (0.5, 0), (0, 0.5), (0.3, 0.8)])


def frames(rng, count=15):
    """Words, and the other end, of some frames."""
    return [
        (
            [rng.getrandbits(32) for _ in range(rng.randint(1, FRAME_BYTES // 4 + 5))],
            {"ip": rng.getrandbits(32), "port": rng.getrandbits(16)},
        )
        for _ in range(count)
    ]


def simulate(dut, periods, *benches):
    sim = Simulator(dut)
    for domain, period in zip(("sync", "network"), periods, strict=True):
        # Phases are as they come, not aligned at the start.
        sim.add_clock(period, domain=domain, phase=period * 0.37)

    async def watchdog(ctx):
        # Not `repeat`: its generator cannot be closed when the simulation ends before it.
        for _ in range(20_000):
            await ctx.tick()
        raise AssertionError("not everything came through")

    for run in benches:
        sim.add_testbench(run)
    sim.add_testbench(watchdog, background=True)
    sim.run()


async def put(ctx, port, payload, domain, rng, stall):
    while rng.random() < stall:
        await ctx.tick(domain)
    ctx.set(port.payload, payload)
    ctx.set(port.valid, 1)
    await ctx.tick(domain).until(port.ready)
    ctx.set(port.valid, 0)


async def take(ctx, port, domain, rng, stall, *others):
    """The payload of a transfer, values of ``others`` with it, and how often there was nothing."""
    empty = 0
    while True:
        ready = rng.random() >= stall
        ctx.set(port.ready, ready)
        _, _, valid, payload, *values = await ctx.tick(domain).sample(port.valid, port.payload, *others)
        if valid and ready:
            ctx.set(port.ready, 0)
            return payload, values, empty
        empty += not valid


@PERIODS
@STALLS
def test_received_frames(sync, network, stalls, seed):
    rng = random.Random(seed)
    sent = [(words, peer, rng.choice([0, 0, 1]), rng.choice([8, 8, 8, 1, 2, 4])) for words, peer in frames(rng)]
    dut = DatagramReceiver()

    async def source(ctx):
        for words, peer, error, last_be in sent:
            for at, word in enumerate(words, 1):
                end = {"last": at == len(words), "last_be": 0, "error": 0}
                end |= {"last_be": last_be, "error": error} if end["last"] else {}
                await put(ctx, dut.i, {"data": word, "peer": peer} | end, "network", rng, stalls[0])

    async def sink(ctx):
        for words, peer, error, last_be in sent:
            for at, word in enumerate(words, 1):
                got, (came,), _ = await take(ctx, dut.o, "sync", rng, stalls[1], dut.peer)
                last = at == len(words)
                assert (got.data, got.last) == (word, last)
                assert got.bad == (last and bool(error or last_be != 8))
                assert (came.ip, came.port) == (peer["ip"], peer["port"])

    simulate(dut, (sync, network), source, sink)


@PERIODS
@STALLS
def test_sent_frames(sync, network, stalls, seed):
    rng = random.Random(seed)
    sent = frames(rng)
    dut = DatagramTransmitter(FRAME_BYTES)

    async def source(ctx):
        for words, peer in sent:
            ctx.set(dut.peer, peer)
            for at, word in enumerate(words, 1):
                await put(ctx, dut.i, {"data": word, "last": at == len(words)}, "sync", rng, stalls[0])

    async def sink(ctx):
        for words, peer in sent:
            for at, word in enumerate(words, 1):
                got, _, empty = await take(ctx, dut.o, "network", rng, stalls[1])
                assert (got.data, got.last) == (word, at == len(words))
                assert got.length == 4 * len(words)
                assert (got.peer.ip, got.peer.port) == (peer["ip"], peer["port"])
                assert at == 1 or not empty, "a gap within a datagram"

    simulate(dut, (sync, network), source, sink)
