"""The judge: whether a trial may change the tree, in integers."""

from dataclasses import dataclass, field

from bregalad.protocol.judge import MANTISSA

from .candidates import Candidate

__all__ = ["Trial", "judge"]


@dataclass
class Trial:
    """What the judge is told of a trial.

    Parameters
    ----------
    n : int
        Instances in the slot.
    base : int
        Those that the split above gave the node: n of both counts is the sum.
    ask_up_to : int
        Up to so many instances in the slot every trial is a proposal.
    mixed : bool
        The node's both counts name more than one class.
    inner : bool
    best, second, current : Candidate
        Of SUGGESTION.
    """

    n: int
    base: int = 0
    ask_up_to: int = 0
    mixed: bool = True
    inner: bool = False
    best: Candidate = field(default_factory=Candidate)
    second: Candidate = field(default_factory=Candidate)
    current: Candidate = field(default_factory=Candidate)


def judge(rule, trial):
    """Whether a trial is a proposal; else the node stays as it is.

    Parameters
    ----------
    rule : dict
        ``register.field`` of the registers JUDGE to value.
    trial : Trial

    Why the host would keep the node wherever this says that it stays: host/bregalad/trees/training/rule.py.
    """
    best, second, current = trial.best, trial.second, trial.current
    if not rule["judge.decides"]:
        return True
    if trial.n == 0 or not trial.mixed:
        return False
    if trial.n <= trial.ask_up_to:
        return True
    if not best.valid:
        return False
    both = trial.n + trial.base
    tie = both >= rule["judge_tie.n"]
    if trial.inner:
        if rule["judge.asks_inner"] or not current.valid or (rule["judge.null"] and current.gain < 0):
            return True
        if best.cell == current.cell:
            return False
        if tie and rule["judge.inner_ties"]:
            both = max(both, 4 * rule["judge_tie.n"])
        return _wide(rule, best.gain - current.gain, trial.n, both)
    if not trial.base and best.gain <= 0:
        return False
    if tie or rule["judge.first_trial"]:
        return True
    competes = second.valid and not rule["judge.anytime"] and (second.gain > 0 or trial.base > 0)
    return _wide(rule, best.gain - (second.gain if competes else 0), trial.n, both)


def _wide(rule, gap, n, both):
    """gap^2 both >= K n^2, K the bound's: all to MANTISSA bits, and what is below them dropped."""
    if gap <= 0:
        return False
    exponent = rule["judge_bound.exponent"]
    exponent -= (exponent & 0x80) << 1
    a, a_exponent = _top(gap)
    b, b_exponent = _top(both)
    c, c_exponent = _top(n)
    left = _times(_times(a, a), b)
    right = _times(_times(c, c), rule["judge_bound.mantissa"])
    shift = 2 * a_exponent + b_exponent - 2 * c_exponent - exponent
    return left << max(shift, 0) >= right << max(-shift, 0)


def _top(x):
    """``(mantissa, exponent)`` of an integer x >= 1: mantissa 2**exponent <= x, the mantissa of MANTISSA bits."""
    exponent = x.bit_length() - MANTISSA
    return (x << MANTISSA) >> exponent + MANTISSA, exponent


def _times(a, b):
    return a * b >> MANTISSA
