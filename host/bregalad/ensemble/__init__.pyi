"""What the package offers; read by type checkers, and as the package is loaded."""

from .bagging import ENSEMBLES, AdaptiveRandomForest, LeveragingBagging, OnlineBagging, load_learner

__all__ = ["ENSEMBLES", "AdaptiveRandomForest", "LeveragingBagging", "OnlineBagging", "load_learner"]
