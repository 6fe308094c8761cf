"""ID5R and ITI, Utgoff's incremental decision trees."""

from collections.abc import Mapping

import numpy as np

from ...estimator.parameters import declared
from ...geometry import MISSING
from ...hints import Label, Nominal
from .estimator import ClassicalTree


@declared
class ID5R(ClassicalTree):
    """The tree that ID3 builds of all instances so far, whatever their order: nominal attributes, two classes.

    Examples
    --------
    >>> import pandas as pd
    >>> from bregalad import ID5R
    >>> X = pd.DataFrame({"sky": ["clear", "rain", "clear", "rain"], "wind": ["no", "no", "yes", "yes"]})
    >>> print(ID5R().fit(X, ["yes", "no", "yes", "yes"]).draw())
    sky = clear: yes, 100.0% of 2
    sky = rain
        wind = no: no, 100.0% of 1
        wind = yes: yes, 100.0% of 1

    Source: Utgoff, Incremental induction of decision trees, Machine Learning 4, 1989; docs/learners.md.
    """

    max_instances: int = 100_000
    nominal: Nominal = ()
    class_weight: Mapping[Label, float] | str | None = None

    def _check_attributes(self, schema):
        for attribute in schema.attributes:
            if attribute.kind == "numeric":
                raise ValueError(
                    f"attribute {attribute.name!r} is numeric, ID5R takes nominal ones: name it in nominal if its "
                    "numbers are names, or choose ITI"
                )

    def _check_classes(self, count):
        if count > 2:
            raise ValueError(f"there are {count} classes, ID5R takes two: choose ITI")

    def _check_codes(self, codes):
        missing = np.argwhere(codes == MISSING)
        if len(missing):
            row, column = missing[0].tolist()
            raise ValueError(
                f"instance {row} has no value of attribute {self.schema_.names[column]!r}, and ID5R takes no missing "
                "ones: choose ITI"
            )

    def _make_attributes(self, schema):
        raise ValueError(
            f"attribute {schema.names[-1]!r} is new, and missing in the instances so far, which ID5R does not take: "
            "choose ITI"
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        tags.classifier_tags.multi_class = False
        return tags


@declared
class ITI(ClassicalTree):
    """The tree that ID3 builds of all instances so far, whatever their order.

    It has numeric attributes, any number of classes, and a branch of its own for missing values.

    Examples
    --------
    >>> import numpy as np
    >>> from bregalad import ITI
    >>> rng = np.random.default_rng(1)
    >>> X = rng.random((500, 2))
    >>> y = X[:, 0] > 0.5
    >>> ITI().fit(X, y).score(X, y)
    1.0

    Source: Utgoff, An improved algorithm for incremental induction of decision trees, ICML 1994; docs/learners.md.
    """

    max_instances: int = 100_000
    nominal: Nominal = ()
    nominal_split: str = "one_vs_rest"
    class_weight: Mapping[Label, float] | str | None = None

    @property
    def _multiway(self):
        return self.nominal_split == "multiway"
