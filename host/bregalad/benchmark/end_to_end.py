"""The whole system, from rows in memory to the last split: one core, and a board that walks records itself.

Both learn the same rows, with the same code books. The emulated board's time is one core's, of
quantising and learning. The simulated board's is its clocks, at the clock of a kept build of that very geometry, and
every moment in which the host works: as if the board stood still meanwhile. What the board says is recorded. The host's
time is that of the same driver with the recording in the board's place: simulating a board leaves no cache to others.

    python -m bregalad.benchmark.end_to_end             JSON lines
    python -m bregalad.benchmark.end_to_end --markdown  the table of docs/performance/end-to-end.md
"""

import argparse
import json
import platform
import time

import numpy as np

from ..boards import open_board
from ..boards.device import Device
from ..data.codebook import CodeBook
from ..data.edges import place_edges
from ..data.keys import edge_keys
from ..data.tables import NumberTables
from ..driver.trainer import Trainer
from ..geometry import CODE_WIDTH, Geometry
from ..policy.split_policy import SplitPolicy
from ..protocol.commands import COMMANDS, Opcode
from ..protocol.reports import Kind, layout_of
from ..protocol.rows import Column, RowKind, RowLayout
from ..tree.cells import CellMap
from ..words import first_line
from . import streams

WIDTHS = (32, 64, 128)
CODES = 254  # of an attribute, that edges are placed for
BOOKS = 4096  # rows that the code books are learnt from


_FENCE = layout_of(Kind.FENCE, Geometry(), 0)
_CHECKED = 4000  # rows that the golden model learns, too
_TURNS = 9  # of which the fastest counts, where seconds of the host are measured


class _Recording:
    """All that a board is sent and answers from now on, but for what it asks itself.

    Reports that nothing is sent between come at once, as from a board that is faster than its host.
    """

    def __init__(self, board):
        self.sent, self.answers = [], []
        self._inside = self._goes_on = False
        for name in ("send", "receive", "_read_register"):
            setattr(board, name, self._kept(getattr(board, name), name != "send"))

    def _kept(self, method, answers):
        def call(*args, **options):
            if self._inside:
                return method(*args, **options)
            self._inside = True
            try:
                answer = method(*args, **options)
            finally:
                self._inside = False
            if not answers:
                self.sent.append(args[0])
            elif self._goes_on and isinstance(answer, bytes):
                self.answers[-1] += answer
            else:
                self.answers.append(answer)
            self._goes_on = isinstance(answer, bytes) and answer[:1] != bytes([Kind.FENCE])
            return answer

        return call


def _without_tokens(sent):
    """What has been sent, but for fences, which have a new token each."""
    return b"".join(bytes(data) for data in sent if data[0] != Opcode.FENCE)


class _Replay(Device):
    """A board that answers as a recording has it, at once."""

    name, clocks = "recording", 0

    def __init__(self, geometry, memory_size, recording):
        super().__init__(geometry)
        self.memory_size, self.sent = memory_size, []
        self._answers = iter(recording.answers)

    def send(self, data):
        self.sent.append(data)

    def receive(self, wait=False):
        answer = next(self._answers)
        if answer and answer[0] == Kind.FENCE:  # whose token is new with every fence
            return _FENCE.pack(kind=Kind.FENCE, token=COMMANDS[Opcode.FENCE].unpack(bytes(self.sent[-1]))["token"])
        return answer

    def load(self, address, data):
        pass

    def _read_register(self, register):
        return next(self._answers)

    def _write_register(self, register, value):
        pass


