"""Bus words in a row, out of which bytes are cut at any place."""

from amaranth import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ..replica import Replica, replicate

__all__ = ["Window"]

_READERS = 64  # registers that one replica steers


class Window(wiring.Component):
    """Take words in, slide by one word, cut bytes out; all of it in every clock.

    Parameters
    ----------
    width : int
        Bits of a word.
    words : int
    most : int
        Bytes of a cut.
    at_bits : int
        Bits of `at`.

    Members
    -------
    word : In(width)
    put : In(words)
        Places that `word` is put at, after this clock's slide.
    slide : In(1)
        Word i + 1 comes to place i.
    at : In(at_bits)
        Byte of the window, as it is before this clock's slide, that the cut begins at. Bytes
        behind the window are 0.
    cut : Out(8 * most)

    Latency: ``latency`` clocks from `at` to `cut`.
    """

    latency = 3

    def __init__(self, width, words, most, at_bits):
        self.width = width
        self.words = words
        self.most = most
        super().__init__({
            "word": In(width), "put": In(words), "slide": In(1),
            "at": In(at_bits), "cut": Out(8 * most),
        })

    def elaborate(self, platform):
        m = Module()
        # Decided in one clock, carried out in the next: whatever is wide has its own replicas.
        come = Signal(self.width, reset_less=True)
        row = Signal(data.ArrayLayout(self.width, self.words), reset_less=True)
        m.d.sync += come.eq(self.word)
        for name, part in self._parts("row", self.width):
            m.submodules[f"replica_{name}"] = order = Replica(put=self.words, slide=1)
            m.d.comb += [order.i_put.eq(self.put), order.i_slide.eq(self.slide)]
            for index in range(self.words):
                with m.If(order.o_put[index]):
                    m.d.sync += row[index][part].eq(come[part])
                if index + 1 < self.words:
                    with m.Elif(order.o_slide):
                        m.d.sync += row[index][part].eq(row[index + 1][part])

        # Coarsely, then finely.
        fine_bits = (len(self.at) + 1) // 2
        coarse = Signal(8 * (self.most + (1 << fine_bits) - 1), reset_less=True)
        for name, part in self._parts("coarse", len(coarse)):
            at = replicate(m, name, self.at[fine_bits:])
            m.d.sync += coarse[part].eq((row.as_value() >> (at << fine_bits + 3))[part])
        fine = Signal(fine_bits)
        m.d.sync += fine.eq(self.at)
        for name, part in self._parts("cut", len(self.cut)):
            at = replicate(m, name, fine)
            m.d.sync += self.cut[part].eq((coarse >> (at << 3))[part])
        return m

    @staticmethod
    def _parts(name, width):
        for number, low in enumerate(range(0, width, _READERS)):
            yield f"{name}_{number}", slice(low, min(low + _READERS, width))
