"""Prequential accuracy on the real streams beside MOA's, one JSON line per run.

python -m bregalad.benchmark.accuracy              JSON lines
python -m bregalad.benchmark.accuracy --markdown   the table of docs/accuracy.md
"""

import argparse
import json
import sys
from importlib.metadata import version

import numpy as np

from ..learners.efdt import EFDT
from ..learners.vfdt import VFDT
from ..words import first_line
from . import streams

# MOA 24.07, prequential: trees.HoeffdingTree -l MC and -l NBA, trees.EFDT.
STREAMS = {
    "rt5n_1M": (streams.rt5n, 0.6841, 0.8205, 0.9567),
    "led_1M": (streams.led, 0.6378, 0.7388, 0.7377),
    "ELEC": (streams.elec, 0.7572, 0.7920, 0.8064),
    "KDD'99 10 %": (streams.kdd, 0.9720, 0.9958, 0.9971),
    "Skin, file order": (streams.skin, 0.9978, 0.9995, 0.9995),
    "Skin, shuffled": (lambda: streams.skin(shuffled=True), 0.9721, 0.9883, 0.9937),
}
ZERO = {"child_counts": "zero"}
SEEN = {"zoom": "seen"}
MC = {"leaf_prediction": "mc"}
NBA = {"leaf_prediction": "nba"}
TREES = {  # name: (learner, options, column of MOA)
    "VFDT MC": (VFDT, MC, 0),
    "VFDT MC, zero": (VFDT, MC | ZERO, 0),
    "VFDT NB": (VFDT, {"leaf_prediction": "nb"}, 1),
    "VFDT NBA": (VFDT, NBA, 1),
    "VFDT NBA, zoom seen": (VFDT, NBA | SEEN, 1),
    "VFDT NBA, zero": (VFDT, NBA | ZERO, 1),
    "VFDT NBA, one_vs_rest": (VFDT, NBA | {"nominal_split": "one_vs_rest"}, 1),
    "EFDT MC": (EFDT, MC, 2),
    "EFDT NBA": (EFDT, NBA, 2),
    "EFDT NBA, zoom seen": (EFDT, NBA | SEEN, 2),
    "EFDT NBA, zero": (EFDT, NBA | ZERO, 2),
    "EFDT NBA, averages": (EFDT, NBA | {"gain_average": True}, 2),
    "EFDT NBA, inner 500": (EFDT, NBA | {"inner_grace": 500}, 2),
    "EFDT NBA, one_vs_rest": (EFDT, NBA | {"nominal_split": "one_vs_rest"}, 2),
    "EFDT NBA, kdd2018": (EFDT, NBA | {"variant": "kdd2018"}, 2),
    "EFDT NBA, delta 1e-3": (EFDT, NBA | {"delta": 1e-3}, 2),
    "EFDT NBA, delta 1e-7": (EFDT, NBA | {"delta": 1e-7}, 2),
    "EFDT NBA, delta 1e-7, zero": (EFDT, NBA | ZERO | {"delta": 1e-7}, 2),
    "EFDT NBA, delta 1e-7, averages": (EFDT, NBA | {"delta": 1e-7, "gain_average": True}, 2),
    "EFDT NBA, delta 1e-7, replace": (EFDT, NBA | {"delta": 1e-7, "same_attribute": "replace"}, 2),
    "EFDT NBA, delta 1e-7, moa, averages": (EFDT, NBA | {"delta": 1e-7, "variant": "moa", "gain_average": True}, 2),
    "EFDT NBA, delta 1e-7, kdd2018": (EFDT, NBA | {"delta": 1e-7, "variant": "kdd2018"}, 2),
}
CHUNK = 65_536  # instances per call; the results do not depend on it
SLOTS = 8192  # enough for every node


def run(name, kind, board, grace=200):
    """Accuracy and sizes of one run."""
    X, y, schema = STREAMS[name][0]()
    y = np.asarray(y)
    classes = np.unique(y)
    learner, options, column = TREES[kind]
    tree = learner(board=board, grace=grace, slots=SLOTS, nominal=streams.nominal(X, schema), **options)
    right = 0
    for start in range(0, len(y), CHUNK):
        part = slice(start, start + CHUNK)
        right += int((tree.test_then_train(X[part], y[part], classes) == y[part]).sum())
    report = tree.report()
    tree.close()
    return {
        "bench": "accuracy",
        "stream": name,
        "tree": kind,
        "grace": grace,
        "instances": len(y),
        "accuracy": round(right / len(y), 4),
        "moa": STREAMS[name][1 + column],
        **{key: report[key] for key in ("nodes", "leaves", "splits", "replaced", "pruned", "ties")},
        "board": board,
        "bregalad": version("bregalad"),
    }


def main():
    parser = argparse.ArgumentParser(description=first_line(__doc__))
    parser.add_argument("--stream", choices=STREAMS, help="one stream only")
    parser.add_argument("--tree", choices=TREES, nargs="+", default=list(TREES))
    parser.add_argument("--board", default="emulated")
    parser.add_argument("--grace", type=int, nargs="+", default=[200])
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    names = [args.stream] if args.stream else list(STREAMS)
    if args.markdown:
        print("| tree | " + " | ".join(names) + " |\n|---|" + "---|" * len(names))
    shown = set()
    for kind in args.tree:
        for grace in args.grace:
            rows = [run(name, kind, args.board, grace) for name in names]
            if not args.markdown:
                print(*map(json.dumps, rows), sep="\n", flush=True)
                continue
            moa = TREES[kind][2]
            if moa not in shown:
                shown.add(moa)
                cells = " | ".join(f"{STREAMS[name][1 + moa]:.4f}" for name in names)
                print(f"| MOA {('HT MC', 'HT NBA', 'EFDT')[moa]} | {cells} |")
            cells = " | ".join(f"{row['accuracy']:.4f} ({row['nodes']})" for row in rows)
            print(f"| {kind}{'' if grace == 200 else f', grace {grace}'} | {cells} |", flush=True)


if __name__ == "__main__":
    try:
        main()
    except FileNotFoundError as error:  # docs/streams.md says which files there are
        sys.exit(f"accuracy: {error}; $BREGALAD_DATA names the folder of the real streams")
