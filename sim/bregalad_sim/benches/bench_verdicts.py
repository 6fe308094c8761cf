"""Verdicts between scheduler, array, report writer and walker: what is told, locks in time, what is decided."""

import random
from collections import deque
from dataclasses import replace

import cocotb
from bregalad.geometry import NONE, Geometry
from bregalad.protocol.reports import SuggestionFlag
from bregalad.protocol.tree import MANY, mixed
from bregalad_hw.array.merge import summary_layout
from bregalad_hw.front.verdicts import cancel_layout
from bregalad_hw.front.walker import lock_layout
from bregalad_hw.mcmu.scheduler import head_layout
from cocotb.triggers import ReadOnly, RisingEdge

from bregalad_sim.benches.verdicts import FIELDS, Made
from bregalad_sim.bits import candidate_fields, unpack
from bregalad_sim.golden.judge import judge
from bregalad_sim.runner import parameters
from bregalad_sim.streams import Sink, Source, reset


class Bench:
    """What is around the block: records are handed over as soon as they may be, and counted later."""

    def __init__(self, dut):
        self.dut = dut
        self.rng = rng = random.Random(cocotb.RANDOM_SEED)
        self.geometry = g = Geometry(**parameters()["geometry"])
        self.most = parameters()["trials"]
        self.made = Made(rng, g)
        self.head = Source(dut, "head", head_layout(g), rng)
        self.summary = Source(dut, "summary", summary_layout(g), rng)
        self.cancel = Source(dut, "cancel", cancel_layout(), rng)
        self.proposal = Sink(dut, "proposal", head_layout(g), rng)
        self.outcome = Sink(dut, "outcome", summary_layout(g), rng)
        self.lock_due = False  # one was offered in the clock before, and is due
        self.lock_stall = 0.0
        self.turning = 0  # something is cancelled: no lock is taken
        self.held = 0  # nothing is handed over in the next clock
        self.offered = None  # a lock that was not taken
        self.delay, self.all = 0, False
        self.handed = self.counted = 0  # records
        self.decided = 0  # as told
        self.jumped = False  # records have another number since this clock
        self.coming = deque()  # (head, summary, it is a proposal) of the next record's trials
        self.late = deque()  # (clocks, head, summary) on the way from their push
        self.unreported = 0
        self.proposals = deque()  # (head, summary) that are to come
        self.writing = None  # the outcome of the proposal that is written, and clocks until it is
        self.locks = []  # (slot, node, at) that are to be taken
        self.rates = {}  # of what happens
        self.seen = dict.fromkeys(
            ("stays", "proposals", "requested", "locks", "cancelled", "dropped", "held back", "several"), 0
        )

    async def start(self):
        dut = self.dut
        await reset(
            dut,
            dut.lock__ready,
            dut.pushed,
            dut.requested,
            dut.counted,
            dut.written,
            dut.tree__delay__records,
            dut.configuration__report__all,
            *(getattr(dut, f"rule__{name.replace('.', '__')}") for name in FIELDS),
        )

    def configure(self):
        dut, rng, made = self.dut, self.rng, self.made
        made.configure()
        self.all = rng.random() < 0.2
        self.delay = rng.choice([0, 0, 1, 5, 30, 1000])
        for name, value in made.rule.items():
            getattr(dut, f"rule__{name.replace('.', '__')}").value = value
        dut.configuration__report__all.value = self.all
        dut.tree__delay__records.value = self.delay
        for end in (self.head, self.summary, self.proposal, self.outcome):
            end.stall = rng.choice([0.0, 0.0, 0.6])
        self.lock_stall = rng.choice([0.0, 0.5])
        self.rates = {
            "hand": rng.choice([1.0, 0.3]),
            "count": rng.choice([1.0, 0.3]),
            "trial": rng.choice([0.02, 0.3]),
            "way": rng.choice([3, 20]),  # clocks from a push to the head
            "write": rng.choice([1, 40]),
        }

    def trial(self, number, requested=False):
        """A trial of a slot whose lock is not still to come, or of any that is asked for; None if there is none."""
        rng, g = self.rng, self.geometry
        out = {slot for slot, _, _ in self.locks} | {head["slot"] for head, *_ in self.coming}
        free = [slot for slot in range(g.slots) if requested or slot not in out]
        if not free or len(self.locks) + len(self.coming) >= g.slots:
            return None
        made = self.made.trial()
        counts = [rng.choice([0, 0, 1, self.made.number(g.count_width)]) for _ in range(g.classes)]
        only = rng.choice([NONE, NONE, MANY, *range(g.classes)])
        flags = SuggestionFlag.INNER * made.inner | SuggestionFlag.HALVED * (rng.random() < 0.1)
        slot = rng.choice(free)
        head = {
            "slot": slot,
            "flags": int(flags | SuggestionFlag.REQUESTED * requested | SuggestionFlag.UNDERFLOW * rng.randrange(2)),
            "n": made.n,
            "class_counts": counts,
            "number": number & 0xFFFFFFFF,
            "node": slot // 2 + 1000,
            "only": only,
            "base": made.base,
            "ask_up_to": made.ask_up_to,
        }
        summary = {name: candidate_fields(getattr(made, name)) for name in ("best", "second", "current")}
        summary["left"] = [self.made.number(g.count_width) for _ in range(g.classes)]
        several = bool(flags & SuggestionFlag.HALVED) or mixed(only, counts)
        proposes = self.all or requested or judge(self.made.rule, replace(made, mixed=several))
        return head, summary, proposes

    def push(self, trial):
        """A trial comes to the scheduler."""
        head, summary, proposes = trial
        self.unreported += 1
        self.late.append((self.rates["way"], head, summary))
        self.seen["proposals" if proposes else "stays"] += 1
        if proposes:
            self.proposals.append((head, summary))
            self.locks.append((head["slot"], head["node"], head["number"] + self.delay & 0xFFFFFFFF))

    async def step(self, ask=None, hold=False):
        """One clock."""
        dut, rng, rates = self.dut, self.rng, self.rates
        dut.counted.value = self.counted & 0xFFFFFFFF
        # The next record that is handed over is counted: its trials are pushed, one in a clock.
        pushed, counts = None, False
        room = self.unreported < self.most
        if ask:
            pushed = ask
        elif self.counted < self.handed and rng.random() < rates["count"]:
            if not self.coming:
                number = rng.choice([1, 1, 2, 4]) if rng.random() < rates["trial"] else 0
                for _ in range(number):
                    if trial := self.trial(self.counted + 1):
                        self.coming.append(trial)
                self.seen["several"] += len(self.coming) > 1
            if self.coming and room:
                pushed = self.coming.popleft()
                counts = not self.coming
            elif not self.coming:
                counts = True
        dut.pushed.value = pushed is not None
        dut.requested.value = ask is not None
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
        for end in (self.head, self.summary, self.cancel, self.proposal, self.outcome):
            end.drive()
        if self.writing is None or self.writing[0] is None or self.all:  # the writer takes one of each proposal
            self.outcome.ready = False
            dut.outcome__ready.value = 0
        # The walker takes a lock before the record that it is for.
        turning, self.turning = self.turning, 0
        take = self.lock_due and not turning and rng.random() >= self.lock_stall
        dut.lock__ready.value = take
        await ReadOnly()
        assert int(dut.turning.value) == turning
        self.turning = int(dut.cancel__valid.value)
        told = int(dut.decided.value)
        if self.jumped:  # it is told a clock later
            self.jumped, self.decided, told = False, self.counted, self.counted
        step = told - self.decided & 0xFFFFFFFF
        assert step < 1 << 31, "fewer are decided than before"
        self.decided += step
        assert self.decided <= self.counted, "one that is not counted is decided"
        lock = (
            unpack(lock_layout(), int(dut.lock__payload.value)) if int(dut.lock__valid.value) and not turning else None
        )
        assert self.offered in (None, lock) or self.cancel.offered, "a lock moved before it was taken"
        self.lock_due = lock is not None and self._due(lock["at"])
        self.offered = None if take else lock
        if lock is not None and take:
            _, node, at = self.locks.pop(0)
            assert lock == {"node": node, "at": at}
            self.lock_due = False
            self.seen["locks"] += 1
        elif not (hold or self.held or turning or self.lock_due) and rng.random() < rates["hand"]:
            if self.handed < self.decided + self.delay + 1:
                late = [each for each in self.locks if self._due(each[2])]
                assert not late, f"record {self.handed + 1} should have found {late} locked"
                self.handed += 1
            else:
                self.seen["held back"] += 1
        self.head.settle()
        self.summary.settle()
        cancelled = self.cancel.settle()
        proposal, outcome = self.proposal.settle(), self.outcome.settle()
        if proposal is not None:
            assert self.writing is None, "one is written still"
            head, summary = self.proposals.popleft()
            assert proposal == head
            self.writing = (summary, rng.randrange(rates["write"]) + 1)
        if outcome is not None:
            assert outcome == self.writing[0]
            self.writing = (None, self.writing[1])
        if self.outcome.valid:
            assert self.writing is not None, "an outcome without its head"
        self.unreported -= int(dut.reported.value)
        assert self.unreported >= 0
        assert not int(dut.reported.value) or written or not self.writing
        if cancelled is not None:
            assert not self.undecided(), "cancelled while a trial was undecided"
            rest = [each for each in self.locks if each[1] != cancelled["node"] and not cancelled["all"]]
            self.seen["dropped" if cancelled["all"] else "cancelled"] += len(self.locks) - len(rest)
            self.locks = rest
        self.held = int(dut.hold.value)
        await RisingEdge(dut.clk)
        if pushed is not None:
            self.push(pushed)
        self.counted += counts
        return cancelled is not None

    def undecided(self):
        """Trials that cannot be decided yet: they have not come, or one is before them."""
        return bool(self.late or len(self.head.items) > 1)

    def _due(self, at):
        return (at - self.handed & 0xFFFFFFFF) == 0 or (at - self.handed & 0xFFFFFFFF) >> 31

    async def drop(self, node, all_=False):
        """Cancel a node's locks or all, when all records are counted."""
        await self.pause()
        self.cancel.items.append({"node": node, "all": all_})
        limit = 20_000
        while not await self.step(hold=True):
            limit -= 1
            assert limit, "it is not cancelled"

    async def jump(self):
        """Records go on from another number, when there is no lock."""
        rng = self.rng
        self.counted = self.handed = rng.choice([0, rng.randrange(1000), rng.getrandbits(32), (1 << 32) - 1])
        self.jumped = True
        await self.step(hold=True)

    async def pause(self):
        """Until all that have been handed over are counted, and no more are handed over."""
        limit = 20_000
        while self.counted < self.handed:
            await self.step(hold=True)
            limit -= 1
            assert limit, "records are not counted"


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def in_time(dut):
    """Records and trials of any number, TRIALs and EDITs between them."""
    bench = Bench(dut)
    rng, g = bench.rng, bench.geometry
    await bench.start()
    for _ in range(parameters()["rounds"]):
        bench.configure()
        for _ in range(rng.randint(1, 8)):
            for _ in range(rng.choice([10, 400])):
                await bench.step()
            match rng.randrange(4):
                case 0:
                    await bench.pause()
                    if bench.unreported < bench.most and (trial := bench.trial(bench.counted, requested=True)):
                        bench.seen["requested"] += 1
                        await bench.step(ask=trial, hold=True)
                        await bench.step(hold=True)
                case 1:
                    await bench.drop(rng.randrange(g.slots) // 2 + 1000)
                case 2:
                    await bench.drop(rng.randrange(g.slots) // 2 + 1000, all_=True)
                    await bench.jump()
        # To the end: all is decided and told, and all nodes are locked.
        await bench.pause()
        limit = 20_000
        while bench.unreported or bench.decided != bench.counted:
            await bench.step(hold=True)
            limit -= 1
            assert limit, "a trial does not end"
        bench.rates["trial"] = 0
        while bench.locks:
            await bench.step()
            limit -= 1
            assert limit, "a lock does not come"
        await bench.pause()
        for _ in range(10):
            await bench.step(hold=True)
        assert bench.decided == bench.counted and not bench.proposals
    dut._log.info(f"{bench.seen}")
    assert all(bench.seen.values()), bench.seen


@cocotb.test(timeout_time=10, timeout_unit="ms")
async def full(dut):
    """More TRIALs than there are locks: all are told, and the first are locked."""
    bench = Bench(dut)
    g = bench.geometry
    await bench.start()
    bench.configure()
    bench.all, bench.delay = False, 1000
    dut.configuration__report__all.value, dut.tree__delay__records.value = 0, bench.delay
    depth = max(2, g.slots)
    for _ in range(depth + 3):
        kept, bench.locks = bench.locks, []
        trial = bench.trial(0, requested=True)
        bench.locks = kept
        await bench.step(ask=trial, hold=True)
        limit = 5000
        while bench.unreported:
            await bench.step(hold=True)
            limit -= 1
            assert limit, "a TRIAL is not told"
    bench.locks = bench.locks[:depth]
    bench.rates["trial"] = 0
    limit = 20_000
    while bench.locks:
        await bench.step()
        limit -= 1
        assert limit, "a lock does not come"
