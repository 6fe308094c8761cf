"""What managers share of a bus: bursts in and out of the window, stops at any time, against a model of each."""

import random
from collections import deque

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge
from cocotbext.axi import AxiRamRead, AxiRamWrite, AxiReadBus, AxiWriteBus

from bregalad_sim.benches.models import pause, quiet
from bregalad_sim.runner import parameters
from bregalad_sim.streams import reset

PAGES, PAGE = 4, 4096
BASE = 3 * PAGE
CLOCKS = 4000


class Manager:
    """One that asks for bursts; each lies in a page."""

    def __init__(self, dut, number, way, rng):
        self.dut, self.number, self.way, self.rng = dut, number, way, rng
        self.word = parameters()["width"] // 8
        self.asked = None

    def port(self, name):
        return getattr(self.dut, f"i__{self.number}__{name}")

    def burst(self, pages):
        length = self.rng.choice([1, 2, self.rng.randint(1, 16)])
        at = self.rng.randrange(pages) * PAGE + self.rng.randrange(PAGE // self.word - length + 1) * self.word
        return at, length

    def ask(self, pages):
        """Offer a burst, until it is taken; with no pages none that is new."""
        if pages and self.asked is None and self.rng.random() < 0.2:
            self.asked = self.burst(pages)
        self.port(f"a{self.way}valid").value = self.asked is not None
        if self.asked:
            self.port(f"a{self.way}addr").value = self.asked[0]
            self.port(f"a{self.way}len").value = self.asked[1] - 1

    def taken(self):
        """The burst that is taken in this clock, or None."""
        if self.asked is None or not int(self.port(f"a{self.way}ready").value):
            return None
        burst, self.asked = self.asked, None
        return burst

    def check_word(self, at, last, content):
        """Check the word that comes; whether it lies inside of the window."""
        inside = at < PAGES * PAGE
        assert int(self.port("rlast").value) == last
        assert int(self.port("rresp").value) == (0 if inside else 3)
        data = int.from_bytes(content[BASE + at : BASE + at + self.word], "little")
        assert not inside or int(self.port("rdata").value) == data
        return inside

    def write(self, words, pages):
        """Offer a burst in pages of its own, since nothing orders writes of two managers, and add what it writes."""
        self.ask(pages)
        if self.asked:
            at, length = self.asked[0] + self.number * pages * PAGE, self.asked[1]
            self.asked, self.port("awaddr").value = (at, length), at
            for index in range(length):
                words.append((at + index * self.word, self.rng.randbytes(self.word), self.rng.getrandbits(self.word)))

    def offer(self, words):
        """Offer the next of the words."""
        self.port("wvalid").value = bool(words)
        if words:
            _, data, strobe = words[0]
            self.port("wdata").value, self.port("wstrb").value = int.from_bytes(data, "little"), strobe
            self.port("wlast").value = len(words) == 1


class Stops:
    """Stops the bus now and then, and looks that it gets quiet."""

    def __init__(self, dut, rng):
        self.dut, self.rng = dut, rng
        self.left = self.since = self.count = self.quiet = 0

    def drive(self, clock):
        if self.left == 0 and self.rng.random() < 0.003 and clock < CLOCKS - 1000:
            self.left, self.count = self.rng.randint(1, 400), self.count + 1
        self.left = max(0, self.left - 1)
        self.dut.stop.value = self.left > 0
        self.since = self.since + 1 if self.left else 0

    def check(self, owed):
        """A bus that is quiet owes its managers nothing."""
        if self.since > 2 and int(self.dut.quiet.value):
            assert not any(owed)
            self.quiet += 1


def begin(dut, kind, bus, way, rng):
    """The memory, and the managers."""
    quiet(dut, "o_")
    ram = kind(bus.from_prefix(dut, "o_"), dut.clk, dut.rst, size=BASE + PAGES * PAGE)
    managers = [Manager(dut, number, way, random.Random(rng.random())) for number in range(parameters()["managers"])]
    return ram, managers


@cocotb.test(timeout_time=5, timeout_unit="ms", skip=parameters().get("way") != "r")
async def reads(dut):
    """Every burst is answered once, in its manager's order, DECERR outside the window."""
    rng = random.Random(cocotb.RANDOM_SEED)
    ram, managers = begin(dut, AxiRamRead, AxiReadBus, "r", rng)
    inputs = [m.port(name) for m in managers for name in ("arvalid", "araddr", "arlen", "rready", "arid")]
    await reset(dut, dut.stop, dut.base, dut.pages, *inputs)
    word = managers[0].word
    for m in managers:
        m.port("arsize").value, m.port("arburst").value, m.port("rready").value = word.bit_length() - 1, 1, 1
        m.port("arcache").value = m.port("arprot").value = 0
    dut.base.value, dut.pages.value = BASE, PAGES
    pause(rng, 0.4, ram)
    content = rng.randbytes(BASE + PAGES * PAGE)
    ram.write(0, content)
    stops, owed = Stops(dut, rng), [deque() for _ in managers]
    seen = dict.fromkeys(("words", "outside"), 0)
    held = None
    for clock in range(CLOCKS):
        stops.drive(clock)
        for m in managers:
            m.ask(PAGES + 1 if clock < CLOCKS - 1000 else 0)
        await ReadOnly()
        ask = int(dut.o__arvalid.value) and (int(dut.o__araddr.value), int(dut.o__arlen.value), int(dut.o__arid.value))
        assert held in (None, ask), "an address moved before it was taken"
        held = None if not ask or int(dut.o__arready.value) else ask
        if ask:
            assert BASE <= ask[0] < BASE + PAGES * PAGE, "outside the window"
        for number, m in enumerate(managers):
            if int(m.port("rvalid").value):
                seen["words" if m.check_word(*owed[number].popleft(), content) else "outside"] += 1
        stops.check(owed)
        for number, m in enumerate(managers):
            if burst := m.taken():
                assert not stops.since, "taken while stopped"
                at, length = burst
                owed[number] += [(at + index * word, index == length - 1) for index in range(length)]
        await RisingEdge(dut.clk)
    assert not any(owed) and all(seen.values()) and stops.quiet, seen
    dut._log.info("%s, %d stops", seen, stops.count)


@cocotb.test(timeout_time=5, timeout_unit="ms", skip=parameters().get("way") != "w")
async def writes(dut):
    """Every burst is written and answered once."""
    rng = random.Random(cocotb.RANDOM_SEED)
    ram, managers = begin(dut, AxiRamWrite, AxiWriteBus, "w", rng)
    names = ("awvalid", "awaddr", "awlen", "awid", "wvalid", "wdata", "wstrb", "wlast", "bready")
    await reset(dut, dut.stop, dut.base, *(m.port(name) for m in managers for name in names))
    word = managers[0].word
    for m in managers:
        m.port("awsize").value, m.port("awburst").value, m.port("bready").value = word.bit_length() - 1, 1, 1
        m.port("awcache").value = m.port("awprot").value = 0
    dut.base.value = BASE
    pause(rng, 0.4, ram)
    content = bytearray(BASE + PAGES * PAGE)
    ram.write(0, bytes(content))
    stops, words, owed = Stops(dut, rng), [deque() for _ in managers], [0] * len(managers)
    count = 0
    for clock in range(CLOCKS):
        stops.drive(clock)
        for number, m in enumerate(managers):
            if m.asked is None and clock < CLOCKS - 1000 and not words[number]:
                m.write(words[number], PAGES // len(managers))
            m.port("awvalid").value = m.asked is not None
            m.offer(words[number])
        await ReadOnly()
        for number, m in enumerate(managers):
            if int(m.port("bvalid").value):
                assert int(m.port("bresp").value) == 0 and owed[number], "an answer to no write"
                owed[number] -= 1
        stops.check(owed)
        for number, m in enumerate(managers):
            if words[number] and int(m.port("wready").value):
                at, data, strobe = words[number].popleft()
                at += BASE
                content[at : at + word] = [new if strobe >> i & 1 else content[at + i] for i, new in enumerate(data)]
            if m.taken():
                assert not stops.since, "taken while stopped"
                owed[number] += 1
                count += 1
        await RisingEdge(dut.clk)
    assert not any(owed) and not any(words) and count > 20 and stops.quiet, (owed, count)
    assert ram.read(0, len(content)) == bytes(content)
    dut._log.info("%d bursts, %d stops", count, stops.count)
