"""A build's folder: one build at a time, and nothing of another beside what it makes."""

import fcntl
from contextlib import contextmanager

from .tools import BuildError

__all__ = ["BITSTREAMS", "REPORTS", "alone_in", "forget"]

BITSTREAMS = "top.bit", "top.fs", "top.svf"
REPORTS = "report.json", "report.txt"


@contextmanager
def alone_in(folder):
    """Keep other builds out of a folder: a file of theirs under a name of ours looks like ours."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise BuildError(f"another build works in {folder}: wait for it, or choose another "
                             "--output") from error
        yield


def forget(folder, *names):
    """Remove these files, if they are there."""
    for name in names:
        (folder / name).unlink(missing_ok=True)
