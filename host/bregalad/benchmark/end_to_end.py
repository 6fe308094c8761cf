"""The whole system, from rows in memory to the last split: one core, and a board that routes records itself.

Both learn the same rows, with the same code books. The emulated board's time is one core's, of
quantising and learning. The simulated board's is its clocks, at the clock of a reference build of that very geometry,
and every moment in which the host works: as if the board stood still meanwhile. The host's time is the driver's
processor time with a board that answers what the simulated one has answered: a simulation would leave it no cache.

    python -m bregalad.benchmark.end_to_end    a table of docs/results.md
"""

import argparse
import itertools
import time

import numpy as np

from ..boards import open_board
from ..boards.device import Device
from ..data.codebook import CodeBook
from ..data.edges import place_edges
from ..data.keys import edge_keys
from ..data.tables import NumberTables
from ..driver.devices import device
from ..driver.trainer import Trainer
from ..geometry import CODE_WIDTH, Geometry
from ..policy.split_policy import SplitPolicy
from ..protocol.rows import Column, RowKind, RowLayout
from ..tree.cells import CellMap
from ..words import first_line
from . import streams

WIDTHS = (32, 64, 128)
CODES = 254  # of an attribute, that edges are placed for
BOOKS = 4096  # rows that the code books are learnt from
LATENCY = 40  # clocks of the memory, from address to data
_CHECKED = 4000  # rows that the golden model learns, too


class _Recorder:
    """What a board answers from now on, ``answers``."""

    def __init__(self, board):
        self.answers, self._inside = [], False
        for name in ("receive", "_read_register"):
            setattr(board, name, self._recorded(getattr(board, name)))

    def _recorded(self, method):
        def call(*args, **options):
            if self._inside:
                return method(*args, **options)
            self._inside = True
            try:
                self.answers.append(method(*args, **options))
            finally:
                self._inside = False
            return self.answers[-1]

        return call


class _Recorded(Device):
    """The board again, without its RTL: it answers what was recorded, and so takes no time."""

    name = "recorded"

    def __init__(self, board, answers):
        super().__init__(board.geometry)
        self.memory_size, self._answers = board.memory_size, iter(answers)

    def _read_register(self, register):
        return next(self._answers)

    def _write_register(self, register, value):
        pass

    def send(self, data):
        pass

    def receive(self, wait=False):
        return next(self._answers)


def load(attributes, count):
    """Rows of floats, labels, and the code books' edges."""
    X, y, schema = streams.load(f"numeric-{attributes}", count)
    values = np.ascontiguousarray(X.to_numpy(np.float32))
    labels = np.searchsorted(np.unique(y), y).astype(np.int32)
    edges = [place_edges(np.sort(values[:BOOKS, i]).astype(np.float64), CODES) for i in range(attributes)]
    return values, labels, edges


def encode(values, edges):
    """Codes of floats, uint8 array as they are."""
    codes = np.empty(values.shape, np.uint8)
    books = [CodeBook() for _ in edges]
    for book, each in zip(books, edges, strict=True):
        book.edges = each
    NumberTables(books, range(values.shape[1])).encode(values.astype(np.float64), codes)
    return codes


def emulated(trainer, values, labels, edges):
    """Seconds of one core from floats and from codes, and codes."""
    start = time.process_time()
    codes = encode(values, edges)
    encoded = time.process_time()
    trainer.learn(codes, labels)
    learnt = time.process_time()
    return {"float32": learnt - start, "codes": learnt - encoded}, codes


def rows_of(kind, values, codes, labels):
    """Layout of rows, their bytes, and what numbers are encoded by."""
    table = values if kind is RowKind.F32 else codes
    rows = np.zeros(len(table), [("label", "u1"), ("x", table.dtype, table.shape[1])])
    rows["label"], rows["x"] = labels, table
    columns = [Column(f"x{i}", 1 + table.itemsize * i, kind) for i in range(table.shape[1])]
    return RowLayout(columns, rows.itemsize, label=0), rows.view(np.uint8).reshape(-1)


def learn(board, tree, layout, keys, count):
    """Learn rows that lie in a board's memory twice: of each turn the processor time, and what the board has counted.

    Returns a list of dict.
    """
    device._TOKENS = itertools.count()  # of FENCE: the same each time
    trainer, found = Trainer(board, *tree), []
    trainer.driver.declare(layout, keys)
    for _ in range(2):
        board.write("control.clear", 1)
        start = time.process_time()
        trainer.learn_rows(0, count)
        seconds = time.process_time() - start
        names = ("clocks", "beats", "dma_bytes")
        found.append({"host_seconds": seconds} | {name: board.read(f"{name}.count") for name in names})
    return found


