"""Our learners beside those of MOA, River and mlpack on the same stream, in turns, each bound to the same core.

Accuracies are prequential. Speeds are per second of processor time, medians of the repeats: ours from data frames,
quantising included, after a run that compiles; the others' from instances in memory.
"""

import statistics
import sys
import time
from contextlib import ExitStack

import numpy as np

from . import moa, streams
from .process import Process

CHUNK = 65_536  # instances per call; the results do not depend on it
KINDS = {"moa": 1, "river": 0, "mlpack": 0}  # other learners, and their runs before those that count
HEAD = "| stream | learner | instances | accuracy | leaves | k instances/s | M values/s | spread | times |"


class Ours:
    """One of our learners, on a stream in memory.

    Parameters
    ----------
    make : function of (classes, nominal)
        The learner, not fitted, for classes and nominal attributes of the stream.
    stream : tuple
        As `streams.load` gives it.
    first : int
        Instances before this one are learnt, but their predictions do not count.
    """

    def __init__(self, make, stream, first=0):
        self._make = make
        (self._X, self._y, self._schema), self._first = stream, first
        self._classes = np.unique(self._y)

    def measure(self):
        """Accuracy, processor seconds, instances and report of a run: a dict."""
        made = self._make(self._classes, streams.nominal(self._X, self._schema))
        parts = [slice(at, at + CHUNK) for at in range(0, len(self._y), CHUNK)]
        start = time.process_time()
        right = [made.test_then_train(self._X[part], self._y[part], self._classes) == self._y[part] for part in parts]
        seconds = time.process_time() - start
        report = made.report()
        made.close()
        accuracy = np.concatenate(right)[self._first :].mean()
        return report | {"accuracy": accuracy, "cpu_seconds": seconds, "instances": len(self._y)}


def check(others):
    """Refuse with a ValueError a learner of no library that is known."""
    for name in others:
        if name.partition(":")[0] not in KINDS:
            raise ValueError(f"no learner {name!r}; there are moa:LEARNER, river:LEARNER and mlpack")


def rows(name, ours, others, *, instances=None, first=0, repeats=3, core=None, note=print):
    """Of each learner on a stream a row of ``HEAD``; those that fail are left out, and ``note`` is told why.

    Parameters
    ----------
    name : str
        As for `streams.load`.
    ours : dict
        Of each of our learners by name what makes it, as of `Ours`.
    others : sequence of str
        ``moa:`` and a learner as of `moa.Peer`, ``river:ht-mc``, ``river:ht-nba``, ``river:efdt``, ``mlpack``.
    instances : int, optional
        Of the stream at most.
    first, core
        As for `Ours` and `Process`.
    """
    limit = min(filter(None, (streams.default_instances(name), instances)), default=None)
    stream = streams.load(name, limit)
    with ExitStack() as stack, streams.StreamFile(stream) as file:
        running = {}
        for each, make in ours.items():
            running[each] = Ours(make, stream, first)
            running[each].measure()  # compiles
        for other in others:
            try:
                running[other] = stack.enter_context(_started(other, file, core))
            except RuntimeError as error:
                note(f"{name}: left out: {error}")
        runs = {each: [] for each in running}
        for _ in range(repeats):
            for each, process in list(running.items()):
                try:
                    runs[each].append(process.measure())
                except RuntimeError as error:  # one that cannot do it does not stop the others
                    note(f"{name}: left out: {error}")
                    del running[each], runs[each]
    fastest = None
    for each, found in runs.items():
        seconds = [run["cpu_seconds"] for run in found]
        count, rate = found[0]["instances"], found[0]["instances"] / max(statistics.median(seconds), 1e-9)
        fastest = fastest or rate
        leaves = found[0].get("leaves")
        cells = f"{count:,}", f"{found[0]['accuracy']:.4f}", "" if leaves is None else f"{leaves:,}"
        speeds = f"{rate / 1e3:,.1f}", f"{rate * file.attributes / 1e6:,.2f}", f"{max(seconds) / min(seconds):.2f}"
        yield f"| {' | '.join((name, each, *cells, *speeds, f'{fastest / rate:.1f}'))} |"


def _started(name, file, core):
    kind, _, learner = name.partition(":")
    if kind == "moa":
        return moa.Peer(file, learner, warmups=KINDS[kind], core=core)
    command = [sys.executable, "-m", f"{__package__}.worker", str(file.path), kind, learner]
    return Process(command, name, file.instances, warmups=KINDS[kind], core=core)
