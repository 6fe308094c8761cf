"""Trees beside each other on the same streams: accuracy, speed, memory.

Every learner has a process of its own, all bound to one core; the runs of all learners take turns,
so that a machine's moods meet all alike. What each run found is kept as it comes, a line of JSON,
and what is kept already is not measured again.
"""

import json
import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from ..files import replacing
from . import moa
from .figures import comparison_page
from .process import Process, summary
from .streams import WIDTHS, StreamFile, default_instances

__all__ = ["CONTENDERS", "PEERS", "STREAMS", "SUMMARY", "WIDE", "Store", "compare", "contenders", "run"]

SUMMARY = "accuracy, speed and memory beside MOA, River and mlpack"
WIDE = tuple(f"{kind}-{width}" for kind in ("nominal", "numeric") for width in WIDTHS)
STREAMS = (*WIDE, "rt5n_1M", "led_1M", "rbf-10", "rbf-50", "ELEC", "KDD")
QUICK = ("numeric-32", "rt5n_1M")
PEERS = {  # name: what it is
    "moa": f"Java, the jar of {moa.MOA.replace('==', ' ')}",
    "river": "Python, its defaults",
    "mlpack": "C++, its defaults, but histograms for numeric attributes; in chunks of 10,000",
    "emulated": "the golden model, compiled by Numba",
}
CONTENDERS = tuple(
    (peer, learner)
    for peer, learners in {
        "moa": ("ht-mc", "ht-nba", "efdt"),
        "river": ("ht-mc", "ht-nba", "efdt"),
        "mlpack": ("",),
        "emulated": ("vfdt-mc", "vfdt-nba", "efdt-mc", "efdt-nba"),
    }.items()
    for learner in learners
)
_TURNS = {"moa": 1, "emulated": 1, "river": 0, "mlpack": 0}  # runs before those that count


def contenders(stream, peers):
    """(peer, learner) of all that are measured on a stream; on the wide ones majority-class trees only."""
    only = ("ht-mc", "vfdt-mc", "")
    return [
        (peer, learner) for peer, learner in CONTENDERS if peer in peers and (stream not in WIDE or learner in only)
    ]


class Store:
    """Lines of JSON in a file, each written as it comes.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path):
        self.path = path
        self.lines = []
        if path.exists():
            self.lines = [json.loads(line) for line in path.read_text().splitlines()]

    def add(self, **values):
        """Keep a line."""
        self.lines.append(values)
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(values) + "\n")

    def forget(self, streams, peers):
        """Drop what is kept of these peers on these streams."""
        self.lines = [line for line in self.lines if line["stream"] not in streams or line["peer"] not in peers]
        with replacing(self.path, "w") as file:
            file.writelines(json.dumps(line) + "\n" for line in self.lines)

    def runs(self, stream, peer, learner, limit):
        """What is kept of a contender on so many instances of a stream."""
        key = {"stream": stream, "peer": peer, "learner": learner, "limit": limit}
        return [line for line in self.lines if key.items() <= line.items()]

    def summaries(self):
        """A summary per contender and stream, in the order of the streams; the last limit's."""
        found = {}
        for line in self.lines:
            key = line["stream"], line["peer"], line["learner"]
            found[key] = self.runs(*key, line["limit"])
        order = {name: i for i, name in enumerate(STREAMS)}
        ranks = {key: i for i, key in enumerate(CONTENDERS)}
        return [
            {**runs[0], **summary(runs)}
            for key, runs in sorted(
                found.items(), key=lambda item: (order.get(item[0][0], len(order)), ranks[item[0][1:]])
            )
        ]


def compare(store, streams, peers, *, instances=None, repeats=3, core=None, note=print):
    """Measure what is not in the store yet.

    Parameters
    ----------
    store : Store
    streams, peers : sequence of str
    instances : int, optional
        Of every stream, at most.
    repeats : int
    core : int, optional
        The core that all are bound to; the last unless given.
    note : callable
        Told what goes on.
    """
    if core is None and hasattr(os, "sched_getaffinity"):
        core = max(os.sched_getaffinity(0))
    for name in streams:
        limit = min(filter(None, (default_instances(name), instances)), default=None)
        missing = [key for key in contenders(name, peers) if len(store.runs(name, *key, limit)) < repeats]
        if not missing:
            continue
        try:
            file = StreamFile(name, limit)
        except OSError as error:
            note(f"{name}: left out: {error}")
            continue
        with file:
            entry = {"stream": name, "limit": limit, "attributes": file.attributes}
            _turns(store, entry, file, missing, repeats, core, note)


def _turns(store, entry, file, missing, repeats, core, note):
    """Run learners in turns."""
    running = {}
    try:
        for peer, learner in missing:
            try:
                running[peer, learner] = _start(peer, learner, file, core)
            except RuntimeError as error:
                note(f"{file.name}: left out: {error}")
        for turn in range(repeats):
            for (peer, learner), process in list(running.items()):
                done = len(store.runs(file.name, peer, learner, entry["limit"]))
                if done > turn:
                    continue
                try:
                    found = process.measure()
                except RuntimeError as error:  # one that cannot do it does not stop the others
                    note(f"{file.name}: left out: {error}")
                    running.pop((peer, learner)).close()
                    continue
                store.add(**entry, peer=peer, learner=learner, **found, **_versions(peer))
                note(f"{file.name}: {peer} {learner}: {found['cpu_seconds']:.2f} s, accuracy {found['accuracy']:.4f}")
    finally:
        for process in running.values():
            process.close()


def _start(peer, learner, file, core):
    if peer == "moa":
        return moa.Peer(file, learner, warmups=_TURNS[peer], core=core)
    return Process(
        [sys.executable, "-m", f"{__package__}.worker", str(file.path), peer, learner],
        f"{peer} {learner}",
        file.instances,
        warmups=_TURNS[peer],
        core=core,
    )


def _versions(peer):
    package = {"moa": "", "emulated": "numba"}.get(peer, peer)
    try:
        said = {package: version(package)} if package else {"capymoa": moa.MOA.partition("==")[2]}
    except PackageNotFoundError:
        said = {}
    return {
        "versions": said | {"python": platform.python_version(), "bregalad": version("bregalad")},
        "machine": platform.machine(),
    }


def run(settings):
    """Measure what is missing; the page of all that is kept."""
    streams = settings.streams or (QUICK if settings.quick else STREAMS)
    store = Store(settings.output / "comparison.jsonl")
    peers = settings.peers or tuple(PEERS)
    if settings.fresh:
        store.forget(streams, peers)
    compare(
        store,
        streams,
        peers,
        instances=settings.instances or (5000 if settings.quick else None),
        repeats=settings.repeats,
        core=settings.core,
        note=settings.note,
    )
    return comparison_page(store.summaries(), PEERS, STREAMS, WIDE)
