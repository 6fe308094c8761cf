"""Each block of the hardware under its bench of `sim/bregalad_sim/benches`, which says what it is compared with."""

import pytest
from bregalad.criteria import CRITERIA
from bregalad.geometry import PRESETS, Geometry
from bregalad.protocol.registers import Access, Field, Register
from bregalad_hw.array.adder import AdderTree
from bregalad_hw.array.array import AttributeProcessorArray
from bregalad_hw.array.bayes import BayesTerms, partial_latency
from bregalad_hw.array.log2 import Log2
from bregalad_hw.array.merge import Merge
from bregalad_hw.boards.levelling import Leveller
from bregalad_hw.boards.memory import MemoryGate
from bregalad_hw.delay import DelayLine
from bregalad_hw.front.decider import Decider
from bregalad_hw.front.decisions import Decisions
from bregalad_hw.front.front import Front
from bregalad_hw.front.leaf_rows import LeafRows
from bregalad_hw.front.quantiser import Quantiser
from bregalad_hw.front.walker import Walker
from bregalad_hw.gain.classification_error import ClassificationError
from bregalad_hw.gain.gini import Gini
from bregalad_hw.gain.kearns_mansour import KearnsMansour
from bregalad_hw.gain.xlog2x import XLog2X
from bregalad_hw.link.cobs import CobsDecoder, CobsEncoder
from bregalad_hw.link.intake import Intake
from bregalad_hw.link.session import Session
from bregalad_hw.link.uart import UartReceiver, UartTransmitter
from bregalad_hw.link.window import Window
from bregalad_hw.mcmu.dma import ReadDMA
from bregalad_hw.mcmu.editor import SlotEditor
from bregalad_hw.mcmu.loader import Loader
from bregalad_hw.mcmu.posted import PostedWriter
from bregalad_hw.mcmu.predictor import Predictor
from bregalad_hw.mcmu.report import ReportWriter
from bregalad_hw.mcmu.row_memory import RowMemory
from bregalad_hw.mcmu.scheduler import AttemptScheduler
from bregalad_hw.registers import RegisterFile
from bregalad_hw.soc.commands import CommandRing
from bregalad_hw.soc.lite import RegisterPort
from bregalad_hw.soc.reports import ReportRing
from bregalad_hw.soc.shared import SharedReads, SharedWrites
from bregalad_sim.benches.bench_gain import Gains
from bregalad_sim.benches.bench_processor import Lane
from bregalad_sim.benches.counting import Counting
from bregalad_sim.runner import run

