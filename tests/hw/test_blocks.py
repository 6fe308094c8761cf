"""What blocks of the hardware promise besides; test_benches.py has each under its own bench."""

import random
from collections import defaultdict

import pytest
from amaranth import Assert, Module, Signal
from amaranth.sim import Simulator
from bregalad.criteria import CRITERIA
from bregalad.geometry import Geometry
from bregalad.protocol.registers import CONFIGURATION
from bregalad.protocol.rows import reach_of
from bregalad.protocol.tree import TREE_REGISTERS
from bregalad_hw.accelerator import RESET_CLOCKS, Accelerator
from bregalad_hw.array.array import AttributeProcessorArray
from bregalad_hw.array.processor import AttributeProcessor
from bregalad_hw.delay import DelayLine
from bregalad_hw.duplicate import DuplicatedRegister, distribute, distribution_latency
from bregalad_hw.gain.gain import arithmetic_latency
from bregalad_hw.gain.scan import Scan
from bregalad_hw.mcmu.aligner import Aligner
from bregalad_hw.mcmu.events import EventCounters
from bregalad_sim.runner import run
from test_benches import EVEN, QUANTISERS


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


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_reset_outlasts_what_is_under_way(criterion):
    """Registers without a reset are empty when it ends, in the largest geometry too."""
    classes = 2 if criterion == "kearns_mansour" else 32
    sizes = {"lanes": 1024, "passes": 31, "bins": 64, "slots": 32768, "count_width": 32, "bus_width": 512}
    largest = Geometry(classes=classes, criterion=criterion, naive_bayes=True, **sizes)
    array = AttributeProcessorArray(largest)
    lane = AttributeProcessor(largest, 0)
    scan = Scan(largest, latency=arithmetic_latency(largest), spread=array.spread, gathered=array.gather_clocks)
    longest = max(
        lane.count_latency + scan.load_clocks,
        scan.latency + 7,
        array.partial_latency,
        array.read_latency,
        array.clamped_latency,
        1 + array.config_latency + array.spread + AttributeProcessor.read_latency,  # from a written register
    )
    assert 3 * DuplicatedRegister.latency + longest < RESET_CLOCKS


def test_the_ring_is_as_large_as_layouts_may_want():
    for sizes, _ in QUANTISERS.values():
        geometry = Geometry(**sizes)
        assert Aligner(geometry.bus_width, 2, geometry.bus_bytes).size == 2 * reach_of(geometry)


def test_event_counters(seed):
    """Counters are right after the latency, whichever is looked at, and after clears."""
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


@pytest.mark.slow
def test_what_is_written_is_everywhere_before_a_command(seed, tmp_path):
    """From the clock on in which commands may come again after a write no signal follows from it any more."""
    rng = random.Random(seed)
    dut = Accelerator(Geometry(**EVEN))
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
