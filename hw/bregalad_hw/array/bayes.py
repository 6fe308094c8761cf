"""The lanes' share of naive Bayes predictions: the logarithms of one word's counts, and their sums."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from bregalad.fixed import BAYES_FRACTION, BAYES_UNIT

from ..delay import delay
from ..duplicate import distribution_latency
from .adder import AdderTree
from .control import WORD_STAGE
from .log2 import Log2, log_latency, log_width


def share(count):
    """The smoothed share that a count is of its class, times `whole` and the unit."""
    # The unit is even, so this is an addition, and free for a power of two.
    return (count * BAYES_UNIT) | 1


def whole(count):
    """What the shares of a class with ``count`` instances are fractions of, in units."""
    return count + 1


def share_width(geometry):
    """Bits of `share` of any count."""
    return share(geometry.count_max).bit_length()


def whole_width(geometry):
    """Bits of `whole` of any count."""
    return whole(geometry.count_max).bit_length()


def lead(geometry):
    """Clocks that ``incoming`` is ahead of a record's last sums: the logarithm of `whole`."""
    return log_latency(whole_width(geometry))


def terms_latency(geometry):
    """Clocks from an operation to a lane's terms."""
    return WORD_STAGE + 1 + _terms_clocks(geometry)


def _terms_clocks(geometry):
    """From a word to its terms: a register before the logarithm and one behind it."""
    return 1 + log_latency(share_width(geometry)) + 1


def partial_latency(geometry):
    """Clocks from an operation to the sums of its terms over all lanes."""
    return distribution_latency(geometry.lanes) + terms_latency(geometry) + (geometry.lanes - 1).bit_length()


def terms_layout(geometry):
    """What a lane adds to the scores of a beat."""
    g = geometry
    return data.StructLayout(
        {
            "logs": data.ArrayLayout(log_width(share_width(g)), g.classes),
            "known": 1,  # the lane has a value of its own; not set beside it
        }
    )


def partial_layout(geometry):
    """The terms of one beat, added up over the lanes."""
    g = geometry
    width = log_width(share_width(g)) + (g.lanes - 1).bit_length()
    return data.StructLayout(
        {
            "sums": data.ArrayLayout(width, g.classes),
            "known": range(g.lanes + 1),  # lanes whose terms they are
            "last": 1,  # beat of the record
        }
    )


def partial_signature(geometry):
    """Sums of beats, as they come; nobody can stall them.

    A record's last sums are ``incoming`` in `lead` clocks.
    """
    return wiring.Signature({"p": Out(partial_layout(geometry)), "valid": Out(1), "incoming": Out(1)})


class BayesTerms(wiring.Component):
    """Logarithms of the shares that one word's counts are, for every class.

    A bin beside a number's own is taken to hold at least half as much. What is beside a nominal value is that value.

    Members
    -------
    word : In(ArrayLayout(count_width, classes))
        The counts of the bin that the lane's code falls in, or of one beside it.
    known : In(1)
        The lane has such a bin; otherwise it counts as empty.
    numeric : In(1)
        The code is a number.
    first : In(1)
        The word is that of the code's own bin, and those to come are beside it.
    beside : In(1)
        The word is one beside the last with ``first``.
    terms : Out(terms_layout(geometry))

    Latency: ``latency`` clocks. Throughput: 1 word per clock, no stalls.

    Source: host/bregalad/fixed.py, `neighbour_log`; the golden model's Slots._words.
    """

    def __init__(self, geometry):
        self.geometry = g = geometry
        self.latency = _terms_clocks(g)
        super().__init__(
            {
                "word": In(data.ArrayLayout(g.count_width, g.classes)),
                **dict.fromkeys(("known", "numeric", "first", "beside"), In(1)),
                "terms": Out(terms_layout(g)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        numeric, first, beside = (
            delay(m, signal, self.latency - 1, name)
            for signal, name in ((self.numeric, "numeric"), (self.first, "first"), (self.beside, "beside"))
        )
        for k in range(self.geometry.classes):
            m.submodules[f"log_{k}"] = log = Log2(share_width(self.geometry))
            count = Signal(self.geometry.count_width, name=f"count_{k}")
            # A count of 0 has the logarithm 0, so this is the terms' gate, at no cost.
            m.d.sync += count.eq(self.word[k] & self.known.replicate(len(count)))
            m.d.comb += log.i_x.eq(share(count))
            # BAYES_FALL less, but not below 0.
            whole, least = log.o_y[BAYES_FRACTION:], Signal.like(log.o_y, name=f"least_{k}")
            lower = Mux(whole == 0, 0, Cat(log.o_y[:BAYES_FRACTION], (whole - 1)[: len(whole)]))
            with m.If(first):
                m.d.sync += least.eq(Mux(numeric, lower, log.o_y))
            m.d.sync += self.terms.logs[k].eq(Mux(beside & (log.o_y < least), least, log.o_y))
        m.d.sync += self.terms.known.eq(delay(m, self.known & ~self.beside, self.latency - 1, "known"))
        return m


class PartialSums(wiring.Component):
    """Add up the lanes' terms; say beside the sums, and ahead of them, what they are.

    Members
    -------
    terms : In(terms_layout(geometry)), one for each lane
    count, last : In(1)
        The operation that comes to the array is a COUNT of a prediction, and its record's last.
    reset : In(1)
        Forget what is under way.
    partial : Out(partial_signature(geometry))

    Latency: `partial_latency` clocks from ``count``.
    """

    def __init__(self, geometry):
        self.geometry = g = geometry
        super().__init__(
            {
                "terms": In(terms_layout(g)).array(g.lanes),
                **dict.fromkeys(("count", "last", "reset"), In(1)),
                "partial": Out(partial_signature(g)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        g, partial = self.geometry, self.partial
        for k in range(g.classes):
            m.submodules[f"sum_{k}"] = tree = AdderTree(log_width(share_width(g)), g.lanes)
            m.d.comb += [tree.i[lane].eq(terms.logs[k]) for lane, terms in enumerate(self.terms)]
            m.d.comb += partial.p.sums[k].eq(tree.o)
        m.submodules.known = known = AdderTree(1, g.lanes)
        m.d.comb += [known.i.eq(Cat(terms.known for terms in self.terms)), partial.p.known.eq(known.o)]
        valid, last = self.count, self.last
        for clock in range(partial_latency(g)):
            if clock == partial_latency(g) - lead(g):
                m.d.comb += partial.incoming.eq(valid & last & ~self.reset)
            valid_after, last_after = Signal(name=f"valid_{clock}"), Signal(name=f"last_{clock}")
            m.d.sync += [valid_after.eq(valid), last_after.eq(last)]
            valid, last = valid_after, last_after
        m.d.comb += [partial.valid.eq(valid & ~self.reset), partial.p.last.eq(last)]
        return m
