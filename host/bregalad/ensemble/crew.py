"""Members of an ensemble on the workers of a Ray cluster.

A batch goes out once, to all workers. A worker that is lost is begun again on another board, from what it
kept last and the batches since; so the ensemble is the one without the loss. If the cluster is gone, this
process does that for all workers.
"""

import os
import pickle
import socket
import weakref

import numpy as np

from .. import __version__
from ..errors import BoardError
from ..extras import needing
from ..protocol.registers import VERSION
from ..words import one_line
from .engine import parse
from .share import Share

__all__ = ["BOARD", "Crew"]

BOARD = "board"  # the resource of which a node has one for each board
_LOGGED = 1 << 25  # bytes of batches after which workers tell what they have learnt
_PATIENCE = 60.0  # seconds for a worker to get a board
_ATTEMPTS = 3  # to replace a worker

_connected: list = []  # the address that this process has connected to by itself


class Worker:
    """What runs on a worker: a Ray actor's class. Everything goes in and out as bytes, which are counted."""

    def about(self):
        """Who this is: (host, process, release, version of the protocol)."""
        return socket.gethostname(), os.getpid(), __version__, VERSION

    def take(self, kept):
        """Begin with what `keep` has given."""
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
        return pickle.dumps(getattr(self._share, name)(*arguments))


class _Gone(Exception):
    """The cluster is of no use any more; why."""


class _Hand:
    """One worker as the crew sees it."""

    def __init__(self, number, kept):
        self.number, self.kept = number, kept
        self.actor, self.place = None, ""

    def __str__(self):
        return f"worker {self.number}{self.place}"


