"""A small stream with noise and missing values."""

import numpy as np
import pandas as pd


def stream(count=4000, seed=1, missing=0.1):
    rng = np.random.default_rng(seed)
    X = rng.random((count, 3))
    y = (X[:, 0] > 0.5) ^ (rng.random(count) < 0.1)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def frame(count, seed=2, missing=0.1):
    """Of it the numbers ``a``, which tells most, and ``b``, which tells nothing, a word ``c``, and labels."""
    X, y = stream(count, seed, missing)
    X = pd.DataFrame(X[:, :2], columns=["a", "b"])
    X["c"] = np.random.default_rng(seed).choice([*"pqrst"], count)
    return X, np.where(y ^ (X["c"] == "p"), "yes", "no")
