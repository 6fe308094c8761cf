"""The board of a tree: opened when it is needed, held, let go of."""

from __future__ import annotations

import copy
import logging
from typing import TYPE_CHECKING

import numpy as np

from ..boards import is_link, open_board
from ..boards.base import Board, BoardError
from ..files import check_wave
from ..geometry import Geometry
from ..interrupt import deferred_interrupt
from ..words import shown
from .requirements import check_classes, check_nodes, check_ties
from .shared import Shared
from .structure.cells import CellMap, check_cells
from .training import checkpoint
from .training.trainer import Trainer
from .turns import changing, reading

if TYPE_CHECKING:
    from ..hints import Path

__all__ = ["BoardHolder"]


class BoardHolder(Shared):
    """Mixin of ``StreamTree``: its board.

    ``_trainer`` is what learns on the board, None while there is none; ``_checkpoint`` the
    statistics that are to go to the next one. ``_opened``: its board is its own, to be closed;
    the parameter may be another by then. ``_kept_geometry`` is that of the board which a
    loaded tree was saved with.
    """

    _kept_geometry = None
    _wave: Path | None = None  # the file that the board is to write a waveform to
    _prediction = None  # what leaves predict by, from the first board on
    _memory = None  # the last instances, of a tree with a window; from the first board on
    _tells = True  # what its board lacks; of trees on boards alike only the first one does

    @property
    @reading
    def leaf_prediction_(self) -> str:
        """What leaves predict by: "mc", "nb" or "nba"."""
        return self._predicts_by()

    def _predicts_by(self):
        return self._prediction or self._prediction_on(self._given_geometry())

    def _compiled_as(self):
        """As of `Saving`."""
        return (
            f"{type(self).__name__} (leaf_prediction={self._predicts_by()!r}, criterion={self._policy().criterion!r})"
        )

    def _prediction_on(self, geometry):
        """What leaves are to predict by on a board; of an unknown geometry (None) as on most."""
        if self.leaf_prediction is not None:
            return self.leaf_prediction
        return "nba" if geometry is None or geometry.naive_bayes else "mc"

    def _open_trainer(self):
        if self._trainer is not None:
            return self._trainer
        self._check_unchanged()
        opens = not isinstance(self.board, Board)
        geometry = self._geometry() if opens else None
        options = {} if self._wave is None else {"wave": self._wave}
        board = open_board(self.board, geometry, **options) if opens else self.board
        try:
            with self._naming_build(board, len(self.classes_), len(self._cells(board.geometry.bins))):
                trainer = self._trainer_on(board)
        except BaseException:
            if opens:
                board.close()
            raise
        with deferred_interrupt():  # or the statistics would be nowhere
            self._trainer, self._nodes, self._checkpoint = trainer, trainer.nodes, None
            self._memory = trainer.memory
            self._opened = opens
        return trainer

    @changing
    def write_wave(self, path: Path) -> None:
        """Have the simulated board write a waveform, from when this tree opens it until `close`.

        Copies and saved trees have none.

        Parameters
        ----------
        path : str or PathLike
            A .fst; GTKWave's save file, a .gtkw, comes beside it. There is nothing but what the board did last, if it
            is closed and opened again.

        Raises
        ------
        ValueError
            If ``board`` is not "simulated", or ``path`` is no .fst.
        OSError
            If the files cannot be written.
        """
        if self.board != "simulated":
            raise ValueError(
                f"board {shown(self.board)} writes no waveform; the simulated board does, and virtual ones"
            )
        check_wave(path)
        self._wave = path

    def _trainer_on(self, board):
        cells = self._cells(board.geometry.bins)
        if self._checkpoint is not None:
            self._widen(board.geometry.classes)
            self._check_fit(board.geometry)
        check_ties(board.geometry, self._policy(), len(self.classes_))
        prediction = self._prediction or self._prediction_on(board.geometry)
        trainer = Trainer(
            board,
            cells,
            self._policy(),
            len(self.classes_),
            prediction=prediction,
            nodes=self._nodes,
            tally=self._tally,
            review_period=int(self.review_period),
            feed=self.feed,
            memory=self._memory,
        )
        if prediction == "mc" and self.leaf_prediction is None and self._prediction is None and self._tells:
            logging.getLogger("bregalad").warning(
                "the geometry of board %s has no naive Bayes, so leaves predict their majority class, which is mostly "
                "less accurate: choose another geometry, or say by leaf_prediction='mc' that this is meant",
                board.name,
                extra={"result": True},
            )
        self._prediction = prediction
        if self._checkpoint is not None:
            try:
                checkpoint.restore(trainer, self._checkpoint)
            except BaseException:
                board.release(trainer)  # an exception's traceback would keep the trainer alive
                raise
        return trainer

    def _follow(self, other):
        """Begin anew on the board of another tree, one like this but for the seed, which lets go of it."""
        self._trainer = other._trainer.followed(self._policy(), self._tally)
        self._nodes, self._opened, self._prediction = self._trainer.nodes, other._opened, other._prediction
        self._memory = self._trainer.memory
        other._trainer = None

    def _make_room(self, classes):
        """See to a board that counts so many classes; ValueError if it cannot be had."""
        room = self._open_trainer().board.geometry.classes
        if classes <= room:
            return
        geometry = self._trainer.board.geometry
        most = self._most_classes()
        if self._given_geometry() is not None or is_link(self.board) or classes > most:
            with self._naming_build(self._trainer.board, classes):
                check_classes(geometry, classes)
        wider = geometry.replace(classes=min(max(classes, 2 * room), most))
        self.close()
        self._kept_geometry = wider
        self._open_trainer()

    def _make_cells(self, quantiser):
        """Go on with a quantiser of more attributes; ValueError if the board has no room for them."""
        trainer = self._open_trainer()
        geometry = trainer.board.geometry
        more = [getattr(book, "capacity", 0) for book in quantiser.books[len(self._quantiser.books) :]]
        cells = trainer.cells.extended(more, geometry.bins, self.nominal_split)
        fixed = self._given_geometry() is not None or is_link(self.board)
        with self._naming_build(trainer.board, len(self.classes_), len(cells)):
            check_cells(geometry if fixed else self._widest_geometry(), len(cells))
        if len(cells) <= geometry.max_cells and trainer.driver.widens:
            with deferred_interrupt():
                trainer.widen(cells)
                self._quantiser = quantiser
            return
        if not fixed:
            # Where attributes come one after another, few of them find no room.
            room = min(2 * len(cells), self._widest_geometry().max_cells) if trainer.driver.widens else len(cells)
            geometry = geometry.replace(**_shape(max(room, geometry.max_cells)))
        self.close()
        self._memory.widen(len(quantiser.books))
        counts = self._checkpoint["counts"]
        self._checkpoint["counts"] = np.pad(counts, ((0, 0), (0, len(cells) - counts.shape[1]), (0, 0)))
        self._quantiser, self._kept_geometry = quantiser, geometry

    def _widen(self, classes):
        """Make nodes and statistics such that a board of so many classes takes them."""
        known = self._nodes.classes
        if classes > known:
            self._checkpoint = checkpoint.widened(self._checkpoint, known, classes)
            self._nodes.widen(classes)

    def _check_fit(self, geometry):
        """Refuse a board that cannot take the tree or the statistics with a ValueError."""
        nodes = self._nodes
        check_nodes(geometry, nodes.rows)
        inner = len(nodes.inner()) if self._policy().anytime else 0
        misfit = checkpoint.misfit(self._checkpoint, nodes.classes, geometry, len(self._cells(geometry.bins)), inner)
        if misfit:
            raise ValueError(misfit)

    def _cells(self, bins):
        """The cells that the attributes take on a board of so many bins."""
        capacities = [getattr(book, "capacity", 0) for book in self._quantiser.books]
        return CellMap.build(capacities, bins, self.nominal_split)

    def _geometry(self):
        """The board's geometry: its own, the one given, or one that fits the stream.

        None: a board at the end of a link, not open yet, will tell.
        """
        given = self._given_geometry()
        if given is not None:
            return given
        if is_link(self.board):
            return None
        if self._kept_geometry is not None:
            return self._kept_geometry
        return Geometry(
            **_shape(len(self._cells(16))),
            bins=16,
            classes=max(2, len(self.classes_)),
            slots=int(self.slots),
            count_width=24,
            bus_width=256,
            criterion=self._policy().criterion,
            naive_bayes=self.leaf_prediction_ != "mc",
        )

    @changing
    def close(self) -> None:
        """Let go of the board; what was learnt stays, and learning may go on later.

        The statistics are read back first. A board opened by name is closed, one that was handed
        in is free for another tree.

        If the statistics cannot be had, because the board failed, or its link was cut already, a
        warning says so, and they start anew.

        Raises
        ------
        BoardError
            If the link turns out to be cut: ``resume`` and nothing is lost, or ``close`` again and
            give the statistics up.
        """
        trainer = self.__dict__.get("_trainer")
        if trainer is None:
            return
        known = trainer.board.cut
        try:
            statistics = checkpoint.read(trainer)
        except BoardError as error:
            if trainer.board.cut and not (known or trainer.board.lost):
                raise
            statistics = checkpoint.nothing(trainer, error)
        with deferred_interrupt():
            self._checkpoint = statistics
            self._release()

    def _release(self):
        trainer = self.__dict__.pop("_trainer", None)
        self._trainer = self._unfinished = self._single = None
        if trainer is None:
            return
        trainer.leave()
        if self._opened:
            trainer.board.close()

    def __copy__(self):
        # A shallow one would change the same nodes by another board.
        return copy.deepcopy(self)

    def __deepcopy__(self, memo):
        memo[id(self)] = other = type(self).__new__(type(self))
        other.__setstate__(self.__getstate__())
        return other

    @reading
    def __getstate__(self):
        """For pickle: the board's statistics instead of the board; a copy, for learning goes on."""
        state = dict(super().__getstate__())
        for name in ("_turns", "_unfinished", "_single", "_wave"):
            state.pop(name, None)
        trainer = state.get("_trainer")
        if trainer is not None:
            state |= {"_trainer": None, "_checkpoint": checkpoint.read(trainer)}
        if isinstance(self.board, Board):
            state |= {"board": self.board.name, "geometry": self.board.geometry}
        return copy.deepcopy(state)


def _shape(cells):
    """Lanes and passes for so many cells."""
    lanes = max(min(cells, 16), -(-cells // 256))
    return {"lanes": lanes, "passes": -(-cells // lanes)}
