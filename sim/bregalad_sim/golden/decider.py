"""The decider: whether an attempt may change the tree, in integers."""

from dataclasses import dataclass, field

from bregalad.protocol.decider import MANTISSA

from .candidates import Candidate


@dataclass
class Attempt:
    """What the decider is told of an attempt.

    Parameters
    ----------
    n : int
        Instances in the slot.
    inherited : int
        Those that the split above gave the node: n of the total counts is the sum.
    all_up_to : int
        Up to so many instances in the slot every attempt is a candidate.
    mixed : bool
        The node's total counts name more than one class.
    inner : bool
    best, second, current : Candidate
        Of TOP_CANDIDATES.
    """

    n: int
    inherited: int = 0
    all_up_to: int = 0
    mixed: bool = True
    inner: bool = False
    best: Candidate = field(default_factory=Candidate)
    second: Candidate = field(default_factory=Candidate)
    current: Candidate = field(default_factory=Candidate)


def is_candidate(rule, attempt):
    """Whether an attempt is a candidate; else the node stays as it is.

    Parameters
    ----------
    rule : dict
        ``register.field`` of the registers DECIDER to value.
    attempt : Attempt

    Why the host would keep the node wherever this says that it stays: host/bregalad/driver/devices/filter.py.
    """
    best, second, current = attempt.best, attempt.second, attempt.current
    if not rule["decider.decides"]:
        return True
    if attempt.n == 0 or not attempt.mixed:
        return False
    if attempt.n <= attempt.all_up_to:
        return True
    if not best.valid:
        return False
    total = attempt.n + attempt.inherited
    tie = total >= rule["decider_tie.n"]
    if attempt.inner:
        if rule["decider.all_inner"] or not current.valid or (rule["decider.null"] and current.gain < 0):
            return True
        if best.cell == current.cell:
            return False
        if tie and rule["decider.inner_ties"]:
            total = max(total, 4 * rule["decider_tie.n"])
        return _wide(rule, best.gain - current.gain, attempt.n, total)
    if not attempt.inherited and best.gain <= 0:
        return False
    competes = second.valid and not rule["decider.anytime"] and (second.gain > 0 or attempt.inherited > 0)
    gap = best.gain - (second.gain if competes else 0)
    return tie or bool(rule["decider.first_attempt"]) or _wide(rule, gap, attempt.n, total)


def _wide(rule, gap, n, total):
    """gap^2 both >= K n^2, K the bound's: all to MANTISSA bits, and what is below them dropped."""
    if gap <= 0:
        return False
    exponent = rule["decider_bound.exponent"]
    exponent -= (exponent & 0x80) << 1
    a, a_exponent = _top(gap)
    b, b_exponent = _top(total)
    c, c_exponent = _top(n)
    left = _times(_times(a, a), b)
    right = _times(_times(c, c), rule["decider_bound.mantissa"])
    shift = 2 * a_exponent + b_exponent - 2 * c_exponent - exponent
    return left << max(shift, 0) >= right << max(-shift, 0)


def _top(x):
    """``(mantissa, exponent)`` of an integer x >= 1: mantissa 2**exponent <= x, the mantissa of MANTISSA bits."""
    exponent = x.bit_length() - MANTISSA
    return (x << MANTISSA) >> exponent + MANTISSA, exponent


def _times(a, b):
    return a * b >> MANTISSA
