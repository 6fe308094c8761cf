"""River's calls: one instance at a time, as a dict of attribute values.

What does not change from one to the next is looked at once.
"""

from decimal import Decimal
from numbers import Real

import numpy as np
import pandas as pd

from ..data.row import Row, check_text, check_value, is_missing, named
from ..data.schema import Attribute
from ..driver.requirements import warn_of_lost
from ..driver.trainer import HEAVIEST
from ..words import listed, shown
from .inputs import class_set, is_position, label_array, labels_of

# Always missing; of a tree whose instances have had no attributes so far. The first numeric one takes its place.
NONE_YET = Attribute("none yet", "numeric")


def learn(learner, x, y, w):
    """Learn an instance that `Single` does not; errors as ``learn_one``."""
    times = times_of(w)
    if times is not None and times != 1:
        for _ in range(times):
            learner.learn_one(x, y)
        return
    learner._check_ready()
    values = {name: None if is_missing(value) else value for name, value in named(x).items()}
    first = "classes_" not in learner.__dict__
    known = {} if first else learner.schema_.by_name
    new = {name: _attribute(name, value) for name, value in _present(values).items() if name not in known}
    for name, value in _present(values).items():
        check_value(known.get(name) or new[name], value)
    if first:
        _learn_first(learner, values, y, w)
        return
    if not (learner._grows or known.keys() >= values.keys()):
        name = next(name for name in values if name not in known)
        raise ValueError(f"unknown attribute {name!r}; there are {listed(learner.schema_.names)}")
    classes = _new_class(learner, y)
    if new:
        learner._with_attributes(tuple(new.values()))
    if classes is not None:
        learner._with_class(classes)
    once = times == 1 and learner.class_weight is None
    if once and (new or classes is not None):
        learner._alone()
        learner.learn_one(x, y)
        return
    row = {name: values.get(name) for name in learner.schema_.names}
    learner.partial_fit(pd.DataFrame([row]), [y], sample_weight=None if times == 1 else [w])
    if once:
        learner._alone()


def _learn_first(learner, values, y, w):
    """Learn the first instance: it says which attributes and which class there are so far."""
    learner.check_parameters()
    if isinstance(y, str):
        check_text(y, "y")
    if not any(map(is_position, learner.nominal)):  # else attributes are counted, those without a value, too
        values = _present(values) or values
    declared = [name for name in learner.nominal if isinstance(name, str)]
    for name in declared:
        check_text(name, "nominal")
    row = {**values, **{name: None for name in declared if name not in values}} or {NONE_YET.name: None}
    learner._grows = True
    try:
        learner.partial_fit(pd.DataFrame([row]), [y], classes=[y], sample_weight=[w])
    except BaseException:
        # If the link was cut, `resume` learns it.
        if learner._unfinished is None and not (
            "_event_counts" in learner.__dict__ and learner._event_counts.instances
        ):
            learner.reset()
        raise


def _new_class(learner, y):
    """The classes with a label that is none of them yet; None: it is one of them."""
    known = learner.classes_.tolist()
    if isinstance(y, str):
        check_text(y, "y")
    if {type(y)} == set(map(type, known)) and y in known:
        return None
    labels = labels_of([*known, y])
    if labels.tolist()[-1] in known:
        return None
    if not learner._grows:
        raise ValueError(
            f"y is {shown(y)}, none of the classes {shown(known, 300)}, which were all that would ever come"
        )
    learner._check_classes(len(known) + 1)
    return label_array(np.array([*known, *class_set(labels[-1:]).tolist()], object))


def _attribute(name, value):
    """What attribute a first value makes."""
    if isinstance(value, bool | np.bool_):
        return Attribute(name, "nominal", (False, True))
    numeric = isinstance(value, Real | Decimal) and not isinstance(value, np.timedelta64)
    return Attribute(name, "numeric" if numeric else "nominal")


