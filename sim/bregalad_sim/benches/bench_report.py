"""ReportWriter against the declared layouts: every byte of every report, stalls everywhere."""

import cocotb
import numpy as np
from bregalad.geometry import NONE, Geometry
from bregalad.protocol import reports
from bregalad.protocol.reports import Kind
from bregalad.protocol.tree import TREE_REPORTS, TreeKind
from bregalad_hw.mcmu.report import ATTEMPTS, JOBS, ReportWriter
from cocotb.triggers import RisingEdge

from bregalad_sim.runner import parameters
from bregalad_sim.streams import BlockBench


class Bench(BlockBench):
    def __init__(self, dut):
        self.geometry = g = Geometry(**parameters()["geometry"])
        super().__init__(dut, ReportWriter(g))
        self.sink = self.ends["o"]

    def number(self, bits):
        """Any number of so many bits, the outermost ones often."""
        return self.rng.choice([0, (1 << bits) - 1, self.rng.getrandbits(bits)])

    def candidate(self):
        """A candidate as the array gives it, and the report's fields of it."""
        g = self.geometry
        if self.rng.random() < 0.3:
            none = {"cell": NONE, "valid": 0, "value": 0, "gain": 0}
            return none, none
        half = 1 << g.gain_width - 1
        shown = {
            "cell": self.number(16),
            "valid": 1,
            "value": self.number(8),
            "gain": self.rng.choice([-half, -1, 0, half - 1, self.rng.randrange(-half, half)]),
        }
        return shown, shown

    def report(self, kind, cells):
        """What goes into the writer as {port: items}, and the bytes that should come out."""
        g, rng = self.geometry, self.rng
        slot = rng.randrange(g.slots)
        counts = [self.number(g.count_width) for _ in range(g.classes)]
        job = {"kind": kind, "slot": slot, "class_counts": counts}
        match kind:
            case TreeKind.BLOCK:
                number = self.number(32)
                return {"job": [job | {"count": 1, "words": [number], "slot": 0}]}, TREE_REPORTS[kind].pack(
                    kind=kind, number=number
                )
            case TreeKind.LEARNT:
                number, left, since = self.number(32), self.number(16), self.number(16)
                return {"job": [job | {"count": 2, "words": [number, left], "slot": since}]}, TREE_REPORTS[kind].pack(
                    kind=kind, number=number, left=left, since=since
                )
            case Kind.FENCE:
                token = self.number(32)
                return {"job": [job | {"count": 1, "words": [token], "slot": 0}]}, reports.FENCE.pack(
                    kind=kind, token=token
                )
            case Kind.ERROR:
                code, address, count = rng.randint(1, 3), self.number(64), self.number(32)
                words = [address & 0xFFFFFFFF, address >> 32, count]
                return {"job": [job | {"flags": code, "count": 3, "words": words, "slot": 0}]}, reports.ERROR.pack(
                    kind=kind, flags=code, address=address, count=count
                )
            case Kind.ENTRY:
                values = {
                    "n": self.number(g.count_width),
                    "since": self.number(24),
                    "link": self.number(16),
                    "current": self.number(16),
                    "entry_flags": rng.randrange(8),
                    "period": self.number(16),
                    "tried": self.number(32),
                }
                words = [
                    values["n"],
                    values["since"],
                    values["link"] | values["current"] << 16,
                    values["entry_flags"] | values["period"] << 16,
                    values["tried"],
                ]
                return {"job": [job | {"count": len(words), "words": words}]}, reports.entry_layout(g).pack(
                    kind=kind, slot=slot, class_counts=counts, **values
                )
            case Kind.STATISTICS:
                cell = rng.randrange(g.max_cells)
                bins = [self.number(g.count_width) for _ in range(g.bins * g.classes)]
                return {"job": [job | {"count": 1, "words": [cell]}], "counts": bins}, reports.statistics_layout(
                    g
                ).pack(kind=kind, slot=slot, cell=cell, counts=bins)
        head = {"slot": slot, "flags": rng.randrange(16), "n": self.number(g.count_width), "class_counts": counts}
        number = self.number(32)
        given = head | {"number": number}
        candidate = TREE_REPORTS[TreeKind.SPLIT_CANDIDATE].pack(kind=TreeKind.SPLIT_CANDIDATE, slot=slot, number=number)
        if kind is Kind.TOP_CANDIDATES:
            left = [self.number(g.count_width) for _ in range(g.classes)]
            three = {name: self.candidate() for name in ("best", "second", "current")}
            summary = {name: shown for name, (shown, _) in three.items()} | {"left": left}
            named = {f"{name}_{key}": value for name, (_, fields) in three.items() for key, value in fields.items()}
            return {"head": [given], "summary": [summary]}, candidate + reports.top_candidates_layout(g).pack(
                kind=kind, left=left, **head, **named
            )
        all_ = [self.candidate() for _ in range(cells)]
        words = np.frombuffer(b"".join(reports.CANDIDATE.pack(**fields) for _, fields in all_), "<u4")
        return {"head": [given], "gains": [shown for shown, _ in all_]}, candidate + reports.gains_layout(
            g, cells
        ).pack(kind=kind, candidates=words, **head)

    async def run(self, count, report_all, cells, stall_in, stall_out):
        """Some reports; each job or attempt waits for what else is ahead."""
        dut, rng = self.dut, self.rng
        self.set_inputs(configuration__report__all=report_all, configuration__cells__count=cells)
        self.stall(stall_in)
        self.sink.stall = stall_out
        kinds = [ATTEMPTS[report_all]] * 4 + list(JOBS)
        kinds = rng.choice([kinds, kinds[:1], kinds[4:]])
        ahead = [(kind, *self.report(kind, cells)) for kind in rng.choices(kinds, k=count)]
        want = [(kind, answer) for kind, _, answer in ahead]
        total = sum(len(answer) for _, answer in want)
        fed = 0  # reports whose items went in
        got, done, clock = b"", 0, 0
        begun = None  # clock of a transfer that the first word follows
        under_way = False
        limit = 200 * total + 1000
        while done < len(want):
            while ahead:
                kind, items, _ = ahead[0]
                # What comes by the same stream may queue there.
                group = ATTEMPTS if kind in ATTEMPTS else JOBS
                if any(other not in group for other, _ in want[done:fed]):
                    break
                fed += 1
                for name, values in items.items():
                    self.ends[name].items.extend(values)
                ahead.pop(0)
            self.drive()
            moved = await self.settle()
            word = moved["o"]
            assert not int(dut.counts__ready.value) or want[done][0] is Kind.STATISTICS
            assert int(dut.idle.value) == (not under_way)
            if begun == clock - ReportWriter.latency:
                assert self.sink.valid
            if moved["head"] is not None or moved["job"] is not None:
                begun, under_way = clock, True
            last_of_attempt = False
            if word is not None:
                got += word["data"].to_bytes(4, "little")
                kind, answer = want[done]
                assert answer.startswith(got), (
                    f"report {done}, {kind.name}:\n got {got.hex(' ', 4)}\nwant {answer.hex(' ', 4)}"
                )
                # A candidate comes first.
                first = kind in ATTEMPTS and len(got) == TREE_REPORTS[TreeKind.SPLIT_CANDIDATE].size
                assert word["last"] == (got == answer or first), f"last of {kind.name}"
                if got == answer:
                    got, done, under_way = b"", done + 1, False
                    last_of_attempt = kind in ATTEMPTS
            assert int(dut.reported.value) == last_of_attempt
            await RisingEdge(dut.clk)
            clock += 1
            assert clock < limit, "no end"
        assert not any(end.items for end in self.ends.values() if end is not self.sink), "an item was not taken"


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def every_byte(dut):
    """Reports of all kinds in any order, as fast as they go and with stalls on each stream."""
    bench = Bench(dut)
    await bench.start()
    rng, g = bench.rng, bench.geometry
    for index in range(parameters()["rounds"]):
        stalls = [(0.0, 0.0), (0.0, 0.6), (0.6, 0.0), (0.5, 0.5)][index // 2 % 4]
        await bench.run(12, index % 2, rng.choice([1, g.max_cells]), *stalls)
