"""Prequential evaluation: every instance is predicted, then learnt."""

from .curve import Curve
from .kappa import kappa
from .plot import compare_plot
from .prequential import prequential

__all__ = ["Curve", "compare_plot", "kappa", "prequential"]
