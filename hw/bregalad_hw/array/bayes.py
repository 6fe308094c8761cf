"""A lane's share of a naive Bayes prediction: the logarithms of one word's counts."""

from amaranth import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from bregalad.fixed import BAYES_UNIT
from bregalad.geometry import Geometry

from ..delay import delay
from ..replica import distribution_latency
from .control import WORD_STAGE
from .log2 import Log2, log_latency, log_width

__all__ = [
    "BayesTerms",
    "lead",
    "partial_latency",
    "partial_layout",
    "partial_signature",
    "share",
    "share_width",
    "terms_latency",
    "terms_layout",
    "whole",
    "whole_width",
]


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
    """Clocks that ``coming`` is ahead of a record's last sums: the logarithm of `whole`."""
    return log_latency(whole_width(geometry))


def terms_latency(geometry):
    """Clocks from an operation to a lane's terms."""
    return WORD_STAGE + 1 + 1 + log_latency(share_width(geometry))


def partial_latency(geometry):
    """Clocks from an operation to the sums of its terms over all lanes."""
    return distribution_latency(geometry.lanes) + terms_latency(geometry) + (geometry.lanes - 1).bit_length()


def terms_layout(geometry):
    """What a lane adds to the scores of a beat."""
    g = geometry
    return data.StructLayout(
        {
            "logs": data.ArrayLayout(log_width(share_width(g)), g.classes),
            "known": 1,  # the lane has a term; otherwise the logarithms are 0
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

    A record's last sums are ``coming`` in `lead` clocks.
    """
    return wiring.Signature(
        {
            "p": Out(partial_layout(geometry)),
            "valid": Out(1),
            "coming": Out(1),
        }
    )


class BayesTerms(wiring.Component):
    """Logarithms of the shares that one word's counts are, for every class.

    Parameters
    ----------
    geometry : Geometry

    Members
    -------
    word : In(ArrayLayout(count_width, classes))
        The counts of the bin that the lane's code falls in.
    known : In(1)
        The lane has such a bin; otherwise all terms are 0.
    terms : Out(terms_layout(geometry))

    Latency: ``latency`` clocks. Throughput: 1 word per clock, no stalls.

    Raises
    ------
    TypeError
        If ``geometry`` is not a Geometry.

    Source: host/bregalad/fixed.py; Golden._scores.
    """

    def __init__(self, geometry):
        if not isinstance(geometry, Geometry):
            raise TypeError(f"geometry must be a Geometry, not {geometry!r}")
        self.geometry = g = geometry
        self.latency = 1 + log_latency(share_width(g))
        super().__init__(
            {
                "word": In(data.ArrayLayout(g.count_width, g.classes)),
                "known": In(1),
                "terms": Out(terms_layout(g)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        for k in range(self.geometry.classes):
            m.submodules[f"log_{k}"] = log = Log2(share_width(self.geometry))
            count = Signal(self.geometry.count_width, name=f"count_{k}")
            # A count of 0 has the logarithm 0, so this is the terms' gate, at no cost.
            m.d.sync += count.eq(self.word[k] & self.known.replicate(len(count)))
            m.d.comb += [log.i_x.eq(share(count)), self.terms.logs[k].eq(log.o_y)]
        m.d.sync += self.terms.known.eq(delay(m, self.known, self.latency - 1, "known"))
        return m