# Small on purpose: few words, so that operations on the same word follow each other.
ARRAYS = {
    "one": dict(lanes=1, passes=1, bins=4, classes=2, slots=2, count_width=12),
    "three": dict(lanes=3, passes=2, bins=4, classes=3, slots=3, count_width=12),
    "four": dict(lanes=4, passes=3, bins=8, classes=2, slots=2, count_width=18),
    "classes": dict(lanes=2, passes=2, bins=16, classes=5, slots=2, count_width=18),
    "many": dict(lanes=10, passes=2, bins=4, classes=2, slots=2, count_width=12),
    "gini": dict(lanes=2, passes=2, bins=4, classes=3, slots=2, count_width=13, criterion="gini"),
    "kearns_mansour": dict(lanes=2, passes=2, bins=4, classes=2, slots=2, count_width=12, criterion="kearns_mansour"),
    "error": dict(lanes=2, passes=1, bins=4, classes=3, slots=2, count_width=12, criterion="classification_error"),
    "bayes": dict(lanes=5, passes=2, bins=4, classes=3, slots=2, count_width=13, naive_bayes=True),
    "bayes-many": dict(lanes=10, passes=1, bins=8, classes=2, slots=8, count_width=13, naive_bayes=True),
}
GAINS = {  # name: geometry, attempts, snapshots
    "small": (dict(bins=4, classes=2, count_width=12), 300, 4),
    "one": (dict(bins=4, classes=2, count_width=12), 60, 1),
    "pass": (dict(passes=1, bins=4, classes=3, count_width=12), 300, 4),
    "classes": (dict(bins=8, classes=5, count_width=18), 120, 2),
    "wide": (dict(bins=16, classes=3, count_width=32), 60, 8),
    "gini": (dict(bins=4, classes=3, count_width=12, criterion="gini"), 200, 4),
    "gini-wide": (dict(bins=8, classes=5, count_width=32, criterion="gini"), 60, 2),
    "kearns_mansour": (dict(bins=4, classes=2, count_width=13, criterion="kearns_mansour"), 200, 4),
    "kearns_mansour-wide": (dict(bins=8, classes=2, count_width=32, criterion="kearns_mansour"), 60, 2),
    "classification_error": (dict(bins=4, classes=3, count_width=12, criterion="classification_error"), 100, 2),
}
IMPURITIES = {"gini": (Gini, 5, 3000), "kearns_mansour": (KearnsMansour, 2, 3000)}
IMPURITIES["classification_error"] = (ClassificationError, 5, 2000)
# Tiny, so that operations meet on the same words; passes and lanes are no powers of two.
EVEN = dict(lanes=2, passes=2, bins=4, classes=2, slots=2, count_width=12, bus_width=32, nodes=9, naive_bayes=True)
ODD = dict(lanes=3, passes=3, bins=8, classes=3, slots=5, count_width=13, bus_width=64, nodes=9, naive_bayes=True)
ONE = dict(lanes=1, passes=1, bins=4, classes=2, slots=3, count_width=32, bus_width=128, nodes=9, naive_bayes=True)
PLAIN = {"naive_bayes": False}
QUANTISERS = {  # places for steps: as many as any layout can want
    "tiny": (dict(lanes=2, passes=3, bins=4, bus_width=32), 16),
    "odd": (dict(lanes=6, passes=2, bins=4, bus_width=64), 16),
    "even": (dict(lanes=8, passes=2, bins=4, bus_width=128), 32),
    "few": (dict(lanes=6, passes=2, bins=4, bus_width=128, searchers=1), 32),
    "codes": (dict(lanes=8, passes=2, bins=4, bus_width=64, searchers=0), 32),
    "wide": (dict(lanes=32, passes=1, bins=4, bus_width=256), 64),
}
FRONTS = [
    (dict(lanes=4, passes=3, classes=3, slots=5, bus_width=64, nodes=16), dict(walkers=1, records=4)),
    (dict(lanes=4, passes=2, classes=2, slots=5, bus_width=32, nodes=16, searchers=0), dict(records=4)),
    (
        dict(lanes=8, classes=5, passes=1, slots=6, nodes=20, naive_bayes=True, alternates=3),
        dict(walkers=2, records=8),
    ),
]
TINY = PRESETS["tiny"].as_dict()
NINE = TINY | dict(nodes=9, classes=3, count_width=20)
EDITED = [
    TINY | dict(nodes=9),
    dict(lanes=3, passes=3, bins=4, classes=3, slots=9, count_width=32, bus_width=256, nodes=9),
    dict(lanes=2, passes=1, bins=16, classes=5, slots=8, bus_width=128, nodes=9),
]
LEVELLING = [
    (0, 0, "DFII_CONTROL_ODT|DFII_CONTROL_RESET_N", 20),
    (0, 0, "DFII_CONTROL_CKE|DFII_CONTROL_ODT|DFII_CONTROL_RESET_N", 10),
    (0x208, 2, "DFII_COMMAND_RAS|DFII_COMMAND_CAS|DFII_COMMAND_WE|DFII_COMMAND_CS", 0),
    (0x400, 0, "DFII_COMMAND_WE|DFII_COMMAND_CS", 7),
]
PHASES = {"read_phase": 0, "write_phase": 1}
PORT = {"accelerator": [0, 0x18, 0x3FC], "read_only": [0x40], "core": [0, 4, 0x20], "stopped": [4]}


# Of a case: what makes the block, and what the bench is told.


def plain(block, *sizes, **told):
    """A block of some numbers."""
    return lambda: block(*sizes), told


def of(block, geometry, /, *, options=(), **told):
    """A block of a geometry; ``options``: those of what the bench is told that the block is made with, too."""
    given = {name: told[name] for name in options}
    return lambda: block(Geometry(**geometry), **given), {"geometry": geometry} | told