def _present(values):
    """The values that are not missing: what an attribute is, its first value says."""
    return {name: value for name, value in values.items() if value is not None}


def times_of(w):
    """How many times an instance of weight ``w`` is learnt, None if it is no whole number."""
    if not isinstance(w, Real | np.bool_) or isinstance(w, np.timedelta64) or not 0 <= w <= HEAVIEST:
        raise ValueError(f"w is {shown(w)}: an instance is learnt as often as it weighs, 0 to {HEAVIEST}")
    return int(w) if w == int(w) else None


class OneByOne:
    """One instance at a time; by one thread at a time. What it predicts, the learner tells.

    ``classes`` has the labels by index, ``labels`` as a list. Unless each instance is learnt ``once``, `learn` is not
    for it. If it ``grows``, attributes may come later: unknown ones say nothing for a prediction. ``learnt`` is called
    with this and a class index, and learns the instance that ``row``, a Row, has encoded last: ``codes``, uint8 array
    (1, attributes). ``look`` is whether the code books are to be looked at.
    """

    look = False

    def __init__(self, quantiser, classes, once, grows, learnt=None):
        self._quantiser, self._learnt = quantiser, learnt
        self.row = Row(quantiser, grows)
        self.codes = self.row.codes[np.newaxis]
        self.labels = classes.tolist()
        self._places = {label: place for place, label in enumerate(self.labels)} if once else {}

    def learn(self, x, label):
        """Learn an instance; False, and nothing is done, if it is not one as those before. TypeError, ValueError as
        `Row.encode`.
        """
        try:
            place = self._places.get(label)
        except TypeError:  # not hashable
            place = None
        return place is not None and self._take(x, place)

    def _take(self, x, place):
        """Learn an instance of a class index; whether it could be."""
        if not self.row.encode(x):
            return False
        self._learnt(self, place)
        return True

    def predict(self, x):
        """Encode an instance; None: the learner tells the rest."""
        self.row.encode(x, read_only=True)

    shares = predict

    def seen(self):
        """Have the code books know the instance that has been encoded last."""
        self.look = self._quantiser.sample.add_row(self.row.numbers)
        if self.row.lost:
            warn_of_lost(self._quantiser)


class Single(OneByOne):
    """A tree's instances, learnt by ``trainer``."""

    _arguments = None  # for the engine

    def __init__(self, quantiser, trainer, classes, once, grows):
        super().__init__(quantiser, classes, once, grows)
        self.trainer = trainer
        self._label = np.zeros(1, np.int32)
        self._prediction = np.zeros(1, np.int32)
        self._shares = np.zeros(len(self.labels))

    def extend(self, quantiser):
        """Go on with the quantiser of more attributes, which the trainer counts already."""
        self._quantiser = quantiser
        self.row.extend(quantiser)
        self.codes = self.row.codes[np.newaxis]

    def _ready(self):
        """Whether the engine may go on by itself."""
        if self._arguments is None or not self.trainer.rows_only:
            self._arguments = self.trainer.row_arguments(self.row.codes, self._label, self._prediction)
        return self._arguments is not None

    def _take(self, x, place):
        if not self._ready() or not self.trainer.rows_left or not self.row.encode(x):
            return False
        self._label[0] = place
        self.trainer.learn_row(self._arguments)
        self.seen()
        return True

    def predict(self, x):
        """``(leaf, label)`` of an instance, and whether naive Bayes has told the label: then the
        board's scores are the instance's. None if that takes more than the engine does.
        """
        self.row.encode(x, read_only=True)
        return self.trainer.driver.predict_row(self._arguments) if self._ready() else None

    def shares(self, x):
        """Class shares of an instance, as of the tree's ``predict_proba``: list. None as of `predict`."""
        self.row.encode(x, read_only=True)
        if not self._ready():
            return None
        self.trainer.driver.predict_row_shares(self._arguments, self._shares)
        return self._shares.tolist()
