"""Members of an ensemble on the workers of a Ray cluster.

A batch goes out once, to all workers. If one is lost, this process goes on from what all kept last by the batches
since, so the ensemble is the one without the loss. The next batch goes to other workers, if there is still a cluster.
"""

import gc
import os
import pickle
import re
import sys
import weakref
from contextlib import suppress

import numpy as np

from .. import __version__
from ..errors import BoardError
from ..extras import needing
from ..interrupt import unbroken
from ..protocol.registers import VERSION
from ..words import one_line, shown
from .share import Share

RELEASE = f"release {__version__} with protocol {VERSION}"
BOARD = "board"  # the resource of which a node has one for each board
_PATIENCE = 180.0  # seconds for a worker to get a board; Ray waits 60 for a process that hangs, then begins another
_LOGGED = 1 << 25  # bytes of batches after which workers tell what they have learnt

_all_workers: weakref.WeakSet = weakref.WeakSet()
_left: list = []  # in a forked process those of the first: their end here would cut its connections


def parse(engine):
    """How many workers an engine names, 0: as many as there are boards; TypeError or ValueError if it is none."""
    wrong = f"engine must be None, 'ray' or 'ray,workers=N', not {shown(engine)}"
    if not isinstance(engine, str):
        raise TypeError(wrong)
    found = re.fullmatch("ray(?:,workers=([1-9][0-9]*))?", engine)
    if found is None:
        raise ValueError(wrong)
    return int(found[1] or 0)


def connect():
    """Ray, connected to the cluster that was begun for all, or to one of this program alone; BoardError if to none."""
    with needing("engine 'ray'", "ray"):
        import ray
    if ray.is_initialized():
        return ray
    quiet = {"logging_level": "ERROR", "log_to_driver": False}
    own = {"include_dashboard": False, "resources": {BOARD: os.cpu_count()}} | quiet
    for name in ("RAY_USAGE_STATS_ENABLED", "RAY_worker_niceness"):  # its workers have no less right to run
        os.environ.setdefault(name, "0")
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
        except Exception as error:  # those of gRPC, for one, are of no class in between
            ray.shutdown()
            raise BoardError(f"ray: Ray cannot begin a cluster on this machine: {one_line(error)}") from error
    return ray


class Worker:
    """What runs on a worker. Everything goes in and out as bytes."""

    def take(self, kept, release):
        """Begin with what `keep` has given. An error if the program is of another release."""
        if release != RELEASE:
            raise ValueError(f"it has {RELEASE}, this program {release}: install the same on both")
        known, members, threads = pickle.loads(kept)
        known.tell(members)
        self._share, self._threads = Share(members, known, threads), threads
        self._share.open()

    def keep(self):
        """All that was learnt."""
        return pickle.dumps((self._share.stream, self._share.members, self._threads))

    def do(self, what):
        """Call a method of the share."""
        name, arguments = pickle.loads(what)
        found = self._share.call(name, *arguments)
        if name == "learn":
            found = _small(found[0]), None if (found[1] == 1).all() else found[1]
        return pickle.dumps(found)


