"""Textbook stream trees in float64: the reference of the accelerated trees' decisions.

``docs/learners.md`` is what they do. Nothing is shared with the board, its model or its driver.
Plain Python, instance by instance: slow, to be read beside its source.
"""

from .books import learn_coded
from .cvfdt import ReferenceCVFDT
from .efdt import ReferenceEFDT
from .forest import ReferenceBagging, ReferenceForest, ReferenceLeveraging
from .hat import ReferenceHAT
from .puucvfdt import ReferencePuuCVFDT
from .puuvfdt import ReferencePuuVFDT
from .vfdt import ReferenceVFDT

__all__ = [
    "ReferenceBagging",
    "ReferenceCVFDT",
    "ReferenceEFDT",
    "ReferenceForest",
    "ReferenceHAT",
    "ReferenceLeveraging",
    "ReferencePuuCVFDT",
    "ReferencePuuVFDT",
    "ReferenceVFDT",
    "learn_coded",
]
