"""What a stream hands out, all of it, to be compared; files of it, packed as their names say."""

import gzip
import zipfile

import numpy as np
import pandas as pd

__all__ = ["lists", "whole", "write"]


def write(folder, name, data):
    """A file of text or bytes; its path."""
    path = folder / name
    data = data if isinstance(data, bytes) else data.encode()
    if name.endswith(".zip"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(name[:-4], data)
    else:
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def whole(chunks):
    """A frame, its nominal columns as objects, and an array of labels."""
    chunks = list(chunks)
    frames = [X.astype({name: object for name in X if X[name].dtype != float}) for X, _ in chunks]
    return pd.concat(frames, ignore_index=True), np.concatenate([y for _, y in chunks])


def lists(stream):
    """The stream, a dict of columns, in which None stands for what is missing, and labels."""
    X, y = whole(stream)
    return stream, {name: [None if v != v else v for v in X[name].tolist()] for name in X}, y.tolist()
