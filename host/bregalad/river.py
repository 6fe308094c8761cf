"""The trees as River's classifiers, for its pipelines, ensembles and evaluation.

Examples
--------
>>> from bregalad.river import VFDT
>>> from river import datasets, evaluate, metrics, preprocessing
>>> model = preprocessing.StandardScaler() | VFDT()
>>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy()).get() > 0.8
True
"""

from __future__ import annotations

import copy
from typing import Any, Self

try:
    from river import base
except ImportError as error:
    raise ImportError("bregalad.river is for River: pip install 'bregalad[river]'") from error

from .trees import confidence, cvfdt, efdt, efhat, hat, vfdt

__all__ = ["CTree", "CVFDT", "CorrHTree", "EFDT", "EFHAT", "HAT", "VFDT"]


class _Classifier(base.Classifier):
    """What River asks for besides ``learn_one`` and the others."""

    _multiclass = True

    @classmethod
    def _unit_test_params(cls):
        yield {}

    def _get_params(self):
        params = super()._get_params()
        # River takes a tuple for a class and its parameters, and looks at the first of its items.
        return {**params, "nominal": params["nominal"] or []}

    def clone(self, new_params: dict[str, Any] | None = None, include_attributes: bool = False) -> Self:
        """One with the same parameters that has learnt nothing, unless ``include_attributes``."""
        if include_attributes:
            tree: Any = copy.deepcopy(self)
            return tree.set_params(**new_params or {})
        tree = super().clone(new_params)
        return tree.set_params(nominal=tree.nominal or ())


# Calls that learn return the tree, where River's return None.


class VFDT(vfdt.VFDT, _Classifier):  # type: ignore[misc]
    __doc__ = vfdt.VFDT.__doc__


class EFDT(efdt.EFDT, _Classifier):  # type: ignore[misc]
    __doc__ = efdt.EFDT.__doc__


class CVFDT(cvfdt.CVFDT, _Classifier):  # type: ignore[misc]
    __doc__ = cvfdt.CVFDT.__doc__


class EFHAT(efhat.EFHAT, _Classifier):  # type: ignore[misc]
    __doc__ = efhat.EFHAT.__doc__


class HAT(hat.HAT, _Classifier):  # type: ignore[misc]
    __doc__ = hat.HAT.__doc__


class CTree(confidence.CTree, _Classifier):  # type: ignore[misc]
    __doc__ = confidence.CTree.__doc__
    _multiclass = False


class CorrHTree(confidence.CorrHTree, _Classifier):  # type: ignore[misc]
    __doc__ = confidence.CorrHTree.__doc__
