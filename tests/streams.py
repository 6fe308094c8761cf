"""The real streams that tests and benchmarks use; see the README beside the data."""

import random
from functools import cache

import numpy as np
import pandas as pd
import pytest
from bregalad.data import Attribute, Schema, open_stream
from bregalad.reproduce.data import FOLDER, KDD_NAMES, KDD_NOMINAL

__all__ = ["FOLDER", "elec", "kdd", "led", "needs", "nominal", "rt5n", "skin"]

FILES = {
    "elec": "ELEC.arff.zip", "kdd": "kddcup.data_10_percent.gz", "skin": "Skin_NonSkin.txt.gz",
    "rt5n": "rt5n_1M.npz", "led": "led_1M.npz",
}


def path(name):
    """Where the stream's file is."""
    return FOLDER / FILES[name]


def needs(name):
    """A mark that skips a test where the stream's file is absent."""
    return pytest.mark.skipif(not path(name).is_file(),
                              reason=f"{FILES[name]} is not in BREGALAD_DATA or ../shared/data")


@cache
def elec():
    """ELEC: ``(X, y, schema)``, 45,312 instances."""
    return _whole(open_stream(path("elec")))


@cache
def kdd():
    """KDD'99, 10 percent: ``(X, y, schema)``, 494,021 instances."""
    return _whole(open_stream(path("kdd"), names=KDD_NAMES, nominal=KDD_NOMINAL))


@cache
def skin(shuffled=False):
    """Skin segmentation: ``(X, y, schema)``, 245,057 instances, in file order or shuffled."""
    X, y, schema = _whole(open_stream(path("skin")))
    if shuffled:
        order = list(range(len(y)))
        random.Random(1).shuffle(order)
        X, y = X.iloc[order].reset_index(drop=True), y[order]
    return X, y, schema


@cache
def rt5n(n=1_000_000):
    """The first n instances of a random tree on 5 nominal attributes: ``(X, y, schema)``."""
    with np.load(path("rt5n")) as data:
        code = data["code"][:n].astype(np.int64)
    digits = code[:, None] // 5 ** np.arange(5, -1, -1) % 5
    return _nominal(digits[:, :5], digits[:, 5], 5, 5)


@cache
def led(n=1_000_000):
    """The first n instances of LED with 10 percent noise: ``(X, y, schema)``."""
    with np.load(path("led")) as data:
        bits, y = data["bits"][:n], data["y"][:n]
    return _nominal(np.unpackbits(bits, axis=1)[:, :24], y, 2, 10)


def _nominal(values, y, count, classes):
    schema = Schema(tuple(Attribute(f"a{i}", "nominal", tuple(range(count)))
                          for i in range(values.shape[1])), "class", tuple(range(classes)))
    return pd.DataFrame(values, columns=list(schema.names)), np.asarray(y), schema


def _whole(stream):
    chunks = list(stream)
    parts = {name: [X[name] for X, _ in chunks] for name in stream.schema.names}
    columns = {}
    for attribute in stream.schema.attributes:
        column = parts[attribute.name]
        if attribute.kind == "nominal":
            column = [part.astype(object) for part in column]
        columns[attribute.name] = pd.concat(column, ignore_index=True)
    return pd.DataFrame(columns), np.concatenate([y for _, y in chunks]), stream.schema


def nominal(X, schema):
    """``{attribute: values}`` of a stream's nominal attributes, for a tree's ``nominal``."""
    return {a.name: a.values or tuple(sorted(X[a.name].dropna().unique()))
            for a in schema.attributes if a.kind == "nominal"}
