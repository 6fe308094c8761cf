"""The golden model, compiled: the functions of ``sim/bregalad_sim/golden/`` on arrays, under their names."""

from .arithmetic import fill_logs, fill_table
from .bayes import classify, classify_all, only_class
from .bins import gather, locate, mixture
from .candidates import attempt
from .counting import add, count_places, halve, take_off
from .gains import measure_of
from .slots import obey, read_entries, write_entries
from .state import (
    BEATS,
    CLAMPED,
    COUNTS,
    CURRENT,
    EXTENT,
    FIRST,
    FOUND,
    KIND,
    LINK,
    NODES,
    PREDICTED,
    RECORDS,
    TERMS,
    N,
    State,
    inner,
    slots_of,
)

__all__ = [
    "BEATS",
    "CLAMPED",
    "COUNTS",
    "CURRENT",
    "EXTENT",
    "FIRST",
    "FOUND",
    "KIND",
    "LINK",
    "N",
    "NODES",
    "PREDICTED",
    "RECORDS",
    "State",
    "TERMS",
    "add",
    "attempt",
    "classify",
    "classify_all",
    "count_places",
    "fill_logs",
    "fill_table",
    "gather",
    "halve",
    "inner",
    "locate",
    "measure_of",
    "mixture",
    "obey",
    "only_class",
    "read_entries",
    "slots_of",
    "take_off",
    "write_entries",
]
