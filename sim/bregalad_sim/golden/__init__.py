"""Golden model: the command stream in plain integers.

What these files do with a command is what every board does, bit for bit. They are written to be
read, not to be fast; ``host/bregalad/engine/statistics`` is the same, compiled.
"""

from .board import Golden
from .candidates import Candidate, gain_of, join, top
from .memory import Memory
from .quantiser import GoldenQuantiser, QuantisedBeat
from .slots import Slots
from .state import Cell, Entry

__all__ = [
    "Candidate",
    "Cell",
    "Entry",
    "Golden",
    "GoldenQuantiser",
    "Memory",
    "QuantisedBeat",
    "Slots",
    "gain_of",
    "join",
    "top",
]
