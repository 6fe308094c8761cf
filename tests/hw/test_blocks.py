"""Each block of the array and of the memory controller unit by itself, on Icarus."""

import random
from collections import defaultdict

import pytest
from amaranth import Assert, Module, Signal
from amaranth.sim import Simulator
from bregalad.geometry import Geometry
from bregalad.protocol.registers import CONFIGURATION
from bregalad.protocol.tree import TREE_REGISTERS
from bregalad_hw.accelerator import Accelerator
from bregalad_hw.array.bayes import partial_latency
from bregalad_hw.array.merge import Merge
from bregalad_hw.delay import DelayLine
from bregalad_hw.duplicate import distribute, distribution_latency
from bregalad_hw.mcmu.events import EventCounters
from bregalad_hw.mcmu.predictor import Predictor
from bregalad_hw.mcmu.report import ReportWriter
from bregalad_hw.mcmu.scheduler import AttemptScheduler
from bregalad_hw.registers import RegisterFile
from bregalad_sim.benches.bench_processor import Lane
from bregalad_sim.benches.counting import Counting
from bregalad_sim.runner import run
from marks import nightly

# Tiny, so that operations meet on the same words; passes and lanes are no powers of two.
SIZES = {
    "even": dict(lanes=2, passes=2, bins=4, classes=2, slots=2, count_width=12, bus_width=32),
    "odd": dict(lanes=3, passes=3, bins=8, classes=3, slots=5, count_width=13, bus_width=64),
    "one": dict(lanes=1, passes=1, bins=4, classes=2, slots=3, count_width=32, bus_width=128),
}
SIZES = {name: sizes | {"nodes": 9} for name, sizes in SIZES.items()}


@pytest.mark.parametrize(
    "sizes, lane, naive_bayes, rounds",
    [
        ("even", 1, True, 4),
        ("one", 0, False, 4),
        *nightly(("even", 1, False, 12), ("even", 1, True, 12), ("odd", 2, True, 12), ("odd", 2, False, 12)),
        *nightly(("one", 0, False, 12)),
    ],
)
def test_processor(sizes, lane, naive_bayes, rounds, tmp_path):
    sizes = SIZES[sizes] | {"naive_bayes": naive_bayes}
    dut = Lane(Geometry(**sizes), lane, snapshots=2)
    run(dut, "dut", "bench_processor", tmp_path, geometry=sizes, lane=lane, snapshots=2, rounds=rounds, clocks=250)


@pytest.mark.parametrize("width, clocks", [(1, 3), (24, 8), (7, 17)])
def test_delay_line(width, clocks, tmp_path):
    run(DelayLine(width, clocks), "dut", "bench_delay", tmp_path, width=width, clocks=clocks)


class _Doubtful(DelayLine):
    """A delay line that asserts of a value that it never comes."""

    def __init__(self, width, clocks, never):
        super().__init__(width, clocks)
        self.never = never

    def elaborate(self, platform):
        m = super().elaborate(platform)
        m.d.sync += Assert(self.i != self.never, "it comes")
        return m


@pytest.mark.parametrize("simulator", ["icarus", pytest.param("verilator", marks=pytest.mark.slow)])
def test_a_broken_assertion_fails_the_bench(simulator, tmp_path):
    with pytest.raises(SystemExit, match="an assertion of the design"):
        run(_Doubtful(3, 8, 5), "dut", "bench_delay", tmp_path, simulator, width=3, clocks=8)


def test_merge(tmp_path):
    sizes = dict(lanes=4, passes=4, bins=4, classes=3, slots=2, count_width=12)
    run(Merge(Geometry(**sizes)), "dut", "bench_merge", tmp_path, geometry=sizes, rounds=32)


@pytest.mark.parametrize("sizes", ["one", "odd"])
def test_report(sizes, tmp_path):
    sizes = SIZES[sizes]
    run(ReportWriter(Geometry(**sizes)), "dut", "bench_report", tmp_path, geometry=sizes, rounds=24)


@pytest.mark.parametrize("naive_bayes", [False, True])
def test_registers(naive_bayes, tmp_path):
    geometry = Geometry(lanes=3, passes=3, bins=4, classes=3, slots=2, naive_bayes=naive_bayes)
    dut = RegisterFile(geometry)
    run(dut, "dut", "bench_registers", tmp_path, geometry=geometry.as_dict(), clocks=1000)


def test_event_counters():
    """Counters are right after the latency, whichever is looked at, and after clears."""
    seed = random.SystemRandom().getrandbits(31)
    print(f"seed {seed}")
    rng = random.Random(seed)
    most = {"single": 1, "several": 7, "bytes": 64, "never": 1, "rare": 1}
    dut = EventCounters(most)
    often = {"single": 0.9, "several": 1, "bytes": 1, "never": 0, "rare": 0.05}
    names = list(most)

    async def check(ctx):
        want = dict.fromkeys(names, 0)
        for _ in range(3000):
            if rng.random() < 0.02:
                ctx.set(dut.clear, 1)
                await ctx.tick()
                ctx.set(dut.clear, 0)
                want = dict.fromkeys(names, 0)
            for _ in range(rng.choice((0, 1, 2, 3, 50))):
                if rng.random() < 0.3:
                    ctx.set(dut.read, rng.randrange(len(names)))
                for name in names:
                    events = rng.randrange(most[name] + 1) if rng.random() < often[name] else 0
                    ctx.set(getattr(dut, name), events)
                    want[name] += events
                await ctx.tick()
            for name in names:
                ctx.set(getattr(dut, name), 0)
            looked_at = rng.choice(names)
            ctx.set(dut.read, names.index(looked_at))
            await ctx.tick().repeat(EventCounters.latency)
            # A counter's own last events may be later than what it is asked for.
            settled = ctx.get(dut.value)
            await ctx.tick().repeat(4)
            assert ctx.get(dut.value) == want[looked_at], looked_at
            assert settled <= want[looked_at]
            ctx.set(dut.read, names.index("several"))
            await ctx.tick().repeat(EventCounters.latency)
            assert ctx.get(dut.value) == want["several"], "asked for later"

    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(check)
    simulator.run()


