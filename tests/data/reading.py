"""What a stream hands out, all of it, to be compared."""

import numpy as np
import pandas as pd

__all__ = ["lists", "whole"]


def whole(chunks):
    """A frame, its nominal columns as objects, and an array of labels."""
    chunks = list(chunks)
    frames = [X.astype({name: object for name in X if X[name].dtype != float}) for X, _ in chunks]
    return pd.concat(frames, ignore_index=True), np.concatenate([y for _, y in chunks])


def lists(stream):
    """The stream, a dict of columns, in which None stands for what is missing, and labels."""
    X, y = whole(stream)
    return stream, {name: [None if v != v else v for v in X[name].tolist()] for name in X}, y.tolist()
