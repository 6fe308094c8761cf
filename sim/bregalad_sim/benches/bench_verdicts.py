"""Verdicts between scheduler, array and report writer: what is reported, and when all is decided."""

from collections import deque

import cocotb
from bregalad.geometry import Geometry
from bregalad.protocol.reports import SuggestionFlag
from bregalad_hw.front.verdicts import Verdicts
from cocotb.triggers import RisingEdge

from bregalad_sim.benches.verdicts import Made
from bregalad_sim.bits import candidate_fields
from bregalad_sim.golden.judge import judge
from bregalad_sim.runner import parameters
from bregalad_sim.streams import BlockBench

_PATIENCE = 20_000


class Bench(BlockBench):
    """What is around the block."""

    def __init__(self, dut):
        self.geometry = g = Geometry(**parameters()["geometry"])
        super().__init__(dut, Verdicts(g, trials=parameters()["trials"]))
        self.most = parameters()["trials"]
        self.made = Made(self.rng, g)
        self.head, self.summary, self.outcome = (self.ends[name] for name in ("head", "summary", "outcome"))
        self.all = False
        self.late = deque()  # (clocks, head, summary) on the way from their push
        self.unreported = 0
        self.proposals = deque()  # (head, summary) that are to come
        self.proposed = 0  # that were told, and are not written
        self.writing = None  # the outcome of the proposal that is written, and clocks until it is
        self.rates = {}  # of what happens
        self.seen = dict.fromkeys(("kept", "proposals", "full", "decided"), 0)

    def configure(self):
        rng, made = self.rng, self.made
        made.configure()
        self.all = rng.random() < 0.2
        self.give(**{f"rule__{name.replace('.', '__')}": value for name, value in made.rule.items()})
        self.give(configuration__report__all=self.all)
        for end in self.ends.values():
            end.stall = rng.choice([0.0, 0.0, 0.6])
        self.rates = {
            "trial": rng.choice([0.02, 0.3, 1.0]),
            "way": rng.choice([3, 20]),  # clocks from a push to the head
            "write": rng.choice([1, 40]),
        }

    def trial(self):
        """A trial's head and summary, and whether it is a proposal."""
        rng, g = self.rng, self.geometry
        made = self.made.trial()
        counts = [rng.choice([0, 0, 1, self.made.number(g.count_width)]) for _ in range(g.classes)]
        flags = SuggestionFlag.INNER * made.inner | SuggestionFlag.HALVED * (rng.random() < 0.1)
        head = {
            "slot": rng.randrange(g.slots),
            "flags": int(flags | SuggestionFlag.UNDERFLOW * rng.randrange(2)),
            "n": made.n,
            "class_counts": counts,
            "number": rng.getrandbits(32),
            "base": made.base,
            "ask_up_to": made.ask_up_to,
        }
        summary = {name: candidate_fields(getattr(made, name)) for name in ("best", "second", "current")}
        summary["left"] = [self.made.number(g.count_width) for _ in range(g.classes)]
        return head, summary, self.all or judge(self.made.rule, made)

    async def step(self, pushes=True):
        """One clock; whether all is decided."""
        dut, rng, rates = self.dut, self.rng, self.rates
        pushed = None
        if pushes and rng.random() < rates["trial"]:
            if self.unreported < self.most:
                pushed = self.trial()
            self.seen["full"] += pushed is None
        dut.pushed.value = pushed is not None
        for _ in range(len(self.late)):
            clocks, head, summary = self.late.popleft()
            if clocks:
                self.late.append((clocks - 1, head, summary))
            else:
                self.head.items.append(head)
                if not self.all:
                    self.summary.items.append(summary)
        written = False
        if self.writing is not None and (self.all or self.writing[0] is None):
            self.writing = (None, self.writing[1] - 1)
            written = self.writing[1] <= 0
            self.writing = None if written else self.writing
        dut.written.value = written
        self.drive()
        if self.writing is None or self.writing[0] is None or self.all:  # the writer takes one of each proposal
            self.outcome.ready = False
            dut.outcome__ready.value = 0
        moved = await self.settle()
        proposal, outcome = moved["proposal"], moved["outcome"]
        self.proposed += int(dut.proposed.value)
        if proposal is not None:
            assert self.writing is None, "one is written still"
            assert self.proposed, "nobody knows that it is one"
            self.proposed -= 1
            head, summary = self.proposals.popleft()
            assert proposal == head
            self.writing = (summary, rng.randrange(rates["write"]) + 1)
        if outcome is not None:
            assert outcome == self.writing[0]
            self.writing = (None, self.writing[1])
        if self.outcome.valid:
            assert self.writing is not None, "an outcome without its head"
        undecided = bool(int(dut.undecided.value))
        assert undecided == (self.unreported != 0)
        assert undecided or not (self.proposals or self.proposed or self.writing)
        self.unreported -= int(dut.reported.value)
        assert self.unreported >= 0
        assert not int(dut.reported.value) or written or not self.writing
        await RisingEdge(dut.clk)
        if pushed is not None:
            head, summary, proposes = pushed
            self.unreported += 1
            self.late.append((rates["way"], head, summary))
            self.seen["proposals" if proposes else "kept"] += 1
            if proposes:
                self.proposals.append((head, summary))
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
            raise AssertionError("a trial does not end")
        assert not bench.proposals and not bench.late
        bench.seen["decided"] += 1
    dut._log.info(f"{bench.seen}")
    assert all(bench.seen.values()), bench.seen
