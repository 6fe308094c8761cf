"""Our trees on the emulated board and MOA's on the same stream, run by run in turns, on one core.

    python -m bregalad.benchmark.duel                   EFDT on rt5n_1M and led_1M, JSON lines
    python -m bregalad.benchmark.duel --markdown        the table of docs/performance.md

Ours start from attribute codes in memory, as MOA's start from instances in memory; ``quantised``
is the speed from data frames, quantising included. Seconds are processor time of the predicting
and learning loop, medians of the repeats; accuracies are prequential.
"""

import argparse
import json
import os
import statistics
import sys
import time

import numpy as np

from ..learners.efdt import EFDT
from ..learners.vfdt import VFDT
from ..words import first_line
from . import streams
from .moa import Peer

CHUNK = 65_536
PAIRS = {  # our tree, its options, MOA's
    "efdt mc": (EFDT, {"delta": 1e-7, "leaf_prediction": "mc"}, "trees.EFDT -l MC"),
    "efdt nba": (EFDT, {"delta": 1e-7, "leaf_prediction": "nba"}, "trees.EFDT"),
    "efdt default nba": (EFDT, {"leaf_prediction": "nba"}, "trees.EFDT"),
    "vfdt mc": (VFDT, {"leaf_prediction": "mc"}, "trees.HoeffdingTree -l MC"),
    "vfdt nba": (VFDT, {"leaf_prediction": "nba"}, "trees.HoeffdingTree -l NBAdaptive"),
}


class Ours:
    """One of our trees on a stream that is held in memory."""

    def __init__(self, stream, kind, options):
        self.X, y, schema = streams.load(stream)
        self.y = np.asarray(y)
        self.make = lambda: kind(slots=8192, nominal=streams.nominal(self.X, schema), **options)
        tree = self.make()
        self.classes = np.unique(self.y)
        tree.test_then_train(self.X[:2048], self.y[:2048], self.classes)
        self.codes = tree.encode(self.X[2048:])
        self.labels = np.searchsorted(self.classes, self.y[2048:]).astype(np.int32)

    def measure(self):
        """Accuracy, seconds from codes, seconds from data frames."""
        tree = self.make()
        right = int((tree.test_then_train(self.X[:2048], self.y[:2048], self.classes) == self.y[:2048]).sum())
        start = time.process_time()
        for at in range(0, len(self.labels), CHUNK):
            part = slice(at, at + CHUNK)
            right += int((tree.learn_codes(self.codes[part], self.labels[part]) == self.labels[part]).sum())
        coded = time.process_time() - start
        tree = self.make()
        start = time.process_time()
        for at in range(0, len(self.y), CHUNK):
            part = slice(at, at + CHUNK)
            tree.test_then_train(self.X[part], self.y[part], self.classes)
        return right / len(self.y), coded, time.process_time() - start


def run(stream, pair, repeats, core):
    """One line: medians of both."""
    kind, options, learner = PAIRS[pair]
    ours = Ours(stream, kind, options)
    ours.measure()  # compiles
    mine, theirs = [], []
    with Peer(stream, learner, core=core) as peer:
        for _ in range(repeats):
            mine.append(ours.measure())
            theirs.append(peer.measure())
    n = len(ours.y)
    coded, quantised = (statistics.median(times) for times in list(zip(*mine, strict=True))[1:])
    moa = statistics.median(result["cpu_seconds"] for result in theirs)
    return {
        "bench": "duel",
        "stream": stream,
        "tree": pair,
        "moa": learner,
        "instances": n,
        "accuracy": round(mine[0][0], 4),
        "moa_accuracy": round(theirs[0]["accuracy"], 4),
        "instances_per_s": round(n / coded),
        "quantised_per_s": round(n / quantised),
        "moa_instances_per_s": round(n / moa),
        "times": round(moa / coded, 1),
        "times_quantised": round(moa / quantised, 1),
        "repeats": repeats,
        "spread": round(max(m[1] for m in mine) / min(m[1] for m in mine), 2),
        "moa_spread": round(max(t["cpu_seconds"] for t in theirs) / min(t["cpu_seconds"] for t in theirs), 2),
    }


def main():
    parser = argparse.ArgumentParser(description=first_line(__doc__))
    parser.add_argument("--stream", nargs="+", default=["rt5n_1M", "led_1M"])
    parser.add_argument("--pair", nargs="+", choices=PAIRS, default=list(PAIRS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--core", type=int, default=0, help="the core that both are bound to")
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {args.core})
    if args.markdown:
        print(
            "| stream | tree | accuracy | MOA | ours, M instances/s | quantising included "
            "| MOA | times | quantising included |\n|---|---|---|---|---|---|---|---|---|"
        )
    for stream in args.stream:
        for pair in args.pair:
            row = run(stream, pair, args.repeats, args.core)
            if args.markdown:
                speeds = " | ".join(
                    f"{row[key] / 1e6:.2f}" for key in ("instances_per_s", "quantised_per_s", "moa_instances_per_s")
                )
                print(
                    f"| {stream} | {pair} | {row['accuracy']:.4f} | {row['moa_accuracy']:.4f} "
                    f"| {speeds} | {row['times']} | {row['times_quantised']} |",
                    flush=True,
                )
            else:
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    try:
        main()
    except FileNotFoundError as error:  # docs/streams.md says which files there are
        sys.exit(f"duel: {error}; $BREGALAD_DATA names the folder of the real streams")
    except RuntimeError as error:  # no JDK, or no jar of MOA's
        sys.exit(f"duel: {error}")
