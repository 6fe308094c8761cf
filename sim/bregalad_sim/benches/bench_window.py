"""The window of kept frames: a host that loses frames gets every word once, in order."""

import cocotb
from bregalad.protocol.link import SEQUENCES, FrameType, ReportsFlag
from bregalad_hw.link.window import Window
from cocotb.triggers import RisingEdge

from bregalad_sim.runner import parameters
from bregalad_sim.streams import BlockBench


class Bench(BlockBench):
    def __init__(self, dut):
        self.frames, size = parameters()["frames"], parameters()["frame_bytes"]
        super().__init__(dut, Window(self.frames, size, timeout=100))
        self.reports, self.values, self.head, self.words = (
            self.ends[name] for name in ("reports", "values", "head", "words")
        )
        self.most = size // 4
        self.frame = None  # the head whose words come, and those that have come
        self.expected = 0
        self.loss = 0.0
        self.got_reports, self.got_values = [], []
        self.news = False  # the host has something to tell
        self.nak = False
        self.told = 0  # clocks until it may tell again
        self.sizes, self.again = [], 0

    async def clock(self):
        dut, rng = self.dut, self.rng
        self.told = max(0, self.told - 1)
        tell = not self.told and (self.news or rng.random() < 0.01) and rng.random() < 0.3
        # What is not told in this clock must not matter.
        number = self.expected if tell else rng.randrange(SEQUENCES)
        if tell and rng.random() < 0.05:
            number = (number - rng.randrange(1, 3 * self.frames)) % SEQUENCES  # old and delayed
        if tell or not self.told:
            dut.acknowledge.value = number
        dut.acknowledged.value = tell and rng.random() >= self.loss
        dut.nak.value = self.nak if tell else rng.getrandbits(1)
        if tell:
            self.news = self.nak = False
            self.told = 6
        dut.tick.value = rng.random() < 0.5
        dut.idle.value = self.frame is None
        self.drive()
        if self.frame is not None:
            dut.head__ready.value, self.head.ready = 0, False
        else:
            dut.words__ready.value, self.words.ready = 0, False
        moved = await self.settle()
        head, word = moved["head"], moved["words"]
        if head is not None:
            assert 1 <= head["words"] <= self.most
            self.frame = head, []
        if word is not None:
            self.frame[1].append(word)
            if len(self.frame[1]) == self.frame[0]["words"]:
                self.arrive(*self.frame)
                self.frame = None
        await RisingEdge(dut.clk)

    def arrive(self, head, words):
        """A frame reaches the host, or does not."""
        self.sizes.append(len(words))
        if self.rng.random() < self.loss:
            return
        ahead = (head["sequence"] - self.expected) % SEQUENCES
        self.news = True
        if ahead:
            assert ahead < self.frames or SEQUENCES - ahead <= 2 * self.frames
            self.nak = ahead < SEQUENCES // 2
            self.again += 1
            return
        self.expected = (self.expected + 1) % SEQUENCES
        if head["type"] == FrameType.VALUE:
            assert len(words) == 2 and head["flags"] == 0
            self.got_values.append((words[0], words[1], len(self.got_reports)))
        else:
            assert head["type"] == FrameType.REPORTS
            self.got_reports += words
            last = bool(head["flags"] & ReportsFlag.LAST)
            assert last == (len(self.got_reports) in self.lasts), "LAST"


@cocotb.test(timeout_time=400, timeout_unit="ms")
@cocotb.parametrize(loss=[0.0, 0.1, 0.4])
async def once(dut, loss):
    """Nothing lost, nothing twice, whatever is lost on the way, and all frames end as they say."""
    bench = Bench(dut)
    rng = bench.rng
    await bench.start()
    bench.loss = loss
    want, values = [], []
    bench.lasts = set()
    for _ in range(parameters()["rounds"]):
        bench.reports.stall, bench.head.stall = rng.choice([0, 0.5, 0.95]), rng.choice([0, 0.9])
        bench.words.stall = rng.choice([0, 0.5])
        for _ in range(rng.choice([1, 3, 30])):
            size = rng.choice([1, 1, 2, rng.randint(1, 3 * bench.most)])
            report = [rng.getrandbits(32) for _ in range(size)]
            want += report
            bench.lasts.add(len(want))
            bench.reports.items.extend({"data": word, "last": at == size - 1} for at, word in enumerate(report))
            if rng.random() < 0.2:
                value = {"address": rng.getrandbits(16), "value": rng.getrandbits(32)}
                values.append(value)
                bench.values.items.append(value)
        for _ in range(rng.choice([0, 500, 20000])):
            await bench.clock()
            if len(bench.got_reports) == len(want) and len(bench.got_values) == len(values):
                break
    for _ in range(2_000_000):
        if len(bench.got_reports) == len(want) and len(bench.got_values) == len(values):
            break
        await bench.clock()
    assert bench.got_reports == want
    assert [{"address": a, "value": v} for a, v, _ in bench.got_values] == values
    # Nothing is left over.
    bench.loss = 0
    bench.news = True
    for _ in range(600):
        await bench.clock()
    assert bench.got_reports == want
    dut._log.info(
        "%d frames, %d out of turn, %.1f words", len(bench.sizes), bench.again, sum(bench.sizes) / len(bench.sizes)
    )
    assert max(bench.sizes) == bench.most and (bench.again or not loss)
