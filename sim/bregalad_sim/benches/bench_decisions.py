"""Decisions between scheduler, array and report writer: what is reported, and when all is decided."""

from collections import deque

import cocotb
from bregalad.geometry import Geometry
from bregalad.protocol.reports import AttemptFlag
from bregalad_hw.front.decisions import Decisions
from cocotb.triggers import RisingEdge

from bregalad_sim.benches.attempts import Made
from bregalad_sim.bits import candidate_fields
from bregalad_sim.golden.decider import is_candidate
from bregalad_sim.runner import parameters
from bregalad_sim.streams import BlockBench

_PATIENCE = 20_000


class Bench(BlockBench):
    """What is around the block."""

    def __init__(self, dut):
        self.geometry = g = Geometry(**parameters()["geometry"])
        super().__init__(dut, Decisions(g, attempts=parameters()["attempts"]))
        self.most = parameters()["attempts"]
        self.made = Made(self.rng, g)
        self.head, self.summary, self.outcome = (self.ends[name] for name in ("head", "summary", "outcome"))
        self.all = False
        self.late = deque()  # (clocks, head, summary) on the way from their push
        self.unreported = 0
        self.candidates = deque()  # (head, summary) that are to come
        self.announced = 0  # that were told, and are not written
        self.writing = None  # the outcome of the candidate that is written, and clocks until it is
        self.rates = {}  # of what happens
        self.seen = dict.fromkeys(("kept", "candidates", "full", "decided"), 0)

    def configure(self):
        rng, made = self.rng, self.made
        made.configure()
        self.all = rng.random() < 0.2
        self.set_inputs(**{f"rule__{name.replace('.', '__')}": value for name, value in made.rule.items()})
        self.set_inputs(configuration__report__all=self.all)
        for end in self.ends.values():
            end.stall = rng.choice([0.0, 0.0, 0.6])
        self.rates = {
            "attempt": rng.choice([0.02, 0.3, 1.0]),
            "way": rng.choice([3, 20]),  # clocks from a push to the head
            "write": rng.choice([1, 40]),
        }

    def attempt(self):
        """An attempt's head and summary, and whether it is a candidate."""
        rng, g = self.rng, self.geometry
        made = self.made.attempt()
        counts = [rng.choice([0, 0, 1, self.made.number(g.count_width)]) for _ in range(g.classes)]
        flags = AttemptFlag.INNER * made.inner | AttemptFlag.HALVED * (rng.random() < 0.1)
        head = {
            "slot": rng.randrange(g.slots),
            "flags": int(flags | AttemptFlag.UNDERFLOW * rng.randrange(2)),
            "n": made.n,
            "class_counts": counts,
            "number": rng.getrandbits(32),
            "inherited": made.inherited,
            "all_up_to": made.all_up_to,
        }
        summary = {name: candidate_fields(getattr(made, name)) for name in ("best", "second", "current")}
        summary["left"] = [self.made.number(g.count_width) for _ in range(g.classes)]
        return head, summary, self.all or is_candidate(self.made.rule, made)

    def bring(self):
        """Offer heads and summaries that have been on the way for long enough."""
        for _ in range(len(self.late)):
            clocks, head, summary = self.late.popleft()
            if clocks:
                self.late.append((clocks - 1, head, summary))
            else:
                self.head.items.append(head)
                if not self.all:
                    self.summary.items.append(summary)

    async def step(self, pushes=True):
        """One clock; whether all is decided."""
        dut, rng, rates = self.dut, self.rng, self.rates
        pushed = None
        if pushes and rng.random() < rates["attempt"]:
            if self.unreported < self.most:
                pushed = self.attempt()
            self.seen["full"] += pushed is None
        dut.pushed.value = pushed is not None
        self.bring()
        written = False
        if self.writing is not None and (self.all or self.writing[0] is None):
            self.writing = (None, self.writing[1] - 1)
            written = self.writing[1] <= 0
            self.writing = None if written else self.writing
        dut.written.value = written
        self.drive()
        if self.writing is None or self.writing[0] is None or self.all:  # the writer takes one of each candidate
            self.outcome.ready = False
            dut.outcome__ready.value = 0
        moved = await self.settle()
        candidate, outcome = moved["candidate"], moved["outcome"]
        self.announced += int(dut.candidate_found.value)
        if candidate is not None:
            assert self.writing is None, "one is written still"
            assert self.announced, "nobody knows that it is one"
            self.announced -= 1
            head, summary = self.candidates.popleft()
            assert candidate == head
            self.writing = (summary, rng.randrange(rates["write"]) + 1)
        if outcome is not None:
            assert outcome == self.writing[0]
            self.writing = (None, self.writing[1])
        if self.outcome.valid:
            assert self.writing is not None, "an outcome without its head"
        undecided = bool(int(dut.undecided.value))
        assert undecided == (self.unreported != 0)
        assert undecided or not (self.candidates or self.announced or self.writing)
        self.unreported -= int(dut.reported.value)
        assert self.unreported >= 0
        assert not int(dut.reported.value) or written or not self.writing
        await RisingEdge(dut.clk)
        if pushed is not None:
            head, summary, is_candidate = pushed
            self.unreported += 1
            self.late.append((rates["way"], head, summary))
            self.seen["candidates" if is_candidate else "kept"] += 1
            if is_candidate:
                self.candidates.append((head, summary))
        return not undecided and pushed is None


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def matches_golden(dut):
    bench = Bench(dut)
    rng = bench.rng
    await bench.start()
    for _ in range(parameters()["rounds"]):
        bench.configure()
        for _ in range(rng.choice([10, 400, 2000])):
            await bench.step()
        for _ in range(_PATIENCE):
            if await bench.step(pushes=False):
                break
        else:
            raise AssertionError("an attempt does not end")
        assert not bench.candidates and not bench.late
        bench.seen["decided"] += 1
    dut._log.info(f"{bench.seen}")
    assert all(bench.seen.values()), bench.seen
