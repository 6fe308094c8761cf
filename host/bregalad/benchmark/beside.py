"""Our learners beside those of MOA, River and mlpack on the same stream, in turns, each bound to the same core.

Accuracies are prequential. Speeds are per second of processor time, medians of the repeats: ours from data frames,
quantising included, after a run that compiles; the others' from instances in memory.
"""

import statistics
import time
from contextlib import ExitStack
from functools import partial

import numpy as np

from . import moa, streams
from .peers import PEERS
from .process import Process

CHUNK = 65_536  # instances per call; the results do not depend on it
HEAD = "| stream | learner | instances | accuracy | leaves | k instances/s | M values/s | spread | times |"


def check(others):
    """Refuse with a ValueError a learner of no library that is known."""
    for name in others:
        if name.partition(":")[0] not in ("moa", *PEERS):
            raise ValueError(f"no learner {name!r}; there are moa:LEARNER, river:LEARNER and mlpack")


def rows(name, ours, others, *, instances=None, repeats=3, core=None, note=print):
    """Of each learner on a stream a row of ``HEAD``; those that fail are left out, and ``note`` is told why.

    The name is as for `streams.load`, of which at most so many instances are taken. ``ours`` has by name what makes
    each of our learners, not fitted, for classes and nominal attributes of the stream; ``others`` are ``moa:`` and a
    learner as of `moa.command`, ``river:`` and ht-mc, ht-nba, efdt, hat or arf; ``mlpack``. The core is as
    for `Process`.
    """
    limit = min(filter(None, (streams.default_instances(name), instances)), default=None)
    X, y, _ = stream = streams.load(name, limit)
    with ExitStack() as stack:
        running = {each: partial(_ours, make, stream) for each, make in ours.items()}
        for measure in running.values():
            measure()  # compiles
        for other in others:
            try:
                running[other] = _theirs(other, stream, core, stack)
            except (RuntimeError, ImportError) as error:
                note(f"{name}: left out: {error}")
        runs = {each: [] for each in running}
        for _ in range(repeats):
            for each, measure in list(running.items()):
                try:
                    runs[each].append(measure())
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
        speeds = f"{rate / 1e3:,.1f}", f"{rate * X.shape[1] / 1e6:,.2f}", f"{max(seconds) / min(seconds):.2f}"
        yield f"| {' | '.join((name, each, *cells, *speeds, f'{fastest / rate:.1f}'))} |"


def _ours(make, stream):
    """Accuracy, processor seconds, instances and report of a run of one of our learners: a dict."""
    X, y, schema = stream
    classes = np.unique(y)
    made = make(classes, streams.nominal(X, schema))
    parts = [slice(at, at + CHUNK) for at in range(0, len(y), CHUNK)]
    start = time.process_time()
    right = [made.test_then_train(X[part], y[part], classes) == y[part] for part in parts]
    seconds = time.process_time() - start
    report = made.report()
    made.close()
    return report | {"accuracy": np.concatenate(right).mean(), "cpu_seconds": seconds, "instances": len(y)}


def _theirs(other, stream, core, stack):
    """What measures a learner of another library, until the stack is closed; RuntimeError if it does not begin."""
    kind, _, learner = other.partition(":")
    if kind in PEERS:
        return PEERS[kind](learner, *streams.coded(*stream)).measure
    with streams.written(stream) as file:
        process = Process(moa.command(learner, str(file)), other, len(stream[1]), core=core)
    stack.callback(process.close)
    return process.measure
