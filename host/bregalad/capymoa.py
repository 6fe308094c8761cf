"""The trees as CapyMOA's classifiers, for its streams and its evaluation.

Examples
--------
>>> from bregalad.capymoa import VFDT                                            # doctest: +SKIP
>>> from capymoa.datasets import ElectricityTiny                                 # doctest: +SKIP
>>> from capymoa.evaluation import prequential_evaluation                        # doctest: +SKIP
>>> stream = ElectricityTiny()                                                   # doctest: +SKIP
>>> learner = VFDT(stream.get_schema(), leaf_prediction="nba")                   # doctest: +SKIP
>>> prequential_evaluation(stream, learner)["cumulative"].accuracy()             # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

try:
    from capymoa.base import Classifier
except ImportError as error:
    raise ImportError("bregalad.capymoa is for CapyMOA: pip install capymoa, and Java") from error

from .learners.catalogue import TREES

if TYPE_CHECKING:
    from capymoa.instance import Instance, LabeledInstance
    from capymoa.stream import Schema
    from numpy.typing import NDArray

    from .estimator.tree import StreamTree


class _Learner(Classifier):
    """A tree that learns CapyMOA's instances.

    Parameters
    ----------
    schema : capymoa.stream.Schema
        Its nominal attributes are the tree's.
    random_seed : int
        As CapyMOA asks for it; nothing here is random.
    **parameters
        Of the tree.

    Attributes
    ----------
    tree : StreamTree
    """

    _kind: type[StreamTree]

    def __init__(self, schema: Schema, random_seed: int = 1, **parameters: Any) -> None:
        super().__init__(schema=schema, random_seed=random_seed)
        header, values = schema.get_moa_header(), schema.get_nominal_attributes()
        self._names = [str(header.attribute(place).name()) for place in range(schema.get_num_attributes())]
        # An instance has the places of nominal values.
        nominal = {name: tuple(range(len(values[name]))) for name in self._names if name in values}
        self.tree = self._kind(**{"nominal": nominal, **parameters})

    def get_params(self) -> dict[str, Any]:
        """The parameters that the learner was made with; ``from_params`` takes them."""
        params = super().get_params()
        return {**params.pop("parameters", {}), **params}

    def train(self, instance: LabeledInstance) -> None:
        """Learn a labelled instance."""
        self.tree.learn_one(self._values(instance), int(instance.y_index))

    def predict(self, instance: Instance) -> int | None:
        """Index of the class of an instance; None before any was learnt."""
        label = self.tree.predict_one(self._values(instance))
        return None if label is None else int(label)

    def predict_proba(self, instance: Instance) -> NDArray[np.float64] | None:
        """Shares of the classes, a float array; None before any instance was learnt."""
        shares = self.tree.predict_proba_one(self._values(instance))
        if not shares:
            return None
        found = np.zeros(self.schema.get_num_classes())
        for label, share in shares.items():
            found[label] = share
        return found

    def _values(self, instance):
        return dict(zip(self._names, instance.x.tolist(), strict=True))


def _as_capymoas(kind):
    name = kind.__name__
    doc = f"`bregalad.{name}` for CapyMOA: ``{name}(schema, random_seed=1, **parameters)``."
    return type(name, (_Learner,), {"__doc__": doc, "__module__": __name__, "_kind": kind})


__all__ = [kind.__name__ for kind in TREES.values()]
globals().update({kind.__name__: _as_capymoas(kind) for kind in TREES.values()})
if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
