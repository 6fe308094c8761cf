"""What every tree on a board offers its users: the calls of all learners, and its board, nodes and codes."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix

from ..boards import check_name
from ..boards.base import Board
from ..data.stretches import Stretches
from ..driver import checkpoint
from ..driver.recoding import recoding
from ..driver.requirements import check_abilities, warn_of_lost
from ..driver.steps import SAFE, Steps
from ..driver.trainer import Trainer
from ..engine.event_counts import EventCounts
from ..files import check_wave
from ..hints import Frame, Label, Path
from ..policy.split_policy import SplitPolicy
from ..tree import routing as walk
from ..tree.nodes import Nodes
from ..tree.recode import thresholds_of
from ..words import shown
from . import board as tree_board
from . import predictions
from .inputs import checked_codes
from .looking import inspection
from .looking.draw import Drawn, View
from .looking.explanation import Explanation, explain
from .looking.history import History, history_of
from .one_by_one import Single
from .parameters import TreeParameters
from .resident import Resident, begin_with, check_resident, learning
from .stream import StreamLearner
from .turns import at_any_time, in_turn

if TYPE_CHECKING:
    from ..link import Statistics


class StreamTree(StreamLearner, Drawn, TreeParameters):
    """Base of the trees: everything but the split policy.

    Instances are learnt as they come, from the first on. Code books of numeric attributes follow
    the stream, see `Quantiser`.

    A subclass has the parameters that ``options.OPTIONS`` declares for it; ``_fixed`` has those of ``SplitPolicy``
    that it does not leave open and that are not as by default.

    ``_trainer`` is what learns on the board, None while there is none; ``_checkpoint`` the statistics that are to go to
    the next one. ``_opened``: its board is its own, to be closed; the parameter may be another by then.
    """

    _fixed: dict[str, Any] = {}
    _nodes: Nodes
    _trainer: Trainer | None
    _kept_geometry = None  # of the board which a loaded tree was saved with
    _wave: Path | None = None  # the file that the board is to write a waveform to
    _prediction = None  # what leaves predict by, from the first board on
    _memory = None  # the last instances, of a tree with a window; from the first board on
    _check_size, _open_trainer, _trainer_on = tree_board.check_size, tree_board.open_trainer, tree_board.trainer_on
    _rule = "majority class"  # of leaves that do not predict by naive Bayes
    _tells = True  # what its board lacks; of trees on boards alike only the first one does

    # Parameters

    def check_parameters(self) -> None:
        policy = self._policy()
        geometry = tree_board.given_geometry(self)
        super().check_parameters()
        if geometry is not None:
            check_abilities(geometry, policy, tree_board.prediction_on(self, geometry))
        if not isinstance(self.board, Board):
            check_name(self.board)

    def _policy(self):
        known = SplitPolicy.__dataclass_fields__
        return SplitPolicy(**{name: value for name, value in self._chosen().items() if name in known}, **self._fixed)

    def _keep_fixed(self, **policy):
        """Have more of ``SplitPolicy`` that is not left open, of this tree alone."""
        self._fixed_here = policy
        self._fixed = {**type(self)._fixed, **policy}

    def _join(self, other, **policy):
        """Begin with what another learner, a StreamLearner, knows of the stream, and share its code books.

        ``policy`` is of ``SplitPolicy``, besides what the parameters say.
        """
        self._keep_fixed(**policy)
        self._start(other.schema_, other._quantiser, other.classes_, hasattr(other, "feature_names_in_"))
        self._grows = other._grows

    # Learning

    def _begin(self):
        self._event_counts = EventCounts()
        self._trainer = self._checkpoint = self._nodes = self._memory = None

    def _testing_then_training(self, X, labels):
        trainer = self._open_trainer()  # if there is no board to be had, nothing has changed yet
        # A link may be cut, and the call finished when its X is another's.
        stretches = Stretches(self._quantiser, X, int(self.threads), keep=not trainer.board.instant)
        parts, at = [], 0
        while at < len(labels):
            yield SAFE  # tree and sample agree, for copies that others take meanwhile
            codes = stretches.next(at, trainer.until_review)
            before = trainer.event_counts.instances
            try:
                parts.append((yield from trainer.learning(codes, labels[at : at + len(codes)])))
            finally:
                due = stretches.learnt(at, trainer.event_counts.instances - before)
            at += len(codes)
            if due:
                stretches.forget()
                yield from self._changing_books(due)
        return self.classes_[np.concatenate(parts)]

    def _changing_books(self, due):
        """Change the code books of these columns; a generator for `Steps`."""
        changes = self._quantiser.changes(due, used := self._thresholds())
        if changes:
            yield from self._trainer.settling()  # what an attempt has decided is in codes of the old books
            if not np.array_equal(used, again := self._thresholds()):
                changes = self._quantiser.changes(due, again)
        if changes:
            yield from recoding(self._trainer, changes, self._quantiser.adopt)

    def _thresholds(self):
        return thresholds_of(self._nodes.table, self._nodes.descendants(), self.n_features_in_)

    def encode(self, X: Frame) -> NDArray[np.uint8]:
        """The codes of instances by the code books as they are.

        New nominal values get codes. Instances that are learnt by ``learn_codes`` change no book,
        so that their codes may be worked out ahead; any other call that learns may.

        Returns
        -------
        uint8 array (n, attributes)
        """
        self._fitted()
        codes = self._quantiser.encode(self._frame(X), threads=int(self.threads))
        warn_of_lost(self._quantiser)
        return codes

    def learn_codes(
        self, codes: ArrayLike, labels: ArrayLike, weights: NDArray[np.int32] | None = None
    ) -> NDArray[np.int32]:
        """Test, then train on instances that ``encode`` has encoded.

        Parameters
        ----------
        codes : uint8 array (n, attributes)
            Of a nominal attribute less than it has room for values, or 255: missing.
        labels : int32 array (n,)
            Indices into ``classes_``.
        weights : int32 array (n,), optional
            How often each is learnt, at once: an attempt that comes due meanwhile comes behind it. 0: it is predicted
            only. Not for a tree with a window; up to 63 on a board that holds the tree itself.

        Returns
        -------
        int32 array (n,)
            Predicted indices.

        Raises
        ------
        TypeError, ValueError
            If codes, labels or weights are not as above; nothing is learnt then.
        """
        self._fitted()
        self._check_ready()
        rows, indices = checked_codes(codes, labels, self.n_features_in_, len(self.classes_))
        trainer = self._open_trainer()
        if weights is not None:
            trainer.check_weights(weights, len(rows))
        return self._finish(Steps(trainer.learning(rows, indices, weights)))

    def learn_resident(self, resident: Resident) -> float:
        """Test, then train on instances that lie in the memory of the tree's board.

        A new tree takes their classes and code books. It may learn them again, or others by the same books.

        Parameters
        ----------
        resident : Resident
            On the board that is this tree's ``board``.

        Returns
        -------
        float
            The share of them that the tree predicted right before it learnt them.

        Raises
        ------
        TypeError
            If ``resident`` is none.
        ValueError
            If they lie elsewhere, or do no more; if the tree has learnt others before, with other code books; or has
            ``class_weight`` or ``nominal``.
        BoardError
            If the board fails; if its link was cut, `resume` finishes the call.
        """
        self._check_ready()
        if not isinstance(resident, Resident):
            raise TypeError(f"resident must be a Resident, not {shown(resident)}")
        check_resident(resident, self)
        if not hasattr(self, "classes_"):
            self.check_parameters()
            begin_with(resident, self)
        trainer = self._open_trainer()
        trainer.driver.declare(resident.layout, resident.keys)
        return self._finish(Steps(learning(resident, trainer)))

    # One by one

    def _alone(self):
        self._check_ready()
        if self._single is None:
            trainer, once = self._open_trainer(), self.class_weight is None
            self._single = Single(self._quantiser, trainer, self.classes_, once, self._grows)
        return self._single

    def _shares_of(self, single):
        return predictions.shares(self, single.codes, walk.route(self._nodes.table, single.codes))[0]

    def _make_classes(self, count):
        tree_board.make_room(self, count)
        self._trainer.count_classes(count)

    def _make_attributes(self, schema):
        capacities = self._capacities(schema.attributes[len(self.schema_.attributes) :])
        quantiser = self._quantiser.extended(schema, [capacity or 1 for capacity in capacities])
        if any(capacities):
            self._policy().check(len(self.classes_), True, self.nominal_split)
        tree_board.make_cells(self, quantiser)
        if self._single is not None:
            self._single.extend(quantiser)

    # Predicting

    def predict(self, X: Frame) -> np.ndarray:
        """Class of every instance, by its leaf; array (n,)."""
        indices = predictions.indices(self, *self._routed(X))  # first: a tree that has learnt nothing says so
        return self.classes_[indices]

    def predict_codes(self, codes: NDArray[np.uint8]) -> NDArray[np.int32]:
        """The same of instances that ``encode`` has encoded: indices into ``classes_``, int array (n,)."""
        self._grown()
        return predictions.indices(self, codes, walk.route(self._nodes.table, codes))

    def predict_proba(self, X: Frame) -> NDArray[np.float64]:
        """Class probabilities by every instance's leaf; float array (n, classes)."""
        return predictions.shares(self, *self._routed(X))

    @in_turn
    def _shares_of_codes(self, codes: NDArray[np.uint8]) -> NDArray[np.float64]:
        """The same of instances that ``encode`` has encoded."""
        self._grown()
        return predictions.shares(self, codes, walk.route(self._nodes.table, codes))

    def apply(self, X: Frame) -> NDArray[np.int64]:
        """Leaf (node number) of every instance; int array (n,)."""
        return self._routed(X)[1]

    def _routed(self, X):
        """Codes and leaves of instances."""
        self._grown()
        codes = self._quantiser.encode(self._frame(X), read_only=True, threads=int(self.threads))
        return codes, walk.route(self._nodes.table, codes)

    def _grown(self):
        """`_fitted`, and with nodes: a tree whose first call has found no board has none yet."""
        self._fitted()
        if self._nodes is None:
            self._open_trainer()

    # Looking

    def report(self) -> dict[str, Any]:
        """Sizes and counts as a dict: instances, nodes, leaves, depth, splits, ties, attempts ...

        ``leaf_prediction``: what leaves predict by.
        ``slots``: those in use on the board, or that it will take when it is opened.
        """
        self._fitted()
        return inspection.report(self)

    def leaf_counts(self, X: Frame) -> NDArray[np.int64]:
        """How many instances of each class the leaf of every instance counts; int array (n, classes).

        Those that its majority class is found by: with ``child_counts="inherit"`` the split above
        has given it some.
        """
        leaves = self.apply(X)
        return self._nodes.counts[leaves, : len(self.classes_)]

    def leaf_counts_one(self, x: Mapping[Any, Any]) -> dict[Label, int]:
        """The same for one instance, by label; empty before any was learnt."""
        single = self._single or self._alone_if_begun()
        if single is None:
            return {}
        found = single.predict(x)
        leaf = walk.route(self._nodes.table, single.codes)[0] if found is None else found[0]
        return dict(zip(single.labels, self._nodes.counts[leaf].tolist(), strict=False))

    def explain_one(self, x: Mapping[Any, Any]) -> Explanation:
        """Why one instance is predicted as it is: its path, its leaf, which rule predicts, what each attribute tells.

        Parameters
        ----------
        x : dict
            As of ``predict_one``.
        """
        self._grown()
        return explain(self, x, self._rule)

    @property
    def history(self) -> History:
        """The last 10,000 splits, replacements, prunings, drifts and alternates, and how many older ones are gone.

        The same on all boards. Files and copies keep it.
        """
        self._fitted()
        return history_of(self._event_counts.history, self.schema_, self._quantiser.books)

    def _shown(self):
        self._grown()
        note = "" if self._nodes.deepest else inspection.unsplit(self)
        return View(self._nodes, self._quantiser, self.schema_, self.classes_, note)

    @at_any_time
    def difference(self, other: StreamTree) -> str | None:
        """The first difference from another tree in words, or None."""
        mine, theirs = (tree._copied_nodes() for tree in (self, other))
        return mine.difference(theirs)

    @in_turn
    def _copied_nodes(self):
        self._grown()
        return deepcopy(self._nodes)

    def counters(self) -> dict[str, int]:
        """The board's performance counters; see ``Board.counters``."""
        self._fitted()
        trainer = self._open_trainer()
        trainer.driver.fence()  # or the last records would still be under way
        return trainer.board.counters()

    def link_statistics(self) -> Statistics | None:
        """Frames and bytes to and from the board; see ``Board.statistics``. None: no link."""
        return None if self._trainer is None else self._trainer.board.statistics()

    def _exported(self):
        return [self._voter()]

    def _voter(self, weight=1.0):
        """What is exported of the tree: its nodes, and what leaves predict."""
        self._grown()
        return predictions.voter(self, weight)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """How much each attribute's splits lessen the impurity; float array (attributes,), sum 1.

        The impurity is that of the criterion, of the classes that the leaves count for their
        predictions, an inner node having the sum of its leaves'. All 0 if nothing has been split.
        """
        view, criterion = self._shown(), self._policy().options.criterion
        return inspection.importances(view, view.nodes.predicting()[::-1].tolist(), criterion, self.n_features_in_)

    def decision_path(self, X: Frame) -> csr_matrix:
        """The nodes that instances pass.

        Returns
        -------
        csr_matrix of int (n, nodes)
            1 where an instance (row) passes a node (column); node 0 is the root, and ``apply``
            says which one is the leaf. Numbers of nodes that are gone are columns of zeros.
        """
        leaves = self.apply(X)  # first: a tree that has learnt nothing says so
        return inspection.paths(self._nodes, leaves)

    # The board

    @property
    def leaf_prediction_(self) -> str:
        """What leaves predict by: ``leaf_prediction``, or what it has come to on the board."""
        return self._prediction or tree_board.prediction_on(self, tree_board.given_geometry(self))

    @property
    def _board_in_use(self):
        if self._trainer is not None:
            return self._trainer.board
        return self.board if isinstance(self.board, Board) else None

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
        tree_board.close(self)

    def reset(self) -> None:
        """Forget everything learnt and let go of the board."""
        tree_board.release(self)
        self._forget()

    def _state(self):
        """What a copy has: the board's statistics instead of the board."""
        state = super()._state()
        if self.__dict__.get("_trainer") is not None:
            state |= {"_trainer": None, "_checkpoint": checkpoint.read(self._trainer)}
        return state
