"""The benchmark's streams, by name, and the file in which a learner's process reads one.

Real ones are in the folder $BREGALAD_DATA or ../shared/data.
"""

import os
import random
import tempfile
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from ..data import Attribute, Schema, open_stream

FOLDER = Path(os.environ.get("BREGALAD_DATA") or Path(__file__).resolve().parents[4] / "shared" / "data")
_FILES = {
    "elec": "ELEC.arff.zip",
    "kdd": "kddcup.data_10_percent.gz",
    "skin": "Skin_NonSkin.txt.gz",
    "rt5n": "rt5n_1M.npz",
    "led": "led_1M.npz",
}
KDD_NAMES = tuple(
    """
duration protocol_type service flag src_bytes dst_bytes land wrong_fragment urgent hot
num_failed_logins logged_in num_compromised root_shell su_attempted num_root num_file_creations
num_shells num_access_files num_outbound_cmds is_host_login is_guest_login count srv_count
serror_rate srv_serror_rate rerror_rate srv_rerror_rate same_srv_rate diff_srv_rate
srv_diff_host_rate dst_host_count dst_host_srv_count dst_host_same_srv_rate dst_host_diff_srv_rate
dst_host_same_src_port_rate dst_host_srv_diff_host_rate dst_host_serror_rate
dst_host_srv_serror_rate dst_host_rerror_rate dst_host_srv_rerror_rate class
""".split()
)
KDD_NOMINAL = ("protocol_type", "service", "flag", "land", "logged_in", "is_host_login", "is_guest_login")
WIDTHS = (32, 64, 128, 256, 512, 1024)
_MOST = 1_000_000  # instances of a stream without an end
_VALUES = 50_000_000  # attribute values of one: a few seconds for the slowest compiled learner


def path(name):
    """Where the file of a real or kept stream is: elec, kdd, skin, rt5n, led."""
    return FOLDER / _FILES[name]


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


# Name: a function, or the generator that makes it.
STREAMS = {
    **{f"nominal-{width}": f"generator:tree,classes=2,nominals={width},numerics=0" for width in WIDTHS},
    **{f"numeric-{width}": f"generator:tree,classes=2,nominals=0,numerics={width}" for width in WIDTHS},
    "rt5n_1M": rt5n,
    "led_1M": led,
    "rbf-10": "generator:rrbfs",
    "rbf-50": "generator:rrbfc",
    "ELEC": elec,
    "KDD": kdd,
    "Skin": skin,
    "Skin shuffled": lambda: skin(shuffled=True),
}


def default_instances(name):
    """How many instances of a stream are measured unless it is said; None: all."""
    source = STREAMS.get(name, name)
    if callable(source) or not source.startswith("generator:"):
        return None
    width = len(open_stream(source).schema.attributes)
    return min(_MOST, _VALUES // width)


def load(name, instances=None):
    """A stream in memory, or its first instances: ``(X, y, schema)``.

    The name is one of ``STREAMS``, a file, or ``generator:NAME,option=value,...``. ValueError if the stream does not
    end and it is not said how many.
    """
    source = STREAMS.get(name, name)
    if callable(source):
        X, y, schema = source()
        return X[:instances], np.asarray(y)[:instances], schema
    stream = open_stream(source)
    if instances is None and source.startswith("generator:") and stream.len_hint is None:
        raise ValueError(f"{name} does not end: say how many instances")
    return _whole(stream, instances)


def nominal(X, schema):
    """``{attribute: values}`` of a stream's nominal attributes, for a tree's ``nominal``."""
    return {
        a.name: a.values or tuple(sorted(X[a.name].dropna().unique())) for a in schema.attributes if a.kind == "nominal"
    }


@contextmanager
def written(stream):
    """The file of a stream, as `load` gives it, for a learner's process, which keeps the stream once it is ready."""
    with tempfile.TemporaryDirectory(prefix="bregalad-bench-") as folder:
        path = Path(folder) / "stream.bin"
        write_binary(*stream, path)
        yield path


def coded(X, y, schema):
    """A stream in numbers: table, labels, values per attribute (0: numeric), number of classes.

    The table is an array (instances, attributes), little endian: uint8 if all attributes are nominal, else float64;
    missing ones are 255 or NaN. Labels are uint8. ValueError if there are more than 255 classes or 254 values, or
    labels that the schema lacks.
    """
    values = nominal(X, schema)
    classes = schema.classes or tuple(sorted(set(np.asarray(y).tolist())))
    if len(classes) > 255 or any(len(known) > 254 for known in values.values()):
        raise ValueError("there can be 255 classes and 254 values of an attribute at most")
    labels = pd.Index(classes).get_indexer(y)
    if (labels < 0).any():
        raise ValueError("there are labels that the schema does not declare")
    only = len(values) == len(schema.names)
    table = np.empty(X.shape, np.uint8 if only else "<f8")
    for i, name in enumerate(schema.names):
        if name in values:
            codes = pd.Index(values[name]).get_indexer(X[name])
            table[:, i] = np.where(codes < 0, 255 if only else np.nan, codes)
        else:
            table[:, i] = X[name].to_numpy(np.float64)
    return table, labels.astype(np.uint8), [len(values.get(name, ())) for name in schema.names], len(classes)


def write_binary(X, y, schema, path):
    """Write a stream as `coded` gives it, behind int32 instances, attributes, classes, and values per attribute."""
    table, labels, values, classes = coded(X, y, schema)
    with open(path, "wb") as file:
        np.array([*table.shape, classes, *values], "<i4").tofile(file)
        table.tofile(file)
        labels.tofile(file)


def _nominal(values, y, count, classes):
    attributes = (Attribute(f"a{i}", "nominal", tuple(range(count))) for i in range(values.shape[1]))
    schema = Schema(tuple(attributes), "class", tuple(range(classes)))
    return pd.DataFrame(values, columns=list(schema.names)), np.asarray(y), schema


def _whole(stream, instances=None):
    """The first so many instances of a stream."""
    frames, labels, kinds = [], [], dict.fromkeys(stream.schema.nominal, object)
    for X, y in stream:
        frames.append(X[list(stream.schema.names)].astype(kinds))
        labels.append(y)
        if instances is not None and sum(map(len, labels)) >= instances:
            break
    return pd.concat(frames, ignore_index=True)[:instances], np.concatenate(labels)[:instances], stream.schema
