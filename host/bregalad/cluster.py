"""Workers of a Ray cluster, each with a board: found, begun, and known by name in errors."""

import os
import re
import weakref
from contextlib import contextmanager, suppress

from . import __version__
from .errors import BoardError
from .extras import needing
from .protocol.registers import VERSION
from .words import one_line, shown

RELEASE = f"release {__version__} with protocol {VERSION}"
BOARD = "board"  # the resource of which a node has one for each board
_PATIENCE = 180.0  # seconds for a worker to get a board; Ray waits 60 for a process that hangs, then begins another

holders: weakref.WeakSet = weakref.WeakSet()  # what has Ray's actors and answers
_left: list = []  # in a forked process those of the first: their end here would cut its connections


class Gone(Exception):
    """A worker, or all, are of no use any more; why."""


def parse(engine):
    """How many workers an engine names; 0 are as many as there are boards.

    Raises
    ------
    TypeError, ValueError
        If it is none.
    """
    wrong = f"engine must be None, 'ray' or 'ray,workers=N', not {shown(engine)}"
    if not isinstance(engine, str):
        raise TypeError(wrong)
    found = re.fullmatch("ray(?:,workers=([1-9][0-9]*))?", engine)
    if found is None:
        raise ValueError(wrong)
    return int(found[1] or 0)


class Cluster:
    """A Ray cluster, connected to. A forked process is not: there Ray would wait for threads that it has not.

    Parameters
    ----------
    engine : str
        As of `parse`.

    Attributes
    ----------
    ray : module
    workers : int
        How many are wished, or else may be had.

    Raises
    ------
    BoardError
        If there is no cluster, or it has too few boards.
    """

    def __init__(self, engine):
        wanted = parse(engine)
        with needing(f"engine {engine!r}", "ray"):
            import ray
        self.ray, self._process = ray, os.getpid()
        if not ray.is_initialized():
            _find_or_begin(ray)
        self._job = ray.get_runtime_context().get_job_id()
        boards = int(ray.cluster_resources().get(BOARD, 0))
        if boards < max(1, wanted):
            raise BoardError(
                f"{engine}: worker {boards} has no board, the cluster's nodes have {boards}: start nodes with "
                f"--resources='{{\"{BOARD}\": 1}}', as many as each has boards"
            )
        self.workers = wanted or boards

    @property
    def trouble(self):
        """Why this cluster is of no use any more; empty if it is. Ray would begin another one."""
        if os.getpid() != self._process:
            return "left to the process that this one was forked from"
        ray = self.ray
        with suppress(Exception):
            if ray.is_initialized() and ray.get_runtime_context().get_job_id() == self._job:
                return ""
        return "gone with its cluster"

    @contextmanager
    def reaching(self, name):
        """Make of whatever comes of a worker, or of the way to it, a `Gone`."""
        try:
            yield
        except Exception as error:  # those of gRPC, for one, are of no class in between
            cause = getattr(error, "cause", None) or error
            raise Gone(f"{name}: {type(cause).__name__}: {one_line(cause)}") from error

    def place(self, answer, name):
        """Where a worker is, in words, by its first answer; it has a board by then, or it is `Gone`."""
        if not self.ray.wait([answer], timeout=_PATIENCE)[0]:
            free = int(self.ray.available_resources().get(BOARD, 0))
            raise Gone(f"{name} got no board within {_PATIENCE:g} s: {free} of the cluster's boards are free")
        host, process = self.told(answer, name)
        return f" ({host}, process {process})"

    def told(self, answer, name):
        """What a worker answers, or a `Gone`."""
        with self.reaching(name):
            return self.ray.get(answer)


def _find_or_begin(ray):
    """Connect to the cluster that was begun for all, or to one of this program alone."""
    quiet = {"logging_level": "ERROR", "log_to_driver": False}
    for name in ("RAY_USAGE_STATS_ENABLED", "RAY_worker_niceness"):  # its workers have no less right to run
        os.environ.setdefault(name, "0")
    own = {"include_dashboard": False, "resources": {BOARD: os.cpu_count()}} | quiet
    try:
        try:
            # "auto" would join any cluster of the machine, another program's own too, which ends with that program.
            ray.init(**own)
        except ValueError:  # there is a cluster, whose nodes tell themselves what they have
            ray.init(**quiet)
    except Exception:  # it is gone; or Ray has waited for its own processes half a minute, little on a busy machine
        ray.shutdown()
        try:
            ray.init("local", **own)
        except Exception as error:
            ray.shutdown()
            raise BoardError(f"ray: Ray cannot begin a cluster on this machine: {one_line(error)}") from error


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _left.extend(holders))
