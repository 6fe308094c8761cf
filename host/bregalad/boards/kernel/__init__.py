"""The golden model, compiled: the functions of ``sim/bregalad_sim/golden/`` on arrays, under their names."""

from .arithmetic import fill_logs, fill_table
from .bayes import classify, only_class
from .bins import gather, locate, mixture
from .commands import execute
from .counting import add, halve
from .gains import measure_of
from .records import learn
from .slots import place
from .state import (
    ADDRESS,
    ASKED,
    BEATS,
    CELL_SETTINGS,
    CLAMPED,
    COUNTS,
    CURRENT,
    FIRST,
    FOUND,
    HALTED,
    KIND,
    LEFT,
    LINK,
    LOADING,
    NEIGHBOURS,
    NODES,
    PREDICTED,
    PREDICTIONS,
    PROGRESS,
    RECORDS,
    SETTINGS,
    SKIP,
    USED,
    N,
    State,
    inner,
)
from .trials import ask, trial

__all__ = [
    "ADDRESS",
    "ASKED",
    "BEATS",
    "CELL_SETTINGS",
    "CLAMPED",
    "COUNTS",
    "CURRENT",
    "FIRST",
    "FOUND",
    "HALTED",
    "KIND",
    "LEFT",
    "LINK",
    "LOADING",
    "N",
    "NODES",
    "PREDICTED",
    "NEIGHBOURS",
    "PREDICTIONS",
    "PROGRESS",
    "RECORDS",
    "SETTINGS",
    "SKIP",
    "USED",
    "State",
    "add",
    "ask",
    "classify",
    "inner",
    "execute",
    "fill_logs",
    "fill_table",
    "gather",
    "halve",
    "learn",
    "locate",
    "measure_of",
    "mixture",
    "only_class",
    "place",
    "trial",
]