def impurity(criterion, width):
    block, classes, count = IMPURITIES[criterion]
    return plain(block, width, criterion=criterion, width=width, classes=classes, count=count)


def gain(name, attempts):
    sizes, _, snapshots = GAINS[name]
    return of(Gains, sizes, options=["snapshots"], attempts=attempts, snapshots=snapshots)


def array(rounds):
    clocks = 50 * rounds
    told = {"options": ["snapshots"], "rounds": rounds, "clocks": clocks}
    return lambda name, snapshots: of(AttributeProcessorArray, ARRAYS[name], snapshots=snapshots, **told)


def processor(sizes, lane, rounds):
    return of(Lane, sizes, options=["lane", "snapshots"], lane=lane, snapshots=2, rounds=rounds, clocks=250)


def predictor(sizes, depth, testcase):
    options = {"depth": depth, "waiting": partial_latency(Geometry(**sizes)) + 4}
    told = {"geometry": sizes, "options": options, "rounds": 24, "testcase": testcase}
    return lambda: Predictor(Geometry(**sizes), **options), told


def scheduler(**options):
    return of(AttemptScheduler, ODD, options=list(options), **options, rounds=20, clocks=200)


def quantiser(name, rounds):
    sizes, steps = QUANTISERS[name]
    return of(Quantiser, sizes, options=["steps"], steps=steps, rounds=rounds)


def front(sizes, blocks, testcase="matches_golden", **told):
    return of(Front, sizes, options=["steps", *blocks], steps=32, **blocks, testcase=testcase, **told)


def walker(records, /, **sizes):
    return lambda: Walker(**sizes), {"sizes": sizes, "records": records, "testcase": "matches_golden"}


def walks(depths, /, **sizes):
    """With 32 attributes; what is logged stands in docs/hardware.md."""
    sizes = dict(nodes=32, attributes=32, slots=5) | sizes
    return lambda: Walker(**sizes), {"sizes": sizes, "depths": depths, "testcase": "takes_the_clocks_that_it_says"}


def leaf_rows(nodes, width, **sizes):
    return of(LeafRows, sizes, options=["nodes", "width"], nodes=nodes, width=width, rounds=60)


def dma(width, outstanding, burst, **told):
    make = lambda: ReadDMA(width, outstanding=outstanding, burst=burst)  # noqa: E731
    return make, {"width": width, "outstanding": outstanding} | told


def uart(ratio, baud):
    """At most ``ratio`` clocks of 10 ns for a bit, whole or not."""
    return [
        plain(kind, 100_000_000, baud, end=end, ratio=ratio, baud=baud)
        for end, kind in (("receiver", UartReceiver), ("transmitter", UartTransmitter))
    ]


def intake(count, **told):
    return plain(Intake, 64, 64, 3, count=count, ring_words=64, frame_bytes=64, **told)


def registers(bayes):
    sizes = dict(lanes=3, passes=3, bins=4, classes=3, slots=2, naive_bayes=bayes)
    return of(RegisterFile, sizes, clocks=1000)


def register_port():
    writable = [
        [Register(f"{name}{at}", at, Field("value", 32, Access.RW, "")) for at in addresses]
        for name, addresses in (("a", PORT["accelerator"]), ("c", PORT["core"]))
    ]
    writable[0].append(Register("told", PORT["read_only"][0], Field("value", 32, Access.RO, "")))
    return RegisterPort(*writable, stopped=("c4",), patience=60)


def sized(block, names, *sizes, **told):
    """A block of each of some sizes, which the bench is told under these names."""
    return [plain(block, *size, **dict(zip(names, size, strict=True)), **told) for size in sizes]


def of_width(block, *widths, **told):
    return [plain(block, width, width=width, **told) for width in widths]


