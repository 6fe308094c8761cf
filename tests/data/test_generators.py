"""Generators: the same stream for any chunk, joined, written and read; what is refused."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from bregalad.data import Attribute, DataError, Schema, Stream, open_stream, write_stream
from bregalad.data.generators import (
    GENERATORS,
    PRESETS,
    SEA,
    STAGGER,
    ConceptDrift,
    RandomRBF,
    RandomTree,
    Recurrence,
    open_generator,
)
from reading import whole

SPECS = {name: name for name in (*GENERATORS, *PRESETS)} | {
    "rbf": "rbf,speed=0.001,moving=20,noise=0.1",
    "tree": "tree,noise=0.1,attribute_noise=0.1",
    "sea": "sea,period=1000",
    "stagger": "stagger,period=1000,noise=0.1",
    "hyperplane": "hyperplane,change=0.01",
    "drift": "drift,first=(sea,function=1),second=(sea,function=3,seed=2),position=9000,width=9000",
    "recurrence": "recurrence,first=(led),second=(led,swapped=7,seed=2),period=3000",
}


@pytest.mark.parametrize("name", SPECS)
def test_reproducible_for_any_chunk(name):
    count = 2_000 if name.startswith("rtc") or name == "rrbfc" else 18_000
    stream = open_generator(SPECS[name], instances=count)
    assert stream.len_hint == count
    X, y = stream.take(count)
    assert X.shape == (count, len(stream.schema.attributes)) and y.shape == (count,)
    assert tuple(X) == stream.schema.names and set(y) <= set(stream.schema.classes)
    for attribute in stream.schema.attributes:
        column = X[attribute.name]
        if attribute.kind == "numeric":
            assert column.dtype == np.float64 and np.isfinite(column).all()
        else:
            assert tuple(column.cat.categories) == attribute.values
            assert column.notna().all()
    for chunk in (1999, 16_384, 50_000):
        again = open_generator(SPECS[name], instances=count, chunk=chunk)
        sizes = [len(part) for _, part in again]
        assert sizes[:-1] == [chunk] * (len(sizes) - 1) and sum(sizes) == count
        chunks = list(again)
        Z = pd.concat([X for X, _ in chunks], ignore_index=True)  # categories are the same in all
        assert Z.equals(X) and (np.concatenate([y for _, y in chunks]) == y).all()
    endless = open_generator(SPECS[name])
    assert endless.len_hint is None
    Z, z = endless.take(count)
    assert Z.equals(X) and (z == y).all()
    if name != "recurrence":
        Z, z = open_generator(SPECS[name], seed=7).take(count)
        assert not Z.equals(X) and (z != y).any()


@pytest.mark.parametrize("name", ["tree", "rbf", "hyperplane"])
def test_model_seed_alone_changes_the_concept(name):
    X, y = open_generator(name).take(5000)
    Z, z = open_generator(name, model_seed=2).take(5000)
    assert X.equals(Z) == (name != "rbf") and (y != z).mean() > 0.05


def test_presets():
    for name, nominal, numeric in (("rts", 10, 10), ("rtcn", 50, 50), ("rt5n", 5, 0)):
        kinds = [a.kind for a in open_generator(name).schema.attributes]
        assert kinds.count("nominal") == nominal and kinds.count("numeric") == numeric
    rbf = open_generator("rrbfc")
    assert rbf.places.shape == (1000, 50) and open_generator("rrbfs").places.shape == (100, 10)
    assert len(open_generator("rts,classes=3").schema.classes) == 3
    assert len(open_generator("generator:rts", classes=3).schema.classes) == 3


def test_concept_drift():
    first, second = SEA(1, noise=0.0), STAGGER()
    with pytest.raises(ValueError, match="must have the same attributes and classes; they have 3 and 3 attributes"):
        ConceptDrift(first, second)
    with pytest.raises(ValueError, match="10 and 11 attributes"):
        ConceptDrift(RandomRBF(), RandomRBF(attributes=11))
    with pytest.raises(TypeError, match="second must be a generator, not 'sea'"):
        ConceptDrift(first, "sea")
    second = SEA(4, noise=0.0, seed=2)
    X, y = ConceptDrift(first, second, position=30_000, width=20_000).take(60_000)
    # Only these two can tell the concepts apart, and each is one of them for certain.
    between = ((X["x1"] + X["x2"] > 8) & (X["x1"] + X["x2"] <= 9.5)).to_numpy()
    new = (y == "1")[between]
    time = np.flatnonzero(between) + 1
    for low, high in ((0, 10_000), (25_000, 35_000), (20_000, 25_000), (35_000, 40_000), (50_000, 60_000)):
        part = (time > low) & (time <= high)
        expected = 1 / (1 + np.exp(-4 * (time[part] - 30_000) / 20_000))
        assert new[part].mean() == pytest.approx(expected.mean(), abs=0.05)
    # Neither stream skips instances.
    abrupt, labels = ConceptDrift(first, second, position=1000, width=0).take(3000)
    assert abrupt[:1000].equals(first.take(1000)[0])
    assert abrupt[1000:].reset_index(drop=True).equals(second.take(2000)[0])
    assert (labels[1000:] == second.take(2000)[1]).all()


def test_joined_streams_take_turns_and_their_parts_have_no_end():
    first, second = SEA(seed=1), SEA(seed=2)
    X, y = whole(Recurrence(first, second, period=1000, instances=4500))
    assert len(y) == 4500 and (y[4000:] == first.take(2500)[1][2000:]).all()
    assert (y[1000:2000] == second.take(1000)[1]).all()
    with pytest.raises(ValueError, match="second must not end: the joined stream takes instances=2500"):
        ConceptDrift(first, SEA(seed=2, instances=2500))


@pytest.mark.parametrize(
    "text, message",
    [
        ("trees", "no generator 'trees'; there are tree, rbf, led"),
        ("tree,leaves=3", "generator tree: no option 'leaves'; there are classes, nominals, numerics"),
        ("tree,depth", "generator tree: expected option=value, not 'depth'"),
        ("tree,depth=3,depth=4", "the option depth is given twice"),
        ("tree,depth=deep", "depth must be an integer, not 'deep'"),
        ("tree,depth=1.5", "depth must be an integer, not '1.5'"),
        ("tree,classes=1", "classes must be 2 or more, not 1"),
        ("tree,values=256", "values must be 2 to 255, not 256"),
        ("tree,noise=x", "noise must be a number, not 'x'"),
        ("tree,noise=1.1", "noise must be 0 to 1, not 1.1"),
        ("tree,noise=nan", "noise must be 0 to 1, not nan"),
        ("tree,nominals=0,numerics=0", "there must be an attribute"),
        ("tree,nominals=90,depth=30", "has more than 4194304 nodes"),
        ("tree,seed=-1", "seed must be 0 or more"),
        ("tree,instances=0", "instances must be 1 or more, not 0"),
        ("tree,chunk=5", "no option 'chunk'"),
        ("rbf,moving=51", "moving must be 0 to 50, not 51"),
        ("rbf,speed=-1", "speed must be 0 or more, not -1"),
        ("led,swapped=8", "swapped must be 0 to 7, not 8"),
        ("led,irrelevant=2,swapped=3", "swapped must be 0 to 2, not 3"),
        ("sea,function=5", "function must be 1 to 4, not 5"),
        ("stagger,function=0", "function must be 1 to 3, not 0"),
        ("agrawal,function=11", "function must be 1 to 10, not 11"),
        ("agrawal,perturbation=2", "perturbation must be 0 to 1, not 2"),
        ("hyperplane,drifting=11", "drifting must be 0 to 10, not 11"),
        ("waveform,irrelevant=-1", "irrelevant must be 0 or more, not -1"),
        ("rbf,centres=0", "centres must be 1 or more, not 0"),
        ("drift,first=sea,second=sea", "first must be a generator in brackets, not 'sea'"),
        ("drift,first=(sea", "the brackets do not match"),
        ("drift,first=(sea,function=9),second=(sea)", "generator sea: function must be 1 to 4, not 9"),
        ("drift", "first and second must be given, generators in brackets: drift,first=(sea,function="),
        ("recurrence,first=(sea)", "second must be given"),
        ("recurrence,first=(sea),second=(sea),period=0", "period must be 1 or more, not 0"),
    ],
)
def test_errors(text, message):
    with pytest.raises(DataError) as error:
        open_generator(text)
    assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("options", [{"depth": 2.0}, {"depth": True}, {"noise": "much"}], ids=str)
def test_wrong_types(options):
    ((name, value),) = options.items()
    with pytest.raises(TypeError, match=f"{name} must be an? (integer|number), not {value!r}"):
        RandomTree(**options)


def test_open_stream():
    stream = open_stream("generator:rts,instances=70000")
    direct = open_generator("rts,instances=70000")
    assert stream.schema == direct.schema and stream.len_hint == 70_000
    for (X, y), (Z, z) in zip(stream, direct, strict=True):
        assert X.equals(Z) and (y == z).all() and y.dtype == object
    stream = open_stream(
        "generator:agrawal,instances=100", ignore=["car"], class_name="elevel", nominal=["age"], chunk=30
    )
    assert stream.schema.class_name == "elevel"
    assert " ".join(stream.schema.names) == "salary commission age zipcode hvalue hyears loan group"
    chunks = list(stream)
    assert [len(y) for _, y in chunks] == [30, 30, 30, 10] and chunks[0][1][0].startswith("level")
    assert chunks[0][0]["age"][0].replace(".", "").isdigit()
    assert open_stream("generator:sea", class_name=False).schema.names == ("x1", "x2", "x3", "class")
    with pytest.raises(DataError, match="generator:led,instances=3: column 'bit1' holds words"):
        list(open_stream("generator:led,instances=3", numeric=["bit1"]))
    with pytest.raises(DataError, match="the class column 'klass' is unknown"):
        open_stream("generator:led", class_name="klass")


@pytest.mark.parametrize("name", ["g.csv", "g.tsv", "g.arff", "g.parquet", "g.pq", "g.csv.gz", "g.arff.gz"])
@pytest.mark.parametrize("spec", ["agrawal,noise=0.1", "led", "rbf"])
def test_written_and_read(tmp_path, name, spec):
    stream = open_generator(spec, instances=1000, chunk=300)
    seen = []
    assert write_stream(stream, tmp_path / name, limit=700, progress=seen.append) == 700
    assert seen == [300, 300, 100]
    X, y = stream.take(700)
    nominal = [a.name for a in stream.schema.attributes if a.kind == "nominal"]
    back = open_stream(tmp_path / name, nominal=nominal)
    assert back.schema.names == stream.schema.names
    assert back.schema.class_name == stream.schema.class_name
    if "arff" in name:
        assert back.schema == stream.schema
    Z, z = whole(back)
    assert (z == y).all()
    for column in X:
        assert (Z[column] == X[column].astype(object)).all()


def test_streams_that_a_file_does_not_take(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('size,the kind,label\n1.5,"a, b",yes\n?,?,"no, never"\n')
    for name, message in (
        ("t.arff", "ARFF declares the values of 'the kind', but"),
        ("t.parquet.gz", "streams are written as .arff, .csv, .tsv"),
    ):
        with pytest.raises(ValueError, match=message):
            write_stream(open_stream(path), tmp_path / name)


@pytest.mark.parametrize(
    "word, formats, holds",
    [
        ("?", [".csv", ".tsv", ".parquet"], []),
        ("", [".csv", ".parquet"], [".arff"]),
        (" a", [".csv", ".tsv"], [".arff", ".parquet"]),
        ("a\nb", [".csv", ".tsv"], [".arff", ".parquet"]),
        ("it's", [], [".arff", ".csv", ".parquet"]),
        ('"a", b', [], [".arff", ".csv", ".parquet"]),
    ],
)
def test_words_that_a_format_cannot_hold(tmp_path, word, formats, holds):
    """They would be read as another word, or as a missing one."""
    values, labels = ("u", word), ("p", word)
    table = pd.DataFrame({"a": pd.Categorical(values), "y": pd.Categorical(labels)})
    source = SimpleNamespace(path="s", once=False, rows=2, tables=lambda *_: [(table, str)])
    declared = () if word == "?" else values  # which no attribute can declare
    stream = Stream(source, Schema((Attribute("a", "nominal", declared),), "y", labels), 10)
    for suffix in formats:
        match = f"{suffix} cannot hold {re.escape(repr(word))}"
        with pytest.raises(ValueError, match=match):
            write_stream(stream, tmp_path / f"t{suffix}")
        assert not (tmp_path / f"t{suffix}").exists()
    for suffix in holds:
        write_stream(stream, tmp_path / f"t{suffix}")
        X, y = whole(open_stream(tmp_path / f"t{suffix}"))
        assert X["a"].tolist() == list(values) and y.tolist() == list(labels)
