"""What of a policy a board's decider carries: its registers, and per node from when on it decides.

A board says of most attempts by itself that they change nothing. It may err in one direction only: where it
rejects one, `decide_row` keeps the node. It has gains as integers n G, n of the slot and n' of the total counts, but no
impurities.

**The bound.** Let D = n (G(Xa) - G(Xb)), an integer in the board's unit u = 2**-GAIN_FRACTION, and c = R^2
ln(1/delta) / 2. But for rounding the host changes the tree if D u / n > sqrt(c / n'), that is, D^2 n' > K n^2 with K
= c / u^2. The decider compares these products, but cuts every factor and every product to MANTISSA = 16 bits:

* A factor loses less than 2**-15 of itself, the product D^2 (at least 2**14) less than 2**-14, the next one (at least
  2**13) less than 2**-13. So the left side loses less than (2 + 2 + 1 + 4) 2**-15 < 2**-11 of itself, the right side
  does not grow. K is given smaller by 2**-10 of itself, so D^2 n' > K n^2 (1 - 2**-11) is always seen.
* In float64 the host's gap is off by less than 1e-14 (gains, shift and gap are below 20 bits, ten roundings of
  2**-53), its epsilon by 1e-15 of itself. Both are covered by what is left, 2**-12 of epsilon, as long as epsilon is
  above 1e-10. A rule whose epsilon goes below that is not carried.

In return the decider proposes needlessly where the gap is less than 2**-10 of epsilon below epsilon.

**Ties.** Epsilon falls with n', in float64, too. So epsilon < tau from a certain n' on, which the decider is told. At
inner nodes of EFDT's variant of MOA a tie takes a gap above tau / 2; epsilon is that, or less, at 4 times that n'.

**The null split.** The shift s = I(total) - I(observed) is 0 without inherited counts, and all is as above; G >= 1e-10
takes n G >= 1. With inherited counts the decider does not know s:

* A leaf of VFDT: gap = G(Xa) + s - max(G(Xb) + s, 0) <= G(Xa) - G(Xb). The decider takes that, and leaves out G >=
  1e-10.
* A leaf of EFDT is compared with the null split: all its attempts are candidates.
* At an inner node s falls out of G(Xa) - G(Xc). Where the null split is best, -G(Xc) - s would have to be above
  epsilon. I is concave: I(total) >= (n I(observed) + n_inherited I(inherited)) / n', so -s <= (n_inherited / n') (R -
  I(inherited)). As the decider sees to it that n G(Xc) >= 0, this is below epsilon from a certain n' on; before, all
  attempts are candidates.

**Used attributes.** Where the best is used on the path, the host takes the second for it, and that counts as tied:
its gap is no larger than the decider's. Where fewer than two attributes are left, a leaf of VFDT competes with the null
split only: all its attempts are candidates.

tests/hw/test_decider.py compares both on millions of attempts, most of them at the bound.
"""

from bisect import bisect_left
from math import frexp, ldexp

import numpy as np

from ...compiled import njit
from ...criteria import criterion_of
from ...geometry import GAIN_FRACTION
from ...policy.bounds import hoeffding_bound
from ...policy.criteria import impurity, span
from ...protocol.decider import DECIDER, MANTISSA

_MARGIN = 1 - 2.0**-10  # what products lose, and the host's rounding
_LEAST_EPSILON = 1e-10
_MOST_N = 1 << 33  # of the total counts
_NEVER = (1 << 32) - 1
_RESET = {f"{register.name}.{field.name}": field.reset for register in DECIDER for field in register.fields}


def rule_of(policy, classes):
    """The decider's registers for so many classes in use: ``register.field`` to value, a dict.

    Where more classes come, they are to be written again, and `all_up_to` of all nodes. Of a policy that integers do
    not carry ``decider.decides`` is 0: other bounds than Hoeffding's, averages, adaptive periods, random attributes,
    ties by `htdt` and `htat`, gains that the host works out, rivals. So it is of watched trees, whose driver must know
    which nodes are tried.
    """
    options = policy.options
    carried = (
        policy.bound == "hoeffding"
        and policy.ties == "ht"
        and not (policy.adaptive_grace or policy.reports_all or policy.consults or policy.rivals or policy.watched)
    )
    least = hoeffding_bound(options.criterion, _MOST_N, classes, options.certainty)
    if not carried or not _LEAST_EPSILON < least < np.inf:
        return _RESET

    def breaks_ties(n):
        return hoeffding_bound(options.criterion, n, classes, options.certainty) < options.tau

    bound = criterion_of(policy.criterion).span(classes) ** 2 * options.certainty / 2 * _MARGIN
    fraction, exponent = frexp(bound)  # from 1/2 on, below 1
    return _RESET | {
        "decider.decides": 1,
        "decider.anytime": int(policy.anytime),
        "decider.first_attempt": int(policy.anytime and options.first_attempt),
        "decider.inner_ties": options.inner_ties,
        "decider.null": options.null,
        "decider.all_inner": options.replace,
        "decider_bound.mantissa": int(ldexp(fraction, MANTISSA)),
        "decider_bound.exponent": exponent + 2 * GAIN_FRACTION - MANTISSA & 0xFF,
        # The least n with an epsilon below tau, or what its register holds at most.
        "decider_tie.n": 1 + bisect_left(range(1, _NEVER), True, key=breaks_ties),
    }


@njit()
def all_up_to(options, classes, inherited, inner, left, most):
    """Instances in a node's slot up to which all its attempts are candidates: 0 to ``most``, the largest count.

    The options are ``SplitPolicy.options`` of a policy whose rule the decider carries; ``inherited`` are the node's
    base counts, int64; ``left`` attributes has its path not used.
    """
    total = inherited.sum()
    if not inner:
        always = total > 0 if options.anytime is not None else left < 2
        return np.int64(most) if always else np.int64(0)
    if total == 0 or not options.null:
        return np.int64(0)
    reach = span(options.criterion, classes)
    pure = 1 - impurity(options.criterion, inherited) / reach
    needed = 2 * (total * pure) ** 2 / options.certainty  # by the total counts
    return np.int64(min(most, max(0, np.ceil(needed * 1.01) + 1 - total)))
