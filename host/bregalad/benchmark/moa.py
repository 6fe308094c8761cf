"""MOA's trees, in Java.

MOA's jar comes from the registry package capymoa, once; it and the compiled class are kept in
``peers`` in the user's cache. Needs a JDK, 17 or newer.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from ..cache import cache_folder

MOA = "capymoa==0.15.1"  # its jar is MOA 24.07; figures are compared with those of this version
LEARNERS = {
    "ht-mc": "trees.HoeffdingTree -l MC",
    "ht-nb": "trees.HoeffdingTree -l NB",
    "ht-nba": "trees.HoeffdingTree -l NBAdaptive",
    "efdt": "trees.EFDT",
}


def command(learner, stream):
    """What starts the `Process` of one of ``LEARNERS``, or of a learner as on MOA's command line.

    It reads the file of `streams.written`. ``cpu_seconds`` is its thread's own: neither Java's compiler nor its garbage
    collector is in it, in MOA's favour. RuntimeError if Java or the jar is missing.
    """
    path = f"{_jar()}{os.pathsep}{_classes()}"
    return ["java", "-XX:+UseSerialGC", "-Xmx6g", "-cp", path, "Peer", stream, LEARNERS.get(learner, learner)]


def available():
    """Whether all is there, nothing left to download."""
    return bool(shutil.which("javac")) and _place().exists()


def _kept():
    return cache_folder() / "peers"


def _place():
    return _kept() / f"{MOA.replace('==', '-')}-moa.jar"


def _jar():
    """MOA's jar; fetched the first time."""
    path = _place()
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            done = subprocess.run(
                [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, MOA],
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
            wheel = next(Path(folder).glob("*.whl"), None)
            if wheel is None:
                raise RuntimeError(
                    f"pip cannot download {MOA}, which holds MOA's jar: "
                    f"{(done.stderr.strip().splitlines() or ['no message'])[-1]}"
                )
            with zipfile.ZipFile(wheel) as archive:
                archive.extract("capymoa/jar/moa.jar", folder)
            (Path(folder) / "capymoa/jar/moa.jar").rename(path)
    return path


def _classes():
    """The folder with Peer.java compiled."""
    if not (shutil.which("java") and shutil.which("javac")):
        raise RuntimeError("a JDK is needed, 17 or newer: apt-get install openjdk-17-jdk-headless")
    source = Path(__file__).with_name("Peer.java")
    folder = _kept() / f"classes-{hashlib.sha256(source.read_bytes()).hexdigest()[:16]}"
    if not (folder / "Peer.class").exists():
        done = subprocess.run(
            ["javac", "-cp", str(_jar()), "-d", str(folder), str(source)],
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"Peer.java cannot be compiled: {done.stderr.splitlines()[0]}")
    return folder
