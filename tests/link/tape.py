"""A board that keeps a record of all that it is told, and reports at random."""

import random

from bregalad.geometry import Geometry
from bregalad.protocol.reports import FENCE, Kind, statistics_layout
from bregalad_sim.latency import GoldenBoard
from bregalad_sim.link import BoardEnd

__all__ = ["GEOMETRY", "TapeBoard", "end"]

GEOMETRY = Geometry(lanes=2, passes=2, bins=8, classes=2, slots=16, count_width=16, bus_width=64, nodes=64)


class TapeBoard(GoldenBoard):
    """Every so many bytes of commands are answered by a report; registers hold what is written.

    Members
    -------
    tape : list
        bytes of commands (joined), and (address, value) of register writes, in order.
    reported : bytes
    """

    name = "tape"

    def __init__(self, seed):
        super().__init__(GEOMETRY)
        self.rng = random.Random(seed)
        self.tape = []
        self.reported = b""
        self._waiting = b""

    def send(self, data):
        data = bytes(data)
        assert len(data) % GEOMETRY.bus_bytes == 0
        if self.tape and isinstance(self.tape[-1], bytes):
            self.tape[-1] += data
        else:
            self.tape.append(data)
        while self.rng.random() < 0.4:
            if self.rng.random() < 0.7:
                report = FENCE.pack(kind=Kind.FENCE, token=self.rng.getrandbits(32))
            else:
                layout = statistics_layout(GEOMETRY)
                report = layout.pack(kind=Kind.STATISTICS, counts=self.rng.getrandbits(32))
            self._waiting += report
            self.reported += report

    def receive(self, wait=False):
        data, self._waiting = self._waiting, b""
        return data

    def _write_register(self, register, value):
        self.tape.append((register.addr, value))
        super()._write_register(register, value)


def end(seed=1, **options):
    """A link's end with such a board behind."""
    return BoardEnd(lambda: TapeBoard(seed), **{"ring_words": 2000, **options})
