"""Files and pickles of learners, in the way that all of them share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import storage
from .shared import Shared
from .turns import changing

if TYPE_CHECKING:
    from types import ModuleType
    from typing import Self

    from ..hints import Path

__all__ = ["Saving"]


class Saving(Shared):
    """Mixin of every learner: ``save``, ``load``, what comes out of a pickle.

    ``_storage`` is the module that knows what its files contain.
    """

    _storage: ModuleType = storage
    _columns: dict[str, Any] | None = None  # of the file that it was learnt from: "class", and those "ignored"

    @changing
    def save(self, path: Path, run: dict[str, Any] | None = None) -> None:
        """Write all that was learnt, the quantiser and the board's statistics, to a file.

        Parameters
        ----------
        path : str or Path
        run : dict, optional
            How far a run has come, in JSON's types; kept beside the rest.
        """
        self._fitted()
        self._check_unchanged()
        self.check_parameters()  # or nothing could read the file
        kept = {"run": run, "columns": self._columns}
        self._storage.save(self, path, {name: entry for name, entry in kept.items() if entry is not None})

    @classmethod
    def load(cls, path: Path, **changes: Any) -> Self:
        """Read what a learner of this class has saved; ``changes`` replace its parameters (``board=...``).

        ``bregalad.load_tree`` reads a tree of any class.

        Raises
        ------
        ValueError
            If the file is none of this version's, or damaged, or holds more than the parameters allow.
        """
        return storage.load((cls,), path, changes)

    def _compiled_as(self):
        """What decides which code is compiled for it, in words; in any thread, so it takes no turn."""
        return type(self).__name__

    def __setstate__(self, state):
        super().__setstate__(state)
        _own(self)

    @classmethod
    def _restored(cls, path, meta, arrays, changes):
        return cls._storage.restored(cls, path, meta, arrays, changes)


def _own(value):
    """The same with copies of arrays that joblib mapped into memory: learning writes to them."""
    if isinstance(value, np.memmap):
        return np.array(value)
    if isinstance(value, dict):
        return {key: _own(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_own(part) for part in value]
    if isinstance(value, tuple):
        parts = map(_own, value)
        return value._make(parts) if hasattr(value, "_make") else tuple(parts)
    if type(value).__module__.startswith(__package__.partition(".")[0]) and hasattr(value, "__dict__"):
        value.__dict__.update(_own(vars(value)))
    return value
