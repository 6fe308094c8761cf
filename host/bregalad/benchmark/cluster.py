"""Bytes and seconds of ensembles on workers, and of one tree on many boards, beside one process: docs/cluster.md.

python -m bregalad.benchmark.cluster              JSON lines
python -m bregalad.benchmark.cluster --markdown   the tables of docs/cluster.md

Workers are processes of this machine. Seconds are wall-clock, of what comes after a first part of the stream in which
code is loaded. Bytes are those of batches and reports without what Ray adds.
"""

import argparse
import json
import os
import time
from importlib.metadata import version

import numpy as np

from ..boards import open_board
from ..boards.joined import JoinedBoard
from ..boards.remote import join_workers
from ..ensemble.adaptive import AdaptiveRandomForest
from ..geometry import Geometry
from ..protocol.commands import COMMAND_BYTES, RECORD_HEADER
from ..protocol.reports import suggestion_layout
from ..trees.vfdt import VFDT
from ..words import first_line
from . import streams
from .forests import MEMBER

CHUNK = 4096  # instances per call


def forest_model(members, attributes, workers):
    """Bytes per instance: (to workers, back), of at most 256 classes; code books and checkpoints aside.

    Each worker gets codes and class; of each member come its class and, as a float, what its vote counts.
    """
    return workers * (attributes + 1), members * (1 + 8)


def tree_model(board, instances, trials, splits, places):
    """Bytes per instance: (to boards, back).

    Each board gets a header and its codes; a trial ends the records that were under way, with half a bus word of
    zeros on average, and a suggestion comes back from each. A split reads the winner's counts and an entry. Where code
    books change, counts are read and written again at ``places``: slots times attributes.
    """
    g, boards = board.geometry, len(board.boards)
    head = max(COMMAND_BYTES, g.bus_bytes)
    suggestion, counts = suggestion_layout(g).size, 4 * g.bins * g.classes
    out = instances * (RECORD_HEADER.size * boards + board.read("cells.count"))
    out += trials * boards * (2 * head + g.bus_bytes // 2) + places * (3 * head + counts)
    back = trials * boards * suggestion + splits * (2 * head + counts) + places * (8 + counts)
    return out / instances, back / instances


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
        rows.append({"bench": "cluster", "what": "forest", "stream": name, "members": members} | row)
        learner.close()
    if not all((found[0] == each).all() for each in found):
        raise RuntimeError(f"{name}: forests differ")
    return rows


def tree(name, count, boards, remote):
    """One tree on one board and on several; all must be the same."""
    X, y, schema = streams.load(name, count)
    y, classes = np.asarray(y), np.unique(y)
    nominal = streams.nominal(X, schema)
    options = {"leaf_prediction": "mc", "grace": 200, "nominal": nominal}
    cells = sum(-(-len(nominal[each]) // 15) if each in nominal else 1 for each in schema.names)
    sizes = {"bins": 16, "classes": max(2, len(classes)), "slots": 1024, "count_width": 24, "bus_width": 256}
    rows, wanted, one = [], None, None
    for number in (1, *boards):
        geometry = Geometry(lanes=16, passes=-(-(cells + 16) // 16), **sizes)
        if number == 1:
            board = open_board("emulated", geometry, memory_size=0)
        elif remote:
            board = join_workers(f"ray,workers={number}", geometry)
        else:
            board = JoinedBoard([open_board("emulated", geometry, memory_size=0) for _ in range(number)])
        learner = VFDT(board, **options)
        half = slice(0, len(y) // 2), slice(len(y) // 2, None)
        told = [learner.test_then_train(X[half[0]], y[half[0]], classes)]
        places = _count_places(learner)
        before = _told(board, learner)
        start = time.perf_counter()
        told.append(learner.test_then_train(X[half[1]], y[half[1]]))
        seconds = time.perf_counter() - start
        instances, trials, splits, sent, back = (
            now - then for now, then in zip(_told(board, learner), before, strict=True)
        )
        told = np.concatenate(told)
        wanted, one = (told, learner) if one is None else (wanted, one)
        if not (told == wanted).all() or learner.difference(one) is not None:
            raise RuntimeError(f"{name}: trees differ")
        row = {"boards": number, "remote": remote and number > 1, "per_s": round(instances / seconds)}
        if number > 1:
            model = tree_model(board, instances, trials, splits, sum(places))
            row |= {"sent": round(sent / instances, 2), "back": round(back / instances, 2)}
            row |= {
                "model": [round(each, 2) for each in model],
                "trials": trials,
                "splits": splits,
                "places": sum(places),
            }
        rows.append({"bench": "cluster", "what": "tree", "stream": name, "attributes": X.shape[1]} | row)
        if number > 1:
            learner.close()
            board.close()
    return rows


def _count_places(learner):
    """A list that takes in, of each change of code books to come, at how many places counts are changed."""
    places, adopt = [], learner._quantiser.adopt

    def counting(changes):
        nodes = learner._nodes
        places.append(len(changes) * int((nodes.slot[nodes.descendants()] >= 0).sum()))
        adopt(changes)

    learner._quantiser.adopt = counting
    return places


def _told(board, learner):
    report = learner.report()
    counts = report["instances"], report["trials"], report["splits"]
    return *counts, sum(getattr(board, "sent", [0])), sum(getattr(board, "received", [0]))


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=first_line(__doc__))
    parser.add_argument("--what", choices=("forest", "tree"), nargs="+", default=["forest", "tree"])
    parser.add_argument("--stream", nargs="+", default=["ELEC", "numeric-256"])
    parser.add_argument("--instances", type=int, default=20_000)
    parser.add_argument("--members", type=int, default=10)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--here", action="store_true", help="a tree's boards in this process")
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
    if args.what != ["tree"] or not args.here:
        _begin_ray(max(args.workers))
    for what in args.what:
        if args.markdown:
            kind = "workers" if what == "forest" else "boards"
            print(f"| stream | {kind} | instances/s | bytes out | model | bytes back | model |")
            print("|---" * 7 + "|")
        for name in args.stream:
            if what == "forest":
                rows = forest(name, args.instances, args.members, args.workers)
            else:
                rows = tree(name, args.instances, [n for n in args.workers if n > 1], not args.here)
            for row in rows:
                if args.markdown:
                    number = row.get("workers", row.get("boards"))
                    model = row.get("model", ("", ""))
                    cells = row.get("sent", ""), model[0], row.get("back", ""), model[1]
                    print(
                        f"| {name} | {number or 'none'} | {row['per_s']:,} | {' | '.join(map(str, cells))} |",
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
