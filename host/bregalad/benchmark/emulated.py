"""Attribute values per second of the emulated board alone: no tree, no quantiser, one core.

Random codes and slots lie in memory; the board counts them and runs the trials that come due.
Results are checked against the golden model on the first records before anything is reported.

    python -m bregalad.benchmark.emulated
"""

import argparse
import json
import platform
import time
from importlib.metadata import version

import numpy as np

from ..boards import open_board
from ..geometry import Geometry
from ..protocol.commands import Opcode, pack_command, record_layout
from ..protocol.registers import CellKind
from ..words import first_line


def records(args, attributes, classes):
    """Random records whose codes depend on the class, so that trials find something."""
    rng = np.random.default_rng(args.seed)
    found = np.zeros(args.records, record_layout(attributes).dtype)
    found["slot"] = rng.integers(0, args.slots, args.records)
    found["label"] = rng.integers(0, classes, args.records)
    codes = rng.integers(0, 256 - 8 * classes, (args.records, attributes))
    found["codes"] = np.minimum(codes + 8 * found["label"][:, None], 254)
    return found


def configure(board, attributes, classes, grace):
    """Write the configuration of ``attributes`` numeric attributes."""
    for cell in range(attributes):
        board.write_register("cell", cell | CellKind.NUMERIC << 16 | 1 << 18 | 1 << 28)
    for name, value in (("cells", attributes), ("classes", classes), ("grace", grace)):
        board.write_register(name, value)


def check(geometry, data, *configuration):
    """AssertionError if emulated board and golden model differ on ``data``."""
    from bregalad_sim.golden import Golden

    board, golden = open_board("emulated", geometry), Golden(geometry)
    answers = []
    stream = pack_command(geometry, Opcode.LEARN, count=len(data), payload=data.tobytes())
    stream += b"".join(pack_command(geometry, Opcode.READ, slot=slot, cell=0) for slot in range(geometry.slots))
    for device in (board, golden):
        configure(device, *configuration)
    board.send(stream)
    answers = board.receive(), golden.execute(stream)
    if answers[0] != answers[1]:
        raise AssertionError("the emulated board differs from the golden model")


def measure(args, attributes, classes, grace):
    """Median over ``args.repeats`` of the time for one LEARN of all records."""
    geometry = Geometry(
        lanes=8, passes=-(-attributes // 8), bins=args.bins, classes=classes, slots=args.slots, count_width=24
    )
    data = records(args, attributes, classes)
    check(geometry, data[: args.checked], attributes, classes, grace)
    board = open_board("emulated", geometry)
    configure(board, attributes, classes, grace)
    stream = np.frombuffer(pack_command(geometry, Opcode.LEARN, count=len(data), payload=data.tobytes()), np.uint8)
    seconds = []
    for _ in range(args.repeats):
        for slot in range(args.slots):  # counts start at 0, as those of young leaves do
            board.send(pack_command(geometry, Opcode.CLEAR, slot=slot))
        start = time.perf_counter()
        board.send(stream)
        board.receive()
        seconds.append(time.perf_counter() - start)
    median = float(np.median(seconds))
    return {
        "bench": "emulated",
        "attributes": attributes,
        "classes": classes,
        "bins": args.bins,
        "slots": args.slots,
        "grace": grace,
        "records": args.records,
        "seed": args.seed,
        "trials": board.read("trials.count") // args.repeats,
        "million_values_per_second": round(attributes * args.records / median / 1e6, 1),
        "million_records_per_second": round(args.records / median / 1e6, 3),
        "fastest_slowest_seconds": [round(min(seconds), 4), round(max(seconds), 4)],
        "numba": version("numba"),
        "python": platform.python_version(),
        "machine": platform.machine(),
    }


def main():
    """Print one JSON line per configuration."""
    parser = argparse.ArgumentParser(description=first_line(__doc__))
    parser.add_argument("--records", type=int, default=500_000, help="per repeat")
    parser.add_argument("--checked", type=int, default=3000, help="records given to golden too")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--slots", type=int, default=64)
    parser.add_argument("--bins", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    for attributes, classes, grace in ((10, 2, 0), (10, 2, 200), (10, 5, 200), (50, 2, 0), (50, 2, 200), (50, 10, 200)):
        print(json.dumps(measure(args, attributes, classes, grace)), flush=True)


if __name__ == "__main__":
    main()
