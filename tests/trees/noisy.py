"""A small stream with noise and missing values."""

import numpy as np


def stream(count=4000, seed=1, missing=0.1):
    rng = np.random.default_rng(seed)
    X = rng.random((count, 3))
    y = (X[:, 0] > 0.5) ^ (rng.random(count) < 0.1)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y
