"""Iterables of dicts, pairs and data frames are learnt as tables are."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from bregalad import VFDT, CTree
from bregalad.ensemble import OnlineBagging

CLASSES = ["no", "yes"]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"size": rng.random(9000), "colour": rng.choice(list("rgb"), 9000)})
    table["sure"] = rng.random(9000) < 0.5
    table["size"] = table["size"].where(rng.random(9000) > 0.05)
    table["label"] = np.where((table["size"] > 0.5) ^ table["sure"], "yes", "no")
    return table


def dicts(table):
    """What is missing is absent."""
    for row in table.to_dict("records"):
        yield {name: value for name, value in row.items() if value == value}


def parts(table):
    return (table[at : at + 700] for at in range(0, len(table), 700))


STREAMS = {
    "dicts": (dicts, "label"),
    "pairs": (lambda table: ((row, row.pop("label")) for row in dicts(table)), None),
    "frames": (parts, "label"),
    "polars": (lambda table: map(pl.from_pandas, parts(table)), "label"),
    "tables with labels": (lambda table: ((part.drop(columns="label"), part["label"]) for part in parts(table)), None),
}


@pytest.mark.parametrize("name", STREAMS)
def test_what_an_iterable_brings_is_learnt(table, name):
    expected = VFDT(grace=100).fit(table.drop(columns="label"), table["label"])
    make, class_name = STREAMS[name]
    tree = VFDT(grace=100)
    assert tree.learn_stream(make(table), class_name, CLASSES) is tree
    assert expected.get_n_leaves() > 2 and tree.difference(expected) is None
    tree.learn_stream(make(table), class_name)  # it knows its classes now
    assert tree.report()["instances"] == 18_000


@pytest.mark.parametrize("learner", [CTree(), OnlineBagging(members=2)], ids=["ctree", "bagging"])
def test_every_learner_has_it(table, learner):
    learner.learn_stream(dicts(table[:2000]), "label", CLASSES)
    other = type(learner)(**learner.get_params())
    other.partial_fit(table[:2000].drop(columns="label"), table["label"][:2000], CLASSES)
    assert (learner.predict(table[:50].drop(columns="label")) == other.predict(table[:50].drop(columns="label"))).all()


def test_what_has_come_before_an_error_is_learnt(table):
    def failing():
        yield from dicts(table[:5000])
        raise OSError("the line is gone")

    tree = VFDT(grace=100)
    with pytest.raises(OSError, match="the line is gone"):
        tree.learn_stream(failing(), "label", CLASSES)
    assert tree.report()["instances"] == 5000


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda rows: [3], "a stream brings dicts, pairs of instances and labels, or data frames, not 3"),
        (lambda rows: [*rows, 3], "the stream has brought dicts, but then 3"),
        (lambda rows: [*rows, (rows[0], "no")], "the stream has brought dicts, but then ({"),
        (
            lambda rows: [{"size": 1.0}],
            "class_name must be the class's key or column, one of size, colour, sure, not 'label'",
        ),
        (lambda rows: [{**rows[0], "label": None}], "every instance needs a label"),
        (lambda rows: [{**rows[0], "weight": 1}], "unknown column 'weight'"),
        (lambda rows: [{**rows[0], "label": "maybe"}], "maybe"),
        (lambda rows: 3, "'int' object is not iterable"),
    ],
)
def test_refusals(table, change, message):
    rows = list(dicts(table[:1]))
    tree = VFDT().learn_stream(dicts(table[:10]), "label", CLASSES)
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        tree.learn_stream(change(rows), "label")
    assert tree.report()["instances"] in (10, 11)
    with pytest.raises(ValueError, match="classes must name all class labels"):
        VFDT().learn_stream(rows, "label")
