"""MOA's trees on a stream, prequential, on one core: accuracy and speed, one JSON line per learner.

    python bench/peers.py                                    rt5n_1M, four learners
    python bench/peers.py --stream ELEC generator:rrbfs --learner ht-mc "trees.EFDT -g 100"

Every learner has a Java process that holds the stream in memory; the runs of all learners take
turns, so that a machine's moods meet all alike. To put something else beside them:

    with peers.Peer("rt5n_1M", "efdt") as peer:
        peer.measure()                                       a run; any number, in any turn

MOA's jar comes from the registry package capymoa, once; it and the compiled class are kept in
~/.cache/bregalad/peers. Needs a JDK, 17 or newer.
"""

import argparse
import hashlib
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
from bregalad.data import open_stream

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))
import streams  # noqa: E402

__all__ = ["LEARNERS", "STREAMS", "Peer", "load", "run"]

MOA = "capymoa==0.15.1"  # its jar is MOA 24.07; figures are compared with those of this version
CACHE = Path(os.environ.get("BREGALAD_CACHE") or Path.home() / ".cache" / "bregalad") / "peers"

LEARNERS = {
    "ht-mc": "trees.HoeffdingTree -l MC", "ht-nb": "trees.HoeffdingTree -l NB",
    "ht-nba": "trees.HoeffdingTree -l NBAdaptive", "efdt": "trees.EFDT",
}
STREAMS = {
    "rt5n_1M": streams.rt5n, "led_1M": streams.led, "ELEC": streams.elec, "KDD": streams.kdd,
    "Skin": streams.skin, "Skin shuffled": lambda: streams.skin(shuffled=True),
}


class Peer:
    """A learner of MOA in a Java process of its own, with the stream in memory.

    Its times are those of the loop that predicts and learns, by the clock and by the processor
    time of its thread: on a machine that does other things too, the latter is the fairer one.

    Parameters
    ----------
    stream : str or tuple
        As for ``load``, or its result.
    learner : str
        One of ``LEARNERS``, or a learner as on MOA's command line.
    instances : int, optional
        The first so many; a generator needs to know.
    warmups : int
        Runs not reported, so that Java's compiler is done.
    core : int, optional
        The core that the process is bound to, its compiler and garbage collector included;
        None: it may use all.
    heap : str
        Java's memory.

    Raises
    ------
    RuntimeError
        If Java, the jar or the learner is missing or fails.
    """

    def __init__(self, stream, learner, instances=None, warmups=1, core=None, heap="6g"):
        X, y, schema = load(stream, instances) if isinstance(stream, str) else stream
        self.stream = stream if isinstance(stream, str) else "given"
        self.learner = LEARNERS.get(learner, learner)
        self.instances, self.attributes = X.shape
        self.core = core
        classes = _classes()
        self._folder = tempfile.TemporaryDirectory(prefix="bregalad-peers-")
        path = Path(self._folder.name) / "stream.bin"
        write_binary(X, y, schema, path)
        self._errors = open(Path(self._folder.name) / "errors", "w+")
        bind = {}
        if core is not None and hasattr(os, "sched_setaffinity"):
            bind["preexec_fn"] = lambda: os.sched_setaffinity(0, {core})
        self._process = subprocess.Popen(
            ["java", "-XX:+UseSerialGC", f"-Xmx{heap}", "-cp", f"{_jar()}{os.pathsep}{classes}",
             "Peer", str(path), self.learner],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True,
            **bind)
        try:
            self._line("ready")
            for _ in range(warmups):
                self.measure()
        except BaseException:
            self.close()
            raise
        path.unlink()

    def measure(self):
        """A run: dict of accuracy, seconds, cpu_seconds, nodes and leaves."""
        with suppress(BrokenPipeError):  # the reason is in its errors
            self._process.stdin.write("run\n")
            self._process.stdin.flush()
        result = json.loads(self._line())
        return {"accuracy": result.pop("right") / self.instances, **result}

    def _line(self, expected=None):
        for line in self._process.stdout:
            # MOA may print, too.
            if line.startswith("{") if expected is None else line.strip() == expected:
                return line
        self._errors.seek(0)
        errors = self._errors.read().strip().splitlines()
        raise RuntimeError(f"MOA failed with {self.learner!r}: "
                           f"{errors[0] if errors else 'no message'}")

    def record(self, runs):
        """What several runs come to; medians, and the spread from fastest to slowest."""
        seconds = [result["seconds"] for result in runs]
        cpu = statistics.median(result["cpu_seconds"] for result in runs)
        median = statistics.median(seconds)
        if len({result["accuracy"] for result in runs}) > 1:
            raise RuntimeError(f"{self.learner} is not deterministic")
        return {
            "bench": "peers", "stream": self.stream, "learner": self.learner,
            "instances": self.instances, "attributes": self.attributes,
            "accuracy": round(runs[0]["accuracy"], 4),
            "nodes": runs[0].get("nodes"), "leaves": runs[0].get("leaves"),
            "seconds": round(median, 3), "spread_s": round(max(seconds) - min(seconds), 3),
            "cpu_seconds": round(cpu, 3), "repeats": len(runs),
            "instances_per_s": round(self.instances / median),
            "instances_per_cpu_s": round(self.instances / cpu),
            "million_values_per_s": round(self.instances * self.attributes / median / 1e6, 2),
            "core": self.core, "moa": MOA, "machine": platform.machine(),
        }

    def close(self):
        """End the process."""
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._errors.close()
        self._folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