def geometry_for(attributes, lanes, slots, bus_width=256):
    """The board: as many passes as the attributes take."""
    return Geometry(
        lanes=lanes,
        passes=-(-attributes // lanes),
        slots=slots,
        count_width=16,
        bus_width=bus_width,
        nodes=8 * slots,
    )


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


def learn(trainer, count):
    """Learn rows that lie in the board's memory; processor time, and what the board has counted."""
    board = trainer.board
    board.write("control.clear", 1)
    begin, start = board.clocks, time.process_time()
    hits = trainer.learn_rows(0, count)
    found = {"seconds": time.process_time() - start, "clocks": board.clocks - begin, "hits": hits}
    return found | {name: board.read(f"{name}.count") for name in ("records", "beats", "dma_bytes", "learning")}


def check(geometry, tree, layout, keys, rows):
    """AssertionError if simulated board and golden model learn other trees of the first rows."""
    from bregalad_sim.latency import GoldenBoard

    count = min(_CHECKED, len(rows) // layout.stride)
    part = rows[: count * layout.stride]
    found = []
    for board in (open_board("simulated", geometry, memory_size=1 << 20), GoldenBoard(geometry, 1 << 20)):
        trainer = Trainer(board, *tree)
        trainer.driver.declare(layout, keys)
        board.load(0, part)
        found.append((trainer.learn_rows(0, count), trainer))
    (hits, one), (wanted, other) = found
    assert hits == wanted and one.nodes.difference(other.nodes) is None, one.nodes.difference(other.nodes)


def host_seconds(board, recording, tree, layout, keys, count):
    """Processor time that the driver takes for each turn, with the recording in the board's place."""
    fastest = [np.inf, np.inf]
    for _ in range(_TURNS):
        replay = _Replay(board.geometry, board.memory_size, recording)
        trainer = Trainer(replay, *tree)
        trainer.driver.declare(layout, keys)
        fastest = [min(least, learn(trainer, count)["seconds"]) for least in fastest]
        assert _without_tokens(replay.sent) == _without_tokens(recording.sent), "the driver has not said the same again"
    return fastest


def measure(attributes, args):
    """Rows of the table: from codes and from floats, each learnt twice, one after the other."""
    from bregalad_hw.reports import clock_of, kept

    geometry = geometry_for(attributes, args.lanes, args.slots, args.bus_width)
    values, labels, edges = load(attributes, args.instances)
    cells = CellMap.build([0] * attributes, geometry.bins, "multiway")
    tree = cells, SplitPolicy(), 2
    for _ in range(2):  # once more, since the first time loads or compiles what it needs
        trainer = Trainer(open_board("emulated", geometry.replace(nodes=0)), cells, SplitPolicy(), 2)
        core = [emulated(trainer, values, labels, edges) for _ in range(2)]
    codes = core[0][1]
    _, reached, report = clock_of(kept(), geometry)
    for kind, name in ((RowKind.CODE, "codes"), (RowKind.F32, "float32")):
        layout, rows = rows_of(kind, values, codes, labels)
        keys = {} if kind is RowKind.CODE else {i: edge_keys(edges[i], kind) for i in range(attributes)}
        board = open_board("simulated", geometry, memory_size=len(rows) + 64, latency=args.latency, stall=args.stall)
        board.load(0, rows)
        recording = _Recording(board)
        walking = Trainer(board, *tree)
        walking.driver.declare(layout, keys)
        found = [learn(walking, args.instances) for _ in range(2)]
        board.close()
        check(geometry, tree, layout, keys, rows)
        hosts = host_seconds(board, recording, tree, layout, keys, args.instances)
        for turn, ((seconds, _), measured, host) in enumerate(zip(core, found, hosts, strict=True)):
            yield {
                "attributes": attributes,
                "from": name,
                "turn": ("first", "again")[turn],
                "instances": len(labels),
                "splits": walking.tally.splits,
                "geometry": geometry.as_dict(),
                "core_seconds": round(seconds[name], 4),
                "host_seconds": round(host, 5),
                **{name: value for name, value in measured.items() if name != "seconds"},  # of simulating
                "row_bytes": layout.stride,
                "kept": report,
                "mhz": reached,
                "processor": platform.processor() or platform.machine(),
            }


def _line(row, mhz):
    """What a row comes to at a clock."""
    board = row["clocks"] / (mhz * 1e6)
    whole = board + row["host_seconds"]
    bus = CODE_WIDTH * row["dma_bytes"] / row["geometry"]["bus_width"]
    rate = row["instances"] / whole / 1e6
    return (
        f"| {row['attributes']} | {row['from']}, {row['turn']} | {row['instances'] / row['core_seconds'] / 1e6:.2f} | "
        f"{row['clocks'] / row['instances']:.2f} | {rate:.1f} | {row['core_seconds'] / whole:.1f} | "
        f"{bus / row['clocks'] * board / whole:.0%} | {row['beats'] / row['clocks'] * board / whole:.0%} | "
        f"{row['host_seconds'] / whole:.0%} |"
    )


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=first_line(__doc__))
    parser.add_argument("--attributes", type=int, nargs="+", default=WIDTHS)
    parser.add_argument("--instances", type=int, default=500_000)
    parser.add_argument("--lanes", type=int, default=32)
    parser.add_argument("--slots", type=int, default=64)
    parser.add_argument("--latency", type=int, default=40, help="clocks of the memory, from address to data")
    parser.add_argument("--bus-width", type=int, default=256, help="bits")
    parser.add_argument("--stall", type=float, default=0.0, help="share of the clocks in which the memory pauses")
    parser.add_argument("--mhz", type=float, help="a clock for geometries of which no build is kept")
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    if args.markdown:
        print("| attributes | from | one core, M/s | clocks | M/s | times | bus | array | host |\n|" + "---|" * 9)
    for attributes in args.attributes:
        for row in measure(attributes, args):
            print(_line(row, row["mhz"] or args.mhz) if args.markdown else json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
