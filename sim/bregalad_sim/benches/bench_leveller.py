"""The leveller of a DDR3 chip, against a stand-in for pins and chip whose bytes can be read at a few places only."""

import random

import cocotb
from bregalad_hw.boards.levelling import DELAYS, PATTERNS, PHASES, SLIPS
from cocotb.triggers import ReadOnly, RisingEdge

from bregalad_sim.runner import parameters
from bregalad_sim.streams import reset

LATENCY = 9  # clocks from a read to its words
BYTES = 2


class Reader:
    """A byte's: where it is, and where it can be read."""

    def __init__(self, rng):
        self.slip, self.delay = rng.randrange(SLIPS), rng.randrange(DELAYS)  # nobody has reset it yet
        self.rng = rng
        slip, other = rng.sample(range(SLIPS), 2)
        length = rng.randint(2, DELAYS)
        first = rng.randint(0, DELAYS - length)
        shorter = rng.randint(0, length - 1)
        self.whole = {(slip, delay) for delay in range(first, first + length)}
        self.whole |= {(other, delay) for delay in range(shorter)}
        self.best = slip, (2 * first + length - 1) // 2
        rest = [(s, d) for s in range(SLIPS) for d in range(DELAYS) if (s, d) not in self.whole]
        rng.shuffle(rest)
        self.silent, self.spotty = set(rest[:6]), set(rest[6:12])  # no burst; one pattern is not read

    def read(self, words, pattern):
        """The bytes that come, and whether there was a burst."""
        at = self.slip, self.delay
        if at in self.whole or at in self.silent or (at in self.spotty and pattern != 2):
            return words, at not in self.silent
        return words[1:] + words[:1], True


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def finds_the_middle(dut):
    """Initialised step by step, each byte in the middle of its longest run; then the chip is the controller's."""
    rng = random.Random(cocotb.RANDOM_SEED)
    steps, read_phase, write_phase = (parameters()[name] for name in ("steps", "read_phase", "write_phase"))
    readers = [Reader(rng) for _ in range(BYTES)]
    dut._log.info("wanted: %s", [reader.best for reader in readers])
    blind = rng.randrange(BYTES)  # a byte that cannot be read at all in the first search
    can, readers[blind].whole = readers[blind].whole, set()
    ours = [
        getattr(dut, f"controller__{phase}__{name}") for phase in PHASES for name in ("address", "wrdata", "rddata_en")
    ]
    theirs = [getattr(dut, f"phy__{phase}__{name}") for phase in PHASES for name in ("address", "wrdata", "rddata_en")]
    await reset(dut, dut.burst_seen, *ours)
    phases = [
        {name: getattr(dut, f"phy__{phase}__{name}") for name in ("cs_n", "ras_n", "cas_n", "we_n", "address", "bank")}
        for phase in PHASES
    ]
    chip = [
        {name: getattr(dut, f"phy__{phase}__{name}") for name in ("wrdata", "wrdata_en", "rddata_en")}
        for phase in PHASES
    ]
    came = [getattr(dut, f"phy__{phase}__rddata") for phase in PHASES]
    valid = [getattr(dut, f"phy__{phase}__rddata_valid") for phase in PHASES]
    width = len(came[0])

    sent, words, row_open, seen, tests, changes = [], None, False, 0, 0, 0
    coming, failed = {}, 0
    for clock in range(60_000):
        shown = coming.pop(clock, None)
        for phase in range(2):
            valid[phase].value = shown is not None
            if shown is not None:
                came[phase].value = shown[0] >> phase * width & (1 << width) - 1
        if shown is not None:
            seen |= shown[1]
        dut.burst_seen.value = seen
        await ReadOnly()
        if int(dut.ready.value):
            break
        if int(dut.burst_clear.value):
            seen = 0
        for number, phase in enumerate(phases):
            if int(phase["cs_n"].value):
                continue
            command = tuple(int(phase[name].value) for name in ("ras_n", "cas_n", "we_n"))
            if not changes:
                sent.append((int(phase["address"].value), int(phase["bank"].value), command))
            elif command == (0, 1, 1):
                assert not row_open
                row_open = True
            elif command == (0, 1, 0):
                assert row_open
                row_open = False
            elif command == (1, 0, 0):
                assert row_open and number == write_phase and int(chip[number]["wrdata_en"].value)
                words = sum(int(chip[i]["wrdata"].value) << i * width for i in range(2))
            elif command == (1, 0, 1):
                assert row_open and number == read_phase and int(chip[number]["rddata_en"].value)
                read, bursts = 0, 0
                for i, reader in enumerate(readers):
                    line = words.to_bytes(2 * width // 8, "little")[i::BYTES]
                    assert line in PATTERNS
                    got, burst = reader.read(line, PATTERNS.index(line))
                    bursts |= burst << i
                    read |= sum(byte << 8 * (BYTES * beat + i) for beat, byte in enumerate(got))
                coming[clock + LATENCY] = read, bursts
                tests += 1
            else:
                raise AssertionError(f"a command {command} in a test")
        chosen = int(dut.select.value)
        for name, field, limit in (("delay", "delay", DELAYS), ("slip", "slip", SLIPS)):
            back, forth = (int(getattr(dut, f"{name}_{way}").value) for way in ("reset", "step"))
            changes += back or forth
            for i, reader in enumerate(readers):
                if chosen >> i & 1:
                    if back:
                        setattr(reader, field, 0)
                    elif forth:
                        setattr(reader, field, (getattr(reader, field) + 1) % limit)
        if tests == len(PATTERNS) * (SLIPS * DELAYS + 1):
            readers[blind].whole = can
            failed |= int(dut.failed.value)
        await RisingEdge(dut.clk)
    assert int(dut.ready.value), "never ready"
    assert failed and not int(dut.failed.value)
    assert tests == 2 * len(PATTERNS) * (SLIPS * DELAYS + 1), tests
    names = ("RAS", "CAS", "WE")
    wanted = [
        (a, b, tuple(int(f"COMMAND_{name}" not in what) for name in names)) for a, b, what, _ in steps if "_CS" in what
    ]
    assert sent == wanted, sent
    assert [(reader.slip, reader.delay) for reader in readers] == [reader.best for reader in readers]
    for _ in range(20):
        await RisingEdge(dut.clk)
        values = [rng.getrandbits(len(signal)) for signal in ours]
        for signal, value in zip(ours, values, strict=True):
            signal.value = value
        await ReadOnly()
        assert [int(signal.value) for signal in theirs] == values
