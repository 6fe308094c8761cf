"""What every tree offers its users: scikit-learn's and River's calls, save and load."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from ..boards.base import Board
from ..words import one_line, shown
from . import bayes
from .conventions import Conventions
from .holder import BoardHolder
from .inputs import named_classes
from .inspection import Inspection
from .intake import Intake
from .learning import Learning
from .parameters import Parameters
from .requirements import warn_of_lost
from .resident import Resident
from .resuming import Resuming
from .river import OneByOne
from .saving import Saving
from .structure import walk
from .structure.recode import thresholds_of
from .training.steps import SAFE, Steps
from .training.tally import Tally
from .turns import changing, reading
from .weights import Weighing

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ..hints import Frame

__all__ = ["StreamTree"]


class StreamTree(
    Parameters,
    BoardHolder,
    Learning,
    Resuming,
    Saving,
    Intake,
    Inspection,
    Conventions,
    Weighing,
    OneByOne,
    ClassifierMixin,
    BaseEstimator,
):
    """Base of the trees: everything but the split policy.

    Instances are learnt as they come, from the first on. Code books of numeric attributes follow
    the stream, see `Quantiser`.

    A subclass's constructor takes the parameters that ``options.OPTIONS`` declares for it; ``_fixed``
    has those of ``SplitPolicy`` that it does not leave open and that are not as by default.

    Attributes
    ----------
    classes_ : array
        Class labels, sorted; after them those that ``learn_one`` has met later, as they came.
    n_features_in_ : int
    schema_ : Schema
    leaf_prediction_ : str
        ``leaf_prediction``, or what it has come to on the board.
    """

    # Learning

    def _learn(self, X, y, classes, weigh):
        """Learn instances as often as ``weigh(labels, classes)`` says; return predictions."""
        self._check_ready()
        X, labels, weights = self._checked(X, y, classes, weigh)
        if not len(labels):
            return (named_classes(classes) if classes is not None else self.classes_)[:0]
        found = self._finish(
            Steps(self._testing_then_training(X, labels) if weights is None else self._repeating(X, labels, weights))
        )
        warn_of_lost(self._quantiser)
        return found

    def _begin(self):
        """Set up what is to learn."""
        self._tally = Tally()
        self._trainer = None
        self._checkpoint = None
        self._nodes = None
        self._memory = None

    def _testing_then_training(self, X, labels):
        """``test_then_train`` as a generator for `Steps`."""
        trainer = self._open_trainer()  # if there is no board to be had, nothing has changed yet
        # A link may be cut, and the call finished when its X is another's.
        stretches = self._quantiser.begin(X, int(self.threads), keep=not trainer.board.instant)
        parts, at = [], 0
        while at < len(labels):
            yield SAFE  # tree and sample agree, for copies that others take meanwhile
            codes = stretches.next(at, trainer.until_review)
            before = trainer.tally.instances
            due = []
            try:
                parts.append((yield from trainer.learning(codes, labels[at : at + len(codes)])))
            finally:
                due = stretches.learnt(at, trainer.tally.instances - before)
            at += len(codes)
            if due:
                stretches.forget()
                yield from self._changing_books(due)
        return self.classes_[np.concatenate(parts)]

    def _changing_books(self, due):
        """Change the code books of these columns; a generator for `Steps`."""
        changes = self._quantiser.changes(due, used := self._thresholds())
        if changes:
            yield from self._trainer.settling()  # what a trial has decided is in codes of the old books
            if not np.array_equal(used, again := self._thresholds()):
                changes = self._quantiser.changes(due, again)
        if changes:
            yield from self._trainer.recoding(changes, self._quantiser.adopt)

    def _thresholds(self):
        return thresholds_of(self._nodes.table, self._nodes.descendants(), self.n_features_in_)

    @property
    def _board_in_use(self):
        """The one that the tree learns on, or will; None if it has no open one."""
        if self._trainer is not None:
            return self._trainer.board
        return self.board if isinstance(self.board, Board) else None

    @changing
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

    @changing
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
            How often each is learnt, at once: a trial that comes due meanwhile comes behind it. 0: it is predicted
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
        try:
            codes, labels = np.asarray(codes), np.asarray(labels)
        except Exception as error:  # whatever another library's conversion raises
            raise TypeError(f"codes and labels must be arrays ({one_line(error)})") from error
        if codes.dtype != np.uint8 or labels.dtype.kind not in "iu":
            raise TypeError(f"codes must be uint8 and labels integers, not {codes.dtype} and {labels.dtype}")
        if labels.ndim != 1 or codes.shape != (len(labels), self.n_features_in_):
            raise ValueError(
                f"codes must have the shape (n, {self.n_features_in_}) and labels (n,), "
                f"not {codes.shape} and {labels.shape}"
            )
        if len(labels) and not 0 <= labels.min() <= labels.max() < len(self.classes_):
            raise ValueError(f"labels must be 0 to {len(self.classes_) - 1}")
        trainer = self._open_trainer()
        if weights is not None:
            trainer.check_weights(weights, len(labels))
        return self._finish(Steps(trainer.learning(codes, labels.astype(np.int32), weights)))

    @changing
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
        if self.board is not resident.board:
            raise ValueError("the instances lie in another board's memory: give the tree board=resident.board")
        if resident.overwritten:
            raise ValueError(
                "the instances are not in the board's memory any more, for others have been put there, or learnt by "
                "partial_fit, which begins at byte 0: make a new Resident, at an address beyond"
            )
        if not hasattr(self, "classes_"):
            self.check_parameters()
            for name, given in (("class_weight", self.class_weight is not None), ("nominal", len(self.nominal))):
                if given:
                    raise ValueError(
                        f"{name}={shown(getattr(self, name))} is for instances that the host encodes: learn_resident "
                        "takes none"
                    )
            quantiser = self._new_quantiser(resident.schema)
            for book, edges in zip(quantiser.books, resident.edges, strict=True):
                book.edges = edges
            self._policy().check(len(resident.classes), False, self.nominal_split)
            self._start(resident.schema, quantiser, resident.classes, False)
        elif not self._is_of(resident):
            raise ValueError("this tree has learnt with other code books or classes: begin a new one")
        trainer = self._open_trainer()
        trainer.driver.declare(resident.layout, resident.keys)
        return self._finish(Steps(self._learning_resident(trainer, resident)))

    def _learning_resident(self, trainer, resident):
        right = yield from trainer.driver.learning_rows(resident.address, len(resident))
        return right / len(resident)

    def _is_of(self, resident):
        """Whether the tree encodes as the board does, and has the same classes."""
        books = [getattr(book, "edges", None) for book in self._quantiser.books]
        return (
            np.array_equal(self.classes_, resident.classes)
            and len(books) == len(resident.edges)
            and all(np.array_equal(*pair) for pair in zip(books, resident.edges, strict=True))
        )

    # Predicting

    @reading
    def predict(self, X: Frame) -> np.ndarray:
        """Class of every instance, by its leaf; array (n,)."""
        indices = self._indices(*self._routed(X))  # first: a tree that has learnt nothing says so
        return self.classes_[indices]

    @reading
    def predict_codes(self, codes: NDArray[np.uint8]) -> NDArray[np.int32]:
        """The same of instances that ``encode`` has encoded: indices into ``classes_``, int array (n,)."""
        self._grown()
        return self._indices(codes, walk.route(self._nodes.table, codes))

    @reading
    def predict_proba(self, X: Frame) -> NDArray[np.float64]:
        """Class probabilities by every instance's leaf; float array (n, classes)."""
        return self._shares(*self._routed(X))

    @reading
    def _shares_of_codes(self, codes: NDArray[np.uint8]) -> NDArray[np.float64]:
        """The same of instances that ``encode`` has encoded."""
        self._grown()
        return self._shares(codes, walk.route(self._nodes.table, codes))

    @reading
    def apply(self, X: Frame) -> NDArray[np.int64]:
        """Leaf (node number) of every instance; int array (n,)."""
        return self._routed(X)[1]

    def _routed(self, X):
        """Codes and leaves of instances."""
        self._grown()
        codes = self._quantiser.encode(self._frame(X), read_only=True, threads=int(self.threads))
        return codes, walk.route(self._nodes.table, codes)

    def _indices(self, codes, leaves):
        classes = self._nodes.majority[leaves]
        ask = self._asks_board(leaves)
        if ask.any():
            classes[ask] = self._open_trainer().driver.predict(codes[ask], leaves[ask], False)
        return classes

    def _shares(self, codes, leaves):
        shares = walk.shares(self._nodes, leaves)[:, : len(self.classes_)]
        ask = self._asks_board(leaves)
        if ask.any():
            scores = self._open_trainer().driver.predict(codes[ask], leaves[ask], True)
            shares[ask] = bayes.odds(scores[:, : len(self.classes_)])
        return shares

    def _asks_board(self, leaves):
        """Which of these leaves predict by naive Bayes; bool array."""
        self._check_unchanged()
        if self.leaf_prediction_ == "mc":
            return np.zeros(len(leaves), bool)
        self._open_trainer()  # a loaded tree's leaves get their slots there
        table = self._nodes.table[leaves]
        ask = (table["slot"] >= 0) & (table["own"] > 0)
        return ask if self.leaf_prediction_ == "nb" else ask & (table["right"] <= 0)

    def _grown(self):
        """`_fitted`, and with nodes: a tree whose first call has found no board has none yet."""
        self._fitted()
        if self._nodes is None:
            self._open_trainer()

    @changing
    def reset(self) -> None:
        """Forget everything learnt and let go of the board."""
        self._release()
        for name in (
            "classes_",
            "schema_",
            "n_features_in_",
            "feature_names_in_",
            "_grows",
            "_made_with",
            "_quantiser",
            "_nodes",
            "_checkpoint",
            "_kept_geometry",
            "_prediction",
            "_memory",
            "_fractions",
            "_columns",
        ):
            self.__dict__.pop(name, None)
