"""CRC-32 of frames, a word a clock."""

import zlib
from functools import reduce
from operator import xor

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

_NONE = (1 << 32) - 1  # the register before the first word
_RESIDUE = 0x2144DF1C  # the CRC of anything and its own CRC
# What a bit of a word, in a register of zeros, comes to.
_COLUMNS = [zlib.crc32((1 << bit).to_bytes(4, "little"), _NONE) ^ _NONE for bit in range(32)]


class Crc32(wiring.Component):
    """Ethernet's CRC of little endian words.

    Register and word go into it as their sum alone: that is half of the gates of two matrices.

    Members
    -------
    start : In(1)
        What was before is forgotten; a word in this clock is the first.
    data : In(32), valid : In(1)
    value : Out(32)
        Of all words since the start.
    right : Out(1)
        The last of them was the CRC of those before.

    Latency: 1 clock. Throughput: a word per clock.
    """

    start: In(1)
    data: In(32)
    valid: In(1)
    value: Out(32)
    right: Out(1)

    def elaborate(self, platform):
        m = Module()
        register, both = Signal(32, init=_NONE), Signal(32)
        m.d.comb += [
            both.eq(Mux(self.start, _NONE, register) ^ self.data),
            self.value.eq(~register),
            self.right.eq(self.value == _RESIDUE),
        ]
        with m.If(self.valid):
            for bit in range(32):
                m.d.sync += register[bit].eq(reduce(xor, (both[i] for i in range(32) if _COLUMNS[i] >> bit & 1)))
        with m.Elif(self.start):
            m.d.sync += register.eq(_NONE)
        return m
