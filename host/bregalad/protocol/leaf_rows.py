"""Leaf rows: what a leaf predicts by, and what the board tells of predictions.

A row is 32-bit words, read and written one at a time, in order with the records: a record behind a write sees it. A new
leaf's row is written whole, the counts that its split gave it among them.
"""

from enum import IntEnum

from ..predictors import Predictor
from .fields import Access, Field, Register

COUNT_WIDTH = 32  # of a row's class counts


class RowOp(IntEnum):
    """What is done to a row, or to the counters."""

    RECORD = 0  # predict; learn, but for TEST
    READ = 1  # tell a word
    WRITE = 2  # set a word
    MARK = 3  # tell instances and hits since the last time, and begin anew


class RowWord(IntEnum):
    """Words of a row; the class counts follow, those of the lowest class first."""

    MAJORITY = 0  # the class with most counts, of equal ones the lower
    LEAD = 1  # its count; once this is full, no class is counted any more
    RIGHT = 2  # guesses that were right: the majority class's less naive Bayes's, signed


_RW = Access.RW

LEAF_ROWS = (
    Register(
        "leaf_predictor",
        0x110,
        Field("by", 2, _RW, "Predictor.", limits=lambda geometry: (0, max(Predictor) * geometry.naive_bayes)),
        Field("reported", 1, _RW, "1: the class of every record is told; 0: of those with TEST."),
    ),
)
