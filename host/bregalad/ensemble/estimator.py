"""What every ensemble offers its users: scikit-learn's and River's calls, save and load."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..boards.base import BoardError
from ..data.stretches import Stretches
from ..driver.steps import SAFE, Steps
from ..estimator import board as tree_board
from ..estimator.one_by_one import OneByOne
from ..estimator.stream import StreamLearner
from ..estimator.tree import StreamTree
from ..estimator.turns import at_any_time, in_turn
from ..hints import Frame
from ..learners.hoeffding import VFDT
from ..predictors import predictor_of
from . import options, storage
from .member import Member
from .share import Known, Share
from .shared_board import SharedBoard, alone, check_template, is_shared
from .votes import elect
from .workers import Workers

_BATCH = 4096  # instances that a member learns or looks at before the next one does; nothing depends on it
_TOLD = ("_quantiser", "schema_", "classes_", "n_features_in_", "feature_names_in_")  # what trees share with it


@dataclass(eq=False, repr=False, kw_only=True)
class Parameters:
    """Those of all ensembles."""

    tree: StreamTree | None = field(default=None, kw_only=False)
    members: int = 10
    rate: float = 6.0
    seed: int = 1
    threads: int = 1
    engine: str | None = None


def _of_template(name):
    """A parameter that the tree says."""
    return property(at_any_time(lambda ensemble: getattr(ensemble._template, name)), doc=f"The tree's ``{name}``.")


class Ensemble(StreamLearner, Parameters):
    """Base of the ensembles: trees that learn the same stream, each its own share of it, and vote.

    A subclass says in ``_style`` how its members are, and in ``_learn_all`` how they learn.
    """

    _storage = storage
    _trees_each = 1  # that a member may have at a time
    _table = options.OPTIONS
    _usual: dict[str, Any] = {}  # parameters of the VFDT that members are like if no tree is given
    _shared_board = None  # the board that members share
    _workers = None  # of the workers that have the members; `_members` are older then

    # Parameters: what concerns the stream, the tree says

    @property
    def _template(self):
        return VFDT(**self._usual) if self.tree is None else self.tree

    nominal, nominal_values = _of_template("nominal"), _of_template("nominal_values")
    nominal_split, class_weight = _of_template("nominal_split"), _of_template("class_weight")

    def _policy(self):
        return self._template._policy()

    def check_parameters(self) -> None:
        for option in options.OPTIONS:
            if option.name in self._options:
                option.check(getattr(self, option.name))
        check_template(self)

    def _decisive(self):
        own = {name: value for name, value in self._chosen().items() if name not in ("tree", "threads", "engine")}
        return own | self._template._decisive()

    def _current(self, name):
        return getattr(self if name in self._options else self._template, name)

    def _check_size(self, capacities, classes):
        self._template._check_size(capacities, classes)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._template.__sklearn_tags__().classifier_tags.multi_class
        return tags

    # Learning

    def _begin(self):
        style = self._style()
        self._seen = 0  # instances
        self._members = [Member(number, style) for number in range(int(self.members))]
        for member in self._members:
            member.tree = member.plant(self)

    @property
    def members_(self) -> list[Member]:
        """The members as they are now, list; of those on workers, copies."""
        if self._workers is not None:
            self._members = self._workers.members()
            self._tell()
        elif "_members" not in self.__dict__:
            raise AttributeError("members_: there are none before fit")
        return self._members

    def _tell(self):
        """Have all trees know what this knows of the stream."""
        for tree in self._trees:
            vars(tree).update({name: vars(self)[name] for name in _TOLD if name in vars(self)})

    def _open_share(self):
        """What learns and votes: a share of all members, or workers."""
        if self._workers is not None and self._workers.engine != self.engine:
            self._recall()
        if self.engine is None:
            return self._share()
        if self._workers is None:
            self.check_parameters()
            self._workers = Workers(self.engine, self._members, Known(self), int(self.threads))
        return self._workers

    def _share(self):
        self._settle_down()
        return Share(self._members, self, int(self.threads))

    def _voters(self):
        """A share that votes; where no tree asks a board, none is opened."""
        trees = [member.tree for member in self._members]
        if any(tree._nodes is None or predictor_of(tree.leaf_prediction_).takes_bayes for tree in trees):
            return self._share()
        return Share(self._members, self, int(self.threads))

    def _settle_down(self):
        """See to the board that members share."""
        if self._shared_board is None and is_shared(self._template):
            self._shared_board = SharedBoard(self._template, self._members, self._trees_each)

    def _let_go(self):
        """Let go of all boards in this process."""
        self._single = None
        for member in self.__dict__.get("_members", []):
            member.drop_spare()
        for tree in self._trees:
            tree.close()
        self._unfinished = None
        if self._shared_board is not None:
            shared, self._shared_board = self._shared_board, None
            shared.leave()

    @property
    def _board_in_use(self):
        return None if self._shared_board is None else self._shared_board.board

    def _recall(self):
        """Have all members in this process again."""
        if self._workers is not None:
            members, workers = self.members_, self._workers
            self._workers = None
            workers.dismiss()
            self._members = members

    def _check_workers(self):
        """Have the members of workers that are no more in this process, for others; an error if there is no cluster."""
        workers = self._workers
        if workers is None or workers.ended is None:
            return
        self._recall()
        if workers.trouble:
            raise BoardError(
                f"{self.engine}: {workers.ended}. All {self._seen} instances learnt are kept here: the ensemble can be "
                "saved and goes on with the next one, with engine=None or on a cluster"
            )

    @property
    def _watching(self):
        """The windows that are watched with; list of float64 arrays (windows, elements)."""
        return [member.windows for member in self.members_]

    @property
    def _trees(self):
        """All trees in this process, those that grow in the background, too."""
        return [tree for member in self.__dict__.get("_members", []) for tree in member.trees]

    def _gather(self):
        """Have all trees in this process, on their boards, and none whose turn is yet to come."""
        self._recall()
        self._settle_down()
        for member in self._members:
            member.drop_spare()

    def _testing_then_training(self, X, labels):
        self._check_workers()
        self._open_share().open()  # if there is no memory for a board, or no worker, nothing has changed yet
        # A link may be cut, and the call finished when its X is another's.
        stretches = Stretches(self._quantiser, X, int(self.threads), keep=self._shared_board is not None)
        parts, at = [], 0
        while at < len(labels):
            yield SAFE
            self._check_workers()
            codes = stretches.next(at, _BATCH)
            before = self._seen
            try:
                parts.append((yield from self._taking(codes, labels[at : at + len(codes)])))
            finally:
                due = stretches.learnt(at, self._seen - before)
            at += len(codes)
            if due:
                stretches.forget()
                yield from self._changing_books(due)
        return self.classes_[np.concatenate(parts)]

    def _taking(self, codes, labels):
        """Predict, then learn instances by all members; class indices; a generator for `Steps`.

        Ctrl-C does not end it, or members would have learnt what others have not.
        """
        found, weights = yield from self._learn_all(codes, labels)
        self._seen += len(labels)
        return elect(found, weights, len(self.classes_))

    def _learn_all(self, codes, labels):
        """What members predict, int32 array (members, n), and what their votes count, float array of that shape."""
        return self._open_share().learn(codes, labels, self._seen)

    def _changing_books(self, due):
        share = self._open_share()
        changes = self._quantiser.changes(due, used := share.thresholds())
        if changes:
            yield from share.settle()
            if not np.array_equal(used, again := share.thresholds()):
                changes = self._quantiser.changes(due, again)
        if changes:
            yield from share.recode(changes)
            self._quantiser.adopt(changes)

    # One by one

    def _alone(self):
        self._check_ready()
        if self._single is None:
            self._open_share().open()
            once = self.class_weight is None and self._shared_board is None
            self._single = OneByOne(self._quantiser, self.classes_, once, self._grows, self._take_one)
        return self._single

    def _take_one(self, single, place):
        self._check_workers()
        self._finish(Steps(self._taking(single.codes, np.array([place], np.int32))))
        single.seen()

    def _label_of(self, single):
        return int(self._elected(single.codes)[0])

    def _shares_of(self, single):
        return self._shares(single.codes)[0]

    def _make_classes(self, count):
        self._gather()
        for tree in self._trees:
            tree._make_classes(count)

    def _with_class(self, classes):
        super()._with_class(classes)
        self._tell()

    def _make_attributes(self, schema):
        capacities = self._capacities(schema.attributes)
        more = capacities[len(self._quantiser.books) :]
        quantiser = self._quantiser.extended(schema, [capacity or 1 for capacity in more])
        self._policy().check(len(self.classes_), any(capacities), self.nominal_split)
        self._check_size(capacities, len(self.classes_))
        self._gather()
        for tree in self._trees:
            tree_board.make_cells(tree, quantiser)
        self._quantiser, self._single = quantiser, None

    def _with_attributes(self, more):
        super()._with_attributes(more)
        self._tell()

    # Predicting

    def predict(self, X: Frame) -> np.ndarray:
        """Class of every instance: the one that most votes are for; array (n,)."""
        indices = self._elected(self._encoded(X))  # first: an ensemble that has learnt nothing says so
        return self.classes_[indices]

    def predict_proba(self, X: Frame) -> NDArray[np.float64]:
        """The mean of the members' class probabilities, weighted as their votes; float array (n, classes)."""
        return self._shares(self._encoded(X))

    def _encoded(self, X):
        self._fitted()
        return self._quantiser.encode(self._frame(X), read_only=True, threads=int(self.threads))

    def _elected(self, codes):
        """Class indices of instances; int32 array (n,)."""
        self._check_unchanged()
        found, weights = (self._workers or self._voters()).vote(codes)
        return elect(found, np.repeat(weights[:, np.newaxis], len(codes), axis=1), len(self.classes_))

    def _shares(self, codes):
        self._check_unchanged()
        share, means = self._workers or self._voters(), np.zeros((len(codes), len(self.classes_)))
        for at in range(0, len(codes), _BATCH):
            shares, weights = share.shares(codes[at : at + _BATCH])
            # In order, for only then sums are the same wherever members are.
            for each, weight in zip(shares, weights / weights.sum(), strict=True):
                means[at : at + _BATCH] += weight * each
        return means

    # Looking

    def report(self) -> dict[str, Any]:
        """Sizes and counts as a dict, those of the trees that vote added up; ``depth`` is the deepest one's.

        ``instances`` : learnt by the ensemble. ``background``: trees that grow in it. ``warnings``, ``drifts``.
        """
        self._fitted()
        members = self.members_
        reports = [member.tree.report() for member in members]
        names = [name for name in reports[0] if name not in ("instances", "depth", "leaf_prediction")]
        return {name: sum(report[name] for report in reports) for name in names} | {
            "instances": self._seen,
            "depth": max(report["depth"] for report in reports),
            "leaf_prediction": reports[0]["leaf_prediction"],
            "members": len(members),
            "background": sum(member.background is not None for member in members),
            "warnings": sum(member.warnings for member in members),
            "drifts": sum(member.drifts for member in members),
        }

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The mean of the members', see ``VFDT.feature_importances_``; float array (attributes,), sum 1, or all 0."""
        self._fitted()
        found = sum(member.tree.feature_importances_ for member in self.members_)
        total = found.sum()
        return found / total if total else found

    def _exported(self):
        return [member.tree._voter(member.weight) for member in self.members_]

    # Keeping

    def reset(self) -> None:
        self._single = None
        if self._workers is not None:
            self._workers.dismiss()
            self._workers = None
        for tree in self._trees:
            tree.reset()
        self._let_go()
        self._forget()

    def close(self) -> None:
        """Let go of the members' boards and workers; what was learnt stays, and learning may go on later."""
        self._recall()
        self._let_go()

    @in_turn
    def __getstate__(self):
        state = super().__getstate__()
        if self.tree is not None and is_shared(self.tree):
            alone(state["tree"], int(self.members) * self._trees_each)
        return state

    def _state(self):
        members = {} if self._workers is None else {"_members": self.members_}
        return super()._state() | members

    def __setstate__(self, state):
        super().__setstate__(state)
        self._tell()  # each tree has come with copies
