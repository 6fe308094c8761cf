"""The trees by name, and any of them from a file."""

from pkgutil import resolve_name
from typing import Any

from ..estimator.saving import storage
from ..estimator.tree import StreamTree
from ..hints import Path
from ..options import table as options
from .classical.estimator import ClassicalTree
from .positive.estimator import PositiveLearner


def _found(places):
    return {name: resolve_name(f"{__package__}.{place}") for name, place in places.items()}


CLASSICAL: dict[str, type[ClassicalTree]] = _found(options.CLASSICAL)
POSITIVE: dict[str, type[PositiveLearner]] = _found(options.POSITIVE)
TREES: dict[str, type[StreamTree]] = _found(options.LEARNERS)


def load_tree(path: Path, **changes: Any) -> StreamTree | ClassicalTree | PositiveLearner:
    """Read a saved tree of any class; ``changes`` replace its parameters (``board=...``).

    Raises
    ------
    ValueError
        If the file is none of this version's, or damaged.
    """
    return storage.load((*TREES.values(), *CLASSICAL.values(), *POSITIVE.values()), path, changes)
