"""From the lanes' sums to naive Bayes predictions, in the records' order."""

from amaranth import Assert, Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import data, fifo, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from bregalad.fixed import BAYES_BINS

from ..array.bayes import lead, partial_signature, share_width, whole, whole_width
from ..array.log2 import Log2, log_width
from ..delay import delay
from ..members import drive

_ARGMAX = 5  # stages from a record's last sums to its scores
_QUEUE = 2  # clocks that a queue adds


def request_layout(geometry):
    """A record whose prediction is wanted: its slot as it is before the record is counted.

    ``known`` says that the slot is the leaf's own and has counted.
    """
    g = geometry
    return data.StructLayout({"known": 1, "class_counts": data.ArrayLayout(g.count_width, g.classes)})


def prediction_layout(geometry):
    """A record's prediction."""
    return data.StructLayout({"label": (geometry.classes - 1).bit_length(), "known": 1})


def _times_bins(value):
    """BAYES_BINS times a value, by additions: what is written as a product takes a multiplier."""
    return sum(value << i for i in range(BAYES_BINS.bit_length()) if BAYES_BINS >> i & 1)


class Predictor(wiring.Component):
    """Add up the beats of a record, add the classes' shares, find the highest score.

    Predictions wait in a queue until they are taken. There is always room for those that were asked for.

    Parameters
    ----------
    geometry : Geometry
    depth : int
        Predictions that may be under way or wait, 3 to 1024: a queue of two does not take two in
        clocks one after the other.
    waiting : int
        Records asked for whose last beat is still to come, at least 2; fewer than the clocks from an ask to its sums'
        ``incoming`` cost throughput.

    Members
    -------
    i : In(stream of request_layout)
        Asks, in the order of the records, each not later than its last beat comes to the array.
    partial : In(partial_signature(geometry))
    neighbours : In(1)
        A record's beats are those of its bins and of the bins beside them; otherwise of its bins
        only, and they count for three. Like the next static while a prediction is under way.
    classes_in_use : In(8)
    o : Out(stream of prediction_layout)

    Latency: ``latency`` clocks from a record's last sums to ``o.valid``. Throughput: one prediction per clock.

    Source: host/bregalad/fixed.py; the golden model's Slots._scores.
    """

    def __init__(self, geometry, *, depth=1024, waiting=32):
        if not 3 <= depth <= 1024:
            raise ValueError(f"depth must be 3 to 1024, not {depth!r}")
        if waiting < 2:
            raise ValueError(f"waiting must be at least 2, not {waiting!r}")
        self.geometry = g = geometry
        self.depth = depth
        self.waiting = waiting
        # No sum is larger than so many logarithms, nor lower than as many below 0.
        most = BAYES_BINS * (g.max_cells + 1) * (1 << log_width(share_width(g)))
        self.score_width = most.bit_length() + 1
        self._unseen = -1 << self.score_width - 1  # below every score
        levels = (g.classes - 1).bit_length()
        self.latency = _ARGMAX + levels + _QUEUE
        super().__init__(
            {
                "i": In(stream.Signature(request_layout(g))),
                "partial": In(partial_signature(g)),
                "neighbours": In(1),
                "classes_in_use": In(8),
                "o": Out(stream.Signature(prediction_layout(g))),
            }
        )

    def elaborate(self, platform):
        m = Module()
        requested = self._requests(m)
        known_slot, seen, priors, wholes = self._logarithms(m, requested)
        ready, known, sums = self._accumulate(m)
        ready, scores = self._score(m, ready, known, sums, seen, priors, wholes)
        self._queue(m, ready, known_slot, scores)
        return m

    def _requests(self, m):
        """Queue the asks; the ask whose last sums are coming."""
        g = self.geometry
        m.submodules.requests = requests = fifo.SyncFIFOBuffered(width=request_layout(g).size, depth=self.waiting)
        started, ended, room = Signal(), Signal(), Signal(init=1)
        under_way = Signal(range(self.depth + 1))
        m.d.comb += [
            self.i.ready.eq(room & requests.w_rdy),
            started.eq(self.i.valid & self.i.ready),
            ended.eq(self.o.valid & self.o.ready),
            *drive(requests, w_en=started, w_data=self.i.payload, r_en=self.partial.incoming),
        ]
        m.d.sync += [
            Assert(requests.r_rdy | ~self.partial.incoming, "sums of a record that was not asked for"),
            under_way.eq(under_way + started - ended),
            # One less, since it does not know yet of this clock's ask.
            room.eq(under_way < self.depth - 1),
        ]
        return data.View(request_layout(g), requests.r_data)

    def _logarithms(self, m, requested):
        """Whether the slot is known, which classes it has seen and their logarithms, beside the record's sums."""
        g = self.geometry
        known = delay(m, requested.known, lead(g) + _ARGMAX + (g.classes - 1).bit_length(), "known")
        seen, priors, wholes = [], [], []
        for k in range(g.classes):
            m.submodules[f"prior_{k}"] = own = Log2(g.count_width)
            m.submodules[f"whole_{k}"] = all_ = Log2(whole_width(g))
            count = Signal(g.count_width, name=f"count_{k}")
            unit = Signal(all_.width, name=f"unit_{k}")
            m.d.sync += [count.eq(requested.class_counts[k]), unit.eq(whole(requested.class_counts[k]))]
            m.d.comb += [own.i_x.eq(count), all_.i_x.eq(unit)]
            seen.append(delay(m, count.any(), all_.latency, f"seen_{k}"))
            priors.append(delay(m, own.o_y, all_.latency - own.latency, f"prior_{k}_late"))
            wholes.append(all_.o_y)
        return known, seen, priors, wholes

    def _accumulate(self, m):
        """``(ready, known, sums)`` of a record, a clock after its last beat."""
        g = self.geometry
        part = self.partial.p
        fresh = Signal(init=1)
        ready = Signal()
        known = Signal(range(g.max_cells + 1))
        width = len(part.sums[0]) + (BAYES_BINS * g.passes - 1).bit_length()
        sums = [Signal(width, name=f"sum_{k}") for k in range(g.classes)]
        m.d.sync += ready.eq(self.partial.valid & part.last)
        with m.If(self.partial.valid):
            m.d.sync += known.eq(Mux(fresh, 0, known) + part.known)
            m.d.sync += [total.eq(Mux(fresh, 0, total) + part.sums[k]) for k, total in enumerate(sums)]
            m.d.sync += fresh.eq(part.last)
        return ready, known, sums

    def _score(self, m, ready, known, sums, seen, priors, wholes):
        """``(ready, scores)``, the lowest number for classes that the slot has not seen."""
        g = self.geometry
        shape = signed(self.score_width)
        scores = []
        many = Signal(range(BAYES_BINS * g.max_cells + 1))
        m.d.sync += many.eq(_times_bins(known))
        for k in range(g.classes):
            base = [Signal(len(sums[k]) + 2, name=f"base_{k}_{i}") for i in range(3)]
            prior = Signal(len(priors[k]) + 2, name=f"prior_{k}")
            factor = Signal.like(wholes[k], name=f"factor_{k}")
            # Two registers after the product let a DSP block take them in.
            product = [Signal(len(many) + len(factor), name=f"product_{k}_{i}") for i in range(2)]
            used = [Signal(name=f"used_{k}_{i}") for i in range(3)]
            score = Signal(shape, name=f"score_{k}")
            m.d.sync += [
                base[0].eq(Mux(self.neighbours, sums[k], _times_bins(sums[k]))),
                prior.eq(_times_bins(priors[k])),
                base[1].eq(base[0] + prior),
                base[2].eq(base[1]),
                factor.eq(wholes[k]),
                product[0].eq(many * factor),
                product[1].eq(product[0]),
                used[0].eq(seen[k] & (k < self.classes_in_use)),
                used[1].eq(used[0]),
                used[2].eq(used[1]),
                score.eq(Mux(used[2], base[2] - product[1], self._unseen)),
            ]
            scores.append(score)
        return delay(m, ready, 4, "ready", reset_less=False), scores

    def _queue(self, m, ready, known, scores):
        """Find the highest score; keep its class until it is taken."""
        result = prediction_layout(self.geometry)
        m.submodules.labels = labels = fifo.SyncFIFOBuffered(width=result.size, depth=self.depth)

        # One comparison between two registers; of equal scores the left, lower class wins.
        best = [(score, Const(k, result["label"].shape)) for k, score in enumerate(scores)]
        level = 0
        while len(best) > 1:
            winners = []
            for left, right in zip(best[::2], [*best[1::2], None], strict=False):
                score = Signal(signed(self.score_width), name=f"best_{level}_{len(winners)}")
                label = Signal(result["label"].shape, name=f"label_{level}_{len(winners)}")
                m.d.sync += [score.eq(left[0]), label.eq(left[1])]
                if right is not None:
                    with m.If(right[0] > left[0]):
                        m.d.sync += [score.eq(right[0]), label.eq(right[1])]
                winners.append((score, label))
            after = Signal(name=f"best_ready_{level}")
            m.d.sync += after.eq(ready)
            best, ready = winners, after
            level += 1

        m.d.comb += [labels.w_data.eq(Cat(best[0][1], known)), labels.w_en.eq(ready)]
        connect(m, labels.r_stream, flipped(self.o))
        m.d.sync += Assert(labels.w_rdy | ~labels.w_en, "no room for a prediction")
