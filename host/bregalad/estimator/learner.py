"""What every learner offers its users: scikit-learn's calls, files, copies."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError

from ..boards.base import Board
from ..data.iterables import parts_of
from ..hints import Column, Frame, Path, Self
from ..options.option import Option
from ..options.table import OPTIONS
from ..policy.split_policy import SplitPolicy
from ..warn import warn
from ..words import shown
from .inputs import as_frame, class_indices, class_set, labels_of, same_length
from .parameters import same
from .saving import storage
from .turns import Turns, at_any_time, in_turn, take_turns
from .weights import weights_of

if TYPE_CHECKING:
    from onnx import ModelProto

# What a learner has learnt, and what copies and pickles are without.
_LEARNT = (
    *("classes_", "schema_", "n_features_in_", "feature_names_in_", "_grows", "_made_with", "_quantiser", "_fractions"),
    *("_columns", "_nodes", "_checkpoint", "_kept_geometry", "_prediction", "_memory", "_tree", "_members", "_seen"),
    *("trees_", "_curve", "_windows"),
)
_PASSING = ("_turns", "_unfinished", "_single", "_wave", "_workers", "_shared_board")


class Learner(ClassifierMixin, BaseEstimator):
    """Base of trees and ensembles.

    A subclass has, besides the public calls that are not implemented here:

    * ``_prepare(X, classes)``: schema and quantiser for the first instances, after all checks; changes nothing.
    * ``_weights(labels, classes, sample_weight, whole=False)``: as ``weights.instance_weights``.
    * ``_learn(X, y, classes, weigh)``: learns instances as often as ``weigh(labels, classes)`` says, and returns
      predictions if that costs nothing; ``_test_then_learn``, the same, always returns them.

    Any number of threads may call a learner's methods at the same time: its public ones take turns, see `Turns`.
    """

    _table: tuple[Option, ...] = OPTIONS
    _name = ""  # in that table; else it is the class's, in small letters
    _options: tuple[str, ...] = ()  # parameters in the table of options; a subclass's constructor may take others
    _storage: ModuleType = storage  # what its files contain
    _columns: dict[str, Any] | None = None  # of the file that it was learnt from: "class", and those "ignored"
    _curve: dict[str, Any] | None = None  # of the runs of ``train`` that it was learnt in: see `looking.page`

    def __new__(cls, *_, **options):
        learner = super().__new__(cls)
        learner._turns = Turns()  # here: copies and unpickled ones, which skip __init__, have one
        return learner

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        take_turns(cls)

    def check_parameters(self) -> None:
        """Refuse wrong parameters with a ValueError or TypeError, before any data are read."""
        raise NotImplementedError

    def _test_then_learn(self, X, y, classes, weigh):
        return self._learn(X, y, classes, weigh)

    def predict(self, X: Frame) -> np.ndarray:
        """Class of every instance; array (n,)."""
        raise NotImplementedError

    def predict_proba(self, X: Frame) -> NDArray[np.float64]:
        """Class probabilities of every instance; float array (n, classes)."""
        raise NotImplementedError

    def report(self) -> dict[str, Any]:
        """Sizes and counts as a dict."""
        raise NotImplementedError

    def reset(self) -> None:
        """Forget everything learnt."""
        raise NotImplementedError

    # Parameters

    def set_params(self, **params: Any) -> Self:
        """As scikit-learn's."""
        return super().set_params(**params)

    def _chosen(self):
        """The options with their values."""
        return {name: getattr(self, name) for name in self._options}

    def _decisive(self):
        """Those parameters, with their values, that a learner keeps from its first instance on."""
        names = {*SplitPolicy.__dataclass_fields__, "leaf_prediction", "nominal_split"}
        return {name: value for name, value in self._chosen().items() if name in names}

    def _check_unchanged(self):
        """Refuse with a ValueError what was changed (``set_params``) since the first instance."""
        for name, value in self.__dict__.get("_made_with", {}).items():
            if not same(now := self._current(name), value):
                raise ValueError(
                    f"{name} was {shown(value)} when this {type(self).__name__} began to learn, and is "
                    f"{shown(now)} now: that takes effect with fit or reset; set it back to go on"
                )

    def _current(self, name):
        """The value of a decisive parameter."""
        return getattr(self, name)

    # Learning

    def fit(self, X: Frame, y: Column, sample_weight: Column | None = None) -> Self:
        """Learn from scratch.

        Parameters as in ``partial_fit``; but weights that are all below 1 are scaled to a mean of 1. Of one class only,
        a warning says so.
        """
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        labels = labels_of(y)
        if not len(labels):
            raise ValueError("there must be at least 1 instance, found array with 0 sample(s)")
        frame = as_frame(X)
        same_length(frame, labels)
        classes = class_set(labels)
        self._prepare(frame, classes)  # refuses bad input while the old tree is still there
        weights = self._weights(class_indices(labels, classes), classes, sample_weight, whole=True)
        if weights is not None and not weights.any():
            raise ValueError("all weights are zero: there is nothing to learn")
        if len(classes) == 1:
            warn(
                f"y has one class only, {shown(classes.tolist()[0])}: this is all that will ever be predicted; where "
                "others are to come, partial_fit is told all of them by classes"
            )
        self.reset()
        self._learn(frame, labels, classes, lambda *_: weights)
        return self

    def partial_fit(
        self, X: Frame, y: Column, classes: Column | None = None, sample_weight: Column | None = None
    ) -> Self:
        """Learn instances in order.

        Parameters
        ----------
        X : data frame of any library or array (n, attributes)
        y : sequence (n,)
        classes : collection
            All labels that will ever come; needed with the first call.
        sample_weight : sequence (n,) or number
            How often each instance is learnt, 0 to 10,000. Fractions are saved up per class, and
            where those of a class come to 1 its instance is learnt once more.

        Raises
        ------
        TypeError, ValueError
            If X, y, classes or weights are not as learnt before, or wrong; nothing of X is learnt
            then.
        BoardError
            If the board fails; if its link was cut, `resume` finishes the call.
        """
        self._learn(X, y, classes, lambda labels, known: self._weights(labels, known, sample_weight))
        return self

    @at_any_time
    def learn_stream(self, stream: Iterable[Any], class_name: str | None = None, classes: Column | None = None) -> Self:
        """Learn all that an iterable brings, in order, in constant memory: the same as by ``partial_fit``.

        Parameters
        ----------
        stream : iterable
            Of dicts or data frames, with the class ``class_name``; of pairs of a dict and a label, as in River; or of
            pairs ``(X, y)``. Dicts are learnt by the thousand, the last ones even if the iterable raises; a key that
            is absent is missing.
        class_name : str
        classes : collection
            As in ``partial_fit``, as are errors; what came before one is learnt.
        """
        for X, y in parts_of(stream, class_name, lambda: getattr(self, "feature_names_in_", ())):
            self.partial_fit(X, y, classes)
        return self

    def test_then_train(self, X: Frame, y: Column, classes: Column | None = None) -> np.ndarray:
        """Prequential step: predict each instance, then learn it.

        Returns
        -------
        array (n,)
            Each instance's prediction by the tree that had learnt all before it.

        Raises
        ------
        TypeError, ValueError, BoardError
            As ``partial_fit``; and if ``class_weight`` is below 1, for what is not learnt is not
            predicted either.
        """

        def weigh(labels, classes):
            weights = self._weights(labels, classes, None)
            if weights is not None and len(weights) and weights.min() < 1:
                raise ValueError(
                    "test_then_train predicts instances as they are learnt, so each "
                    "must be: class_weight must be 1 or more; partial_fit takes less"
                )
            return weights

        return self._test_then_learn(X, y, classes, weigh)

    def _fitted(self):
        if not hasattr(self, "classes_"):
            raise NotFittedError(
                f"this {type(self).__name__} has not learnt anything yet: call fit or partial_fit first"
            )

    def _forget(self):
        """Be without anything learnt."""
        for name in _LEARNT:
            self.__dict__.pop(name, None)

    # Looking

    def get_depth(self) -> int:
        """Splits from the root to the deepest leaf."""
        return self.report()["depth"]

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        return self.report()["leaves"]

    def score(self, X: Frame, y: Column, sample_weight: Column | None = None) -> float:
        """Accuracy of ``predict(X)``: the share, by weight, of the labels ``y`` that it meets."""
        labels = labels_of(y)
        weights = None if sample_weight is None else weights_of(sample_weight, len(labels))
        return super().score(X, labels, weights)

    def predict_log_proba(self, X: Frame) -> NDArray[np.float64]:
        """Logarithms of ``predict_proba``; minus infinity for a class that cannot be."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    # Keeping

    def save(self, path: Path, run: dict[str, Any] | None = None) -> None:
        """Write all that was learnt, the quantiser and the board's statistics, to a file.

        Parameters
        ----------
        path : str or Path
        run : dict, optional
            How far a run has come, in JSON's types; kept beside the rest.
        """
        self._fitted()
        storage.check_class(type(self))
        self._check_unchanged()
        self.check_parameters()  # or nothing could read the file
        kept = {"run": run, "columns": self._columns, "curve": self._curve}
        self._storage.save(self, path, {name: entry for name, entry in kept.items() if entry is not None})

    # Exports

    def to_onnx(self, path: Path | None = None, *, opset: int = 17) -> ModelProto | None:
        """What `predict` and `predict_proba` say, as an ONNX model; see docs/export.md.

        Parameters
        ----------
        path : str or Path, optional
            A file to write; None: the model is returned.
        opset : int
            The version of ONNX's operators, 13 or more.

        Raises
        ------
        ImportError
            Without the package onnx.
        NotFittedError, ValueError
            If nothing has been learnt; if the learner, its labels or the opset cannot be exported.
        """
        from ..export import graph

        return graph.write(self._described(), path, opset)

    def to_c(self, path: Path | None = None, *, name: str = "model") -> str | None:
        """What `predict` says, as C99 to be included, whose names begin with ``name``; else as `to_onnx`."""
        from ..export import source

        return source.write(self._described(), path, name)

    def to_json(self, path: Path | None = None) -> str | None:
        """What `predict` and `predict_proba` say, as JSON; else as `to_onnx`."""
        from ..export import model

        return model.write(self._described(), path)

    def as_numbers(self, X: Frame) -> NDArray[np.float64]:
        """Instances as exports take them: numbers, and codes of nominal values; NaN is missing.

        Returns
        -------
        float64 array (n, attributes)
        """
        from ..export.model import numbers_of

        self._fitted()
        return numbers_of(self._quantiser, as_frame(X))

    def _described(self):
        from ..export.model import describe

        self._fitted()
        if not self.report()["instances"]:
            raise NotFittedError(f"this {type(self).__name__} has learnt no instance yet: there is nothing to export")
        return describe(type(self).__name__, self._exported(), self._quantiser, self.classes_.tolist())

    def _exported(self):
        """What is exported: list of ``export.model.Voter``."""
        raise ValueError(f"{type(self).__name__} keeps its instances, and is not exported: VFDT, EFDT and others are")

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

    def __copy__(self):
        # A shallow one would change the same tree by another board.
        return copy.deepcopy(self)

    def __deepcopy__(self, memo):
        memo[id(self)] = other = type(self).__new__(type(self))
        other.__setstate__(self.__getstate__())
        return other

    @in_turn
    def __getstate__(self):
        """For copies and pickle: a copy, for learning goes on."""
        return copy.deepcopy(self._state())

    def _state(self):
        """What a copy has: of an open board the name."""
        state = {name: value for name, value in super().__getstate__().items() if name not in _PASSING}
        if isinstance(board := state.get("board"), Board):
            state |= {"board": board.name, "geometry": board.geometry}
        return state

    def __setstate__(self, state):
        super().__setstate__(state)
        _owned(self)


take_turns(Learner)


def _owned(value):
    """The same with copies of arrays that joblib mapped into memory: learning writes to them."""
    if isinstance(value, np.memmap):
        return np.array(value)
    if isinstance(value, dict):
        return {key: _owned(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_owned(part) for part in value]
    if isinstance(value, tuple):
        parts = map(_owned, value)
        return value._make(parts) if hasattr(value, "_make") else tuple(parts)
    if type(value).__module__.startswith(__package__.partition(".")[0]) and hasattr(value, "__dict__"):
        value.__dict__.update(_owned(vars(value)))
    return value
