"""Whether an attempt may change the tree; of all others the host does not hear."""

from amaranth import Assert, Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from bregalad.protocol.decider import DECIDER, MANTISSA

from ..array.operation import candidate_layout
from ..registers import configuration_signature

_STEP = 4  # places that a value moves in a clock while that many leading bits are 0


def _clocks(zeros):
    """To move a value with so many leading zeros to the top, and to see that it is there."""
    return zeros // _STEP + zeros % _STEP + 1


def attempt_layout(geometry):
    """What the decider is told of an attempt; the words are those of ``sim/bregalad_sim/golden/decider.py``."""
    g = geometry
    return data.StructLayout(
        {
            "n": g.count_width,
            "inherited": g.count_width,
            "all_up_to": g.count_width,
            "inner": 1,
            "best": candidate_layout(g),
            "second": candidate_layout(g),
            "current": candidate_layout(g),
        }
    )


class Decider(wiring.Component):
    """Compare gap^2 n' with K n^2, by one multiplier.

    Members
    -------
    configuration : In(configuration_signature(DECIDER))
        Static while an attempt is here.
    i : In(stream of attempt_layout)
        Taken as the decision is: nothing of it is kept here.
    o : Out(stream of 1)
        1: the attempt is a candidate. 0: the node stays as it is, and nobody need be told.

    Latency: 4 cycles from ``i.valid`` to ``o.valid`` where the gap does not matter, else up to ``latency``. One attempt
    at a time.

    Source: sim/bregalad_sim/golden/decider.py; host/bregalad/driver/devices/filter.py for the proof.
    """

    def __init__(self, geometry):
        self.geometry = g = geometry
        self.width = g.gain_width  # of what is multiplied
        self.most_width = g.count_width + 3  # four times n of the total counts
        # Three values are moved to the top, four products made, two of these aligned, within 4 clocks, and compared.
        moves = sum(max(map(_clocks, range(width))) for width in (self.width, self.most_width, g.count_width))
        self.latency = 5 + moves + 4 * 2 + 5
        super().__init__(
            {
                "configuration": In(configuration_signature(DECIDER)),
                "i": In(stream.Signature(attempt_layout(g))),
                "o": Out(stream.Signature(1)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        g, attempt, rule = self.geometry, self.i.p, self.configuration
        best, second, current = attempt.best, attempt.second, attempt.current

        # What is said of counts and gains, in registers: they come a long way. Then what decides without the gap, and
        # what does not let it decide.
        total = Signal(g.count_width + 1)
        inherits, counted, forced, tie = Signal(), Signal(), Signal(), Signal()
        better, second_better, worse, same = Signal(), Signal(), Signal(), Signal()
        tie_n = rule.decider_tie.n[: len(total)]  # all of it that matters, where it is a tie
        m.d.sync += [
            total.eq(attempt.n + attempt.inherited),
            inherits.eq(attempt.inherited.any()),
            counted.eq(attempt.n.any()),
            forced.eq(attempt.n <= attempt.all_up_to),
            better.eq(best.valid & (best.gain > 0)),
            second_better.eq(second.gain > 0),
            worse.eq(current.gain < 0),
            same.eq(best.cell == current.cell),
        ]
        m.d.comb += tie.eq(~rule.decider_tie.n[len(total) :].any() & (total >= tie_n))
        passes, rejects, poor, competes = Signal(), Signal(), Signal(), Signal()
        m.d.comb += [
            poor.eq(~inherits & ~better),
            competes.eq(second.valid & ~rule.decider.anytime & (second_better | inherits)),
        ]
        with m.If(~rule.decider.decides):
            m.d.comb += passes.eq(1)
        with m.Elif(~counted):
            m.d.comb += rejects.eq(1)
        with m.Elif(forced):
            m.d.comb += passes.eq(1)
        with m.Elif(~best.valid):
            m.d.comb += rejects.eq(1)
        with m.Elif(attempt.inner):
            m.d.comb += [
                passes.eq(rule.decider.all_inner | ~current.valid | (rule.decider.null & worse)),
                rejects.eq(~passes & same),
            ]
        with m.Else():
            m.d.comb += [rejects.eq(poor), passes.eq(~poor & (tie | rule.decider.first_attempt))]

        # The number that is moved to the top, the multiplier's registers, and the left product.
        x = Signal(self.width, reset_less=True)
        factor, bits, product = (Signal(MANTISSA, name=name, reset_less=True) for name in ("factor", "bits", "product"))
        left, right = Signal(MANTISSA + 1, reset_less=True), Signal(MANTISSA + 1, reset_less=True)
        # The left side's exponent less the right side's; one adder for all its changes.
        shift, step, fresh = Signal(signed(10), reset_less=True), Signal(signed(8)), Signal()
        # Each value's exponent begins with its width less MANTISSA.
        begin = 2 * g.gain_width + self.most_width - 2 * g.count_width - MANTISSA + 1
        m.d.sync += shift.eq(Mux(fresh, begin, shift) + step)
        turn = Signal(range(4))
        top = x[-MANTISSA:]

        difference, sure = Signal(signed(g.gain_width + 1), reset_less=True), Signal(2)
        other = Signal(signed(g.gain_width), reset_less=True)
        # At an inner node half the threshold will do: as if there were as many instances as that takes.
        raised, compared = Signal(), Signal(self.most_width)
        m.d.sync += [
            other.eq(Mux(attempt.inner, current.gain, Mux(competes, second.gain, 0))),
            difference.eq(best.gain - other),
            sure.eq(Cat(passes, rejects)),
            raised.eq(attempt.inner & rule.decider.inner_ties & tie & (total >> 2 < tie_n)),
        ]
        m.d.comb += compared.eq(Mux(raised, Cat(Const(0, 2), tie_n), total))

        def load(value, turn_):
            m.d.sync += [x.eq(value << self.width - len(value)), turn.eq(turn_)]

        is_candidate, plain = Signal(), Signal()  # `plain`: no product is needed
        m.d.comb += self.o.payload.eq(is_candidate)
        exponent = rule.decider_bound.exponent.as_signed()
        with m.FSM(name="state") as fsm:
            m.d.sync += Assert(fsm.ongoing("LOOK") | self.i.valid, "an attempt stays until its decision")
            with m.State("LOOK"):
                with m.If(self.i.valid):
                    m.next = "COUNT"
            with m.State("COUNT"):
                m.next = "SUBTRACT"
            with m.State("SUBTRACT"):
                m.next = "SORT"
            with m.State("SORT"):
                m.d.comb += [fresh.eq(1), step.eq(~exponent)]
                m.d.sync += [is_candidate.eq(sure[0]), plain.eq(sure.any() | (difference <= 0))]
                load(difference[:-1], 0)
                m.next = "WEIGH"
            with m.State("WEIGH"):
                m.next = "MOVE"
                with m.If(plain):
                    m.next = "DONE"
            with m.State("MOVE"):

                def moved(by):
                    m.d.comb += step.eq(Mux(turn == 0, -2 * by, Mux(turn == 1, -by, 2 * by)))
                    m.d.sync += x.eq(x << by)

                with m.If(~x[-_STEP:].any()):
                    moved(_STEP)
                with m.Elif(~x[-1]):
                    moved(1)
                with m.Else():
                    m.d.sync += bits.eq(top)
                    with m.If(turn != 1):
                        m.d.sync += factor.eq(top)
                    m.next = "MULTIPLY"
            with m.State("MULTIPLY"):
                m.d.sync += product.eq(factor * bits >> MANTISSA)
                m.next = "NEXT"
            with m.State("NEXT"):
                m.next = "MOVE"
                with m.Switch(turn):
                    with m.Case(0):  # gap^2 is there
                        m.d.sync += factor.eq(product)
                        load(compared, 1)
                    with m.Case(1):  # the left side
                        m.d.sync += left.eq(product)
                        load(attempt.n, 2)
                    with m.Case(2):  # n^2
                        m.d.sync += [factor.eq(product), bits.eq(rule.decider_bound.mantissa), turn.eq(3)]
                        m.next = "MULTIPLY"
                    with m.Default():
                        m.d.sync += right.eq(product)
                        m.next = "COMPARE"
            with m.State("COMPARE"):
                with m.If(shift == 0):
                    m.d.sync += is_candidate.eq(left >= right)
                    m.next = "DONE"
                with m.Elif(shift > 0):
                    m.d.comb += step.eq(-1)
                    m.d.sync += [left.eq(left << 1), is_candidate.eq(1)]
                    with m.If(left[-1]):
                        m.next = "DONE"
                with m.Else():
                    m.d.comb += step.eq(1)
                    m.d.sync += [right.eq(right << 1), is_candidate.eq(0)]
                    with m.If(right[-1]):
                        m.next = "DONE"
            with m.State("DONE"):
                m.d.comb += [self.o.valid.eq(1), self.i.ready.eq(self.o.ready)]
                with m.If(self.o.ready):
                    m.next = "LOOK"
        return m
