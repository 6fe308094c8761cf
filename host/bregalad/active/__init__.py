"""Active learning: strategies that ask for the labels of some instances only, for any of the trees.

Examples
--------
>>> import numpy as np
>>> from bregalad import CTree
>>> from bregalad.active import ConfTree
>>> rng = np.random.default_rng(1)
>>> X = rng.random((5000, 2))
>>> active = ConfTree(CTree(), 0.3, seed=1)
>>> for start in range(0, len(X), 500):
...     part = X[start : start + 500]
...     ask = active.query(part)
...     labels = part[ask][:, 0] > 0.5  # somebody's work
...     active = active.partial_fit(part[ask], labels, classes=[False, True])
>>> active.asked / active.seen <= 0.3, active.tree.score(X, X[:, 0] > 0.5) > 0.95
(True, True)
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
