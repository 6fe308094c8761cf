"""Accuracy by ``block``, how long the tree stands still, on real and generated streams.

python -m bregalad.benchmark.blocks             JSON lines
python -m bregalad.benchmark.blocks --markdown  the table of docs/accuracy.md
"""

import argparse
import json
from fractions import Fraction
from importlib.metadata import version

import numpy as np

from ..learners.efdt import EFDT
from ..learners.vfdt import VFDT
from ..options.option import number
from ..words import first_line
from . import accuracy, beginnings, streams

LEARNERS = {"VFDT": VFDT, "EFDT": EFDT}
BLOCKS = (1, 1 / 32)
GRACES = (150, 170, 190, 200, 210, 230, 250)
CHUNK = 65_536  # instances per call; the results do not depend on it


def _generated(name):
    generator, count, first = beginnings.STREAMS[name]
    return lambda: (*streams.load(f"generator:{generator}", count), first)


STREAMS = {name: lambda load=load: (*load(), 0) for name, (load, *_) in accuracy.STREAMS.items()} | {
    name: _generated(name) for name in beginnings.STREAMS
}


def run(name, learner, blocks, graces):
    """Mean accuracy over grace periods at each block."""
    X, y, schema, first = STREAMS[name]()
    y, classes = np.asarray(y), np.unique(y)
    parts = [slice(at, at + CHUNK) for at in range(0, len(y), CHUNK)]
    found = {}
    for block in blocks:
        rates = []
        for grace in graces:
            tree = LEARNERS[learner](block=block, grace=grace, slots=8192, nominal=streams.nominal(X, schema))
            right = np.concatenate([tree.test_then_train(X[part], y[part], classes) == y[part] for part in parts])
            rates.append(right[first:].mean())
            tree.close()
        found[block] = round(float(np.mean(rates)), 4)
    return found


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=first_line(__doc__))
    parser.add_argument("--stream", choices=STREAMS, help="one stream only")
    parser.add_argument("--blocks", type=number, nargs="+", default=BLOCKS)
    parser.add_argument("--grace", type=int, nargs="+", default=GRACES, help="the mean over these")
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    if args.markdown:
        heads = [f"{learner} {Fraction(block)}" for learner in LEARNERS for block in args.blocks]
        print("| stream | " + " | ".join(heads) + " |\n|---|" + "---|" * len(heads))
    for name in [args.stream] if args.stream else STREAMS:
        rows = {learner: run(name, learner, args.blocks, args.grace) for learner in LEARNERS}
        if args.markdown:
            print(
                f"| {name} | " + " | ".join(f"{x:.4f}" for row in rows.values() for x in row.values()) + " |",
                flush=True,
            )
            continue
        for learner, row in rows.items():
            what = {"bench": "blocks", "stream": name, "tree": learner, "grace": args.grace, "accuracy": row}
            print(json.dumps(what | {"bregalad": version("bregalad")}), flush=True)


if __name__ == "__main__":
    main()