def _memory_for(rows, geometry):
    """Bytes of a board's memory for rows: whole bus words."""
    return len(rows) + -len(rows) % geometry.bus_bytes


def check(geometry, tree, layout, keys, rows):
    """AssertionError if simulated board and golden model learn other trees of the first rows."""
    from bregalad_sim.latency import GoldenBoard

    count = min(_CHECKED, len(rows) // layout.stride)
    part = rows[: count * layout.stride]
    found = []
    memory = _memory_for(part, geometry)
    for board in (open_board("simulated", geometry, memory_size=memory), GoldenBoard(geometry, memory)):
        trainer = Trainer(board, *tree)
        trainer.driver.declare(layout, keys)
        board.load(0, part)
        found.append((trainer.learn_rows(0, count), trainer))
    (hits, one), (wanted, other) = found
    assert hits == wanted and one.nodes.difference(other.nodes) is None, one.nodes.difference(other.nodes)


def measure(attributes, args):
    """Lines of the table: from codes and from floats, each learnt twice, one after the other."""
    from bregalad_hw.reports import clock_of, kept

    sizes = {"lanes": args.lanes, "slots": args.slots, "nodes": 8 * args.slots, "bus_width": args.bus_width}
    geometry = Geometry(passes=-(-attributes // args.lanes), count_width=16, **sizes)
    values, labels, edges = load(attributes, args.instances)
    cells = CellMap.build([0] * attributes, geometry.bins, "multiway")
    tree = cells, SplitPolicy(), 2
    for _ in range(2):  # once more, since the first time loads or compiles what it needs
        trainer = Trainer(open_board("emulated", geometry.replace(nodes=0)), cells, SplitPolicy(), 2)
        core = [emulated(trainer, values, labels, edges) for _ in range(2)]
    codes = core[0][1]
    mhz = clock_of(kept(), geometry)[1] or args.mhz
    for kind, name in ((RowKind.CODE, "codes"), (RowKind.F32, "float32")):
        layout, rows = rows_of(kind, values, codes, labels)
        keys = {} if kind is RowKind.CODE else {i: edge_keys(edges[i], kind) for i in range(attributes)}
        memory = _memory_for(rows, geometry)
        board = open_board("simulated", geometry, memory_size=memory, latency=LATENCY, stall=args.stall)
        board.load(0, rows)
        check(geometry, tree, layout, keys, rows)
        recorder = _Recorder(board)
        found = learn(board, tree, layout, keys, args.instances)
        board.close()
        for _ in range(2):  # once more, since the first time loads what it needs
            host = learn(_Recorded(board, recorder.answers), tree, layout, keys, args.instances)
        for turn, (seconds, _), counted, driven in zip(("first", "again"), core, found, host, strict=True):
            here, clocks = seconds[name], counted["clocks"]
            there = clocks / (mhz * 1e6)
            whole = there + driven["host_seconds"]
            bus = CODE_WIDTH * counted["dma_bytes"] / geometry.bus_width
            yield (
                f"| {attributes} | {name}, {turn} | {len(labels) / here / 1e6:.2f} | {clocks / len(labels):.2f} | "
                f"{len(labels) / whole / 1e6:.1f} | {here / whole:.1f} | {bus / clocks * there / whole:.0%} | "
                f"{counted['beats'] / clocks * there / whole:.0%} | {driven['host_seconds'] / whole:.0%} |"
            )


def main():
    parser = argparse.ArgumentParser(description=first_line(__doc__))
    parser.add_argument("--attributes", type=int, nargs="+", default=WIDTHS)
    parser.add_argument("--instances", type=int, default=500_000)
    parser.add_argument("--lanes", type=int, default=32)
    parser.add_argument("--slots", type=int, default=64)
    parser.add_argument("--bus-width", type=int, default=256, help="bits")
    parser.add_argument("--stall", type=float, default=0.0, help="share of the clocks in which the memory pauses")
    parser.add_argument("--mhz", type=float, help="a clock for geometries of which no build is kept")
    args = parser.parse_args()
    print("| attributes | from | one core, M/s | clocks | M/s | times | bus | array | host |\n|" + "---|" * 9)
    for attributes in args.attributes:
        for line in measure(attributes, args):
            print(line, flush=True)


if __name__ == "__main__":
    main()
