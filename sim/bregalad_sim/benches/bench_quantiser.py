"""The quantiser against its golden model: any layouts, edges and rows, changed on the way, stalls everywhere."""

from dataclasses import asdict

import cocotb
from bregalad.geometry import Geometry
from bregalad.protocol.rows import (
    KIND_BYTES,
    ROW_COMMAND,
    Column,
    RowCommand,
    RowKind,
    RowLayout,
    RowOpcode,
    records_command,
)
from bregalad_hw.front.quantiser import Quantiser, codes_layout
from cocotb.triggers import RisingEdge

from bregalad_sim.benches.front_traffic import RowTraffic
from bregalad_sim.bits import unpack
from bregalad_sim.golden import GoldenQuantiser
from bregalad_sim.rows import any_layout, any_rows
from bregalad_sim.runner import parameters

_QUIET = 10_000  # clocks in which nothing is taken: rows of a table without an end take a clock for each of its places
_STALLS = [(0.0, 0.0), (0.0, 0.7), (0.7, 0.0), (0.4, 0.4)]


class Bench(RowTraffic):
    def __init__(self, dut):
        geometry, steps = Geometry(**parameters()["geometry"]), parameters()["steps"]
        self.sized = Quantiser(geometry, steps)
        super().__init__(dut, self.sized, geometry, steps)

    async def run(self, commands, stall_in, stall_out):
        """The beats that commands lead to, the clocks in which they came, and in which each word was taken."""
        dut, rng = self.dut, self.rng
        for command in commands:
            self.send(command)
        self.stall(stall_in)
        beats, came, taken = [], [], []
        clock = idle = late = quiet = 0
        while idle < self.sized.latency + 2:
            self.drive()
            room = rng.random() >= stall_out
            dut.room.value = room
            moved = await self.settle()
            taken += [clock] * (moved["i"] is not None)
            if int(dut.o__valid.value):
                beats.append(dut.o__payload.value)  # of tables that nobody made it may be X
                came.append(clock)
            late = 0 if room else late + int(dut.o__valid.value)
            assert late <= self.sized.under_way, "beats without room"
            idle = 0 if int(dut.busy.value) or self.commands.items or self.commands.offered else idle + 1
            await RisingEdge(dut.clk)
            clock += 1
            quiet = 0 if moved != {"i": None, "command": None} else quiet + 1
            assert quiet < _QUIET, f"no end: {len(self.words.items)} words, {len(self.commands.items)} commands left"
        assert not self.words.items and not self.words.offered, "all that follows a command is taken"
        return beats, came, taken

    def stream(self, layout, changes):
        """Commands: the layout, edges of all its numbers, then rows with changes of edges in between."""
        g, rng = self.geometry, self.rng
        commands, numbers = self.declared(layout)
        for _ in range(changes):
            rows = any_rows(layout, self.numbers, rng.choice([0, 1, rng.randint(2, 20)]))
            offset = rng.choice([0, rng.randrange(g.bus_bytes)])
            commands.append(records_command(g, layout, rows, offset=offset, flags=rng.randrange(256)))
            if numbers and rng.random() < 0.7:
                commands.append(self.edges(layout, rng.choice(numbers)))
        return commands

    def check(self, golden, commands, beats):
        want = [asdict(beat) for command in commands for beat in golden.execute(*command)]
        assert len(beats) == len(want), f"{len(beats)} beats of {len(want)}"
        for at, (bits, right) in enumerate(zip(beats, want, strict=True)):
            beat = unpack(codes_layout(self.geometry), int(bits))
            if not right["last"]:  # label and flags are known at the end only
                beat = beat | {name: right[name] for name in ("label", "flags")}
            assert beat == right, f"beat {at}"


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def matches_golden(dut):
    """Layouts that follow each other; of each a stream of rows and edges."""
    bench = Bench(dut)
    await bench.start()
    golden = GoldenQuantiser(bench.geometry)
    for index in range(parameters()["rounds"]):
        layout = any_layout(bench.geometry, bench.numbers)
        commands = bench.stream(layout, 8)
        beats, _, _ = await bench.run(commands, *_STALLS[index % 4])
        bench.check(golden, commands, beats)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def rate(dut):
    """As many numbers, or codes, per clock as the bus brings, and the latency that is stated."""
    bench = Bench(dut)
    await bench.start()
    g = bench.geometry
    golden = GoldenQuantiser(g)
    for kind in (RowKind.CODE, RowKind.F32, RowKind.U16) if g.searchers else (RowKind.CODE,):
        size = KIND_BYTES[kind]
        for begin in (0, 2):  # label and flags before the attributes, or none
            columns = [Column(f"a{i}", begin + size * i, kind) for i in range(g.max_cells)]
            layout = RowLayout(columns, label=0 if begin else None, flags=1 if begin else None)
            commands = bench.stream(layout, 0)
            bench.check(golden, commands, (await bench.run(commands, 0.0, 0.0))[0])
            count = 60
            commands = [records_command(g, layout, any_rows(layout, bench.numbers, count))]
            beats, came, taken = await bench.run(commands, 0.0, 0.0)
            bench.check(golden, commands, beats)
            together = g.bus_bytes if kind is RowKind.CODE else g.searchers
            steps = sum(-(-min(g.lanes, g.max_cells - at) // together) for at in range(0, g.max_cells, g.lanes))
            clocks = max(steps, layout.stride / g.bus_bytes)
            assert layout.clocks(g) == clocks
            first = came[g.passes - 1]  # record's last beat
            assert came[-1] - first <= clocks * (count - 1) + 2, (kind, begin, came[-1] - first, clocks)
            # The last beat is complete with the last word, unless steps wait for each other.
            if layout.stride >= steps * g.bus_bytes:
                assert came[-1] - taken[-1] == bench.sized.latency, came[-1] - taken[-1]


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def ends_whatever_it_is_told(dut):
    """Commands and tables of steps at random: each comes to its end, and takes all that follows it."""
    bench = Bench(dut)
    await bench.start()
    g, rng = bench.geometry, bench.rng
    known = [int(opcode) for opcode in RowOpcode]
    stride = 1
    for index in range(4):
        commands = []
        for _ in range(12):
            opcode = rng.choice([*known, rng.randrange(256)])
            counts = [0, 1, rng.randrange(20)]
            values = {"opcode": opcode, "count": rng.choice(counts), "offset": rng.randrange(g.bus_bytes)}
            values |= {name: rng.choice([0, 1, rng.getrandbits(16)]) for name in ("lane", "row", "need")}
            values["stride"] = rng.choice([0, 1, rng.randrange(200), rng.getrandbits(16)])
            size = 0
            match opcode:
                case RowOpcode.LAYOUT:
                    values["count"] = rng.choice([*counts, 2 * bench.steps + 3])
                    size = 16 * values["count"]
                    stride = max(1, values["stride"])
                case RowOpcode.EDGES:
                    values["count"] = rng.choice([*counts, 255, 256, 300])
                    size = 4 * values["count"]
                case RowOpcode.RECORDS if values["count"]:
                    if stride > 1000:
                        values["count"] = 1
                    size = values["offset"] + values["count"] * stride
            size += -size % g.bus_bytes
            commands.append(RowCommand(ROW_COMMAND.pack(**values), rng.randbytes(size)))
        await bench.run(commands, *_STALLS[index % 4])
    golden = GoldenQuantiser(g)
    commands = bench.stream(any_layout(g, bench.numbers), 4)
    bench.check(golden, commands, (await bench.run(commands, 0.0, 0.0))[0])
