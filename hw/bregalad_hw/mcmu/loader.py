"""Write what a command brings to memory."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ..members import drive
from .axi import ADDRESS_WIDTH, Response, write_signature, write_words

_COUNT_WIDTH = 32
_OUTSTANDING = 15


def load_signature(data_width):
    """What a sequencer and a `Loader` say to each other, with bus words of so many bits, seen from the sequencer.

    Members
    -------
    start : Out(1)
        A LOAD begins, unless one is under way.
    drop : Out(1)
        Beside ``start``: it is not to be executed.
    address, count : Out
        Steady from ``start`` to ``done``.
    payload : Out(stream of bus words)
        Taken as far as they are the LOAD's.
    done : In(1)
        For a clock: all is in memory, or dropped.
    failed : In(1)
        Beside ``done``: not all of it is in the memory, which has got nothing, or the memory has not taken it.
    """
    return wiring.Signature(
        {
            "start": Out(1),
            "drop": Out(1),
            "address": Out(ADDRESS_WIDTH),
            "count": Out(_COUNT_WIDTH),
            "payload": Out(stream.Signature(data_width)),
            "done": In(1),
            "failed": In(1),
        }
    )


class Loader(wiring.Component):
    """Bus words to memory, each byte at the place in its word that it has there.

    Every word is a burst of its own: a link brings them more slowly than a bus takes them.

    Parameters
    ----------
    data_width : int
        Bits of a bus word, a power of two, 32 to 512.

    Members
    -------
    load : In(load_signature)
    memory_size : In(32); axi : Out(AXI4 write)
        Bytes of the memory.

    Latency: 3 clocks from ``start`` to the first word, 1 from a word to ``wvalid``. Throughput: a word per clock.
    """

    def __init__(self, data_width):
        self.data_width = data_width
        super().__init__(
            {"load": In(load_signature(data_width)), "memory_size": In(32), "axi": Out(write_signature(data_width))}
        )

    def elaborate(self, platform):
        m = Module()
        load = self.load
        size = self.data_width // 8
        word_bits = (size - 1).bit_length()

        # Bytes to come, then of whole words and size - 1 more: one adder for both.
        bytes_left = Signal(_COUNT_WIDTH + 1)
        left = bytes_left[word_bits:]  # words
        first_byte = load.address[:word_bits]
        under_way, sized, drop, outside, failed = Signal(), Signal(), Signal(), Signal(), Signal()
        room, take, settled = Signal(), Signal(), Signal(init=1)
        next_left = Signal.like(bytes_left)
        more = Signal()  # words come, as far as that is known: a register, for much waits for it
        ending = under_way & sized & ~more & settled
        m.d.comb += next_left.eq(bytes_left + Mux(sized, -size, first_byte + (size - 1)))

        with m.If(~under_way):
            m.d.sync += [
                bytes_left.eq(load.count),
                under_way.eq(load.start),
                drop.eq(load.drop),
                sized.eq(0),
                failed.eq(0),
            ]
        with m.Elif(~sized | take):
            m.d.sync += [bytes_left.eq(next_left), more.eq(next_left[word_bits:].any()), sized.eq(1)]
        with m.If(ending):
            m.d.sync += under_way.eq(0)
        m.d.comb += [load.done.eq(ending), load.failed.eq(~drop & (outside | failed)), load.payload.ready.eq(room)]
        axi = self.axi
        at = Signal(32 - word_bits)
        first = Signal()
        pending, places = Signal(range(_OUTSTANDING + 1)), Signal(init=1)  # a clock late, so there is one more
        free = write_words(m, axi) & places
        answered = axi.bvalid & axi.bready
        put = take & ~drop & ~outside
        m.d.comb += [
            room.eq(under_way & sized & more & (drop | outside | free)),
            take.eq(load.payload.valid & room),
            settled.eq(pending == 0),
            axi.bready.eq(1),
        ]
        m.d.sync += [pending.eq(pending + put - answered), places.eq(pending < _OUTSTANDING - 1)]
        with m.If(answered & (axi.bresp >= Response.SLVERR)):
            m.d.sync += failed.eq(1)

        last_byte = Signal(33)
        with m.If(~under_way):
            m.d.sync += [
                last_byte.eq(load.address[:32] + load.count),
                at.eq(load.address[word_bits:32]),
                outside.eq(load.address[32:] != 0),
                first.eq(1),
            ]
        with m.Elif(~sized):
            m.d.sync += outside.eq(outside | (last_byte > self.memory_size))
        with m.Elif(put):
            tail = (bytes_left + 1)[:word_bits]
            bytes_ = range(size)
            m.d.sync += [
                *drive(axi, awvalid=1, wvalid=1, awaddr=at << word_bits, wdata=load.payload.payload),
                axi.wstrb.eq(
                    Cat(
                        (~first | (first_byte <= byte)) & ((left != 1) | (tail == 0) | (tail > byte)) for byte in bytes_
                    )
                ),
                at.eq(at + 1),
                first.eq(0),
            ]
        return m