SHORT = [("one", 1), ("bayes", 2), ("error", 2)]  # one snapshot, predictions, another criterion
WHOLE = [*SHORT, ("gini", 2), ("kearns_mansour", 4), ("one", 4), ("three", 2), ("four", 4), ("classes", 4)]
WHOLE += [("many", 8), ("bayes-many", 4)]
RATE = dict(lanes=16, passes=1, slots=6, bus_width=256, nodes=16)
DMA_CASES = [f"ranges/stall={stall}" for stall in (0.0, 0.5)]  # a burst of one word cannot sustain one per clock
BENCHES = {
    "bench_adder": sized(AdderTree, ("width", "count"), (1, 8), (13, 5), (4, 33), (6, 2)),
    "bench_array": [array(4)(*case) for case in SHORT],
    "bench_bayes": [of(BayesTerms, dict(classes=5, count_width=32))],
    "bench_cobs": [plain(CobsDecoder, end="decoder", count=30), plain(CobsEncoder, end="encoder", count=30)],
    "bench_commands": of_width(CommandRing, 512),
    "bench_decider": [of(Decider, TINY, rounds=40)],
    "bench_decisions": [of(Decisions, NINE, options=["attempts"], attempts=5, rounds=15)],
    "bench_delay": sized(DelayLine, ("width", "clocks"), (1, 3), (24, 8), (7, 17)),
    "bench_dma": [dma(32, 4, 16), dma(64, 1, 1, testcase=DMA_CASES)],
    "bench_editor": [of(SlotEditor, sizes, commands=120) for sizes in EDITED[1:2]],
    "bench_front": [
        *(front(*case, rounds=5) for case in FRONTS[1:]),
        front(RATE, dict(walkers=4), "rate"),  # depth 2, four rings: a record a beat
    ],
    "bench_gain": [gain(*case) for case in (("one", 60), ("wide", 30), *((name, 60) for name in CRITERIA[1:]))],
    "bench_gate": sized(MemoryGate, ("width", "size"), (64, 1 << 12)),
    "bench_impurity": [
        *(impurity(name, width) for name in ("gini", "kearns_mansour") for width in (5, 32)),
        impurity("classification_error", 18),
    ],
    "bench_intake": [intake(600)],
    "bench_leaf_rows": [
        leaf_rows(2, 4, classes=2, naive_bayes=True, count_width=12),
    ],
    "bench_leveller": [(lambda: Leveller(LEVELLING, 15, 3, 16, **PHASES), {"steps": LEVELLING} | PHASES)],
    "bench_lite": [(register_port, PORT)],
    "bench_loader": of_width(Loader, 32),
    "bench_log2": of_width(Log2, 2, 40, count=600),
    "bench_merge": [of(Merge, dict(lanes=4, passes=4, bins=4, classes=3, slots=2, count_width=12), rounds=32)],
    "bench_posted": of_width(PostedWriter, 32),
    "bench_predictor": [
        predictor(ONE, 40, ["matches_golden", "ties", "rate"]),
    ],
    "bench_processor": [processor(EVEN, 1, 4)],
    "bench_quantiser": [quantiser(name, 3) for name in ("odd", "codes")],
    "bench_registers": [registers(True)],
    "bench_report": [of(ReportWriter, ODD | PLAIN, rounds=24)],
    "bench_reports": of_width(ReportRing, 32),
    "bench_row_memory": sized(RowMemory, ("width", "size"), (32, 512)),
    "bench_scheduler": [scheduler(depth=4, heads=5, snapshots=4)],
    "bench_session": [plain(Session, 4, count=150)],
    "bench_shared": [
        plain(SharedReads, 32, 3, width=32, managers=3, way="r"),
        plain(SharedWrites, 128, 2, width=128, managers=2, way="w"),
    ],
    "bench_tracker": [of(Counting, ONE | dict(slots=8, alternates=2), rounds=20)],
    "bench_uart": uart(34, 3_000_000),
    "bench_walker": [
        walker(700, nodes=16, attributes=8, slots=5, codes=8, walkers=2, alternates=3, records=4),
        walks([3], codes=8, walkers=2),
    ],
    "bench_window": [plain(Window, 4, 32, 100, rounds=8, frames=4, frame_bytes=32)],
    "bench_xlog2x": of_width(XLog2X, 2, 32, count=300),
}
NIGHTLY = {
    "bench_array": [array(8)(*case) for case in WHOLE],
    "bench_bayes": [of(BayesTerms, dict(classes=2, count_width=12))],
    "bench_commands": of_width(CommandRing, 32, 128),
    "bench_decider": [
        of(Decider, sizes, rounds=40)
        for sizes in ({}, PRESETS["many-classes"].as_dict(), dict(count_width=32, classes=32))
    ],
    "bench_decisions": [
        of(Decisions, sizes, options=["attempts"], attempts=5, rounds=40)
        for sizes in (NINE, TINY | dict(nodes=9, slots=4))
    ],
    "bench_dma": [dma(128, 2, 256), dma(512, 4, 16)],
    "bench_editor": [of(SlotEditor, sizes, commands=200) for sizes in EDITED],
    "bench_front": [front(*case, rounds=8) for case in FRONTS],
    "bench_gain": [gain(name, attempts) for name, (_, attempts, _) in GAINS.items()],
    "bench_impurity": [
        *(impurity("gini", width) for width in (2, 18)),
        *(impurity("kearns_mansour", width) for width in (3, 18)),
        impurity("classification_error", 2),
    ],
    # Short runs are over in Icarus before Verilator's compiler is.
    "bench_intake": [intake(100_000, simulator="verilator")],
    "bench_leaf_rows": [
        leaf_rows(3, 32, classes=2),
        leaf_rows(4, 32, classes=3, naive_bayes=True),
        leaf_rows(5, 24, classes=5, count_width=32),
    ],
    "bench_loader": of_width(Loader, 128, 512),
    "bench_log2": of_width(Log2, 9, 16, 22, 37, count=600),
    "bench_posted": of_width(PostedWriter, 256),
    "bench_predictor": [
        predictor(EVEN, 1024, ["matches_golden", "ties", "rate"]),
        predictor(ODD, 20, ["matches_golden", "ties"]),  # a small queue ends the rate
    ],
    "bench_processor": [
        *(processor(EVEN | other, 1, 12) for other in (PLAIN, {})),
        *(processor(ODD | other, 2, 12) for other in ({}, PLAIN)),
        processor(ONE | PLAIN, 0, 12),
    ],
    "bench_quantiser": [quantiser(name, 2 if name == "wide" else 8) for name in QUANTISERS],
    "bench_registers": [registers(False)],
    "bench_report": [of(ReportWriter, ONE | PLAIN, rounds=24)],
    "bench_reports": of_width(ReportRing, 128, 512),
    "bench_row_memory": sized(RowMemory, ("width", "size"), (128, 1024)),
    "bench_scheduler": [scheduler(depth=1, heads=2, snapshots=1)],
    "bench_tracker": [
        of(Counting, sizes, rounds=40)
        for sizes in (EVEN, ODD, EVEN | dict(slots=6, alternates=1), ODD | dict(slots=24), ONE | dict(slots=8))
    ],
    "bench_uart": [*uart(5, 20_000_000), *uart(8, 12_500_000)],
    "bench_walker": [
        walker(700, nodes=16, attributes=6, slots=5, codes=4),
        walker(700, nodes=20, attributes=3, slots=3, codes=1, walkers=3, alternates=0, records=2),
        walker(2000, nodes=64, attributes=20, slots=64, codes=4, walkers=4, records=8),
        walks([0, 3, 12], codes=32),
        walks([3], codes=32, records=4),
        walks([3, 12], codes=32, walkers=4),
        walks([3, 12], codes=8, walkers=2),
        walks([12], codes=32, walkers=13),
    ],
    "bench_window": [plain(Window, 4, 32, 100, rounds=20, frames=4, frame_bytes=32)],
    "bench_xlog2x": of_width(XLog2X, 8, 18, count=300),
}


@pytest.mark.parametrize(
    "bench, make, told",
    [
        pytest.param(bench, *case, id=f"{bench}-{when}{number}", marks=marks)
        for table, when, marks in ((BENCHES, "", []), (NIGHTLY, "nightly-", [pytest.mark.slow]))
        for bench, cases in table.items()
        for number, case in enumerate(cases)
    ],
)
def test_bench(bench, make, told, tmp_path):
    block = make()
    if bench in ("bench_commands", "bench_lite", "bench_reports"):
        told = told | {"latency": block.latency}
    run(block, "dut", bench, tmp_path, **told)