class Crew:
    """The workers of an ensemble, with the methods of a `Share`.

    Parameters
    ----------
    engine : str
    members : list of Member
    known : Known
    threads : int
        Members that learn at the same time on a worker.

    Attributes
    ----------
    ended : str or None
        Why no worker is left; the members are in this process then, and all calls go on there.
    sent, received : int
        Bytes of batches to all workers, and of what came back.
    replaced : int
        Workers that were lost.

    Raises
    ------
    BoardError
        If there is no cluster, too few boards, or a worker is none of this release.
    """

    def __init__(self, engine, members, known, threads):
        self.engine, self.ended, self.sent, self.received, self.replaced = engine, None, 0, 0, 0
        address, wanted = parse(engine)
        with needing(f"engine {engine!r}", "ray"):
            import ray
        self._ray = ray
        _connect(ray, address)
        self._job = ray.get_runtime_context().get_job_id()
        boards = int(ray.cluster_resources().get(BOARD, 0))
        if boards < max(1, wanted):
            raise BoardError(
                f"{engine}: worker {boards} has no board, the cluster's nodes have {boards}: start nodes with "
                f"--resources='{{\"{BOARD}\": 1}}', as many as each has boards"
            )
        known.tell(members)
        self._actor = ray.remote(num_cpus=0, resources={BOARD: 1}, scheduling_strategy="SPREAD")(Worker)
        self._log, self._size, self._copies, self._share = [], 0, None, None
        self._hands, self._of = [], {}
        self._dismissing = weakref.finalize(self, _dismiss, ray, self._hands)
        count = min(len(members), wanted or boards)
        for number, part in enumerate(np.array_split(np.arange(len(members)), count)):
            self._hands.append(_Hand(number, pickle.dumps((known, [members[i] for i in part], threads))))
            self._of |= {members[i].number: self._hands[-1] for i in part}
        try:
            for hand in self._hands:
                hand.actor = self._actor.remote()
            for hand in self._hands:
                self._begin(hand)
        except _Gone as gone:
            self.dismiss()
            raise BoardError(f"{engine}: {gone}") from None
        except BaseException:
            self.dismiss()
            raise

    # As a share

    def open(self):
        """Every worker has its board."""

    def learn(self, codes, labels, first):
        """As ``Share.learn``."""
        if self._size > _LOGGED and self.ended is None:
            self._keep()
        found, weights = zip(*self._do("learn", codes, labels, first), strict=True)
        return np.concatenate(found), np.concatenate(weights)

    def replant(self, number, at):
        """As ``Share.replant``."""
        return self._do("replant", number, at, only=self._of[number])[0]

    def vote(self, codes):
        """As ``Share.vote``."""
        found, weights = zip(*self._do("vote", codes, kept=False), strict=True)
        return np.concatenate(found), np.concatenate(weights)

    def thresholds(self, attributes):
        """As ``Share.thresholds``."""
        return np.any(self._do("thresholds", attributes, kept=False), axis=0)

    def settle(self):
        """As ``Share.settle``."""
        self._do("settle")

    def recode(self, changes):
        """As ``Share.recode``."""
        self._do("recode", changes)

    # Coming home

    def members(self):
        """All members as they are by now: copies, unless the crew has ended."""
        if self.ended is None and self._log:
            self._keep()
        if self.ended is not None:
            return self._share.members
        if self._copies is None:
            self._copies = self._unpacked()[1]
        return self._copies

    def dismiss(self):
        """Let go of the workers, now: Ray itself takes its time."""
        self._dismissing()

    def _unpacked(self):
        parts = [pickle.loads(hand.kept) for hand in self._hands]
        return parts[0][0], [member for _, members, _ in parts for member in members], parts[0][2]

    # Talking to workers

    def _do(self, name, *arguments, kept=True, only=None):
        """Have workers, or one, call a method of their share: list of the results.

        What changes the members is ``kept``, for whoever has to do it again.
        """
        if kept:
            self._copies = None
        if self.ended is None:
            what = pickle.dumps((name, arguments))
            try:
                found = self._ask(what, [only] if only else self._hands)
            except _Gone as gone:
                self._end(gone)
            else:
                if kept:
                    self._log.append((what, only))
                    self._size += len(what)
                return found
        return [getattr(self._share, name)(*arguments)]

    def _ask(self, what, hands):
        self._check_there()
        where = self._ray.put(what)
        asked = [self._calling(hand, where) for hand in hands]
        found = []
        for hand, answer in zip(hands, asked, strict=True):
            told = self._told(hand, answer)
            if told is None:
                told = self._replace(hand, where)
            self.sent += len(what)
            self.received += len(told)
            found.append(pickle.loads(told))
        return found

    def _calling(self, hand, where):
        try:
            return hand.actor.do.remote(where)
        except self._ray.exceptions.RayError:
            return None

    def _told(self, hand, answer):
        """What a worker answers; None if it is lost.

        Raises
        ------
        _Gone
            If nobody can take its place, for it has failed by itself or Ray has.
        """
        errors = self._ray.exceptions
        try:
            return None if answer is None else self._ray.get(answer)
        except errors.RayTaskError as error:
            if isinstance(error.cause, errors.RayError):
                return None
            raise _Gone(f"{hand} fails: {type(error.cause).__name__}: {error.cause}") from error
        except errors.RayError:
            return None
        except (ConnectionError, RuntimeError, OSError) as error:
            raise _Gone(f"{hand} is out of reach: {one_line(error)}") from error

    def _begin(self, hand):
        """Give a worker that is on its way what it is to begin with."""
        ray, about = self._ray, hand.actor.about.remote()
        if not ray.wait([about], timeout=_PATIENCE)[0]:
            free = int(ray.available_resources().get(BOARD, 0))
            raise _Gone(f"{hand} got no board within {_PATIENCE:g} s: {free} of the cluster's boards are free")
        told = self._told(hand, about)
        if told is None:
            raise _Gone(f"{hand} ended as it began")
        host, process, release, version = told
        hand.place = f" ({host}, process {process})"
        if (release, version) != (__version__, VERSION):
            raise _Gone(
                f"{hand} has release {release} with protocol {version}, this program {__version__} with {VERSION}: "
                "install the same on both"
            )
        self._told(hand, hand.actor.take.remote(hand.kept))

    def _replace(self, hand, last=None):
        """Begin a worker again, with all that it had done, and what it was doing; what it answers to that."""
        lost, ray = str(hand), self._ray
        for _ in range(_ATTEMPTS):
            self._check_there()
            self.replaced += 1
            try:
                hand.actor = self._actor.remote()
                self._begin(hand)
                asked = [hand.actor.do.remote(what) for what, only in self._log if only in (None, hand)]
                asked.append(hand.actor.keep.remote() if last is None else hand.actor.do.remote(last))
            except ray.exceptions.RayError:
                continue
            except _Gone as gone:
                raise _Gone(f"{lost} is lost, and {gone}") from gone
            told = [self._told(hand, each) for each in asked]
            if told[-1] is not None:
                return told[-1]
        raise _Gone(f"{lost} is lost, and so were {_ATTEMPTS} that took its place")

    def _keep(self):
        """Have all workers tell what they have learnt, which is where a new one would begin."""
        try:
            self._check_there()
            asked = [hand.actor.keep.remote() for hand in self._hands]
            told = [self._told(*each) or self._replace(each[0]) for each in zip(self._hands, asked, strict=True)]
        except _Gone as gone:
            self._end(gone)
            return
        for hand, kept in zip(self._hands, told, strict=True):
            hand.kept = kept
        self._log, self._size, self._copies = [], 0, None

    def _check_there(self):
        """Refuse to go on without the cluster; Ray would begin another one."""
        ray = self._ray
        if not ray.is_initialized() or ray.get_runtime_context().get_job_id() != self._job:
            raise _Gone(f"{self._hands[0]} and all others are gone with their cluster")

    def _end(self, gone):
        """Go on in this process, with all that workers have done."""
        known, members, threads = self._unpacked()
        known.tell(members)
        self._share = Share(members, known, threads)
        for what, _ in self._log:
            name, arguments = pickle.loads(what)
            getattr(self._share, name)(*arguments)
        self._log, self.ended = [], str(gone)
        self.dismiss()


def _dismiss(ray, hands):
    for hand in hands:
        if hand.actor is not None and ray.is_initialized():
            ray.kill(hand.actor)
        hand.actor = None


def _connect(ray, address):
    """See to a cluster: the one that the process is connected to, one that is there, or one of this machine."""
    if ray.is_initialized():
        if address not in ("ray", *_connected):
            raise BoardError(
                f"{address}: this program is connected to another cluster: ray.shutdown(), or engine='ray'"
            )
        return
    quiet = {"logging_level": "ERROR", "log_to_driver": False}
    _connected.clear()
    try:
        ray.init("auto" if address == "ray" else address, **quiet)
    except (ConnectionError, RuntimeError, OSError) as error:
        if address != "ray":
            raise BoardError(f"{address}: no cluster answers: {one_line(error)}") from error
        for name in ("RAY_USAGE_STATS_ENABLED", "RAY_worker_niceness"):  # its workers have no less right to run
            os.environ.setdefault(name, "0")
        ray.init("local", include_dashboard=False, resources={BOARD: os.cpu_count()}, **quiet)
    _connected.append(address)