@pytest.mark.parametrize(
    "sizes, others, rounds",
    [
        ("even", {}, 20),
        ("one", {"slots": 8, "alternates": 2}, 20),
        *nightly(("even", {}, 40), ("odd", {}, 40), ("even", {"slots": 6, "alternates": 1}, 40)),
        *nightly(("odd", {"slots": 24}, 40), ("one", {"slots": 8}, 40)),
    ],
)
def test_tracker(sizes, others, rounds, tmp_path):
    sizes = SIZES[sizes] | {"naive_bayes": True} | others
    run(Counting(Geometry(**sizes)), "dut", "bench_tracker", tmp_path, geometry=sizes, rounds=rounds)


@pytest.mark.parametrize(
    "sizes, options",
    [pytest.param("even", {"depth": 1024}, marks=pytest.mark.slow), ("odd", {"depth": 20}), ("one", {"depth": 40})],
)
def test_predictor(sizes, options, tmp_path):
    sizes = SIZES[sizes] | {"naive_bayes": True}
    geometry = Geometry(**sizes)
    options["waiting"] = partial_latency(geometry) + 4
    # None are taken for a while, and a small queue ends the rate.
    cases = ["matches_golden", "ties", "rate"][: 3 if options["depth"] > 30 else 2]
    run(
        Predictor(geometry, **options),
        "dut",
        "bench_predictor",
        tmp_path,
        geometry=sizes,
        options=options,
        rounds=24,
        testcase=cases,
    )


@pytest.mark.parametrize("depth, heads, snapshots", [(4, 5, 4), (1, 2, 1)])
def test_scheduler(depth, heads, snapshots, tmp_path):
    sizes = SIZES["odd"] | {"naive_bayes": True}
    options = {"depth": depth, "heads": heads, "snapshots": snapshots}
    dut = AttemptScheduler(Geometry(**sizes), **options)
    run(dut, "dut", "bench_scheduler", tmp_path, geometry=sizes, rounds=20, clocks=200, **options)


def _changes(path):
    """Clocks in which each signal of a VCD changes, by its name and number."""
    names, clocks, clock = {}, defaultdict(set), 0
    for line in path.read_text().splitlines():
        kind, *rest = line.split() or [""]
        if kind == "$var":
            names[rest[2]] = rest[3]
        elif kind.startswith("#"):
            clock = int(kind[1:]) // 10**9
        elif kind[:1] in ("0", "1", "b") and clock:
            clocks[rest[0] if rest else kind[1:]].add(clock)
    return {f"{names[number]} {number}": changed for number, changed in clocks.items()}


def test_what_is_written_is_everywhere_before_a_command(seed, tmp_path):
    """From the clock on in which commands may come again after a write no signal follows from it any more."""
    rng = random.Random(seed)
    dut = Accelerator(Geometry(**SIZES["even"], naive_bayes=True))
    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    before, rest = 200, 30
    clocks, quiet = 0, []

    async def write(ctx):
        nonlocal clocks

        async def step(count=1):
            nonlocal clocks
            await ctx.tick().repeat(count)
            clocks += count

        await step(before)
        for register in [*CONFIGURATION, *TREE_REGISTERS]:
            ctx.set(dut.csr.addr, register.addr // 4)
            ctx.set(dut.csr.w_data, rng.getrandbits(32))
            await step(10)
            ctx.set(dut.csr.w_en, 1)
            await step()
            ctx.set(dut.csr.w_en, 0)
            await step()
            while not ctx.get(dut.commands.ready):
                await step()
            quiet.extend(range(clocks, clocks + rest))
            await step(rest)

    simulator.add_testbench(write)
    path = tmp_path / "waves.vcd"
    with simulator.write_vcd(str(path)):
        simulator.run()
    changes = _changes(path)
    written = {name: sorted(at & set(quiet)) for name, at in changes.items() if not any(50 < x < before for x in at)}
    assert len(changes) > 500 and len(quiet) > 300
    assert not any(written.values()), {name: at for name, at in written.items() if at}


@pytest.mark.parametrize("readers, duplicates", [(1, 1), (8, 8), (32, 36), (33, 14), (70, 29)])
def test_distribution(readers, duplicates):
    """Of more than 32 readers four share their registers; those before, eight of these."""
    m = Module()
    number, flag = Signal(9), Signal()
    told = distribute(m, readers, number=number, flag=flag)
    assert len(told) == readers
    assert len(list(m._named_submodules)) == duplicates
    random.seed(readers)
    given = [(random.randrange(512), random.randrange(2)) for _ in range(20)]

    async def bench(ctx):
        late = distribution_latency(readers)
        for clock, values in enumerate(given):
            ctx.set(number, values[0])
            ctx.set(flag, values[1])
            await ctx.tick()
            if clock >= late - 1:
                assert {(ctx.get(reader["number"]), ctx.get(reader["flag"])) for reader in told} == {
                    given[clock - late + 1]
                }

    simulator = Simulator(m)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
