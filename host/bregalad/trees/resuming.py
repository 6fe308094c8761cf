"""Calls that a cut link only interrupts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..boards.base import BoardError
from .shared import Shared
from .turns import changing

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Resuming"]


class Resuming(Shared):
    """Mixin of every learner: ``resume``, ``unfinished``."""

    _unfinished = None  # steps that a cut link, or Ctrl-C while it was, has interrupted

    @changing
    def resume(self) -> np.ndarray | float | None:
        """Go on after the link to the board was cut: connect again, finish what was interrupted.

        Nothing is lost and nothing is counted twice: what is learnt comes out as if there had been no
        cut.

        Returns
        -------
        array, float or None
            What the interrupted call (``unfinished``) would have returned, predictions for
            ``partial_fit``, too. None: it had not begun to learn, or learns nothing; repeat it.

        Raises
        ------
        BoardError
            If the board is still out of reach (`resume` may be called again), or has lost what it
            had counted: then load what was saved last, and go on with the instance that
            ``report()["instances"]`` tells.
        """
        board = self._board_in_use
        if board is None:
            self._fitted()
        else:
            board.resume()
        return None if self._unfinished is None else self._finish(self._unfinished)

    @property
    def unfinished(self) -> bool:
        """Whether there is a call that `resume` would finish."""
        return self._unfinished is not None

    def _finish(self, steps):
        """Run steps; they are kept if the link is cut."""
        try:
            return steps.run(lambda wait: self._board_in_use.receive(wait), self._turns.pause)
        finally:
            self._unfinished = steps if steps.unfinished else None

    def _check_ready(self):
        """Refuse to go on with a cut link or with other parameters than it was begun with."""
        if self._unfinished is not None:
            raise BoardError(
                "the link to the board was cut, or interrupted, while this was learning: resume() finishes that"
            )
        self._check_unchanged()
