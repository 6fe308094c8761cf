"""The host's share on one core: quantise, route, pack and hand records to a board that drops them.

A tree is grown first, so that routing is real; then its nodes are tried no more, since nobody
would answer. One JSON line per stream: megabytes of records per second of processor time, with and
without quantising, and the share of each step.

    python -m bregalad.benchmark.host
"""

import argparse
import json
import time

import numpy as np

from ..boards.emulated import EmulatedBoard
from ..data.generators import open_generator
from ..geometry import Geometry
from ..protocol.commands import Opcode
from ..trees.training import sending
from ..trees.vfdt import VFDT
from ..words import first_line

NEVER = 1 << 30  # instances between trials
GIGABIT = 118  # megabytes per second of payload that Gigabit Ethernet carries


class NullBoard(EmulatedBoard):
    """A board at the end of an endless wire: it takes records and says nothing."""

    dropping = False

    @property
    def state(self):
        return None  # so that records go through the stream

    def send(self, data):
        if not (self.dropping and data[0] == Opcode.LEARN):
            super().send(data)


class Clock:
    """Processor time spent inside functions that are put under it."""

    def __init__(self):
        self.seconds = 0.0

    def around(self, function):
        def timed(*args):
            start = time.process_time()
            try:
                return function(*args)
            finally:
                self.seconds += time.process_time() - start

        return timed


def measure(attributes, instances, chunk, repeats):
    """Medians over the repeats, of a random RBF stream."""
    parts = list(open_generator("rbf", attributes=attributes, instances=instances, chunk=chunk))
    classes = np.unique(np.concatenate([np.asarray(y) for _, y in parts]))
    board = NullBoard(
        Geometry(
            lanes=min(16, attributes),
            passes=-(-attributes // 16),
            slots=4096,
            classes=max(2, len(classes)),
            count_width=24,
            bus_width=256,
        )
    )
    tree = VFDT(board=board, leaf_prediction="mc")
    for X, y in parts:
        tree.partial_fit(X, y, classes)
    board.dropping = True
    tree._trainer.nodes.period[:] = NEVER
    codes = [tree.encode(X) for X, _ in parts]
    labels = [np.searchsorted(classes, y).astype(np.int32) for _, y in parts]
    quantise, walk, route, send = [], [], [], []
    advance = sending.advance
    for _ in range(repeats):
        start = time.process_time()
        for X, _ in parts:
            tree.encode(X)
        quantise.append(time.process_time() - start)
        routing, transfer = Clock(), Clock()
        sending.advance = routing.around(advance)
        board.send = transfer.around(type(board).send.__get__(board))
        start = time.process_time()
        for part in zip(codes, labels, strict=True):
            tree.learn_codes(*part)
        walk.append(time.process_time() - start)
        route.append(routing.seconds)
        send.append(transfer.seconds)
        sending.advance = advance
        del board.send
    megabytes = instances * (4 + attributes) / 1e6
    quantise, walk, route, send = map(np.median, (quantise, walk, route, send))
    whole = quantise + walk
    return {
        "bench": "host",
        "attributes": attributes,
        "instances": instances,
        "leaves": int(tree.report()["leaves"]),
        "megabytes_per_s": round(megabytes / whole, 1),
        "megabytes_per_s_from_codes": round(megabytes / walk, 1),
        "of_gigabit_ethernet": round(megabytes / whole / GIGABIT, 2),
        "shares": {
            name: round(float(seconds / whole), 3)
            for name, seconds in (
                ("quantise", quantise),
                ("route and pack", route),
                ("send", send),
                ("rest", walk - route - send),
            )
        },
    }


def main():
    """Print one JSON line per number of attributes."""
    parser = argparse.ArgumentParser(description=first_line(__doc__))
    parser.add_argument("--attributes", type=int, nargs="+", default=[10, 50])
    parser.add_argument("--instances", type=int, default=500_000)
    parser.add_argument("--chunk", type=int, default=65_536)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    for attributes in args.attributes:
        print(json.dumps(measure(attributes, args.instances, args.chunk, args.repeats)), flush=True)


if __name__ == "__main__":
    main()
