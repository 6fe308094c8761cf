"""Both ends of a block's streams in a cocotb bench, with random stalls.

A bench drives its ends after a clock edge and lets them settle in that clock's `ReadOnly`.
"""

from collections import deque

from amaranth.hdl import Shape
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, Timer

from .bits import pack, unpack

__all__ = ["Sink", "Source", "reset"]


async def reset(dut, *inputs):
    """Start the clock and reset ``dut``, with ``inputs`` 0."""
    dut.clk.value, dut.rst.value = 0, 1
    for port in inputs:
        port.value = 0
    # A first edge with undriven inputs would leave X in what has no reset.
    await Timer(5, unit="ns")
    Clock(dut.clk, 10, unit="ns").start()
    for _ in range(3):
        await RisingEdge(dut.clk)
    dut.rst.value = 0


class Source:
    """Offers the items of a queue; one that is offered stays so until it is taken.

    Parameters
    ----------
    dut : cocotb handle
    name : str
        Of the stream port.
    layout : Layout
        Of its payload.
    rng : random.Random
    """

    def __init__(self, dut, name, layout, rng):
        self.ports = [getattr(dut, f"{name}__{part}") for part in ("valid", "payload", "ready")]
        self.layout = layout
        self.rng = rng
        self.items = deque()
        self.stall = 0.0  # probability that a clock does not offer the next item
        self.offered = False
        for port in self.ports[:2]:
            port.value = 0

    def drive(self):
        valid, payload, _ = self.ports
        if not self.offered:
            self.offered = bool(self.items) and self.rng.random() >= self.stall
        valid.value = self.offered
        # What is not valid must not matter.
        payload.value = (
            pack(self.layout, self.items[0]) if self.offered else self.rng.getrandbits(Shape.cast(self.layout).width)
        )

    def settle(self):
        """The item that is taken in this clock, None if there is none."""
        if not (self.offered and int(self.ports[2].value)):
            return None
        self.offered = False
        return self.items.popleft()


class Sink:
    """Takes items, and fails if one changes or goes away before it is taken.

    Parameters as of `Source`.
    """

    def __init__(self, dut, name, layout, rng):
        self.name = name
        self.ports = [getattr(dut, f"{name}__{part}") for part in ("valid", "payload", "ready")]
        self.layout = layout
        self.rng = rng
        self.stall = 0.0  # probability that a clock does not take
        self.valid = False
        self.held = None
        self.ports[2].value = 0

    def drive(self):
        self.ready = self.rng.random() >= self.stall
        self.ports[2].value = self.ready

    def settle(self):
        """The item that is taken in this clock, None if there is none."""
        self.valid = bool(int(self.ports[0].value))
        bits = int(self.ports[1].value) if self.valid else None
        assert self.held in (None, bits), f"{self.name} moved before it was taken"
        self.held = None if self.ready else bits
        return unpack(self.layout, bits) if self.valid and self.ready else None
