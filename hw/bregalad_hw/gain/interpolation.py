"""A curve of a normalised number, by a table of 64 segments."""

from amaranth import Cat, Const, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out, Signature
from bregalad.fixed import SEGMENT_BITS, STEP_BITS

from ..delay import delay

_SHARED_WIDTH = 18  # bits of a block RAM's word that both of its ports read


class SegmentTable(wiring.Component):
    """A curve's segments in a block RAM, although they fill a tenth of one: as logic they take another 100 LUTs.

    Parameters
    ----------
    base, slope : sequence of int
        Value at each segment's start, not negative, and its rise: none negative or none positive.
    chord : int, optional
        Of segment s the table leaves ``s << chord`` out.
    readers : int
        1 or 2; words that two read have 18 bits at most.

    Members
    -------
    readers : array of {segment: In, entry: Out({base, slope})}
        ``slope`` without its sign.

    Latency: 1 clock from ``segment`` to ``entry``.
    """

    def __init__(self, base, slope, chord=None, *, readers=1):
        self._entries = [
            {"base": int(value) - (0 if chord is None else segment << chord), "slope": abs(int(rise))}
            for segment, (value, rise) in enumerate(zip(base, slope, strict=True))
        ]
        self.entry = data.StructLayout(
            {name: range(max(e[name] for e in self._entries) + 1) for name in ("base", "slope")}
        )
        if readers > 1 and self.entry.size > _SHARED_WIDTH:
            raise ValueError(f"two may read words of {_SHARED_WIDTH} bits at most, not {self.entry.size}")
        reader = Signature({"segment": Out(SEGMENT_BITS), "entry": In(self.entry)})
        super().__init__({"readers": In(reader).array(readers)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.words = words = Memory(
            shape=self.entry, depth=1 << SEGMENT_BITS, init=self._entries, attrs={"rom_style": "block"}
        )
        for reader in self.readers:
            port = words.read_port()
            m.d.comb += [port.addr.eq(reader.segment), reader.entry.eq(port.data)]
        return m


class Interpolation(wiring.Component):
    """Look up a segment, add the step's share of its rise, bit for bit as ``host/bregalad/fixed.py``.

    Parameters
    ----------
    base, slope, chord
        As of `SegmentTable`.
    mantissa_width, whole_width : int
    reader : optional
        Of a `SegmentTable` of these that it shares; otherwise it has its own.

    Members
    -------
    i_mantissa : In(any width)
        Of the normalised number. The highest bits are the segment, the next ones the step; those
        that are missing are 0, and those that are left over are dropped.
    i_whole : In(whole_width)
        Added to the value above the bits of ``base``.
    o : Out(base_width + whole_width + 1)

    Latency: ``latency`` clocks. Throughput: 1 result per clock, no stalls.

    Source: design, section 5; host/bregalad/fixed.py.
    """

    latency = 5

    def __init__(self, base, slope, mantissa_width, whole_width=0, chord=None, reader=None):
        self._curve = base, slope, chord
        self._reader = reader
        self.base_width = int(max(base)).bit_length()
        super().__init__(
            {"i_mantissa": In(mantissa_width), "i_whole": In(whole_width), "o": Out(self.base_width + whole_width + 1)}
        )

    def elaborate(self, platform):
        m = Module()
        (_, slopes, chord), reader = self._curve, self._reader
        if reader is None:
            m.submodules.table = table = SegmentTable(*self._curve)
            reader = table.readers[0]
        wanted = SEGMENT_BITS + STEP_BITS
        missing = max(0, wanted - len(self.i_mantissa))
        bits = Cat(Const(0, missing), self.i_mantissa)[-wanted:]
        segment = bits[STEP_BITS:]
        m.d.comb += reader.segment.eq(segment)

        # A DSP block can take in registers without reset on both sides of the product. The table's
        # own is none of these: what all entries of a kind have in common becomes a reset.
        slope = delay(m, reader.entry.slope, 1, "slope")
        step = delay(m, bits[:STEP_BITS], 2, "step")
        rise = Signal(STEP_BITS + len(slope), reset_less=True)
        m.d.sync += rise.eq(slope * step)
        rise = delay(m, rise, 1, "rise")
        base = delay(m, reader.entry.base, 1, "base")
        if chord is not None:
            base = (base + (delay(m, segment, 2, "segment") << chord))[: self.base_width]
        # The base is an integer here, so adding it before the shift rounds the same.
        total = Cat(
            Const(1 << STEP_BITS - 1, STEP_BITS), delay(m, base, 2, "start"), delay(m, self.i_whole, 4, "whole")
        )
        sum_ = Signal(self.o.shape(), reset_less=True)
        m.d.sync += sum_.eq((total - rise if min(slopes) < 0 else total + rise) >> STEP_BITS)
        m.d.comb += self.o.eq(sum_)
        return m
