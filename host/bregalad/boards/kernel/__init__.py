"""The golden model, compiled: the functions of ``sim/bregalad_sim/golden/`` on arrays, under their names."""

from .arithmetic import fill_logs, fill_table
from .bayes import classify, only_class
from .bins import bin_of, gather, locate, mixture
from .commands import execute
from .counting import add, halve
from .state import (
    BEATS,
    CLAMPED,
    COUNTS,
    CURRENT,
    FIRST,
    FOUND,
    HALTED,
    KIND,
    LEFT,
    LINK,
    NODES,
    PATH_LIMIT,
    PREDICTED,
    PREDICTIONS,
    PROGRESS,
    RECORDS,
    SKIP,
    USED,
    N,
    State,
    compiled,
)
from .trials import trial

__all__ = ["BEATS", "CLAMPED", "COUNTS", "CURRENT", "FIRST", "FOUND", "HALTED", "KIND", "LEFT",
           "LINK", "N", "NODES", "PATH_LIMIT", "PREDICTED", "PREDICTIONS", "PROGRESS", "RECORDS",
           "SKIP", "USED", "State", "add", "bin_of", "classify", "compiled",
           "execute", "fill_logs", "fill_table",
           "gather", "halve", "locate", "mixture", "only_class", "trial"]