class Workers:
    """The workers of an ensemble, with the methods of a `Share`; its generators yield nothing here.

    The engine is as of `parse`; on a worker so many members learn at the same time. ``ended`` says why no worker is
    left; the members are in this process then, and all calls go on there. BoardError if there is no cluster, too few
    boards, or a worker is none of this release.
    """

    def __init__(self, engine, members, known, threads):
        wanted, self.engine, self.ended = parse(engine), engine, None
        self._ray, self._process = connect(), os.getpid()
        boards = int(self._ray.cluster_resources().get(BOARD, 0))
        if boards < max(1, wanted):
            raise BoardError(
                f"{engine}: worker {boards} has no board, the cluster's nodes have {boards}: start nodes with "
                f"--resources='{{\"{BOARD}\": 1}}', as many as each has boards"
            )
        known.tell(members)
        parts = np.array_split(np.arange(len(members)), min(len(members), wanted or boards))
        self._kept = [pickle.dumps((known, [members[i] for i in part], threads)) for part in parts]
        self._worker_of = {members[i].number: worker for worker, part in enumerate(parts) for i in part}
        self._log, self._share, self._actors = [], None, []  # the log: what was learnt since all have kept
        _all_workers.add(self)
        self.dismiss = weakref.finalize(self, _dismiss, self._ray, self._actors, self._process)
        try:
            self._begin()
        except Exception as error:
            self.dismiss()
            raise BoardError(f"{engine}: {_worded(error)}") from error

    def _begin(self):
        """Begin the workers, each with a board."""
        ray = self._ray
        made = ray.remote(num_cpus=0, resources={BOARD: 1}, scheduling_strategy="SPREAD")(Worker)
        self._actors += [made.remote() for _ in self._kept]
        replies = [actor.take.remote(kept, RELEASE) for actor, kept in zip(self._actors, self._kept, strict=True)]
        for worker, answer in enumerate(replies):
            if not ray.wait([answer], timeout=_PATIENCE)[0]:
                free = int(ray.available_resources().get(BOARD, 0))
                raise BoardError(
                    f"worker {worker} got no board within {_PATIENCE:g} s: {free} of the cluster's boards are free"
                )
            ray.get(answer)

    # As a share

    def open(self):
        """Every worker has its board."""

    def learn(self, codes, labels, first):
        yield from ()
        if sum(map(len, self._log)) > _LOGGED:
            self._keep()
        parts = self._do("learn", codes, _small(labels), first)
        weights = [np.ones(found.shape) if weights is None else weights for found, weights in parts]
        return np.concatenate([found for found, _ in parts]).astype(np.int32, copy=False), np.concatenate(weights)

    def replant(self, number, at):
        yield from ()
        return self._do("replant", number, at, only=self._worker_of[number])[0]

    def vote(self, codes):
        return self._looked_at("vote", codes)

    def shares(self, codes):
        return self._looked_at("shares", codes)

    def _looked_at(self, name, codes):
        return tuple(np.concatenate(parts) for parts in zip(*self._do(name, codes, kept=False), strict=True))

    def thresholds(self):
        return np.any(self._do("thresholds", kept=False), axis=0)

    def settle(self):
        yield from ()
        self._do("settle")

    def recode(self, changes):
        yield from ()
        self._do("recode", changes)

    # Coming home

    @property
    def trouble(self):
        """Why workers are of no use any more; empty if they are. Ray would begin another cluster."""
        if os.getpid() != self._process:
            return "left to the process that this one was forked from"
        return "" if self._ray.is_initialized() else "the workers are gone with their cluster"

    def members(self):
        """All members as they are by now: copies, unless the workers have ended."""
        if self._log:
            self._keep()
        return self._unpacked()[0] if self.ended is None else self._share.members

    def _unpacked(self):
        parts = [pickle.loads(kept) for kept in self._kept]
        return [member for _, members, _ in parts for member in members], parts[0][0], parts[0][2]

    # Talking to workers

    def _do(self, name, *arguments, kept=True, only=None):
        """Have workers, or one, call a method of their share: list of the results.

        What changes the members is ``kept``, for whoever has to do it again.
        """
        what, actors = pickle.dumps((name, arguments)), self._actors if only is None else [self._actors[only]]
        answers = self._ask(actors, "do", what)
        if answers is not None:
            self._log += [what] * kept
            return [pickle.loads(each) for each in answers]
        with unbroken():  # as workers are
            return [self._share.call(name, *arguments)]

    def _keep(self):
        """Have all workers tell what they have learnt, which is where others would begin."""
        if (answers := self._ask(self._actors, "keep")) is not None:
            self._kept, self._log = answers, []

    def _ask(self, actors, method, *arguments):
        """What workers answer, asked at the same time; None if they are no more, or were lost just now."""
        if self.ended is not None:
            return None
        try:
            if trouble := self.trouble:
                raise BoardError(trouble)
            arguments = [self._ray.put(each) for each in arguments]
            return self._ray.get([getattr(actor, method).remote(*arguments) for actor in actors])
        except Exception as error:
            self._end(error)
            return None

    def _end(self, error):
        """Learn in this process what workers have learnt, and let go of them."""
        members, known, threads = self._unpacked()
        known.tell(members)
        self._share = Share(members, known, threads)
        with unbroken():
            for what in self._log:
                name, arguments = pickle.loads(what)
                self._share.call(name, *arguments)
        self._log, self.ended = [], _worded(error)
        self.dismiss()


def _worded(error):
    """An error of Ray's, or of a worker's, in words."""
    cause = getattr(error, "cause", None) or error
    return one_line(cause) if isinstance(cause, BoardError) else f"{type(cause).__name__}: {one_line(cause)}"


def _small(labels):
    """Classes in a byte each, if they fit."""
    return labels.astype(np.uint8) if labels.max(initial=0) < 256 else labels


def _dismiss(ray, actors, process):
    if os.getpid() == process and ray.is_initialized():
        for actor in actors:
            with suppress(Exception):  # it may be gone already
                ray.kill(actor)
        actors.clear()


def _leave():
    """Keep in a forked process what Ray's finalizers would end: they wait for threads that are not in it."""
    _left.extend(_all_workers)
    if "ray" in sys.modules:
        gc.freeze()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave)
