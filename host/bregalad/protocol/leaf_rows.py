"""Leaf rows: what a leaf predicts by, and what the board tells of predictions.

A row is 32-bit words, read and written one at a time, in order with the records: a record behind a write sees it. A new
leaf's row is written whole, the counts that its split gave it among them.
"""

from enum import IntEnum

from .registers import Access, Field, Register

__all__ = ["COUNT_WIDTH", "LEAF_ROWS", "MIXED", "OUT", "PERIOD_WIDTH", "Predictor", "RowOp", "RowWord", "row_words"]

COUNT_WIDTH = 32  # of a row's class counts
PERIOD_WIDTH = 24  # as of a grace period
MIXED, OUT = 1 << 16, 1 << 17  # bits of MAJORITY: several classes have counts; a trial's effect may be to come


class Predictor(IntEnum):
    """What a leaf predicts by: `leaf_predictor.by`."""

    MAJORITY = 0  # the class with most counts
    BAYES = 1  # naive Bayes where it knows, else the class with most counts
    ADAPTIVE = 2  # of the two the one that has been right more often


class RowOp(IntEnum):
    """What is done to a row, or to the counters."""

    RECORD = 0  # predict; learn, but for TEST
    READ = 1  # tell a word
    WRITE = 2  # set a word
    MARK = 3  # tell instances and hits since the last time, and begin anew
    TALLY = 4  # tell how often a class was predicted for a label, and begin anew
    ARRIVE = 5  # a record has come through an inner node that counts


class RowWord(IntEnum):
    """Words of a row; the class counts follow, those of the lowest class first."""

    MAJORITY = (
        0  # 15:0 are the class with most counts, of equal ones the lower; bit 16: more than one has any; bit 17: OUT
    )
    LEAD = 1  # its count; once this is full, no class is counted any more
    RIGHT = 2  # guesses that were right: the majority class's less naive Bayes's, signed
    SINCE = 3  # records since the last trial, modulo 2^24
    UNTIL = 4  # with OUT: no other trial up to this record, counted as the board learns them, modulo 2^32
    ARRIVALS = 5  # records since the last review, modulo 2^24
    ERRORS = 6  # those of them that were predicted wrong, modulo 2^24
    PERIOD = 7  # records between trials, 0: none
    BASE = 8  # instances that the split above gave the node
    ASK_UP_TO = 9  # the judge's


_RW = Access.RW

LEAF_ROWS = (
    Register(
        "leaf_predictor",
        0x110,
        (
            Field("by", 2, _RW, "Predictor.", limits=lambda geometry: (0, max(Predictor) * geometry.naive_bayes)),
            Field("told", 1, _RW, "1: the class of every record is told; 0: of those with TEST."),
        ),
    ),
    Register("leaf_delay", 0x114, (Field("records", 31, _RW, "From a trial to its effect; no other trial before."),)),
    Register("leaf_marks", 0x118, (Field("every", 32, _RW, "Instances between marks, 0: none."),)),
)


def row_words(counts, majority=0, *, period=0, base=0, ask_up_to=0):
    """A new leaf's row: all its words.

    Parameters
    ----------
    counts : sequence of int
        Of every class of the board.
    majority : int
        What it predicts as long as it has no counts.
    period, base, ask_up_to : int

    Returns
    -------
    list of int
    """
    counts = [int(count) for count in counts]
    lead = max(counts)
    majority = counts.index(lead) if lead else majority
    mixed = sum(count > 0 for count in counts) > 1
    row = {
        RowWord.MAJORITY: majority | MIXED * mixed,
        RowWord.LEAD: lead,
        RowWord.PERIOD: period,
        RowWord.BASE: base,
        RowWord.ASK_UP_TO: ask_up_to,
    }
    return [row.get(word, 0) for word in RowWord] + counts
