"""The judge, compiled: ``sim/bregalad_sim/golden/judge.py`` on arrays."""

from ...protocol.judge import JUDGE, MANTISSA
from ...protocol.reports import CANDIDATE
from ...protocol.words import getter
from .arithmetic import leading
from .state import compiled, inner

__all__ = ["RULE", "proposes"]

RULE = tuple(f"{register.name}.{field.name}" for register in JUDGE for field in register.fields)  # columns
_DECIDES, _ANYTIME, _FIRST_TRIAL, _INNER_TIES, _NULL, _ASKS_INNER, _BOUND, _EXPONENT, _TIE = map(
    RULE.index,
    (
        "judge.decides",
        "judge.anytime",
        "judge.first_trial",
        "judge.inner_ties",
        "judge.null",
        "judge.asks_inner",
        "judge_bound.mantissa",
        "judge_bound.exponent",
        "judge_tie.n",
    ),
)
_FAR = 32  # a shift that decides: products are below 2**16
_cell_of, _valid_of, _gain_of = (getter(CANDIDATE, name) for name in ("cell", "valid", "gain"))


@inner
def _times(a, b):
    return a * b >> MANTISSA


@inner
def _exponent(x):
    return leading(x) + 1 - MANTISSA


@inner
def _mantissa(x, exponent):
    return x >> exponent if exponent >= 0 else x << -exponent


@inner
def _wide(rule, gap, n, both):
    if gap <= 0:
        return False
    of_gap, of_n, of_both = _exponent(gap), _exponent(n), _exponent(both)
    a, b, c = _mantissa(gap, of_gap), _mantissa(both, of_both), _mantissa(n, of_n)
    left, right = _times(_times(a, a), b), _times(_times(c, c), rule[_BOUND])
    exponent = rule[_EXPONENT] - ((rule[_EXPONENT] & 0x80) << 1)
    shift = min(max(2 * of_gap + of_both - 2 * of_n - exponent, -_FAR), _FAR)
    return left << max(shift, 0) >= right << max(-shift, 0)


@compiled
def proposes(rule, n, base, ask_up_to, mixed, is_inner, words, best, second, current):
    """Whether a trial is a proposal.

    Parameters
    ----------
    rule : int64 array
        By ``RULE``.
    n, base, ask_up_to : int
    mixed, is_inner : bool
    words : uint32 array
        A SUGGESTION; ``best``, ``second``, ``current`` are where its candidates begin.
    """
    if not rule[_DECIDES]:
        return True
    if n == 0 or not mixed:
        return False
    if n <= ask_up_to:
        return True
    if not _valid_of(words, best):
        return False
    both = n + base
    tie = both >= rule[_TIE]
    gain = _gain_of(words, best)
    if is_inner:
        now = _gain_of(words, current)
        if rule[_ASKS_INNER] or not _valid_of(words, current) or (rule[_NULL] and now < 0):
            return True
        if _cell_of(words, best) == _cell_of(words, current):
            return False
        if tie and rule[_INNER_TIES]:
            both = max(both, 4 * rule[_TIE])
        return _wide(rule, gain - now, n, both)
    if base == 0 and gain <= 0:
        return False
    if tie or rule[_FIRST_TRIAL]:
        return True
    other = 0
    if _valid_of(words, second) and not rule[_ANYTIME]:
        other = _gain_of(words, second)
        if other <= 0 and base == 0:
            other = 0
    return _wide(rule, gain - other, n, both)
