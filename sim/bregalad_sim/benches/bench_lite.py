"""The register port against a manager that does what it likes, and registers that are not always to be written."""

import random

import cocotb
from bregalad.protocol.soc import SOC_BASE, SOC_BYTES
from bregalad_hw.registers import READ_LATENCY
from cocotb.triggers import ReadOnly, RisingEdge, with_timeout
from cocotbext.axi import AxiLiteBus, AxiLiteMaster

from bregalad_sim.benches.models import pause, quiet
from bregalad_sim.runner import parameters
from bregalad_sim.streams import reset

OKAY, SLVERR = 0, 2


class Bench:
    """Both groups' registers, as their ports see them."""

    def __init__(self, dut):
        self.dut = dut
        self.rng = random.Random(cocotb.RANDOM_SEED)
        quiet(dut, "axi_")
        self.axi = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "axi_"), dut.clk, dut.rst)
        self.values = [{}, {}]  # of each group, by address
        self.writes = []  # (group, address, value)
        self.asked = [[0] * READ_LATENCY, [0] * READ_LATENCY]  # addresses of the last clocks

    async def start(self):
        dut = self.dut
        await reset(dut, dut.quiet, dut.halted, dut.open, dut.csr__r_data, dut.core_csr__r_data)
        self.free()
        cocotb.start_soon(self._serve())

    def free(self, quiet=1, halted=1, open_=1):
        self.quiet, self.halted, self.open = quiet, halted, open_
        self.dut.quiet.value, self.dut.halted.value, self.dut.open.value = quiet, halted, open_

    async def _serve(self):
        dut, ports = self.dut, ("csr", "core_csr")
        while True:
            await ReadOnly()
            shown = []
            for group, port in enumerate(ports):
                address = 4 * int(getattr(dut, f"{port}__addr").value)
                if int(getattr(dut, f"{port}__w_en").value):
                    value = int(getattr(dut, f"{port}__w_data").value)
                    self.values[group][address] = value
                    stopped = group and address in parameters()["stopped"]
                    free = int(dut.halted.value) if stopped else group or int(dut.quiet.value) and int(dut.open.value)
                    assert free, f"written while it may not be: {group} {address:#x}"
                    self.writes.append((group, address, value))
                self.asked[group] = [*self.asked[group][1:], address]
                shown.append(self.values[group].get(self.asked[group][0], 0))
            await RisingEdge(dut.clk)
            for port, value in zip(ports, shown, strict=True):
                getattr(dut, f"{port}__r_data").value = value

    async def write(self, address, value, strobe=None):
        if strobe is None:
            return int((await self.axi.write(address, value.to_bytes(4, "little"))).resp)
        first, count = strobe
        return int((await self.axi.write(address + first, bytes(count))).resp)

    async def read(self, address):
        answer = await self.axi.read(address, 4)
        return int(answer.resp), int.from_bytes(answer.data, "little")


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def anything(dut):
    """Any addresses, all channels paused, writes that have to wait: what was written is read, else SLVERR."""
    bench = Bench(dut)
    rng, given = bench.rng, parameters()
    await bench.start()
    pause(rng, 0.5, bench.axi.read_if, bench.axi.write_if)
    known = [given["accelerator"], given["core"]]
    mine = [{}, {}]
    seen = dict.fromkeys(("read", "written", "unknown", "read-only", "partial", "vain"), 0)
    for _ in range(120):
        bench.free(*(rng.random() < 0.7 for _ in range(3)))
        group = rng.randrange(2)
        offset = rng.choice([rng.choice(known[group]), rng.choice(given["read_only"]), rng.randrange(0, SOC_BASE, 4)])
        address, there = (
            group * SOC_BASE + offset,
            offset in known[group] or group == 0 and offset in given["read_only"],
        )
        assert address < SOC_BYTES
        may = bool(group or bench.open)
        if rng.random() < 0.5:
            if not may and there:
                bench.free(quiet=0)
            answer, value = await bench.read(address)
            assert answer == (OKAY if there else SLVERR)
            assert value == (mine[group].get(offset, 0) if there else 0)
            seen["read" if there else "unknown"] += 1
            continue
        if rng.random() < 0.2:
            assert await bench.write(address, 0, rng.choice([(0, 1), (1, 2), (3, 1)])) == SLVERR
            seen["partial"] += 1
            continue
        value, done = rng.getrandbits(32), len(bench.writes)
        answer = await bench.write(address, value)
        if offset not in known[group]:
            assert answer == SLVERR
            seen["read-only" if there else "unknown"] += 1
        elif answer == OKAY:
            mine[group][offset] = value
            assert bench.writes[done:] == [(group, offset, value)]
            seen["written"] += 1
            continue
        else:
            free = bench.halted if group else bench.quiet and bench.open
            assert answer == SLVERR and not free
            seen["vain"] += 1
        assert len(bench.writes) == done
    dut._log.info("%s", seen)
    assert all(seen.values()), seen


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def waits(dut):
    """A write waits until it may be, and reads go on meanwhile; stated latencies."""
    bench = Bench(dut)
    await bench.start()
    address = parameters()["accelerator"][0]
    bench.free(quiet=0)
    write = cocotb.start_soon(bench.write(address, 0x12345678))
    for _ in range(3):
        assert await bench.read(address) == (OKAY, 0)
    assert not write.done() and not bench.writes
    bench.free()
    assert await with_timeout(write, 1, "us") == OKAY
    assert await bench.read(address) == (OKAY, 0x12345678)
    read = cocotb.start_soon(bench.read(address))
    while not int(dut.axi__arvalid.value):
        await RisingEdge(dut.clk)
    clocks = 0
    while not int(dut.axi__rvalid.value):
        await RisingEdge(dut.clk)
        clocks += 1
    assert clocks == parameters()["latency"], clocks
    await read
