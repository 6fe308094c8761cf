"""What a link's delay costs: learning over a wire of so many bytes per second and so long a delay.

Time is the wire's: a byte takes its share of a second, a report comes back a delay later, and the
driver goes on at once, waits where it must, and never has more than 64 KiB before the wire. The
board behind it, the golden model with a row memory, keeps up. One line per tree, stream and delay:
instances per second, and the share of the time in which the wire carried something.

    python -m bregalad.benchmark.wire
"""

from collections import deque
from itertools import product

from ..boards.device import Device
from ..geometry import Geometry
from ..learners.hoeffding import EFDT, VFDT
from ..protocol.commands import pack_load
from . import streams

INSTANCES = 100_000  # of each stream at most
DELAYS = (20e-6, 100e-6, 500e-6)  # seconds, there and back
MEMORY = 32_768  # bytes of the board's row memory
GIGABIT = 118e6  # bytes per second of payload that Gigabit Ethernet carries
BACKLOG = 1 << 16  # bytes that a linked board's `send` leaves waiting for the wire


class Wire(Device):
    """Another board at the end of a wire, with a clock of its own.

    The speed is in bytes per second, the delay the seconds from a record's last byte to what is reported of it. ``now``
    is the driver's time in seconds, ``sending`` how long the wire was in use.
    """

    def __init__(self, board, speed, delay):
        super().__init__(board.geometry)
        self.board, self.memory_size = board, board.memory_size
        self.speed, self.delay = speed, delay
        self.now = self.sending = self._free = 0.0
        self._coming = deque()  # (when, reports)

    def _read_register(self, register):
        return self.board._read_register(register)

    def _write_register(self, register, value):
        self.board._write_register(register, value)

    def load(self, address, data):
        self.send(pack_load(self.geometry, address, self._to_load(address, data)))

    def send(self, data):
        self.board.send(data)
        lasts = len(data) / self.speed
        self.sending += lasts
        self._free = max(self._free, self.now) + lasts
        self.now = max(self.now, self._free - BACKLOG / self.speed)
        if reports := self.board.receive():
            self._coming.append((self._free + self.delay, reports))

    def receive(self, wait=False):
        if wait:
            self.now = max(self.now, self._coming[0][0])
        found = []
        while self._coming and self._coming[0][0] <= self.now:
            found.append(self._coming.popleft()[1])
        return b"".join(found)


def measure(kind, name, delay):
    """Instances per second, and the share of the time that the wire was in use."""
    from bregalad_sim.latency import GoldenBoard

    X, y, schema = {"elec": streams.elec, "rt5n": streams.rt5n}[name]()
    X, y = X[:INSTANCES], y[:INSTANCES]
    geometry = Geometry(lanes=8, passes=1, slots=4096, classes=max(2, len(schema.classes)), nodes=8192, searchers=0)
    board = Wire(GoldenBoard(geometry, MEMORY), GIGABIT, delay)
    tree = kind(board=board, block=1 / 32, leaf_prediction="mc", nominal=streams.nominal(X, schema))
    tree.partial_fit(X, y, classes=list(schema.classes))
    return len(X) / board.now, board.sending / board.now


def main():
    for name, kind, delay in product(("elec", "rt5n"), (VFDT, EFDT), DELAYS):
        rate, share = measure(kind, name, delay)
        line = f"{name} {kind.__name__} {delay * 1e6:g} us: {rate / 1e6:.2f} M instances/s, wire in use {share:.0%}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
