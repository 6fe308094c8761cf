"""The accelerator at the end of a serial line: the driver's own session on the other end.

Whatever happens to frames on the way, the reports are those of the golden model.
"""

import random
from collections import deque

import cocotb
import numpy as np
from bregalad.geometry import Geometry
from bregalad.link.session import Session
from bregalad.protocol.commands import Opcode, pack_command
from bregalad.protocol.link import Refusal, decode_cobs, encode_cobs
from bregalad.protocol.registers import EVENTS, find, identity
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, Timer
from cocotb.utils import get_sim_time
from cocotbext.uart import UartSink, UartSource

from bregalad_sim.benches.models import quiet
from bregalad_sim.golden import Golden
from bregalad_sim.runner import parameters
from bregalad_sim.traffic import Traffic

_POLL = 200  # microseconds between two looks at the line
_AHEAD = 64  # bytes that may wait to be sent


def now():
    return get_sim_time("us") * 1e-6


class Host:
    """The driver's end of a session over a serial line that damages frames."""

    def __init__(self, dut, rng):
        self.dut, self.rng = dut, rng
        self.share = 0.0  # of frames lost, damaged, doubled, each
        self.source = UartSource(dut.rx, baud=parameters()["baud"])
        self.sink = UartSink(dut.tx, baud=parameters()["baud"])
        quiet(dut, "rx", "tx")
        self.down = deque()
        self.up = bytearray()
        self.session = None
        self.reports = bytearray()

    def spoil(self, frame):
        """What arrives of a frame on its way."""
        rng = self.rng
        if rng.random() < self.share:
            return []
        if rng.random() < self.share:
            frame = bytearray(frame)
            if rng.random() < 0.5:
                frame[rng.randrange(len(frame))] ^= 1 << rng.randrange(8)
            else:
                del frame[rng.randrange(len(frame)) :]
        return [frame] * (2 if rng.random() < self.share else 1)

    async def step(self):
        """Let time pass; move what has come and what is to go."""
        await Timer(_POLL, unit="us")
        self.up += self.sink.read_nowait()
        *frames, self.up = self.up.split(b"\0")
        for encoded in frames:
            for spoiled in self.spoil(encoded) if encoded else []:
                frame = decode_cobs(bytes(spoiled))
                self.session.take(b"" if frame is None else frame, now())
        self.reports += self.session.reports()
        for frame in self.session.frames(now()):
            for spoiled in self.spoil(encode_cobs(frame)):
                self.down.append(bytes(spoiled) + b"\0")
        while self.down and self.source.count() < _AHEAD:
            self.source.write_nowait(self.down.popleft())

    async def until(self, condition, seconds):
        self.session.waiting = True
        limit = now() + seconds
        while not condition():
            assert now() < limit, f"nothing for {seconds} s, session {vars(self.session)}"
            await self.step()
        self.session.waiting = False

    async def begin(self, number, take_over=False):
        self.session = Session(number, Geometry(**parameters()["geometry"]).bus_bytes)
        self.session.begin(take_over)
        await self.until(lambda: not self.session.asking, 10)
        return self.session

    async def read(self, *names):
        for name in names:
            self.session.access(find(name).addr)
        await self.until(lambda: len(self.session.values) == len(names), 5)
        values = [self.session.values.popleft() for _ in names]
        assert [address for address, _ in values] == [find(name).addr for name in names]
        return [value for _, value in values]


async def start(dut):
    rng = random.Random(cocotb.RANDOM_SEED)
    dut.clk.value, dut.rst.value, dut.rx.value = 0, 1, 1
    await Timer(1, unit="us")
    Clock(dut.clk, round(1e9 / parameters()["clock_hz"]), unit="ns").start()
    for _ in range(3):
        await RisingEdge(dut.clk)
    dut.rst.value = 0
    return Host(dut, rng)


@cocotb.test(timeout_time=60, timeout_unit="sec")
async def sessions(dut):
    """WELCOME tells the geometry; another program is refused, takes over, comes back."""
    host = await start(dut)
    geometry = Geometry(**parameters()["geometry"])
    session = await host.begin(0x1234)
    assert {name: session.welcome[name] for name in identity(geometry)} == identity(geometry)
    assert await host.read("identity", "memory") == [identity(geometry)[name] for name in ("identity", "memory")]
    first = session
    refused = (await host.begin(0x777)).refused
    assert refused.reason == Refusal.BUSY and refused.holder == 0x1234
    host.session = first
    first.access(find("cells").addr, True, 2)
    assert await host.read("cells") == [2]
    assert (await host.begin(0x888, take_over=True)).refused is None
    assert await host.read("cells") == [1]  # a new session begins with a reset
    host.session = first
    first.resume()
    await host.until(lambda: not first.asking, 5)
    assert first.refused.reason == Refusal.GONE and first.refused.holder == 0x888


@cocotb.test(timeout_time=60, timeout_unit="sec")
async def takes_over(dut):
    """A session begins amid the reports of another: none of them is taken for its own."""
    host = await start(dut)
    geometry, rng = Geometry(**parameters()["geometry"]), host.rng
    read = pack_command(geometry, Opcode.READ, slot=1, cell=0)
    for number in range(1, 6):
        host.reports.clear()
        session = await host.begin(number, take_over=True)
        fence = pack_command(geometry, Opcode.FENCE, token=number)
        want = Golden(geometry).execute(fence)
        session.send(np.frombuffer(fence, np.uint8))
        await host.until(lambda want=want: len(host.reports) >= len(want), 5)
        assert host.reports == want
        session.send(np.frombuffer(30 * read, np.uint8))
        for _ in range(rng.randrange(20, 150)):
            await host.step()


@cocotb.test(timeout_time=600, timeout_unit="sec")
async def traffic(dut):
    """Random command streams and register accesses: reports and events as the model's."""
    host = await start(dut)
    geometry, rng = Geometry(**parameters()["geometry"]), host.rng
    session = await host.begin(rng.getrandbits(31) + 1, take_over=True)
    assert session.refused is None
    golden = Golden(geometry, parameters()["row_bytes"])
    for index in range(parameters()["rounds"]):
        host.share = rng.choice(parameters()["shares"])
        traffic = Traffic(geometry, rng, golden.memory, rings=0)
        for name, fields in traffic.configuration():
            value = sum(fields.get(f.name, 0) << lsb for f, lsb in golden.registers[name].layout())
            session.access(golden.registers[name].addr, True, value)
            golden.write_register(name, value)
        stream = b"".join(traffic.command(index % 2 == 1) for _ in range(12))
        stream += pack_command(geometry, Opcode.RESET) + pack_command(geometry, Opcode.FENCE, token=index)
        want = golden.execute(stream)
        session.send(np.frombuffer(stream, np.uint8))
        host.reports.clear()
        await host.until(lambda want=want: len(host.reports) >= len(want), 60)
        assert host.reports == want
        assert await host.read(*EVENTS) == [golden.events[name] for name in EVENTS]
    dut._log.info("%s", session.statistics)
