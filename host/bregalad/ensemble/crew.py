"""Members of an ensemble on the workers of a Ray cluster.

A batch goes out once, to all workers. If one is lost, this process goes on from what all kept last by the batches
since, so the ensemble is the one without the loss. The next batch goes to another crew, if there is still a cluster.
"""

import os
import pickle
import socket
import weakref
from contextlib import suppress

import numpy as np

from ..cluster import BOARD, RELEASE, Cluster, Gone, holders
from ..errors import BoardError
from ..interrupt import unbroken
from .share import Share

_LOGGED = 1 << 25  # bytes of batches after which workers tell what they have learnt


class Hands:
    """What runs on a worker. Everything goes in and out as bytes."""

    def take(self, kept, release):
        """Begin with what `keep` has given; host and process. An error if the program is of another release."""
        if release != RELEASE:
            raise ValueError(f"it has {RELEASE}, this program {release}: install the same on both")
        known, members, threads = pickle.loads(kept)
        known.tell(members)
        self._share, self._threads = Share(members, known, threads), threads
        self._share.open()
        return socket.gethostname(), os.getpid()

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

    def __init__(self, number):
        self.number, self.kept = number, b""
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

    Raises
    ------
    BoardError
        If there is no cluster, too few boards, or a worker is none of this release.
    """

    def __init__(self, engine, members, known, threads):
        self.engine, self.ended = engine, None
        self._cluster = Cluster(engine)
        holders.add(self)
        # Each takes a board.
        self._actor = self._cluster.ray.remote(num_cpus=0, resources={BOARD: 1}, scheduling_strategy="SPREAD")(Hands)
        self._log, self._size, self._share = [], 0, None
        self._hands = [_Hand(number) for number in range(min(len(members), self._cluster.workers))]
        # Now: Ray itself takes its time.
        self.dismiss = weakref.finalize(self, _dismiss, self._cluster, self._hands)
        known.tell(members)
        try:
            self._begin(members, known, threads)
        except Gone as gone:
            self.dismiss()
            raise BoardError(f"{engine}: {gone}") from None

    def _begin(self, members, known, threads):
        """Begin workers with these members."""
        self._of = {}
        for hand, part in zip(self._hands, np.array_split(np.arange(len(members)), len(self._hands)), strict=True):
            hand.kept = pickle.dumps((known, [members[i] for i in part], threads))
            self._of |= {members[i].number: hand for i in part}
        asked = []
        with self._cluster.reaching(self._hands[0]):
            for hand in self._hands:
                hand.actor = self._actor.remote()
                asked.append(hand.actor.take.remote(hand.kept, RELEASE))
        for hand, answer in zip(self._hands, asked, strict=True):
            hand.place = self._cluster.place(answer, hand)

    # As a share

    def open(self):
        """Every worker has its board."""

    def learn(self, codes, labels, first):
        yield from ()
        if self._size > _LOGGED:
            self._keep()
        found, weights = zip(*self._do("learn", codes, _small(labels), first), strict=True)
        found = np.concatenate(found).astype(np.int32, copy=False)
        if weights[0] is None:
            return found, np.ones(found.shape)
        return found, np.concatenate(weights)

    def replant(self, number, at):
        yield from ()
        return self._do("replant", number, at, only=self._of[number])[0]

    def vote(self, codes):
        return self._looked_at("vote", codes)

    def shares(self, codes):
        return self._looked_at("shares", codes)

    def _looked_at(self, name, codes):
        found, weights = zip(*self._do(name, codes, kept=False), strict=True)
        return np.concatenate(found), np.concatenate(weights)

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
    def there(self):
        """Whether there is still a cluster, for another crew."""
        return not self._cluster.trouble

    def members(self):
        """All members as they are by now: copies, unless the crew has ended."""
        if self._log:
            self._keep()
        return self._unpacked()[0] if self.ended is None else self._share.members

    def _unpacked(self):
        parts = [pickle.loads(hand.kept) for hand in self._hands]
        known, _, threads = parts[0]
        return [member for _, members, _ in parts for member in members], known, threads

    # Talking to workers

    def _do(self, name, *arguments, kept=True, only=None):
        """Have workers, or one, call a method of their share: list of the results.

        What changes the members is ``kept``, for whoever has to do it again.
        """
        what, hands = pickle.dumps((name, arguments)), [only] if only else self._hands
        told = self._ask(hands, "do", what)
        if told is not None:
            if kept:
                self._log.append(what)
                self._size += len(what)
            return [pickle.loads(each) for each in told]
        with unbroken():  # as workers are
            return [self._share.call(name, *arguments)]

    def _keep(self):
        """Have all workers tell what they have learnt, which is where others would begin."""
        told = self._ask(self._hands, "keep")
        if told is not None:
            for hand, kept in zip(self._hands, told, strict=True):
                hand.kept = kept
            self._log, self._size = [], 0

    def _ask(self, hands, method, *arguments):
        """What workers answer, asked at the same time; None if they are no more, or were lost just now."""
        if self.ended is not None:
            return None
        try:
            if trouble := self._cluster.trouble:
                raise Gone(f"{self._hands[0]} and all others: {trouble}")
            with self._cluster.reaching(hands[0]):
                arguments = [self._cluster.ray.put(each) for each in arguments]
            asked = []
            for hand in hands:
                with self._cluster.reaching(hand):
                    asked.append(getattr(hand.actor, method).remote(*arguments))
            return [self._cluster.told(*each) for each in zip(asked, hands, strict=True)]
        except Gone as gone:
            self._end(gone)
            return None

    def _end(self, gone):
        """Learn in this process what workers have learnt, and let go of them."""
        members, known, threads = self._unpacked()
        known.tell(members)
        self._share = Share(members, known, threads)
        with unbroken():
            for what in self._log:
                name, arguments = pickle.loads(what)
                self._share.call(name, *arguments)
        self._log, self._size = [], 0
        self.ended = str(gone)
        self.dismiss()


def _small(labels):
    """Classes in a byte each, if they fit."""
    return labels.astype(np.uint8) if labels.max(initial=0) < 256 else labels


def _dismiss(cluster, hands):
    if cluster.trouble:
        return
    for hand in hands:
        with suppress(Exception):  # it may be gone already
            cluster.ray.kill(hand.actor)
        hand.actor = None
