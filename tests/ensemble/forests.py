"""What tests of ensembles share: a stream that drifts, and when two of them are the same."""

import numpy as np
import pandas as pd


def drifting(seed=1, count=5000):
    """Numbers and a nominal attribute; halfway other ones tell the class."""
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.random((count, 4)), columns=list("abcd"))
    X["e"] = rng.choice(["x", "y", "z"], count)
    late = np.arange(count) >= count // 2
    y = np.where(late, (X["c"] > 0.4) & (X["e"] != "x"), (X["a"] > 0.6) | (X["e"] == "z")).astype(int)
    y ^= rng.random(count) < 0.05
    return X, y


def same(one, other, X, but=()):
    """Whether two ensembles are the same, tree by tree; ``but``: names of a report that may differ."""
    one_report, other_report = ({k: v for k, v in each.report().items() if k not in but} for each in (one, other))
    assert one_report == other_report
    for mine, theirs in zip(one.members_, other.members_, strict=True):
        assert len(mine.trees) == len(theirs.trees)
        for tree, twin in zip(mine.trees, theirs.trees, strict=True):
            assert tree.difference(twin) is None
    assert (one.predict_proba(X[:200]) == other.predict_proba(X[:200])).all()
