"""Prequential evaluation: every instance is predicted, then learnt."""

from .curve import Curve, kappa
from .prequential import prequential

__all__ = ["Curve", "kappa", "prequential"]
