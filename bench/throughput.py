"""Beats per clock of the array, from the simulated board's own counters, one JSON line per run.

Clocks, never seconds: they depend on nothing but the design. ``elec`` is the driver's own stream
(VFDT on ELEC, needs ../shared/data); ``slots=N`` are random records for N slots as fast as the
array takes them, with and without trials and naive Bayes predictions: the worst case, since the
driver never sends to a slot under trial. ``together``: all slots begin their grace periods at
once, so that their trials come in bunches for a long time; ``apart``: each begins at a random
phase, as in a run that is long under way.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from bregalad import VFDT, Geometry, open_board
from bregalad.geometry import NONE
from bregalad.protocol.commands import Opcode, pack_command, record_layout
from bregalad.protocol.layout import Layout
from bregalad.protocol.registers import TIMINGS
from bregalad.protocol.reports import entry_body
from bregalad.trees.cells import CellMap

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
import streams  # noqa: E402

GEOMETRY = Geometry(lanes=8, passes=1, slots=64)


def random_records(grace, slots, count, seed, apart, predictions=0):
    """Counters of a board that learns random records without a pause."""
    g = GEOMETRY.replace(naive_bayes=bool(predictions))
    entry = Layout("entry", *entry_body(g))
    rng = np.random.default_rng(seed)
    records = np.zeros(count, record_layout(g.lanes).dtype)
    records["slot"] = rng.integers(slots, size=count)
    records["label"] = rng.integers(2, size=count)
    records["codes"] = rng.integers(255, size=records["codes"].shape)
    with open_board("simulated", g) as board:
        CellMap.build([0] * g.lanes, g.bins).configure(board)
        board.write("grace.leaf", grace)
        board.write("report.predictions", predictions)
        board.send(b"".join(pack_command(g, Opcode.CLEAR, slot=slot) for slot in range(slots)))
        if apart:
            board.send(b"".join(
                pack_command(g, Opcode.WRITE, slot=slot, cell=NONE,
                             payload=entry.pack(since=int(rng.integers(grace)), link=NONE))
                for slot in range(slots)))
        board.send(pack_command(g, Opcode.FENCE))
        board.receive(wait=True)
        board.clear_counters()
        board.send(pack_command(g, Opcode.LEARN, count=count, payload=records.tobytes()))
        board.settle()
        return board.counters()


def elec():
    """Counters of a board that has learnt ELEC through the driver."""
    X, y, schema = streams.elec()
    tree = VFDT(board="simulated", geometry=GEOMETRY, nominal=streams.nominal(X, schema))
    tree.partial_fit(X, np.asarray(y), classes=np.unique(y))
    counters = tree.counters()
    tree.close()
    return counters


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    runs = [("elec, grace 200", elec)] if streams.path("elec").is_file() else []
    for case in ((0, 64, False, 0), (200, 1, False, 0), (200, 8, False, 0), (200, 8, True, 0),
                 (200, 64, False, 0), (200, 64, True, 0), (0, 64, False, 1), (0, 64, False, 2),
                 (200, 8, True, 1), (200, 64, True, 1)):
        grace, slots, apart, predictions = case
        phases = f", {'apart' if apart else 'together'}" if grace else ""
        reports = ("", ", predictions", ", scores")[predictions]
        runs.append((f"random, slots {slots}, grace {grace}{phases}{reports}",
                     lambda case=case: random_records(
                         *case[:2], args.records, args.seed, *case[2:])))
    for name, run in runs:
        counters = run()
        print(json.dumps({
            "bench": "throughput", "run": name, "geometry": GEOMETRY.as_dict(), "seed": args.seed,
            "beats": counters["beats"], "trials": counters["trials"],
            "beats_per_clock": round(counters["beats"] / counters["learning"], 4),
            **{key: counters[key] for key in TIMINGS if key.startswith(("stall", "learn"))},
        }), flush=True)


if __name__ == "__main__":
    main()
