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
        """Offer a burst, until it is taken."""
        if self.asked is None and self.rng.random() < 0.2:
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


class Stops:
    """Stops the bus now and then, and looks that it gets quiet."""

    def __init__(self, dut, rng):
        self.dut, self.rng, self.left, self.since, self.count = dut, rng, 0, 0, 0

    def drive(self, clock):
        if self.left == 0 and self.rng.random() < 0.003 and clock < CLOCKS - 1000:
            self.left, self.count = self.rng.randint(1, 400), self.count + 1
        self.left = max(0, self.left - 1)
        self.dut.stop.value = self.left > 0
        self.since = self.since + 1 if self.left else 0


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
    seen = dict.fromkeys(("words", "outside", "quiet"), 0)
    held = None
    for clock in range(CLOCKS):
        stops.drive(clock)
        for m in managers:
            if clock < CLOCKS - 1000:
                m.ask(PAGES + 1)
            else:
                m.port("arvalid").value, m.asked = 0, None
        await ReadOnly()
        ask = int(dut.o__arvalid.value) and (int(dut.o__araddr.value), int(dut.o__arlen.value), int(dut.o__arid.value))
        assert held in (None, ask), "an address moved before it was taken"
        held = None if not ask or int(dut.o__arready.value) else ask
        if ask:
            assert BASE <= ask[0] < BASE + PAGES * PAGE, "outside the window"
        for number, m in enumerate(managers):
            if int(m.port("rvalid").value):
                at, last = owed[number].popleft()
                response, data = int(m.port("rresp").value), int(m.port("rdata").value)
                assert int(m.port("rlast").value) == last
                inside = at < PAGES * PAGE
                assert response == (0 if inside else 3)
                if inside:
                    assert data == int.from_bytes(content[BASE + at : BASE + at + word], "little")
                seen["words" if inside else "outside"] += 1
        if stops.since > 2 and int(dut.quiet.value):
            assert not any(owed)
            seen["quiet"] += 1
        for number, m in enumerate(managers):
            if burst := m.taken():
                assert not stops.since, "taken while stopped"
                at, length = burst
                owed[number] += [(at + index * word, index == length - 1) for index in range(length)]
        await RisingEdge(dut.clk)
    assert not any(owed) and all(seen.values()), seen
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
    count, quiet = 0, 0
    for clock in range(CLOCKS):
        stops.drive(clock)
        for number, m in enumerate(managers):
            if m.asked is None and clock < CLOCKS - 1000 and not words[number]:
                # Pages of their own, since nothing orders writes of two managers.
                m.ask(PAGES // len(managers))
                if m.asked:
                    m.asked = m.asked[0] + number * (PAGES // len(managers)) * PAGE, m.asked[1]
                    m.port("awaddr").value = m.asked[0]
                    for index in range(m.asked[1]):
                        words[number].append(
                            (m.asked[0] + index * word, m.rng.randbytes(word), m.rng.getrandbits(word))
                        )
            m.port("awvalid").value = m.asked is not None
            m.port("wvalid").value = bool(words[number])
            if words[number]:
                _, data, strobe = words[number][0]
                m.port("wdata").value, m.port("wstrb").value = int.from_bytes(data, "little"), strobe
                m.port("wlast").value = len(words[number]) == 1
        await ReadOnly()
        for number, m in enumerate(managers):
            if int(m.port("bvalid").value):
                assert int(m.port("bresp").value) == 0 and owed[number], "an answer to no write"
                owed[number] -= 1
        if stops.since > 2 and int(dut.quiet.value):
            assert not any(owed)
            quiet += 1
        for number, m in enumerate(managers):
            if words[number] and int(m.port("wready").value):
                at, data, strobe = words[number].popleft()
                for byte in range(word):
                    if strobe >> byte & 1:
                        content[BASE + at + byte] = data[byte]
            if m.taken():
                assert not stops.since, "taken while stopped"
                owed[number] += 1
                count += 1
        await RisingEdge(dut.clk)
    assert not any(owed) and not any(words) and count > 20 and quiet, (owed, count, quiet)
    assert ram.read(0, len(content)) == bytes(content)
    dut._log.info("%d bursts, %d stops", count, stops.count)
