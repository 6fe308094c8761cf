"""A wire to a model of a board, with faults, in simulated time: nobody sleeps."""

import heapq
import itertools
from dataclasses import dataclass

from ..link import Wire

__all__ = ["Faults", "SimulatedWire"]


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


class SimulatedWire(Wire):
    """Both directions of a wire to a `sim.link.BoardEnd`.

    Time passes only in `receive`, by as much as it takes until something happens.

    Parameters
    ----------
    end : BoardEnd
    rng : random.Random
    faults : Faults
    latency : float
        Seconds that a frame takes.

    Members
    -------
    time : float
    cuts : list of (start, stop)
        Times between which nothing gets through.
    """

    def __init__(self, end, rng, faults=None, *, latency=0.0005, cuts=()):
        super().__init__("simulated wire")
        self.end = end
        self.rng = rng
        self.faults = faults or Faults()
        self.latency = latency
        self.cuts = list(cuts)
        self.time = 0.0
        self._count = itertools.count()
        self._down, self._up = [], []  # heaps of (arrival, order, frame)

    def now(self):
        return self.time

    def open(self, setting):
        pass

    def close(self):
        pass

    def silence(self):
        return "no answer"

    @property
    def is_cut(self):
        return any(start <= self.time < stop for start, stop in self.cuts)

    def send(self, frames):
        self._carry(frames, self._down)

    def receive(self, wait):
        limit = self.time + wait
        while True:
            while self._down and self._down[0][0] <= self.time:
                self.end.take(heapq.heappop(self._down)[2], self.time)
            self._carry(self.end.frames(self.time), self._up)
            came = []
            while self._up and self._up[0][0] <= self.time:
                came.append(heapq.heappop(self._up)[2])
            if came or self.time >= limit:
                return came
            events = [heap[0][0] for heap in (self._down, self._up) if heap]
            self.time = min(limit, *events, max(self.time, self.end.deadline))

    def _carry(self, frames, heap):
        rng, faults = self.rng, self.faults
        for frame in frames:
            if self.is_cut or rng.random() < faults.drop:
                continue
            for _ in range(1 + (rng.random() < faults.duplicate)):
                arrival = self.time + self.latency
                if rng.random() < faults.delay:
                    arrival += rng.choice((self.latency, 0.01, 0.1, 0.5)) * rng.random()
                damaged = rng.random() < faults.flip
                heapq.heappush(heap, (arrival, next(self._count),
                                      self._damage(frame) if damaged else frame))

    def _damage(self, frame):
        rng = self.rng
        frame = bytearray(frame)
        for _ in range(rng.choice((1, 1, 2, 5))):
            frame[rng.randrange(len(frame))] ^= 1 << rng.randrange(8)
        return bytes(frame[:rng.choice((len(frame), len(frame), rng.randrange(len(frame))))])
