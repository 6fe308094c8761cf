"""What statistics in a board's memory cost, by leaves: clocks, bytes and rows per second, beside one core.

One core grows a tree from codes of 32 numbers and labels drawn at random, each leaf split every 50 instances, until
there are so many leaves. A simulated board with that tree and 64 slots on the chip then learns rows, and splits no
more: first until pages are where they will be, then as many again, which count. Its memory pauses as often as makes the
bytes a clock that docs/results.md has for the board's chip.

    python -m bregalad.benchmark.pages    a table of docs/results.md
"""

import time
from itertools import product

import numpy as np

from ..boards import open_board
from ..driver.trainer import Trainer
from ..geometry import Geometry
from ..policy.split_policy import SplitPolicy
from ..protocol.pages import PageLayout
from ..protocol.rows import RowKind
from ..tree.cells import CellMap
from . import end_to_end

# Name, geometry's sizes, MHz, bytes of memory a clock.
BOARDS = {
    "ULX3S, SDRAM": ({"lanes": 4, "passes": 8, "bus_width": 128}, 50, 2),
    "ECPIX-5, DDR3": ({"lanes": 8, "passes": 4, "bus_width": 128}, 62.5, 9.5),
    "AXI of 256 bits": ({"lanes": 16, "passes": 2, "bus_width": 256}, 79, 32),
}
LEAVES = (100, 1000, 4000)
_ATTRIBUTES = 32
_GRACE = 200
_ROWS = 900_000
_RESIDENT = 64


def instances(leaves, prediction):
    """Rows that show what a row costs: logs fill in a grace period of each leaf, predictions bring pages at once."""
    return min(2 * _GRACE * leaves, _ROWS // 2) if prediction == "mc" else 5000


def expected(geometry, leaves, prediction):
    """Bytes of pages and logs per row, of leaves that are reached alike; docs/hardware.md."""
    pages, passes = PageLayout(geometry), geometry.passes
    word, absent = geometry.bus_bytes, max(0, 1 - geometry.resident / leaves)
    page = 2 * pages.words(passes) * word
    if prediction != "mc":
        return absent * page
    brought = max(passes / pages.log_beats, 1 / _GRACE)
    return absent * (2 * passes * pages.beat_words * word + brought * page)


def grown(geometry, leaves, codes, labels):
    """The trainer of a tree with about so many leaves."""
    cells = CellMap.build([0] * _ATTRIBUTES, geometry.bins, "multiway")
    policy = SplitPolicy(grace=50, delta=0.5, tau=1.0)
    trainer = Trainer(open_board("emulated", geometry.replace(nodes=0, resident=0)), cells, policy, 2)
    at = 0
    while (missing := leaves - (len(trainer.nodes) + 1) // 2) > 0 and at < len(codes):
        step = max(100, 10 * missing)
        trainer.learn(codes[at : at + step], labels[at : at + step])
        at += step
    trainer.run(trainer.settling())
    return cells, trainer


def learn(trainer, codes, labels):
    """Seconds of one core that the engine takes."""
    start = time.process_time()
    trainer.learn(codes, labels)
    return time.process_time() - start


def measure(name, leaves, prediction, values, labels, codes):
    """A line of the table."""
    sizes, mhz, bytes_a_clock = BOARDS[name]
    more = {"slots": 4096, "nodes": 8192, "resident": _RESIDENT, "count_width": 16, "naive_bayes": prediction != "mc"}
    geometry = Geometry(**sizes, **more)
    cells, engine = grown(geometry, leaves, codes, labels)
    nodes, count = engine.nodes, instances(leaves, prediction)
    still = SplitPolicy(delta=1e-300, tau=0.0, grace=_GRACE)
    options = {"prediction": prediction, "nodes": nodes, "event_counts": engine.event_counts}
    layout, rows = end_to_end.rows_of(RowKind.CODE, values[-count:], codes[-count:], labels[-count:])
    stall = max(0.0, 1 - bytes_a_clock / geometry.bus_bytes)
    memory = -(-len(rows) // 4096) * 4096
    with open_board("simulated", geometry, memory_size=memory, latency=40, stall=stall) as board:
        board.load(0, rows)
        trainer = Trainer(board, cells, still, 2, **options)
        trainer.driver.declare(layout, {})
        trainer.learn_rows(0, count)
        board.write("control.clear", 1)
        trainer.learn_rows(0, count)
        found = {each: board.read(f"{each}.count") / count for each in ("clocks", "page_bytes")}
    engine = Trainer(open_board("emulated", geometry.replace(nodes=0, resident=0)), cells, still, 2, **options)
    learn(engine, codes[:5000], labels[:5000])
    core = learn(engine, codes[-count:], labels[-count:]) / count
    leaves = (len(nodes) + 1) // 2
    return (
        f"| {name}, {leaves:,} {prediction} | {found['clocks']:.1f} | {found['page_bytes']:.0f} | "
        f"{expected(geometry, leaves, prediction):.0f} | {mhz / found['clocks']:.3f} | {1 / core / 1e6:.2f} |"
    )


def main():
    values, labels, edges = end_to_end.load(_ATTRIBUTES, _ROWS)
    codes = end_to_end.encode(values, edges)
    labels = np.random.default_rng(1).integers(0, 2, len(labels)).astype(labels.dtype)
    print("| board, leaves | clocks | bytes | by formula | board, M rows/s | one core, M rows/s |\n|" + "---|" * 6)
    for name, prediction, leaves in product(BOARDS, ("mc", "nba"), LEAVES):
        print(measure(name, leaves, prediction, values, labels, codes), flush=True)


if __name__ == "__main__":
    main()
