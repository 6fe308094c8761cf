"""How fast a board reads rows from its own memory: ULX3S, its SDRAM simulated at the pins.

The board's top level as it is built, LiteDRAM's controller and a model of the chip. Rows come over the simulated line
by LOAD; then a tree that is never tried learns them again and again, so that nothing but rows takes clocks.

    python -m bregalad.benchmark.sdram

JSON lines: clocks per row with a LEARN under way, and rows per second at the board's clock.
"""

import json

import numpy as np

from ..boards.linked import LinkedBoard
from ..data.keys import edge_keys
from ..protocol.rows import RowKind
from ..trees.policy.policy import SplitPolicy
from ..trees.structure.cells import CellMap
from ..trees.training.trainer import Trainer
from . import end_to_end

BOARD = "ulx3s-85f-sdram"
ROWS = 600
TURNS = 4


def measure(kind, name, attributes):
    """Clocks per row, of rows whose numbers have this RowKind."""
    from bregalad_hw.boards import BOARDS
    from bregalad_sim.virtual.board import VirtualBoard
    from bregalad_sim.virtual.line import LineWire

    made = BOARDS[BOARD]
    values, labels, edges = end_to_end.load(attributes, max(ROWS, end_to_end.BOOKS))
    codes = end_to_end.encode(values, edges)
    layout, rows = end_to_end.rows_of(kind, values[:ROWS], codes[:ROWS], labels[:ROWS])
    keys = {} if kind is RowKind.CODE else {i: edge_keys(edges[i], kind) for i in range(attributes)}
    cells = CellMap.build([0] * attributes, made.geometry.bins, "multiway")
    with VirtualBoard(made, ratio=4) as virtual, LinkedBoard(LineWire(virtual)) as board:
        board.load(0, np.ascontiguousarray(rows))
        trainer = Trainer(board, cells, SplitPolicy(grace=1 << 20, delay=1024), 2)
        trainer.declare(layout, keys)
        trainer.learn_rows(0, ROWS)
        board.clear_counters()
        for _ in range(TURNS):
            trainer.learn_rows(0, ROWS)
        counters = board.counters()
    clocks = counters["learning"] / (TURNS * ROWS)
    return {
        "board": BOARD,
        "from": name,
        "attributes": attributes,
        "row_bytes": layout.stride,
        "clocks_per_row": round(clocks, 2),
        "bytes_per_clock": round(counters["dma_bytes"] / counters["learning"], 3),
        "rows_per_second": round(made.clock_mhz * 1e6 / clocks),
    }


def main():
    """The command line."""
    for kind, name in ((RowKind.CODE, "codes"), (RowKind.F32, "float32")):
        print(json.dumps(measure(kind, name, 32)), flush=True)


if __name__ == "__main__":
    main()
