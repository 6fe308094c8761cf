"""How fast a board reads rows from its own memory: ULX3S, its SDRAM simulated at the pins; ECPIX-5, its DDR3 at DFI.

The board's top level as it is built, LiteDRAM's controller and a model of the chip. Rows come over the simulated line
or cable by LOAD; then a tree that is never tried learns them again and again, so that nothing but rows takes clocks.

    python -m bregalad.benchmark.sdram

JSON lines: clocks per row with a LEARN under way, and rows per second at the board's clock.
"""

import json
from itertools import product

import numpy as np

from ..boards.linked import LinkedBoard
from ..data.keys import edge_keys
from ..driver.trainer import Trainer
from ..policy.split_policy import SplitPolicy
from ..protocol.rows import RowKind
from ..tree.cells import CellMap
from . import end_to_end

ROWS = {"ulx3s-85f-sdram": 600, "ecpix5-85f-ddr3": 4000}
TURNS = 4


def measure(board_name, kind, name, attributes):
    """Clocks per row, of rows whose numbers have this RowKind."""
    from bregalad_hw.boards import BOARDS
    from bregalad_sim.virtual import CableWire, LineWire, VirtualBoard

    made, count = BOARDS[board_name], ROWS[board_name]
    wire, options = (LineWire, {"ratio": 4}) if made.wire == "serial" else (CableWire, {})
    values, labels, edges = end_to_end.load(attributes, max(count, end_to_end.BOOKS))
    codes = end_to_end.encode(values, edges)
    layout, rows = end_to_end.rows_of(kind, values[:count], codes[:count], labels[:count])
    keys = {} if kind is RowKind.CODE else {i: edge_keys(edges[i], kind) for i in range(attributes)}
    cells = CellMap.build([0] * attributes, made.geometry.bins, "multiway")
    with VirtualBoard(made, **options) as virtual, LinkedBoard(wire(virtual)) as board:
        board.load(0, np.ascontiguousarray(rows))
        trainer = Trainer(board, cells, SplitPolicy(grace=1 << 20), 2)
        trainer.driver.declare(layout, keys)
        trainer.learn_rows(0, count)
        board.write("control.clear", 1)
        for _ in range(TURNS):
            trainer.learn_rows(0, count)
        counters = board.counters()
    clocks = counters["learning"] / (TURNS * count)
    return {
        "board": board_name,
        "from": name,
        "attributes": attributes,
        "row_bytes": layout.stride,
        "clocks_per_row": round(clocks, 2),
        "bytes_per_clock": round(counters["dma_bytes"] / counters["learning"], 3),
        "rows_per_second": round(made.clock_mhz * 1e6 / clocks),
    }


def main():
    for board_name, (kind, name) in product(ROWS, ((RowKind.CODE, "codes"), (RowKind.F32, "float32"))):
        print(json.dumps(measure(board_name, kind, name, 32)), flush=True)


if __name__ == "__main__":
    main()
