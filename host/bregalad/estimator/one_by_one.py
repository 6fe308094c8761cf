"""River's calls: one instance at a time, as a dict of attribute values."""

from decimal import Decimal
from numbers import Real

import numpy as np
import pandas as pd

from ..data.row import check_text, check_value, is_missing, named
from ..data.schema import Attribute
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
