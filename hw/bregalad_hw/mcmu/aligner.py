"""A ring of bytes, written by bus words; a header and codes are read at any byte."""

from amaranth import Array, Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ..duplicate import duplicated

_ROWS = 16  # of a distributed RAM
_GROUP = 4  # bytes that are written together
_READERS = 32  # registers that one duplicate steers


class Aligner(wiring.Component):
    """Write a word and read a header and codes, each from any place, all in every clock.

    A row has as many bytes as a word, or as there are codes, rounded up to a power of two. Each of
    its bytes is a memory of its own, so that those before the place that is read at come from the
    next row. What was read is rotated in three steps, each byte by a multiplexer of at most four
    inputs where rows have up to 64 bytes, and only as far as bytes are asked for.

    The header has memories of its own, with the same content: in rows that both just fill, it and
    the last codes are one below the other.

    Parameters
    ----------
    width : int
        Bits of a word.
    header : int
        Bytes of a header, at most 4.
    codes : int
        Bytes of codes.

    Members
    -------
    word : In(width)
    put : In(1)
        Write `word` to place ``put_at``; it can be read from the next clock on.
    put_at : In
        A word's place in the ring of ``size`` bytes.
    header_at, codes_at : In
        Bytes of the ring that they begin at.
    header : Out(8 * header)
    codes : Out(8 * codes)

    Latency: ``latency`` clocks from ``header_at`` to `header` and from ``codes_at`` to `codes`, which come from gates.
    """

    latency = 3

    def __init__(self, width, header, codes):
        self.width = width
        self.bytes = {"header": header, "codes": codes}
        # No step is without a bit of the distance: three of them take eight bytes at least.
        self.row_bytes = max(width // 8, 1 << self.latency, 1 << (codes - 1).bit_length())
        self.size = _ROWS * self.row_bytes
        super().__init__(
            {
                "word": In(width),
                "put": In(1),
                "put_at": In(range(self.size * 8 // width)),
                "header_at": In(range(self.size)),
                "codes_at": In(range(self.size)),
                "header": Out(8 * header),
                "codes": Out(8 * codes),
            }
        )

    def elaborate(self, platform):
        m = Module()
        # Decided in one clock, carried out in the next: whatever is wide has its own duplicates.
        arrived = Signal(self.width, reset_less=True)
        m.d.sync += arrived.eq(self.word)
        words = self.row_bytes * 8 // self.width
        word_bits = (words - 1).bit_length()
        put_row, put_word = self.put_at[word_bits:], self.put_at[:word_bits]
        memories = []
        for byte in range(self.row_bytes):
            word, place = divmod(8 * byte, self.width)
            if byte % _GROUP == 0:
                put = duplicated(m, f"put_{byte}", Cat(self.put & (put_word == word), put_row))
            m.submodules[f"byte_{byte}"] = memory = Memory(shape=8, depth=_ROWS, init=[])
            write = memory.write_port()
            m.d.comb += [write.en.eq(put[0]), write.addr.eq(put[1:]), write.data.eq(arrived[place : place + 8])]
            memories.append(memory)
        m.d.comb += [
            self.header.eq(self._read(m, "header", memories, self.header_at)),
            self.codes.eq(self._read(m, "codes", memories, self.codes_at)),
        ]
        return m

    def _read(self, m, name, memories, at):
        """The bytes from a place on."""
        most, row_bytes = self.bytes[name], self.row_bytes
        row_bits = (row_bytes - 1).bit_length()
        row, turn = at[row_bits:], at[:row_bits]
        next_row = (row + 1)[: len(row)]
        # Neighbours share a row's number, unless there might be a byte at either end of theirs.
        together = _GROUP if most + _GROUP - 1 <= row_bytes else 1
        value = []
        for byte, memory in enumerate(memories):
            if byte % together == 0:
                begins = turn[together.bit_length() - 1 :]
                get = duplicated(m, f"{name}_{byte}", Mux(begins > byte // together, next_row, row))
            read = memory.read_port(domain="comb")
            m.d.comb += read.addr.eq(get)
            value.append(read.data)

        cuts = [round(row_bits * part / self.latency) for part in range(self.latency, -1, -1)]
        for step, (high, low) in enumerate(zip(cuts, cuts[1:], strict=False)):
            after = []
            for byte in range(min(row_bytes, most + (1 << low) - 1)):
                if byte % (_READERS // 8) == 0:
                    way = duplicated(m, f"{name}_{step}_{byte}", turn[low:high])
                turned = Signal(8, name=f"{name}_{step}_{byte}", reset_less=True)
                # The last step is left to whoever takes it into registers.
                m.d["sync" if low else "comb"] += turned.eq(
                    Array(value[(byte + (distance << low)) % row_bytes] for distance in range(1 << high - low))[way]
                )
                after.append(turned)
            value = after
            if low:
                kept = Signal(low, name=f"{name}_turn_{step}", reset_less=True)
                m.d.sync += kept.eq(turn[:low])
                turn = kept
        return Cat(value)
