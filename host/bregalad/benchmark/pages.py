"""What statistics in a board's memory cost, by leaves: clocks, bytes and rows per second, beside one core.

A tree of 32 numbers is grown by one core until it has so many leaves. A simulated board with that tree and empty
statistics then learns rows of codes, and splits no more. Its memory pauses as often as makes the bytes a clock that
docs/performance/end-to-end.md has for the board's chip.

    python -m bregalad.benchmark.pages             JSON lines
    python -m bregalad.benchmark.pages --markdown  the table of docs/performance/end-to-end.md
"""

import argparse
import json
import time

from ..boards import open_board
from ..driver.trainer import Trainer
from ..policy.split_policy import SplitPolicy
from ..protocol.pages import PageLayout, page_bytes
from ..protocol.rows import RowKind
from ..tree.cells import CellMap
from ..words import first_line
from . import end_to_end

# Name, geometry's sizes, MHz, bytes of memory a clock.
BOARDS = {
    "ULX3S, SDRAM": ({"lanes": 4, "passes": 8, "bus_width": 128}, 50, 2),
    "ECPIX-5, DDR3": ({"lanes": 16, "passes": 2, "bus_width": 128}, 62.5, 9.5),
    "AXI of 256 bits": ({"lanes": 16, "passes": 2, "bus_width": 256}, 79, 32),
}
LEAVES = (50, 100, 1000, 4000)
_ATTRIBUTES = 32
_GRACE = 200
_GROWN = 900_000  # instances that a tree may take


def grown(geometry, leaves, codes, labels):
    """Nodes of a tree with so many leaves, or what the stream gives: each leaf splits every 100 instances."""
    cells = CellMap.build([0] * _ATTRIBUTES, geometry.bins, "multiway")
    policy = SplitPolicy(grace=100, delta=0.5, tau=1.0)
    trainer = Trainer(open_board("emulated", geometry.replace(nodes=0, resident=0)), cells, policy, 2)
    at, step = 0, 20 * leaves
    while (len(trainer.nodes) + 1) // 2 < leaves and at < _GROWN:
        trainer.learn(codes[at : at + step], labels[at : at + step])
        at += step
        step = max(100, (leaves - (len(trainer.nodes) + 1) // 2) * 20)
    trainer.run(trainer.settling())
    return cells, trainer


def learn(trainer, codes, labels):
    """Seconds of one core that the engine takes."""
    start = time.process_time()
    trainer.learn(codes, labels)
    return time.process_time() - start


def measure(name, leaves, prediction, count, values, labels, codes):
    """A line of the table."""
    sizes, mhz, bytes_a_clock = BOARDS[name]
    base = end_to_end.geometry_for(_ATTRIBUTES, sizes["lanes"], 64, sizes["bus_width"])
    geometry = base.replace(slots=4096, nodes=8192, resident=64, naive_bayes=prediction != "mc")
    cells, engine = grown(geometry, leaves, codes, labels)
    still = SplitPolicy(delta=1e-300, tau=0.0, grace=_GRACE)
    layout, rows = end_to_end.rows_of(RowKind.CODE, values[-count:], codes[-count:], labels[-count:])
    stall = max(0.0, 1 - bytes_a_clock / geometry.bus_bytes)
    memory = -(-len(rows) // 4096) * 4096
    board = open_board("simulated", geometry, memory_size=memory, latency=40, stall=stall)
    board.load(0, rows)
    trainer = Trainer(board, cells, still, 2, prediction=prediction, nodes=engine.nodes, tally=engine.tally)
    trainer.driver.declare(layout, {})
    trainer.learn_rows(0, count // 2)  # until pages are where they will be
    board.write("control.clear", 1)
    trainer.learn_rows(layout.stride * (count // 2), count - count // 2)
    found = {each: board.read(f"{each}.count") / (count - count // 2) for each in ("clocks", "page_bytes", "dma_bytes")}
    board.close()
    other = Trainer(
        open_board("emulated", geometry.replace(nodes=0, resident=0)),
        cells,
        still,
        2,
        prediction=prediction,
        nodes=engine.nodes,
        tally=engine.tally,
    )
    learn(other, codes[:1000], labels[:1000])
    core = learn(other, codes[-count:], labels[-count:]) / count
    return {
        "board": name,
        "leaves": (len(engine.nodes) + 1) // 2,
        "prediction": prediction,
        **{each: round(value, 2) for each, value in found.items()},
        "rows_per_second": round(mhz * 1e6 / found["clocks"]),
        "core_rows_per_second": round(1 / core),
        "page": PageLayout(geometry).words(geometry.passes) * geometry.bus_bytes,
        "pages": page_bytes(geometry),
    }


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=first_line(__doc__))
    parser.add_argument("--instances", type=int, default=40_000)
    parser.add_argument("--leaves", type=int, nargs="+", default=LEAVES)
    parser.add_argument("--boards", nargs="+", choices=BOARDS, default=list(BOARDS))
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    values, labels, edges = end_to_end.load(_ATTRIBUTES, _GROWN)
    codes = end_to_end.encode(values, edges)
    if args.markdown:
        print("| board | leaves predict by | leaves | clocks | bytes of pages | M/s | one core, M/s |\n|" + "---|" * 7)
    for name in args.boards:
        for prediction in ("mc", "nba"):
            for leaves in args.leaves:
                row = measure(name, leaves, prediction, args.instances, values, labels, codes)
                print(
                    f"| {name} | {prediction} | {row['leaves']:,} | {row['clocks']:.1f} | {row['page_bytes']:.0f} | "
                    f"{row['rows_per_second'] / 1e6:.3f} | {row['core_rows_per_second'] / 1e6:.2f} |"
                    if args.markdown
                    else json.dumps(row),
                    flush=True,
                )


if __name__ == "__main__":
    main()
