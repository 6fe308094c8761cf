"""What all strategies share: the budget, the calls, and how many labels have been asked for."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..estimator.inputs import as_frame, class_indices, labels_of, same_length
from ..estimator.tree import StreamTree
from ..hints import Column, Frame, Label, Self
from ..options.option import Option, integer, real
from ..words import shown

__all__ = ["Strategy"]

_BUDGET = Option("budget", real("0 to 1 (0.3 is 30 %)", lambda value: 0 <= value <= 1))
_SEED = Option("seed", integer(0), none="any")


class Strategy:
    """A tree, and a rule which instances are worth a label; base of the strategies.

    ``query`` or ``query_one`` says whose labels to ask for, ``partial_fit`` or ``learn_one`` learns
    the answers. The tree itself predicts, is saved, and learns what had labels anyway. A strategy
    is for one thread at a time; copies and pickles go on as it would.

    A subclass has its rule in ``_wants``.

    Parameters
    ----------
    tree : StreamTree
        May have learnt already.
    budget : float
        The largest share of labels asked for, 0 to 1.
    seed : int, optional
        Of what is drawn at random.

    Attributes
    ----------
    seen, asked : int
        Instances that were looked at, and those of them whose labels were asked for: never more
        than budget times seen, rounded up.

    Raises
    ------
    TypeError, ValueError
        If a parameter is none of these.

    Source: De Rosa and Cesa-Bianchi, Confidence decision trees via online and active learning for
    streaming data, JAIR 2017; docs/learners.md.
    """

    _looks_at = "predict_proba"  # the tree's call whose answer a rule is told; with "_one", of one instance

    def __init__(self, tree: StreamTree, budget: float, *, seed: int | None = None) -> None:
        if not isinstance(tree, StreamTree):
            raise TypeError(f"tree must be one of the trees, as CTree(), not {shown(tree)}")
        self.tree = tree
        _BUDGET.check(budget)
        self.budget = float(budget)
        _SEED.check(seed)
        self.seen = self.asked = 0
        self._random = np.random.default_rng(seed)
        self._knows = False  # whether the tree has learnt an instance; then it stays so

    def query(self, X: Frame) -> np.ndarray:
        """Whether to ask for each instance's label; bool array (n,).

        As ``query_one`` with one after the other, while the tree stays as it is. TypeError or ValueError if X is not as
        learnt before; it does not count as seen then.
        """
        answer = getattr(self.tree, self._looks_at)(X).tolist() if self._known() else [()] * len(as_frame(X))
        return np.array([self._asks(each) for each in answer], bool)

    def query_one(self, x: Mapping[Any, Any]) -> bool:
        """Whether to ask for this instance's label; where the budget is spent, x is not looked at."""
        answer: tuple = ()
        if self._affords() and self._known():
            answer = tuple(getattr(self.tree, f"{self._looks_at}_one")(x).values())
        return self._asks(answer)

    def partial_fit(self, X: Frame, y: Column, classes: Column | None = None) -> Self:
        """Learn the instances whose labels were asked for, in order; as the tree's ``partial_fit``."""
        self.tree.partial_fit(X, y, classes)
        return self

    def learn_one(self, x: Mapping[Any, Any], y: Label) -> Self:
        """Learn an instance whose label was asked for; as the tree's ``learn_one``."""
        self.tree.learn_one(x, y)
        return self

    def test_then_train(self, X: Frame, y: Column, classes: Column | None = None) -> np.ndarray:
        """Prequential step: predict each instance, ask for its label or not, learn it if so.

        Instance by instance, so it does not matter how a stream is cut. Returns each instance's prediction by the tree
        that had learnt all that was asked before it, array (n,). TypeError or ValueError if X, y or classes are not as
        learnt before; nothing of X has been looked at then.
        """
        if not len(y):
            return self.tree.test_then_train(X, y, classes)
        rows, labels = self._rows(X, y, classes)
        found = []
        for x, label in zip(rows, labels, strict=True):
            found.append(self.tree.predict_one(x))
            if self.query_one(x):
                self.learn_one(x, label)
        return np.array(found, self.tree.classes_.dtype)

    def report(self) -> dict[str, Any]:
        """The tree's report, and: seen, the instances looked at; labels, those asked for."""
        learnt = self.tree.report() if hasattr(self.tree, "classes_") else {}
        return learnt | {"seen": self.seen, "labels": self.asked}

    def close(self) -> None:
        """Let go of the tree's board; see the tree's ``close``."""
        self.tree.close()

    def _rows(self, X, y, classes):
        """Instances as dicts, and their labels, after all checks; the tree knows its classes from here on."""
        X, labels = as_frame(X), labels_of(y)
        same_length(X, labels)
        if not hasattr(self.tree, "classes_"):
            if classes is None:
                raise ValueError("classes must name all class labels in the first call")
            self.tree.declare(X, classes)
        class_indices(labels, self.tree.classes_)
        self.tree.apply(X)  # refuses what is none of its instances
        if isinstance(X, pd.DataFrame):
            return X.to_dict("records"), labels.tolist()
        return [dict(zip(self.tree.schema_.names, row, strict=True)) for row in X.tolist()], labels.tolist()

    def _known(self):
        """Whether the tree has learnt anything, so that it is worth a look."""
        if not self._knows:
            self._knows = hasattr(self.tree, "classes_") and self.tree.report()["instances"] > 0
        return self._knows

    def _affords(self):
        """Whether the budget allows for the next instance's label."""
        return self.asked / (self.seen + 1) < self.budget  # not a product: its rounding might add a label

    def _asks(self, answer):
        """Whether to ask, within the budget: else the rule is not consulted."""
        affords = self._affords()
        self.seen += 1
        ask = affords and self._wants(answer)
        self.asked += ask
        return ask

    def _wants(self, answer: Iterable[float]) -> bool:
        """Whether a label is wanted; ``answer`` is what the tree says of the instance, of each class, or nothing."""
        raise NotImplementedError
