"""The trees as River's classifiers, for its pipelines, ensembles and evaluation.

Examples
--------
>>> from bregalad.river import VFDT
>>> from river import datasets, evaluate, metrics, preprocessing
>>> model = preprocessing.StandardScaler() | VFDT(head=100)
>>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy()).get() > 0.8
True
"""

import copy

try:
    from river import base
except ImportError as error:
    raise ImportError("bregalad.river is for River: pip install 'bregalad[river]'") from error

from .trees import confidence, efdt, vfdt

__all__ = ["CTree", "CorrHTree", "EFDT", "VFDT"]


class _Classifier(base.Classifier):
    """What River asks for besides ``learn_one`` and the others."""

    _multiclass = True

    @classmethod
    def _unit_test_params(cls):
        yield {"head": 20}

    def _get_params(self):
        params = super()._get_params()
        # River takes a tuple for a class and its parameters, and looks at the first of its items.
        return {**params, "nominal": params["nominal"] or []}

    def clone(self, new_params=None, include_attributes=False):
        """One with the same parameters that has learnt nothing, unless ``include_attributes``."""
        if include_attributes:
            return copy.deepcopy(self).set_params(**new_params or {})
        clone = super().clone(new_params)
        return clone.set_params(nominal=clone.nominal or ())


class VFDT(vfdt.VFDT, _Classifier):
    __doc__ = vfdt.VFDT.__doc__


class EFDT(efdt.EFDT, _Classifier):
    __doc__ = efdt.EFDT.__doc__


class CTree(confidence.CTree, _Classifier):
    __doc__ = confidence.CTree.__doc__
    _multiclass = False


class CorrHTree(confidence.CorrHTree, _Classifier):
    __doc__ = confidence.CorrHTree.__doc__
