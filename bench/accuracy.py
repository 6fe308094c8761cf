"""Prequential accuracy of VFDT on the real streams beside MOA's, one JSON line per run.

    python bench/accuracy.py              JSON lines
    python bench/accuracy.py --markdown   the table of docs/accuracy.md
"""

import argparse
import json
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
from bregalad import VFDT

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
import streams  # noqa: E402

# MOA 24.07, trees.HoeffdingTree -l MC, prequential.
STREAMS = {
    "rt5n_1M": (streams.rt5n, 0.6841),
    "led_1M": (streams.led, 0.6378),
    "ELEC": (streams.elec, 0.7572),
    "KDD'99 10 %": (streams.kdd, 0.9720),
    "Skin, file order": (streams.skin, 0.9978),
    "Skin, shuffled": (lambda: streams.skin(shuffled=True), 0.9721),
}
CHUNK = 65_536  # instances per call; the results do not depend on it
SLOTS = 4096  # enough for every leaf of rt5n


def run(name, child_counts, board, grace=200):
    """Accuracy and sizes of one run."""
    X, y, schema = STREAMS[name][0]()
    y = np.asarray(y)
    classes = np.unique(y)
    tree = VFDT(board=board, child_counts=child_counts, grace=grace, slots=SLOTS,
                nominal=streams.nominal(X, schema))
    right = 0
    for start in range(0, len(y), CHUNK):
        part = slice(start, start + CHUNK)
        right += int((tree.test_then_train(X[part], y[part], classes) == y[part]).sum())
    report = tree.report()
    tree.close()
    return {
        "bench": "accuracy", "stream": name, "child_counts": child_counts, "grace": grace,
        "instances": len(y), "accuracy": round(right / len(y), 4), "moa": STREAMS[name][1],
        "leaves": report["leaves"], "splits": report["splits"], "ties": report["ties"],
        "board": board, "bregalad": version("bregalad"),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stream", choices=STREAMS, help="one stream only")
    parser.add_argument("--board", default="emulated")
    parser.add_argument("--grace", type=int, nargs="+", default=[200])
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    if args.markdown:
        print("| stream | instances | inherit | leaves | zero | leaves | MOA HT MC |")
        print("|---|---|---|---|---|---|---|")
    for name in [args.stream] if args.stream else STREAMS:
        rows = [run(name, child_counts, args.board, grace) for grace in args.grace
                for child_counts in ("inherit", "zero")]
        if args.markdown:
            cells = " | ".join(f"{row['accuracy']:.4f} | {row['leaves']}" for row in rows)
            print(f"| {name} | {rows[0]['instances']:,} | {cells} | {rows[0]['moa']:.4f} |",
                  flush=True)
        else:
            for row in rows:
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
