"""Reports of split attempts, as what the policy takes."""

from collections import namedtuple

from ...compiled import njit
from ...policy.decide import CANDIDATE as ELEMENTS
from ...policy.decide import NO_CELL
from ...protocol.reports import CANDIDATE, HEADER, SuggestionFlag, gains_layout, suggestion_layout
from ...protocol.words import getter, words_before

_flags_of = getter(HEADER, "flags")
_HALVED = int(SuggestionFlag.HALVED)
_WORDS = CANDIDATE.size // 4
_cell_of, _value_of, _valid_of, _gain_of = (getter(CANDIDATE, name) for name in ("cell", "value", "valid", "gain"))

_Report = namedtuple("_Report", ["size", "class_counts", "classes", "candidates", "count"])


def report_of(geometry, cells, gains_of_all):
    """Where a board's reports, GAINS or SUGGESTION, have the class counts and the candidates; in 32-bit words."""
    layout = gains_layout(geometry, cells) if gains_of_all else suggestion_layout(geometry)
    first = words_before(layout, "candidates" if gains_of_all else "best_cell")
    count = cells if gains_of_all else 3
    return _Report(layout.size // 4, words_before(layout, "class_counts"), geometry.classes, first, count)


@njit()
def read_attempt(report, words, at, out):
    """Write the split attempt of the report that begins at ``words[at]`` to ``out``, int64 array of a ``decide.Form``.

    Whether counts were halved since the last.
    """
    for k in range(report.classes):
        out[k] = words[at + report.class_counts + k]
    used = report.classes
    for i in range(report.count):
        place = at + report.candidates + _WORDS * i
        out[used], out[used + 1], out[used + 2] = NO_CELL, 0, 0
        if _valid_of(words, place):
            out[used], out[used + 1] = _cell_of(words, place), _value_of(words, place)
            out[used + 2] = _gain_of(words, place)
        used += ELEMENTS
    return _flags_of(words, at) & _HALVED != 0
