"""Accuracy beside MOA's on generated streams, some of whose beginnings are not like the rest.

python -m bregalad.benchmark.beginnings             JSON lines
python -m bregalad.benchmark.beginnings --markdown  the table of docs/accuracy.md
"""

import argparse
import json
from importlib.metadata import version

import numpy as np

from bregalad import EFDT, VFDT
from bregalad.benchmark import moa, streams

from ..words import first_line

# Name, generator, instances, and the first of those that are counted.
STREAMS = {
    "chessboard": ("chessboard,seed=3", 200_000, 0),
    "clusters": ("clusters", 1_600, 0),
    "poisoned -999": ("poisoned,function=1", 40_000, 20_000),
    "poisoned 1000 u": ("poisoned,function=2", 40_000, 20_000),
    "poisoned u + 3": ("poisoned,function=3", 40_000, 20_000),
    "SEA": ("sea,period=25000", 100_000, 0),
    "waveform": ("waveform", 100_000, 0),
    "hyperplane": ("hyperplane,change=0.001", 100_000, 0),
    "Agrawal": ("agrawal", 100_000, 0),
    "RBF": ("rbf,centres=50", 100_000, 0),
}
TREES = {"VFDT NBA": (VFDT, "ht-nba"), "EFDT NBA": (EFDT, "efdt")}
CHUNK = 65_536  # instances per call; the results do not depend on it


def run(name, kind):
    """Our accuracy and MOA's on the same instances."""
    generator, count, first = STREAMS[name]
    X, y, schema = streams.load(f"generator:{generator}", count)
    y = np.asarray(y)
    learner, peer = TREES[kind]
    tree = learner(leaf_prediction="nba", slots=8192, nominal=streams.nominal(X, schema))
    parts = [slice(at, at + CHUNK) for at in range(0, count, CHUNK)]
    right = np.concatenate([tree.test_then_train(X[part], y[part], np.unique(y)) == y[part] for part in parts])
    found = {"bench": "beginnings", "stream": name, "tree": kind, "instances": count, "counted_from": first}
    with moa.Peer(f"generator:{generator}", peer, count, warmups=0) as other:
        found["moa"] = round(other.measure()["accuracy"], 4)
    return found | {
        "accuracy": round(float(right[first:].mean()), 4),
        "leaves": tree.report()["leaves"],
        "bregalad": version("bregalad"),
    }


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=first_line(__doc__))
    parser.add_argument("--stream", choices=STREAMS, help="one stream only")
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    if args.markdown:
        print("| stream | instances | VFDT NBA | MOA HT NBA | EFDT NBA | MOA EFDT |\n|---|---|---|---|---|---|")
    for name in [args.stream] if args.stream else STREAMS:
        rows = [run(name, kind) for kind in TREES]
        if not args.markdown:
            print(*map(json.dumps, rows), sep="\n", flush=True)
            continue
        cells = " | ".join(f"{row['accuracy']:.4f} | {row['moa']:.4f}" for row in rows)
        print(f"| {name} | {STREAMS[name][1]:,} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
