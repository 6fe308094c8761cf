"""Our learners beside MOA's on the same stream, in turns, on one core: a row of Markdown for each of ours.

    python -m bregalad.benchmark.beside ELEC --ours "--tree hat" "--learner arf" --moa trees.HoeffdingAdaptiveTree ...

Accuracies are prequential. Speeds are per second of processor time, medians of the repeats: ours from data frames,
quantising included, after a run that compiles; MOA's from instances in memory.
"""

import argparse
import os
import shlex
import statistics
import sys
import time
from contextlib import ExitStack
from itertools import zip_longest

import numpy as np

from ..cli import learner
from ..cli.commands import train
from ..words import first_line
from . import moa, streams

CHUNK = 65_536  # instances per call; the results do not depend on it
HEAD = "| stream | ours | instances | accuracy | leaves | k/s | MOA | accuracy | k/s | times |"


class Ours:
    """One of our learners, on a stream in memory.

    Parameters
    ----------
    words : str
        Options of ``bregalad train``.
    stream : tuple
        As `streams.load` gives it.
    first : int
        Instances before this one are learnt, but their predictions do not count.
    """

    def __init__(self, words, stream, first=0):
        parser = argparse.ArgumentParser(prog="--ours")
        train.add_arguments(parser)
        self._args = parser.parse_args(["-", *shlex.split(words)])
        (self._X, self._y, self._schema), self._first = stream, first
        self._classes = np.unique(self._y)

    def measure(self, instances=None):
        """Accuracy, processor seconds and report of a run."""
        made = train.new_learner(self._args)
        member = made if self._args.learner == "tree" else made.tree
        member.set_params(**learner.of_stream(member, self._classes, streams.nominal(self._X, self._schema)))
        count = len(self._y[:instances])
        start = time.process_time()
        right = [
            made.test_then_train(self._X[at : at + CHUNK], self._y[at : at + CHUNK], self._classes)
            == self._y[at : at + CHUNK]
            for at in range(0, count, CHUNK)
        ]
        seconds = time.process_time() - start
        report = made.report()
        made.close()
        return {"accuracy": np.concatenate(right)[self._first :].mean(), "cpu_seconds": seconds, **report}


def rows(name, ours, theirs, *, instances=None, first=0, repeats=3, core=None):
    """Of each of our learners on a stream, and of the one of MOA's beside it: a row of ``HEAD``."""
    stream = streams.load(name, instances)
    count = len(stream[1])
    for words, peer in zip_longest(ours, theirs):
        with ExitStack() as stack:
            runners = [Ours(words, stream, first)]
            runners[0].measure()  # compiles
            if peer:
                runners.append(stack.enter_context(moa.Peer(stream, peer, core=core)))
            runs = [[runner.measure() for runner in runners] for _ in range(repeats)]
        cells, seconds = [name, words or "VFDT", f"{count:,}"], []
        for found in zip(*runs, strict=True):
            seconds.append(statistics.median(run["cpu_seconds"] for run in found))
            cells += [peer] * (len(seconds) > 1) + [f"{found[0]['accuracy']:.4f}"]
            cells += [f"{found[0]['leaves']:,}"] * (len(seconds) == 1) + [f"{count / seconds[-1] / 1e3:,.1f}"]
        cells += [f"{seconds[1] / seconds[0]:.1f}"] if peer else [""] * 4
        yield f"| {' | '.join(cells)} |"


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=first_line(__doc__))
    parser.add_argument("stream", nargs="+", help="ELEC, rt5n_1M ..., a file, or generator:NAME,option=value")
    parser.add_argument("--ours", nargs="+", metavar="OPTIONS", default=[""], help="as of train, each in quotes")
    parser.add_argument(
        "--moa", nargs="+", metavar="LEARNER", default=[], help="as on MOA's command line, one for each"
    )
    parser.add_argument("--instances", type=int, help="of each stream at most")
    parser.add_argument("--first", type=int, default=0, help="the first of our predictions that counts")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--core", type=int, default=0, help="the core that all are bound to")
    args = vars(parser.parse_args())
    names, ours, theirs = (args.pop(key) for key in ("stream", "ours", "moa"))
    if len(theirs) > len(ours):
        parser.error(f"--moa names {len(theirs)} learners, --ours {len(ours)}")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {args["core"]})
    print(HEAD, "|---" * 10 + "|", sep="\n", flush=True)
    try:
        for name in names:
            for row in rows(name, ours, theirs, **args):
                print(row, flush=True)
    except (OSError, RuntimeError, ValueError) as error:  # docs/streams.md says which files there are, and of the JDK
        sys.exit(f"beside: {error}")


if __name__ == "__main__":
    main()
