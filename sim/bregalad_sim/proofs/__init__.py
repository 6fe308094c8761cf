"""Bounded model checking and induction of the blocks that buffer."""

from .run import PROOFS, prove
from .watched import Proof, Watched, hold, soon, steady

__all__ = ["PROOFS", "Proof", "Watched", "hold", "prove", "soon", "steady"]
