"""Random streams: generators of the literature, each with a schema, seeded, without an end."""

from .agrawal import Agrawal
from .base import Generator
from .catalogue import GENERATORS, PRESETS, open_generator
from .changing import Chessboard, Clusters, InterchangingRBF, MovingSquares
from .concepts import SEA, STAGGER, PoisonedHead
from .drift import ConceptDrift, Recurrence
from .hyperplane import Hyperplane
from .led import LED
from .rbf import RandomRBF
from .tree import RandomTree
from .waveform import Waveform

__all__ = [
    "GENERATORS",
    "LED",
    "PRESETS",
    "SEA",
    "STAGGER",
    "Agrawal",
    "Chessboard",
    "Clusters",
    "ConceptDrift",
    "Generator",
    "Hyperplane",
    "InterchangingRBF",
    "MovingSquares",
    "PoisonedHead",
    "RandomRBF",
    "RandomTree",
    "Recurrence",
    "Waveform",
    "open_generator",
]
