"""Wires with faults, in simulated time: nobody sleeps."""

import heapq
import itertools
import math
import random
from dataclasses import dataclass

from bregalad.link import Wire

_LOOKS = 10_000


@dataclass(frozen=True)
class Faults:
    """Shares of the frames that something happens to, each for itself, in both directions."""

    drop: float = 0.0
    flip: float = 0.0  # some bits are wrong, or its end is missing
    duplicate: float = 0.0
    delay: float = 0.0  # others overtake it

    @classmethod
    def all(cls, share):
        """Everything happens, at the same share."""
        return cls(share, share, share, share)


class Path:
    """One direction of a wire: what is sent arrives late, more than once, damaged or not at all.

    Parameters
    ----------
    rng : random.Random
    faults : Faults
    latency : float
        Seconds that a frame takes.
    rate : float
        Bytes a second; what is sent faster waits.
    """

    def __init__(self, rng, faults, latency, rate):
        self.rng = rng
        self.faults = faults
        self.latency = latency
        self.rate = rate
        self._free = 0.0  # when all that was sent before will be on its way
        self._count = itertools.count()
        self._heap = []  # of (arrival, order, frame)

    def send(self, frames, now):
        """Put frames on the way."""
        rng, faults = self.rng, self.faults
        for frame in frames:
            if rng.random() < faults.drop:
                continue
            for _ in range(1 + (rng.random() < faults.duplicate)):
                self._free = max(self._free, now) + len(frame) / self.rate
                arrival = self._free + self.latency
                if rng.random() < faults.delay:
                    arrival += rng.choice((self.latency, 0.01, 0.1, 0.5)) * rng.random()
                damaged = rng.random() < faults.flip
                heapq.heappush(self._heap, (arrival, next(self._count), self._damage(frame) if damaged else frame))

    def arrived(self, now):
        """The frames that have come by now, in the order of their arrival."""
        came = []
        while self._heap and self._heap[0][0] <= now:
            came.append(heapq.heappop(self._heap)[2])
        return came

    @property
    def next(self):
        """When the next frame arrives."""
        return self._heap[0][0] if self._heap else math.inf

    def _damage(self, frame):
        rng = self.rng
        frame = bytearray(frame)
        for _ in range(rng.choice((1, 1, 2, 5))):
            frame[rng.randrange(len(frame))] ^= 1 << rng.randrange(8)
        return bytes(frame[: rng.choice((len(frame), len(frame), rng.randrange(len(frame))))])


class FaultyWire(Wire):
    """Base of wires in simulated time.

    Parameters
    ----------
    name : str
    rng : random.Random, optional
        Without one there are no faults.
    faults : Faults, optional
    latency : float
        Seconds that a frame takes.
    rate : float
        Bytes a second, each way.
    cuts : sequence of (start, stop)

    Members
    -------
    cuts : list of (start, stop)
        Times between which nothing gets through.
    """

    def __init__(self, name, rng=None, faults=None, *, latency=0.0, rate=math.inf, cuts=()):
        super().__init__(name)
        self.cuts = list(cuts)
        self._down, self._up = (Path(rng or random.Random(0), faults or Faults(), latency, rate) for _ in range(2))

    @property
    def is_cut(self):
        now = self.now()
        return any(start <= now < stop for start, stop in self.cuts)

    def _carry(self, path, frames):
        path.send([] if self.is_cut else frames, self.now())


class SimulatedWire(FaultyWire):
    """Both directions of a wire to a `sim.link.BoardEnd`; `FaultyWire` has the parameters.

    Time passes only in `receive`, by as much as it takes until something happens.

    Members
    -------
    time : float
    """

    def __init__(self, end, rng, faults=None, *, latency=0.0005, **options):
        super().__init__("simulated wire", rng, faults, latency=latency, **options)
        self.end = end
        self.time = 0.0
        self._looks = 0

    def now(self):
        return self.time

    def open(self, setting):
        pass

    def close(self):
        pass

    def silence(self):
        return "no answer"

    def send(self, frames):
        self._carry(self._down, frames)

    def receive(self, wait):
        # A driver that only looks, and never waits, would look for ever.
        self._looks = 0 if wait else self._looks + 1
        assert self._looks < _LOOKS, "the driver turns and turns without waiting"
        limit = self.time + wait
        while True:
            for frame in self._down.arrived(self.time):
                self.end.take(frame, self.time)
            self._carry(self._up, self.end.frames(self.time))
            came = self._up.arrived(self.time)
            if came or self.time >= limit:
                return came
            self.time = min(limit, self._down.next, self._up.next, max(self.time, self.end.deadline))
