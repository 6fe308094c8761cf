"""What the package offers; read by type checkers, and as the package is loaded."""

from .rules import ConfTree, Rnd, RndVar, SelSamp, VarUn
from .split import Split, SplitConfTree
from .strategy import Strategy

__all__ = ["ConfTree", "Rnd", "RndVar", "SelSamp", "Split", "SplitConfTree", "Strategy", "VarUn"]
