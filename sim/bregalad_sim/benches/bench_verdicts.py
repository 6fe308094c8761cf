"""Verdicts between scheduler, array and report writer: what is reported, and when all is decided."""

import random
from collections import deque
from dataclasses import replace

import cocotb
from bregalad.geometry import NONE, Geometry
from bregalad.protocol.reports import SuggestionFlag
from bregalad.protocol.tree import MANY, mixed
from bregalad_hw.array.merge import summary_layout
from bregalad_hw.mcmu.scheduler import head_layout
from cocotb.triggers import ReadOnly, RisingEdge

from bregalad_sim.benches.verdicts import FIELDS, Made
from bregalad_sim.bits import candidate_fields
from bregalad_sim.golden.judge import judge
from bregalad_sim.runner import parameters
from bregalad_sim.streams import Sink, Source, reset

_PATIENCE = 20_000


class Bench:
    """What is around the block."""

    def __init__(self, dut):
        self.dut = dut
        self.rng = rng = random.Random(cocotb.RANDOM_SEED)
        self.geometry = g = Geometry(**parameters()["geometry"])
        self.most = parameters()["trials"]
        self.made = Made(rng, g)
        self.head = Source(dut, "head", head_layout(g), rng)
        self.summary = Source(dut, "summary", summary_layout(g), rng)
        self.proposal = Sink(dut, "proposal", head_layout(g), rng)
        self.outcome = Sink(dut, "outcome", summary_layout(g), rng)
        self.ends = (self.head, self.summary, self.proposal, self.outcome)
        self.all = False
        self.late = deque()  # (clocks, head, summary) on the way from their push
        self.unreported = 0
        self.proposals = deque()  # (head, summary) that are to come
        self.proposed = 0  # that were told, and are not written
        self.writing = None  # the outcome of the proposal that is written, and clocks until it is
        self.rates = {}  # of what happens
        self.seen = dict.fromkeys(("kept", "proposals", "full", "decided"), 0)

    async def start(self):
        dut = self.dut
        ports = (getattr(dut, f"rule__{name.replace('.', '__')}") for name in FIELDS)
        await reset(dut, dut.pushed, dut.written, dut.configuration__report__all, *ports)

    def configure(self):
        dut, rng, made = self.dut, self.rng, self.made
        made.configure()
        self.all = rng.random() < 0.2
        for name, value in made.rule.items():
            getattr(dut, f"rule__{name.replace('.', '__')}").value = value
        dut.configuration__report__all.value = self.all
        for end in self.ends:
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
        only = rng.choice([NONE, NONE, MANY, *range(g.classes)])
        flags = SuggestionFlag.INNER * made.inner | SuggestionFlag.HALVED * (rng.random() < 0.1)
        head = {
            "slot": rng.randrange(g.slots),
            "flags": int(flags | SuggestionFlag.UNDERFLOW * rng.randrange(2)),
            "n": made.n,
            "class_counts": counts,
            "number": rng.getrandbits(32),
            "only": only,
            "base": made.base,
            "ask_up_to": made.ask_up_to,
        }
        summary = {name: candidate_fields(getattr(made, name)) for name in ("best", "second", "current")}
        summary["left"] = [self.made.number(g.count_width) for _ in range(g.classes)]
        several = bool(flags & SuggestionFlag.HALVED) or mixed(only, counts)
        return head, summary, self.all or judge(self.made.rule, replace(made, mixed=several))

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
        for end in self.ends:
            end.drive()
        if self.writing is None or self.writing[0] is None or self.all:  # the writer takes one of each proposal
            self.outcome.ready = False
            dut.outcome__ready.value = 0
        await ReadOnly()
        self.head.settle()
        self.summary.settle()
        proposal, outcome = self.proposal.settle(), self.outcome.settle()
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