def run(stream, learner, repeats=3, **options):
    """Accuracy and speed of a learner of MOA: the dict that is printed; options as for `Peer`."""
    with Peer(stream, learner, **options) as peer:
        return peer.record([peer.measure() for _ in range(repeats)])


def load(name, instances=None):
    """A stream in memory: ``(X, y, schema)``.

    Parameters
    ----------
    name : str
        One of ``STREAMS``, a file, or ``generator:NAME,option=value,...``.
    instances : int, optional
        The first so many.
    """
    if name in STREAMS:
        X, y, schema = STREAMS[name]()
        return X[:instances], np.asarray(y)[:instances], schema
    stream = open_stream(name)
    if instances is None and name.startswith("generator:") and stream.len_hint is None:
        raise ValueError(f"{name} does not end: say how many instances")
    parts, done = [], 0
    for X, y in stream:
        parts.append((X.astype({column: object for column in X if X[column].dtype != float}), y))
        done += len(y)
        if instances is not None and done >= instances:
            break
    X = pd.concat([X for X, _ in parts], ignore_index=True)[:instances]
    return X, np.concatenate([y for _, y in parts])[:instances], stream.schema


def write_binary(X, y, schema, path):
    """Write a stream in the form that Peer.java reads."""
    values = streams.nominal(X, schema)
    classes = schema.classes or tuple(sorted(set(np.asarray(y).tolist())))
    if len(classes) > 255 or any(len(known) > 254 for known in values.values()):
        raise ValueError("at most 255 classes and 254 values of an attribute can be written")
    columns = [pd.Index(values[name]).get_indexer(X[name]) if name in values
               else X[name].to_numpy(np.float64) for name in schema.names]
    if len(values) == len(columns):
        table = np.column_stack([np.where(column < 0, 255, column) for column in columns])
        table = table.astype(np.uint8)
    else:
        table = np.column_stack([column if name not in values
                                 else np.where(column < 0, np.nan, column)
                                 for name, column in zip(schema.names, columns, strict=True)])
    labels = pd.Index(classes).get_indexer(y)
    if (labels < 0).any():
        raise ValueError("there are labels that the schema does not declare")
    with open(path, "wb") as file:
        np.array([len(table), len(columns), len(classes),
                  *(len(values.get(name, ())) for name in schema.names)], "<i4").tofile(file)
        table.astype(table.dtype.newbyteorder("<")).tofile(file)
        labels.astype(np.uint8).tofile(file)


def _jar():
    """MOA's jar; fetched the first time."""
    path = CACHE / f"{MOA.replace('==', '-')}-moa.jar"
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            done = subprocess.run(
                [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder,
                 MOA], stderr=subprocess.PIPE, text=True, check=False)
            wheel = next(Path(folder).glob("*.whl"), None)
            if wheel is None:
                raise RuntimeError(f"pip cannot download {MOA}, which holds MOA's jar: "
                                   f"{(done.stderr.strip().splitlines() or ['no message'])[-1]}")
            with zipfile.ZipFile(wheel) as archive:
                archive.extract("capymoa/jar/moa.jar", folder)
            (Path(folder) / "capymoa/jar/moa.jar").rename(path)
    return path


def _classes():
    """The folder with Peer.java compiled."""
    if not (shutil.which("java") and shutil.which("javac")):
        raise RuntimeError("a JDK is needed, 17 or newer: apt-get install openjdk-17-jdk-headless")
    source = HERE / "Peer.java"
    folder = CACHE / f"classes-{hashlib.sha256(source.read_bytes()).hexdigest()[:16]}"
    if not (folder / "Peer.class").exists():
        done = subprocess.run(["javac", "-cp", str(_jar()), "-d", str(folder), str(source)],
                              stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"Peer.java cannot be compiled: {done.stderr.splitlines()[0]}")
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stream", nargs="+", default=["rt5n_1M"], metavar="NAME",
                        help=f"{', '.join(STREAMS)}, a file or generator:NAME,option=value,...")
    parser.add_argument("--learner", nargs="+", default=list(LEARNERS), metavar="NAME",
                        help=f"{', '.join(LEARNERS)} or MOA's own name and options")
    parser.add_argument("--instances", type=int, help="no more than these (generators: 1000000)")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--warmups", type=int, default=1, help="runs not reported (default: 1)")
    parser.add_argument("--core", type=int, help="core to bind Java to (default: the last)")
    args = parser.parse_args()
    core = args.core
    if core is None and hasattr(os, "sched_getaffinity"):
        core = max(os.sched_getaffinity(0))
    for name in args.stream:
        instances = args.instances
        if instances is None and name.startswith("generator:"):
            instances = 1_000_000
        stream = load(name, instances)
        peers, runs = [], []
        try:
            for learner in args.learner:
                peers.append(Peer(stream, learner, warmups=args.warmups, core=core))
                peers[-1].stream = name
                runs.append([])
            for _ in range(args.repeats):
                for peer, results in zip(peers, runs, strict=True):
                    results.append(peer.measure())
            for peer, results in zip(peers, runs, strict=True):
                print(json.dumps(peer.record(results)), flush=True)
        finally:
            for peer in peers:
                peer.close()


if __name__ == "__main__":
    main()
