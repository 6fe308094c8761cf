"""The leveller of a DDR3 chip, against a stand-in for pins and chip whose bytes can be read at a few places only."""

import random

import cocotb
from bregalad_hw.boards.levelling import DELAYS, PATTERNS, PHASES, SLIPS
from cocotb.triggers import ReadOnly, RisingEdge

from bregalad_sim.runner import parameters
from bregalad_sim.streams import reset

LATENCY = 9  # clocks from a read to its words
BYTES = 2
PINS = "cs_n", "ras_n", "cas_n", "we_n", "address", "bank", "wrdata", "wrdata_en", "rddata_en", "rddata", "rddata_valid"


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


class Chip:
    """A chip behind its pins, which each byte's reader reads."""

    def __init__(self, dut, readers):
        self.dut, self.readers = dut, readers
        self.phases = [{name: getattr(dut, f"phy__{phase}__{name}") for name in PINS} for phase in PHASES]
        self.width = len(self.phases[0]["rddata"])
        self.sent = []  # commands before the first change of a delay or slip
        self.words, self.row_open, self.tests, self.changes = None, False, 0, 0
        self.coming, self.bursts = {}, 0  # by clock what is read then; bursts that have come

    def drive(self, clock):
        """Bring what is read by now."""
        words, bursts = self.coming.pop(clock, (None, 0))
        for number, phase in enumerate(self.phases):
            phase["rddata_valid"].value = words is not None
            if words is not None:
                phase["rddata"].value = words >> number * self.width & (1 << self.width) - 1
        self.bursts |= bursts
        self.dut.burst_seen.value = self.bursts

    def settle(self, clock):
        """See to a clock's commands, and to the readers' delays and slips."""
        if int(self.dut.burst_clear.value):
            self.bursts = 0
        for number, phase in enumerate(self.phases):
            if not int(phase["cs_n"].value):
                self.execute(clock, number, tuple(int(phase[name].value) for name in ("ras_n", "cas_n", "we_n")))
        chosen = int(self.dut.select.value)
        for field, limit in (("delay", DELAYS), ("slip", SLIPS)):
            back, forth = (int(getattr(self.dut, f"{field}_{way}").value) for way in ("reset", "step"))
            self.changes += back or forth
            for i, reader in enumerate(self.readers):
                if chosen >> i & 1 and (back or forth):
                    setattr(reader, field, 0 if back else (getattr(reader, field) + 1) % limit)

    def execute(self, clock, number, command):
        phase = self.phases[number]
        if not self.changes:
            self.sent.append((int(phase["address"].value), int(phase["bank"].value), command))
        elif command in ((0, 1, 1), (0, 1, 0)):
            opens = command == (0, 1, 1)
            assert self.row_open != opens
            self.row_open = opens
        elif command == (1, 0, 0):
            assert self.row_open and number == parameters()["write_phase"] and int(phase["wrdata_en"].value)
            self.words = sum(int(each["wrdata"].value) << i * self.width for i, each in enumerate(self.phases))
        else:
            assert command == (1, 0, 1), f"a command {command} in a test"
            assert self.row_open and number == parameters()["read_phase"] and int(phase["rddata_en"].value)
            read, bursts = 0, 0
            for i, reader in enumerate(self.readers):
                line = self.words.to_bytes(2 * self.width // 8, "little")[i::BYTES]
                assert line in PATTERNS
                got, burst = reader.read(line, PATTERNS.index(line))
                bursts |= burst << i
                read |= sum(byte << 8 * (BYTES * beat + i) for beat, byte in enumerate(got))
            self.coming[clock + LATENCY] = read, bursts
            self.tests += 1


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def finds_the_middle(dut):
    """Initialised step by step, each byte in the middle of its longest run; then the chip is the controller's."""
    rng = random.Random(cocotb.RANDOM_SEED)
    readers = [Reader(rng) for _ in range(BYTES)]
    dut._log.info("wanted: %s", [reader.best for reader in readers])
    blind = rng.randrange(BYTES)  # a byte that cannot be read at all in the first search
    can, readers[blind].whole = readers[blind].whole, set()
    names = ("address", "wrdata", "rddata_en")
    ours, theirs = (
        [getattr(dut, f"{side}__{phase}__{name}") for phase in PHASES for name in names]
        for side in ("controller", "phy")
    )
    await reset(dut, dut.burst_seen, *ours)
    chip, failed = Chip(dut, readers), 0
    for clock in range(60_000):
        chip.drive(clock)
        await ReadOnly()
        if int(dut.ready.value):
            break
        chip.settle(clock)
        if chip.tests == len(PATTERNS) * (SLIPS * DELAYS + 1):
            readers[blind].whole = can
            failed |= int(dut.failed.value)
        await RisingEdge(dut.clk)
    assert int(dut.ready.value), "never ready"
    assert failed and not int(dut.failed.value)
    assert chip.tests == 2 * len(PATTERNS) * (SLIPS * DELAYS + 1), chip.tests
    names = ("RAS", "CAS", "WE")
    wanted = [
        (a, b, tuple(int(f"COMMAND_{name}" not in what) for name in names))
        for a, b, what, _ in parameters()["steps"]
        if "_CS" in what
    ]
    assert chip.sent == wanted, chip.sent
    assert [(reader.slip, reader.delay) for reader in readers] == [reader.best for reader in readers]
    for _ in range(20):
        await RisingEdge(dut.clk)
        values = [rng.getrandbits(len(signal)) for signal in ours]
        for signal, value in zip(ours, values, strict=True):
            signal.value = value
        await ReadOnly()
        assert [int(signal.value) for signal in theirs] == values
