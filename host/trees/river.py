"""River's calls: one instance at a time, as a dict of attribute values."""

import numpy as np
import pandas as pd

__all__ = ["OneByOne"]


class OneByOne:
    """Mixin of ``StreamTree``; what is learnt is the same as with ``partial_fit``."""

    def learn_one(self, x, y):
        """Learn one instance, a dict of attribute values.

        The first call fixes the attributes; classes are those of the parameter ``classes`` of
        ``partial_fit``, or those among the first ``head`` instances.
        """
        if not hasattr(self, "classes_"):
            self._unnamed = getattr(self, "_unnamed", [])
            self._unnamed.append((dict(x), y))
            if len(self._unnamed) >= self.head:
                self._name_classes()
            return self
        return self.partial_fit(pd.DataFrame([x]), [y])

    def predict_one(self, x):
        """Class of one instance, None before any was learnt."""
        shares = self.predict_proba_one(x)
        return max(shares, key=shares.get) if shares else None

    def predict_proba_one(self, x):
        """Class shares for one instance: dict of label to share; empty before any was learnt."""
        if not hasattr(self, "classes_"):
            labels = [label for _, label in getattr(self, "_unnamed", [])]
            values, counts = np.unique(labels, return_counts=True)
            return dict(zip(values.tolist(), (counts / max(1, len(labels))).tolist(), strict=True))
        shares = self.predict_proba(pd.DataFrame([x]))[0]
        return dict(zip(self.classes_.tolist(), shares.tolist(), strict=True))

    def _name_classes(self):
        held, self._unnamed = self._unnamed, []
        labels = [label for _, label in held]
        self.partial_fit(pd.DataFrame([x for x, _ in held]), labels, classes=np.unique(labels))
