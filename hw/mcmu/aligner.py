"""A ring of bytes, written by bus words and read at any byte."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ..replica import replicate

__all__ = ["Aligner"]

_ROWS = 16  # of a distributed RAM
_GROUP = 4  # bytes that are read from one row
_READERS = 32  # registers that one replica steers


class Aligner(wiring.Component):
    """Write a word and read some bytes from any place, both in every clock.

    A row has as many bytes as a read, some more, rounded up to a power of two. Groups of bytes are
    memories of their own, so that those before the place that is read at come from the next row.
    What was read is rotated in three steps, each byte by one multiplexer of two inputs for each bit
    of the distance: the width of a bus word does not matter.

    Parameters
    ----------
    width : int
        Bits of a word.
    most : int
        Bytes of a read.

    Members
    -------
    word : In(width)
    put : In(1)
        Write `word` to place ``put_at``; it can be read from the next clock on.
    put_at : In
        A word's place in the ring of ``size`` bytes.
    at : In
        Byte of the ring that the bytes of interest begin at.
    turn : In
        Byte of the row that becomes byte 0 of `row`.
    row : Out(8 * row_bytes)
        The ``most`` bytes from `at` on, each at its place in the ring less `turn`, modulo
        ``row_bytes``; the others are of no use.

    Latency: ``latency`` clocks from `at` and `turn` to `row`, which comes from gates.
    """

    latency = 3

    def __init__(self, width, most):
        self.width = width
        self.row_bytes = max(width // 8, 1 << (most + _GROUP - 2).bit_length())
        self.size = _ROWS * self.row_bytes
        super().__init__({
            "word": In(width), "put": In(1), "put_at": In(range(self.size * 8 // width)),
            "at": In(range(self.size)), "turn": In(range(self.row_bytes)),
            "row": Out(8 * self.row_bytes),
        })

    def elaborate(self, platform):
        m = Module()
        groups, words = self.row_bytes // _GROUP, self.row_bytes * 8 // self.width
        word_bits, row_bits = (words - 1).bit_length(), (self.row_bytes - 1).bit_length()

        # Decided in one clock, carried out in the next: whatever is wide has its own replicas.
        come = Signal(self.width, reset_less=True)
        m.d.sync += come.eq(self.word)
        put_row, put_word = self.put_at[word_bits:], self.put_at[:word_bits]
        row, byte = self.at[row_bits:], self.at[:row_bits]
        begins = byte >> (_GROUP.bit_length() - 1)
        next_row = (row + 1)[:len(row)]
        found = []
        for group in range(groups):
            word, place = divmod(group * 8 * _GROUP, self.width)
            put = replicate(m, f"put_{group}", Cat(self.put & (put_word == word), put_row))
            m.submodules[f"group_{group}"] = memory = Memory(
                shape=8 * _GROUP, depth=_ROWS, init=[])
            write, read = memory.write_port(), memory.read_port(domain="comb")
            m.d.comb += [
                write.en.eq(put[0]), write.addr.eq(put[1:]),
                write.data.eq(come[place:place + 8 * _GROUP]),
                read.addr.eq(replicate(m, f"get_{group}", Mux(begins > group, next_row, row))),
            ]
            found.append(read.data)

        value, turn = Cat(found), self.turn
        cuts = [round(row_bits * part / self.latency) for part in range(self.latency, -1, -1)]
        for step, (high, low) in enumerate(zip(cuts, cuts[1:], strict=False)):
            after = Signal(len(value), name=f"step_{step}", reset_less=True)
            for number, begin in enumerate(range(0, len(value), _READERS)):
                part = slice(begin, begin + _READERS)
                way = replicate(m, f"turn_{step}_{number}", turn[low:high])
                turned = value
                for bit in reversed(range(low, high)):
                    turned = Mux(way[bit - low], turned.rotate_right(8 << bit), turned)
                # The last step is left to whoever takes it into registers.
                m.d[("sync" if low else "comb")] += after[part].eq(turned[part])
            value = after
            kept = Signal(len(turn), name=f"turn_{step}", reset_less=True)
            m.d.sync += kept.eq(turn)
            turn = kept
        m.d.comb += self.row.eq(value)
        return m
