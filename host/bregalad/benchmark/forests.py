"""Accuracy and speed of the ensembles beside MOA's of as many trees, on one core, one JSON line per run.

python -m bregalad.benchmark.forests              JSON lines
python -m bregalad.benchmark.forests --markdown   the tables of docs/ensembles.md

Seconds are processor time of the process that predicts and learns; MOA's are its thread's own, in MOA's favour. What
is compiled is compiled before, and MOA runs once before the run that counts.
"""

import argparse
import json
import time
from importlib.metadata import version

import numpy as np

from ..ensemble.catalogue import ENSEMBLES
from ..ensemble.options import MEMBER
from ..learners.catalogue import TREES
from ..words import first_line
from . import moa, streams

# Name: stream and instances.
STREAMS = {
    "ELEC": ("ELEC", None),
    "rt5n": ("rt5n_1M", 200_000),
    "RBF, moving": ("generator:rbf,centres=50,speed=0.001", 100_000),
    "RBF, interchanging": ("generator:interchanging", 100_000),
    "SEA": ("generator:sea,period=25000,noise=0.1", 100_000),
    "hyperplane": ("generator:hyperplane,change=0.001", 100_000),
    "KDD'99 10 %": ("KDD", None),
}
PEERS = {"bagging": "meta.OzaBag", "leveraging": "meta.LeveragingBag", "arf": "meta.AdaptiveRandomForest"}
CHUNK = 65_536  # instances per call; the results do not depend on it
SLOTS = {"slots": 4096}  # enough for every leaf


def ensemble_of(kind, X, schema, members=10, tree="vfdt", **options):
    """A new ensemble for a stream."""
    # A forest's as MOA's ARFHoeffdingTree; the others' as by default.
    member = TREES[tree](nominal=streams.nominal(X, schema), **MEMBER if kind == "arf" else SLOTS)
    return ENSEMBLES[kind](member, members=members, **options)


def run(name, kind, members=10, tree="vfdt", peer=True):
    """Our accuracy and speed, and MOA's, on the same instances."""
    source, count = STREAMS[name]
    X, y, schema = streams.load(source, count)
    y = np.asarray(y)
    classes = np.unique(y)
    ensemble_of(kind, X, schema, members, tree).test_then_train(X[:5000], y[:5000], classes)  # compiled by now
    ensemble = ensemble_of(kind, X, schema, members, tree)
    parts = [slice(at, at + CHUNK) for at in range(0, len(y), CHUNK)]
    start = time.process_time()
    right = sum(int((ensemble.test_then_train(X[part], y[part], classes) == y[part]).sum()) for part in parts)
    seconds = time.process_time() - start
    report = ensemble.report()
    found = {
        "bench": "forests",
        "stream": name,
        "ensemble": kind,
        "tree": tree,
        "members": members,
        "instances": len(y),
        "accuracy": round(right / len(y), 4),
        "per_s": round(len(y) / seconds),
        **{key: report[key] for key in ("leaves", "warnings", "drifts")},
    }
    if peer:
        with moa.Peer((X, y, schema), f"{PEERS[kind]} -s {members}") as other:
            theirs = other.measure()
        found |= {
            "moa": round(theirs["accuracy"], 4),
            "moa_per_s": round(len(y) / theirs["cpu_seconds"]),
            "times": round(theirs["cpu_seconds"] / seconds, 1),
        }
    return found | {"bregalad": version("bregalad")}


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=first_line(__doc__))
    parser.add_argument("--stream", choices=STREAMS, nargs="+", default=list(STREAMS))
    parser.add_argument("--ensemble", choices=ENSEMBLES, nargs="+", default=["arf"])
    parser.add_argument("--tree", choices=TREES, default="vfdt")
    parser.add_argument("--members", type=int, default=10)
    parser.add_argument("--alone", action="store_true", help="without MOA")
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    if args.markdown:
        print("| ensemble | stream | instances | accuracy | MOA | instances/s | MOA | times |\n" + "|---" * 8 + "|")
    for kind in args.ensemble:
        for name in args.stream:
            row = run(name, kind, args.members, args.tree, not args.alone)
            if args.markdown:
                speeds = f"{row['per_s']:,} | {row.get('moa_per_s', 0):,} | {row.get('times', 0)}"
                accuracy = f"{row['accuracy']:.4f} | {row.get('moa', 0):.4f}"
                print(f"| {kind} | {name} | {row['instances']:,} | {accuracy} | {speeds} |", flush=True)
            else:
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
