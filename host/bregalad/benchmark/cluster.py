"""Bytes and seconds of ensembles on workers, beside one process: docs/cluster.md.

python -m bregalad.benchmark.cluster              JSON lines
python -m bregalad.benchmark.cluster --markdown   the table of docs/cluster.md

Workers are processes of this machine. Seconds are wall-clock, of what comes after a first part of the stream in which
code is loaded. Bytes are those of batches and reports without what Ray adds.
"""

import argparse
import json
import os
import time
from importlib.metadata import version

import numpy as np

from ..ensemble.adaptive import AdaptiveRandomForest
from ..learners.vfdt import VFDT
from ..words import first_line
from . import streams
from .forests import MEMBER

CHUNK = 4096  # instances per call


def forest_model(members, attributes, workers):
    """Bytes per instance: (to workers, back), of at most 256 classes; code books and checkpoints aside.

    Each worker gets codes and class; of each member come its class and, as a float, what its vote counts.
    """
    return workers * (attributes + 1), members * (1 + 8)


def forest(name, count, members, workers):
    """A forest here and on workers; both must be the same."""
    X, y, schema = streams.load(name, count)
    y, classes = np.asarray(y), np.unique(y)
    rows, found = [], []
    for engine in (None, *(f"ray,workers={number}" for number in workers)):
        learner = AdaptiveRandomForest(
            VFDT(nominal=streams.nominal(X, schema), **MEMBER), members=members, engine=engine
        )
        parts = [slice(at, at + CHUNK) for at in range(0, len(y), CHUNK)]
        told = [learner.test_then_train(X[parts[0]], y[parts[0]], classes)]
        crew = learner._crew
        before = (crew.sent, crew.received, crew.others) if crew else (0, 0, 0)
        start = time.perf_counter()
        told += [learner.test_then_train(X[part], y[part]) for part in parts[1:]]
        seconds = time.perf_counter() - start
        found.append(np.concatenate(told))
        learnt = len(y) - CHUNK
        row = {"workers": len(crew._hands) if crew else 0, "per_s": round(learnt / seconds)}
        if crew:
            now = crew.sent, crew.received, crew.others
            sent, back, others = ((each - then) / learnt for each, then in zip(now, before, strict=True))
            model = forest_model(members, X.shape[1], len(crew._hands))
            row |= {"sent": round(sent, 1), "back": round(back, 1), "books": round(others, 1), "model": model}
        rows.append({"bench": "cluster", "stream": name, "members": members} | row)
        learner.close()
    if not all((found[0] == each).all() for each in found):
        raise RuntimeError(f"{name}: forests differ")
    return rows


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=first_line(__doc__))
    parser.add_argument("--stream", nargs="+", default=["ELEC"])
    parser.add_argument("--instances", type=int, default=20_000)
    parser.add_argument("--members", type=int, default=10)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
    _begin_ray(max(args.workers))
    if args.markdown:
        print("| stream | workers | instances/s | bytes out | model | bytes back | model |")
        print("|---" * 7 + "|")
    for name in args.stream:
        for row in forest(name, args.instances, args.members, args.workers):
            if args.markdown:
                model = row.get("model", ("", ""))
                cells = row.get("sent", ""), model[0], row.get("back", ""), model[1]
                print(
                    f"| {name} | {row['workers'] or 'none'} | {row['per_s']:,} | {' | '.join(map(str, cells))} |",
                    flush=True,
                )
            else:
                print(json.dumps(row | {"bregalad": version("bregalad")}), flush=True)


def _begin_ray(boards):
    from ..cluster import BOARD
    from ..extras import needing

    with needing("workers", "ray"):
        import ray
    quiet = {"include_dashboard": False, "log_to_driver": False, "logging_level": "ERROR"}
    ray.init("local", resources={BOARD: boards}, **quiet)


if __name__ == "__main__":
    main()
