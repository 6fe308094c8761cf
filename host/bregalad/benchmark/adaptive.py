"""HAT and EFHAT on the emulated board and MOA's on streams that change, in turns, on one core; VFDT and EFDT beside.

    python -m bregalad.benchmark.adaptive                 JSON lines
    python -m bregalad.benchmark.adaptive --markdown      the table of docs/accuracy.md

Accuracies are prequential. Seconds are processor time, medians of the repeats: ours from data frames, quantising
included, MOA's from instances in memory.
"""

import argparse
import json
import os
import statistics
import time

import numpy as np

from ..learners.efdt import EFDT
from ..learners.efhat import EFHAT
from ..learners.hat import HAT
from ..learners.vfdt import VFDT
from ..predictors import PREDICTORS
from ..words import first_line
from . import streams
from .moa import Peer

CHUNK = 65_536
STREAMS = {
    "moving squares": "generator:squares",
    "hyperplane": "generator:hyperplane,drifting=10,change=0.001",
    "interchanging RBF": "generator:interchanging",
    "SEA": "generator:recurrence,first=(sea,function=1),second=(sea,function=3,seed=2)",
    "ELEC": "ELEC",
}
AS_MOA = {"grace": 200, "drift_delta": 0.002, "switch_width": 300, "leaf_alternates": False}
MOA = "trees.HoeffdingAdaptiveTree"


def measure(kind, X, y, nominal, **options):
    """(accuracy, seconds, report) of one of our trees."""
    tree, right = kind(slots=8192, nominal=nominal, **options), 0
    classes = np.unique(y)
    start = time.process_time()
    for at in range(0, len(y), CHUNK):
        part = slice(at, at + CHUNK)
        right += int((tree.test_then_train(X[part], y[part], classes) == y[part]).sum())
    return right / len(y), time.process_time() - start, tree.report()


def run(name, instances, prediction, repeats, core):
    """One line: medians of all."""
    source = STREAMS.get(name, name)
    X, y, schema = streams.load(source, instances)
    nominal = streams.nominal(X, schema)
    options = {"leaf_prediction": prediction}
    others = {}
    for kind in (EFHAT, VFDT, EFDT):
        others[kind.__name__.lower()] = round(measure(kind, X, y, nominal, **options)[0], 4)
    measure(HAT, X[:2048], y[:2048], nominal, **options)  # compiles
    others["hat_as_moa"] = round(measure(HAT, X, y, nominal, **options, **AS_MOA)[0], 4)
    mine, theirs = [], []
    learner = f"{MOA} -l {'NBAdaptive' if prediction == 'nba' else prediction.upper()}"
    with Peer(source, learner, instances, warmups=0, core=core) as peer:
        for _ in range(repeats):
            mine.append(measure(HAT, X, y, nominal, **options))
            theirs.append(peer.measure())
    seconds = statistics.median(each[1] for each in mine)
    moa = statistics.median(each["cpu_seconds"] for each in theirs)
    return {
        "bench": "adaptive",
        "stream": name,
        "instances": len(y),
        "prediction": prediction,
        "hat": round(mine[0][0], 4),
        "moa_hat": round(theirs[0]["accuracy"], 4),
        **others,
        **{event: mine[0][2][event] for event in ("leaves", "alternates", "swapped", "dropped")},
        "instances_per_s": round(len(y) / seconds),
        "moa_instances_per_s": round(len(y) / moa),
        "times": round(moa / seconds, 1),
    }


def main():
    parser = argparse.ArgumentParser(description=first_line(__doc__))
    parser.add_argument("--stream", nargs="+", default=list(STREAMS), help="by name, or generator:NAME,option=value")
    parser.add_argument("--instances", type=int, default=200_000, help="of each stream at most")
    parser.add_argument("--prediction", choices=PREDICTORS, default="nba")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--core", type=int, default=0, help="the core that both are bound to")
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {args.core})
    if args.markdown:
        print("| stream | HAT | MOA's | as MOA's | EFHAT | VFDT | EFDT | alternates, swapped | K/s | MOA | times |")
        print("|---|---|---|---|---|---|---|---|---|---|---|")
    for name in args.stream:
        row = run(name, args.instances, args.prediction, args.repeats, args.core)
        if not args.markdown:
            print(json.dumps(row), flush=True)
            continue
        accuracies = " | ".join(f"{row[key]:.4f}" for key in ("hat", "moa_hat", "hat_as_moa", "efhat", "vfdt", "efdt"))
        speeds = " | ".join(f"{row[key] / 1e3:.0f}" for key in ("instances_per_s", "moa_instances_per_s"))
        changes = f"{row['alternates']}, {row['swapped']}"
        print(f"| {row['stream']} | {accuracies} | {changes} | {speeds} | {row['times']} |", flush=True)


if __name__ == "__main__":
    main()
