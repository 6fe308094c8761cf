"""Reports: what the board answers, in the order of the commands that caused them.

The report stream is a sequence of 32-bit words, little endian; ``last`` marks a report's last
word. Lengths follow from the kind, the geometry and (``ALL``) the cells in use.
"""

from enum import IntEnum, IntFlag
from functools import cache

from .layout import Field, Layout

__all__ = ["Kind", "SuggestionFlag", "EntryFlag", "ErrorCode", "HEADER", "CANDIDATE",
           "suggestion_layout", "gains_layout", "statistics_layout", "entry_body", "entry_layout",
           "scores_layout", "FENCE", "ERROR", "PREDICTION", "layout_of"]


class Kind(IntEnum):
    """First byte of a report."""

    SUGGESTION = 1  # a trial's top two attributes
    GAINS = 2  # a trial's gains, one per cell
    STATISTICS = 3  # answer to READ of a cell
    ENTRY = 4  # answer to READ of a slot's entry
    FENCE = 5
    ERROR = 6
    PREDICTION = 7  # a record's class by naive Bayes, before the record is counted
    SCORES = 8  # the same, with the scores of all classes


class SuggestionFlag(IntFlag):
    """Flags of SUGGESTION and GAINS."""

    HALVED = 1  # the slot's counts were halved since its last trial
    UNDERFLOW = 2  # a weight -1 met a class count of 0 since the slot's last trial
    INNER = 4  # the slot is an inner node's
    REQUESTED = 8  # the trial was asked for by TRIAL, not by the grace period


class EntryFlag(IntFlag):
    """Flags of a slot's entry."""

    HALVED = 1
    UNDERFLOW = 2
    INNER = 4


class ErrorCode(IntEnum):
    """``flags`` of an ERROR report; the board drops commands from there to RESET."""

    COMMAND = 1  # unknown opcode, or a slot or cell out of range
    SLAVE = 2  # AXI SLVERR
    DECODE = 3  # AXI DECERR


_HEAD = (Field("kind", 8), Field("flags", 8), Field("slot", 16))

HEADER = Layout("header", *_HEAD)

CANDIDATE = Layout(
    "candidate",
    Field("cell", 16, "First cell of the attribute, NONE if not valid."),
    Field("value", 8, "Numeric: bins 0..value go left. One-vs-rest: the value's code. Else 0."),
    Field("valid", 8, "0: no attribute, or (GAINS) not the last cell of one."),
    Field("gain", 64, "n G, unit 2**-13 bit times instance.", signed=True))


def _candidate(name):
    return tuple(Field(f"{name}_{f.name}", f.width, f.doc, f.signed) for f in CANDIDATE.fields)


def suggestion_layout(geometry):
    """SUGGESTION: the top two attributes of a slot."""
    classes = geometry.classes
    return Layout(
        "suggestion", *_HEAD, Field("n", 32, "Instances in the slot."),
        Field("class_counts", 32, count=classes),
        *_candidate("best"), *_candidate("second"), *_candidate("current"),
        Field("left", 32, "Class counts of best's left side (numeric) or value (one-vs-rest); "
                          "0 if best is multiway.", count=classes))


def gains_layout(geometry, cells):
    """GAINS: a candidate per cell in use; an attribute stands at its last cell."""
    return Layout(
        "gains", *_HEAD, Field("n", 32), Field("class_counts", 32, count=geometry.classes),
        # A candidate is three words: cell | value << 16 | valid << 24, gain low, gain high.
        Field("candidates", 32, count=3 * cells))


def statistics_layout(geometry):
    """STATISTICS: the counts of one cell, bin by bin, classes side by side."""
    return Layout("statistics", *_HEAD, Field("cell", 16), Field("reserved", 16),
                  Field("counts", 32, count=geometry.bins * geometry.classes))


def entry_body(geometry):
    """What ENTRY reports and WRITE (cell NONE) takes."""
    return (Field("n", 32), Field("since", 32, "Instances since the last trial."),
            Field("link", 16), Field("current", 16), Field("entry_flags", 16, "EntryFlag."),
            Field("period", 16, "Instances between trials, 0: the role's register."),
            Field("class_counts", 32, count=geometry.classes))


def entry_layout(geometry):
    """ENTRY: a slot's row of the slot table."""
    return Layout("entry", *_HEAD, *entry_body(geometry))


PREDICTION = Layout(
    "prediction", Field("kind", 8), Field("label", 8, "The class predicted."),
    Field("slot", 16, "Of the record."))


def scores_layout(geometry):
    """SCORES: the naive Bayes scores of every class of the board."""
    return Layout(
        "scores", *PREDICTION.fields,
        Field("scores", 32, "Log2 of a class's share, up to a sum that all classes have in common; "
                            "-2**31: the slot has not seen the class.",
              signed=True, count=geometry.classes))


FENCE = Layout("fence", *_HEAD, Field("token", 32))

ERROR = Layout(
    "error", *_HEAD,
    Field("address", 64, "Bus word that failed (SLAVE, DECODE); first 8 command bytes (COMMAND)."),
    Field("count", 32, "Records of the LEARN that were counted before the error."))


@cache
def layout_of(kind, geometry, cells):
    """The layout of a report of the given kind."""
    match Kind(kind):
        case Kind.SUGGESTION:
            return suggestion_layout(geometry)
        case Kind.GAINS:
            return gains_layout(geometry, cells)
        case Kind.STATISTICS:
            return statistics_layout(geometry)
        case Kind.ENTRY:
            return entry_layout(geometry)
        case Kind.FENCE:
            return FENCE
        case Kind.ERROR:
            return ERROR
        case Kind.PREDICTION:
            return PREDICTION
        case Kind.SCORES:
            return scores_layout(geometry)
