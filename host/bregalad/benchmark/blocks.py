"""Accuracy by ``block``, how long the tree stands still, on real and generated streams.

python -m bregalad.benchmark.blocks             JSON lines
python -m bregalad.benchmark.blocks --markdown  the tables of docs/accuracy.md
"""

import argparse
import json
from fractions import Fraction
from importlib.metadata import version

import numpy as np

from ..learners.cvfdt import CVFDT
from ..learners.efdt import EFDT
from ..learners.efhat import EFHAT
from ..learners.hat import HAT
from ..learners.vfdt import VFDT
from ..options.option import number
from ..words import first_line
from . import accuracy, beginnings, streams

LEARNERS = {kind.__name__: kind for kind in (VFDT, EFDT, HAT, EFHAT, CVFDT)}
BLOCKS = (1, 1 / 64, 1 / 32, 1 / 16, 1 / 8)
GRACES = (0.75, 0.85, 0.95, 1, 1.05, 1.15, 1.25)  # times the tree's default
CHUNK = 65_536  # instances per call; the results do not depend on it
SEEDS = (1, 2, 3, 4)

# Streams that change, and ELEC: 50,000 instances, by seed.
_MOVING = {
    "moving squares": "generator:squares,seed={0}",
    "hyperplane": "generator:hyperplane,drifting=10,change=0.001,seed={0}",
    "interchanging RBF": "generator:interchanging,seed={0}",
    "SEA": "generator:recurrence,first=(sea,function=1,seed={0}),second=(sea,function=3,seed=1{0})",
    "ELEC": "ELEC",
}


def _generated(name):
    generator, count, first = beginnings.STREAMS[name]
    return lambda: (*streams.load(f"generator:{generator}", count), first)


def _moving(source):
    seeds = SEEDS if "{0}" in source else SEEDS[:1]
    return [lambda seed=seed: (*streams.load(source.format(seed), 50_000), 0) for seed in seeds]


STREAMS = {name: [lambda load=load: (*load(), 0)] for name, (load, *_) in accuracy.STREAMS.items()} | {
    name: [_generated(name)] for name in beginnings.STREAMS
}
CHANGING = {name: _moving(source) for name, source in _MOVING.items()}
TABLES = ((("VFDT", "EFDT"), STREAMS), (("HAT", "EFHAT", "CVFDT"), CHANGING))


def run(loads, learner, blocks, graces):
    """Mean accuracy over streams and grace periods at each block."""
    rates, kind = {block: [] for block in blocks}, LEARNERS[learner]
    for load in loads:
        X, y, schema, first = load()
        y, classes = np.asarray(y), np.unique(y)
        nominal = streams.nominal(X, schema)
        parts = [slice(at, at + CHUNK) for at in range(0, len(y), CHUNK)]
        for block in blocks:
            for grace in graces:
                options = {"block": block, "grace": round(grace * kind().grace)}
                tree = kind(slots=8192, nominal=nominal, **options)
                right = np.concatenate([tree.test_then_train(X[part], y[part], classes) == y[part] for part in parts])
                rates[block].append(right[first:].mean())
                tree.close()
    return {block: round(float(np.mean(found)), 4) for block, found in rates.items()}


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=first_line(__doc__))
    names = list(dict.fromkeys([*STREAMS, *CHANGING]))
    parser.add_argument("--stream", choices=names, help="one stream only")
    parser.add_argument("--blocks", type=number, nargs="+", default=BLOCKS)
    parser.add_argument("--grace", type=float, nargs="+", default=GRACES, help="the mean over these, times the default")
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    for learners, table in TABLES:
        chosen = [name for name in table if args.stream in (None, name)]
        if args.markdown and chosen:
            heads = [f"{learner} {Fraction(block)}" for learner in learners for block in args.blocks]
            print("\n| stream | " + " | ".join(heads) + " |\n|---|" + "---|" * len(heads))
        for name in chosen:
            rows = {learner: run(table[name], learner, args.blocks, args.grace) for learner in learners}
            if args.markdown:
                cells = " | ".join(f"{x:.4f}" for row in rows.values() for x in row.values())
                print(f"| {name} | {cells} |", flush=True)
                continue
            for learner, row in rows.items():
                what = {"bench": "blocks", "stream": name, "tree": learner, "grace": args.grace, "accuracy": row}
                print(json.dumps(what | {"bregalad": version("bregalad")}), flush=True)


if __name__ == "__main__":
    main()
