"""The bench that runs MOA: its files, and its figures where a JDK and MOA's jar are at hand."""

import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import streams
from bregalad.data import Attribute, Schema, open_generator

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))
import peers  # noqa: E402

needs_moa = pytest.mark.skipif(
    not (shutil.which("javac") and list(peers.CACHE.glob("*-moa.jar"))),
    reason="needs a JDK and MOA's jar: run bench/peers.py once")


def test_binary(tmp_path):
    path = tmp_path / "s.bin"
    schema = Schema((Attribute("size", "numeric"), Attribute("kind", "nominal", ("a", "b"))),
                    "y", ("no", "yes"))
    X = pd.DataFrame({"size": [1.5, np.nan, 2.0], "kind": ["b", "a", None]})
    peers.write_binary(X, np.array(["yes", "no", "no"], object), schema, path)
    data = path.read_bytes()
    assert np.frombuffer(data[:20], "<i4").tolist() == [3, 2, 2, 0, 2]
    np.testing.assert_equal(np.frombuffer(data[20:68], "<f8"), [1.5, 1, np.nan, 0, 2, np.nan])
    assert data[68:] == bytes([1, 0, 0])
    peers.write_binary(X[["kind"]], ["yes", "no", "no"], Schema(schema.attributes[1:], "y",
                                                                schema.classes), path)
    assert path.read_bytes()[16:] == bytes([1, 0, 255, 1, 0, 0])
    with pytest.raises(ValueError, match="labels that the schema does not declare"):
        peers.write_binary(X, ["yes", "no", "perhaps"], schema, path)


def test_load(tmp_path):
    X, y, schema = peers.load("generator:led", 100)
    Z, z = open_generator("led").take(100)
    assert (X == Z.astype(object)).all().all() and (y == z).all() and schema.classes
    with pytest.raises(ValueError, match="generator:led does not end"):
        peers.load("generator:led")


@needs_moa
@streams.needs("elec")
def test_figures():
    result = peers.run("ELEC", "ht-mc", repeats=1, warmups=0, heap="1g")
    assert result["accuracy"] == 0.7572 and result["leaves"] == 39
    assert result["instances"] == 45_312 and result["instances_per_cpu_s"] > 0


@needs_moa
def test_wrong_learner():
    with pytest.raises(RuntimeError, match="MOA failed with 'trees.Nothing'.*Class not found"):
        peers.run("generator:sea", "trees.Nothing", instances=10, heap="256m")
