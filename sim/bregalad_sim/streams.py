"""Both ends of a block's streams in a cocotb bench, with random stalls.

A bench drives its ends after a clock edge and lets them settle in that clock's `ReadOnly`.
"""

import random
from collections import deque

import cocotb
from amaranth.hdl import Shape
from amaranth.lib.wiring import In
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge, Timer

from .bits import pack, unpack


class BlockBench:
    """A block under test, random numbers, and the other ends of its streams.

    Parameters
    ----------
    dut : cocotb handle
    block : wiring.Component
        What ``dut`` was made of; names and shapes of the ports are its.

    Members
    -------
    rng : random.Random
    shapes : dict
        Of the ports.
    ends : dict
        By stream the `Source` that leads to it or the `Sink` that it leads to.
    """

    def __init__(self, dut, block):
        self.dut, self.rng = dut, random.Random(cocotb.RANDOM_SEED)
        ports = {"__".join(map(str, path)): member for path, member, _ in block.signature.flatten(block)}
        self.ends = {}
        for name, member in ports.items():
            stream = name.removesuffix("__payload")
            if stream != name and {f"{stream}__valid", f"{stream}__ready"} <= ports.keys():
                self.ends[stream] = (Source if member.flow is In else Sink)(dut, stream, member.shape, self.rng)
        self.shapes = {name: member.shape for name, member in ports.items()}
        streams = {f"{stream}__{part}" for stream in self.ends for part in ("valid", "payload", "ready")}
        self._inputs = [name for name, member in ports.items() if member.flow is In and name not in streams]

    async def start(self):
        """Start the clock and reset the block, with all inputs 0."""
        await reset(self.dut, *(getattr(self.dut, name) for name in self._inputs))

    def set_inputs(self, **values):
        """Drive inputs."""
        for name, value in values.items():
            getattr(self.dut, name).value = pack(self.shapes[name], value)

    def read(self, name):
        """The value of a port."""
        return unpack(self.shapes[name], int(getattr(self.dut, name).value))

    def stall(self, probability):
        """Let all streams stall so often."""
        for end in self.ends.values():
            end.stall = probability

    def drive(self):
        """Drive all streams for the clock that begins."""
        for end in self.ends.values():
            end.drive()

    async def settle(self):
        """Wait until this clock's values are there; by stream the item that is taken, None if there is none."""
        await ReadOnly()
        return {name: end.settle() for name, end in self.ends.items()}


async def feed(dut, latency, words):
    """Reset a pipeline, give it a word in each clock, and yield each word's number when its result is there.

    Parameters
    ----------
    dut : cocotb handle
    latency : int
        Clocks from a word to its result.
    words : list of dict
        Values of inputs; the same ones in each.
    """
    for name in words[0]:
        getattr(dut, name).value = 0
    Clock(dut.clk, 10, unit="ns").start()
    dut.rst.value = 1
    for _ in range(3):
        await FallingEdge(dut.clk)
    dut.rst.value = 0
    for clock in range(len(words) + latency):
        if clock >= latency:
            yield clock - latency
        for name, value in words[min(clock, len(words) - 1)].items():
            getattr(dut, name).value = value
        await FallingEdge(dut.clk)


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
