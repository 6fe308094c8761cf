"""Members of an ensemble on the workers of a Ray cluster.

A batch goes out once, to all workers. A worker that is lost is begun again on another board, from what it
kept last and the batches since; so the ensemble is the one without the loss. If the cluster is gone, this
process does that for all workers.
"""

import pickle
import weakref
from contextlib import suppress

import numpy as np

from ..cluster import Cluster, Gone, Worker
from ..errors import BoardError
from ..interrupt import unbroken
from .share import Share

_LOGGED = 1 << 25  # bytes of batches after which workers tell what they have learnt
_ATTEMPTS = 3  # to replace a worker


class Hands(Worker):
    """What runs on a worker. Everything goes in and out as bytes."""

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
        found = self._share.call(name, *arguments)
        if name == "learn":
            found = _small(found[0]), None if (found[1] == 1).all() else found[1]
        return pickle.dumps(found)


class _Hand:
    """One worker as the crew sees it."""

    def __init__(self, number, kept):
        self.number, self.kept = number, kept
        self.actor, self.place = None, ""

    def __str__(self):
        return f"worker {self.number}{self.place}"


class Crew:
    """The workers of an ensemble, with the methods of a `Share`; its generators yield nothing here.

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
    replaced : int
        Workers that were lost.

    Raises
    ------
    BoardError
        If there is no cluster, too few boards, or a worker is none of this release.
    """

    def __init__(self, engine, members, known, threads):
        self.engine, self.ended, self.replaced = engine, None, 0
        self._cluster = Cluster(engine)
        self._cluster.holding(self)
        known.tell(members)
        self._actor = self._cluster.kind(Hands)
        self._log, self._size, self._copies, self._share = [], 0, None, None
        self._hands, self._of = [], {}
        self._dismissing = weakref.finalize(self, _dismiss, self._cluster, self._hands)
        count = min(len(members), self._cluster.workers)
        for number, part in enumerate(np.array_split(np.arange(len(members)), count)):
            self._hands.append(_Hand(number, pickle.dumps((known, [members[i] for i in part], threads))))
            self._of |= {members[i].number: self._hands[-1] for i in part}
        try:
            for hand in self._hands:
                hand.actor = self._actor.remote()
            for hand in self._hands:
                self._begin(hand)
        except Gone as gone:
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
        yield from ()
        if self._size > _LOGGED and self.ended is None:
            self._keep()
        found, weights = zip(*self._do("learn", codes, _small(labels), first), strict=True)
        found = np.concatenate(found).astype(np.int32, copy=False)
        if weights[0] is None:
            return found, np.ones(found.shape)
        return found, np.concatenate(weights)

    def replant(self, number, at):
        """As ``Share.replant``."""
        yield from ()
        return self._do("replant", number, at, only=self._of[number])[0]

    def vote(self, codes):
        """As ``Share.vote``."""
        found, weights = zip(*self._do("vote", codes, kept=False), strict=True)
        return np.concatenate(found), np.concatenate(weights)

    def shares(self, codes):
        """As ``Share.shares``."""
        found, weights = zip(*self._do("shares", codes, kept=False), strict=True)
        return np.concatenate(found), np.concatenate(weights)

    def thresholds(self):
        """As ``Share.thresholds``."""
        return np.any(self._do("thresholds", kept=False), axis=0)

    def settle(self):
        """As ``Share.settle``."""
        yield from ()
        self._do("settle")

    def recode(self, changes):
        """As ``Share.recode``."""
        yield from ()
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
            what, hands = pickle.dumps((name, arguments)), [only] if only else self._hands
            try:
                told = self._ask(what, hands)
            except Gone as gone:
                self._end(gone)
            else:
                if kept:
                    self._log.append((what, only))
                    self._size += len(what)
                return [pickle.loads(each) for each in told]
        with unbroken():  # as workers are
            return [self._share.call(name, *arguments)]

    def _ask(self, what, hands):
        self._check_there()
        with self._cluster.reaching(hands[0]):
            where = self._cluster.ray.put(what)
            asked = [self._calling(hand, where) for hand in hands]
        found = []
        for hand, answer in zip(hands, asked, strict=True):
            told = self._told(hand, answer)
            if told is None:
                told = self._replace(hand, where)
            found.append(told)
        return found

    def _calling(self, hand, where):
        try:
            return hand.actor.do.remote(where)
        except self._cluster.ray.exceptions.RayError:
            return None

    def _told(self, hand, answer):
        return None if answer is None else self._cluster.told(answer, hand)

    def _begin(self, hand):
        """Give a worker that is on its way what it is to begin with."""
        hand.place = ""
        hand.place = self._cluster.place(hand.actor, hand)
        self._told(hand, hand.actor.take.remote(hand.kept))

    def _replace(self, hand, last=None):
        """Begin a worker again, with all that it had done, and what it was doing; what it answers to that."""
        lost = str(hand)
        for _ in range(_ATTEMPTS):
            self._check_there()
            self.replaced += 1
            try:
                with self._cluster.reaching(hand):
                    hand.actor = self._actor.remote()
                    self._begin(hand)
                asked = [hand.actor.do.remote(what) for what, only in self._log if only in (None, hand)]
                asked.append(hand.actor.keep.remote() if last is None else hand.actor.do.remote(last))
            except self._cluster.ray.exceptions.RayError:
                continue
            except Gone as gone:
                raise Gone(f"{lost} is lost, and {gone}") from gone
            told = [self._told(hand, each) for each in asked]
            if told[-1] is not None:
                return told[-1]
        raise Gone(f"{lost} is lost, and so were {_ATTEMPTS} that took its place")

    def _keep(self):
        """Have all workers tell what they have learnt, which is where a new one would begin."""
        try:
            self._check_there()
            with self._cluster.reaching(self._hands[0]):
                asked = [hand.actor.keep.remote() for hand in self._hands]
            told = [self._told(*each) or self._replace(each[0]) for each in zip(self._hands, asked, strict=True)]
        except Gone as gone:
            self._end(gone)
            return
        for hand, kept in zip(self._hands, told, strict=True):
            hand.kept = kept
        self._log, self._size, self._copies = [], 0, None

    def _check_there(self):
        try:
            self._cluster.check_there()
        except Gone as gone:
            raise Gone(f"{self._hands[0]} and all others: {gone}") from gone

    def _end(self, gone):
        """Go on in this process, with all that workers have done."""
        known, members, threads = self._unpacked()
        known.tell(members)
        self._share = Share(members, known, threads)
        with unbroken():
            for what, _ in self._log:
                name, arguments = pickle.loads(what)
                self._share.call(name, *arguments)
        self._log, self.ended = [], str(gone)
        self.dismiss()


def _small(labels):
    """Classes in a byte each, if they fit."""
    return labels.astype(np.uint8) if labels.max(initial=0) < 256 else labels


def _dismiss(cluster, hands):
    if not cluster.here:
        return
    for hand in hands:
        with suppress(Exception):  # it may be gone already
            if hand.actor is not None and cluster.ray.is_initialized():
                cluster.ray.kill(hand.actor)
        hand.actor = None
