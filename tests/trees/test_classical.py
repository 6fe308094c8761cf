"""ID5R and ITI: the tree of batch ID3, whatever the order; what they refuse; what they keep."""

import copy
import json
import random
import sys
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from bregalad import ID5R, ITI, load_tree
from bregalad.learners.classical import kernel
from bregalad.learners.classical.tree import Tree
from bregalad.options.table import MOST_KEPT
from bregalad_sim.reference.id3 import Inner, id3
from sklearn.exceptions import NotFittedError

BRANCHES = {0: "<", 1: ">=", -1: None}, {0: "=", 1: "!=", -1: None}


def told(tree):
    """An ID5R's or ITI's tree as the reference tells its own, instances by the order in which they were learnt."""

    def tell(node):
        if node.test is None:
            return sorted(node.rows.tolist())
        attribute, value = node.test
        book = tree._quantiser.books[attribute]
        numeric = tree.schema_.attributes[attribute].kind == "numeric"
        if not numeric and value < 0:
            names, value = {-1: None, **dict(enumerate(book.values))}, None
        else:
            names, value = BRANCHES[not numeric], value if numeric else book.value(int(value))
        return Inner(attribute, value, {names[branch]: tell(child) for branch, child in node.children.items()})

    assert not any(node.stale for node, _ in tree._tree.root.nodes())
    return tell(tree._tree.root)


class Case:
    """A random tree, instances, and the order in which they come."""

    def __init__(self, kind, seed):
        rng = self.rng = random.Random(seed)
        count, width = rng.randint(1, 60), rng.randint(1, 5)
        classes = 2 if kind is ID5R else rng.randint(2, 4)
        missing = 0 if kind is ID5R else rng.choice([0, 0, 0.1, 0.4])
        self.numeric = [kind is ITI and rng.random() < 0.5 for _ in range(width)]
        self.multiway = kind is ID5R or rng.random() < 0.3
        options = {"nominal_split": "multiway" if self.multiway else "one_vs_rest"} if kind is ITI else {}
        self.tree = kind(nominal=[f"a{i}" for i in range(width) if not self.numeric[i]], **options)
        levels = rng.choice([2, 3, 5, 40])  # few: ties between attributes, and instances that contradict each other

        def value(numeric):
            if rng.random() < missing:
                return None
            return rng.randrange(levels) / 4 - 1 if numeric else rng.choice("zyxwvutsrq"[: min(levels, 10)])

        self.instances = [tuple(map(value, self.numeric)) for _ in range(count)]
        of_first = {instance[0]: rng.randrange(classes) for instance in self.instances}
        noise = rng.choice([0, 0.2, 1])
        self.labels = [
            rng.randrange(classes) if rng.random() < noise else of_first[instance[0]] for instance in self.instances
        ]
        self.names = [f"a{i}" for i in range(width)]
        self.classes = range(classes)

    def shuffled(self):
        both = list(zip(self.instances, self.labels, strict=True))
        self.rng.shuffle(both)
        return [instance for instance, _ in both], [label for _, label in both]

    def expected(self, instances, labels):
        return id3(instances, labels, self.numeric, self.multiway)


@pytest.mark.parametrize("cases", [100, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", [ID5R, ITI])
def test_the_tree_is_that_of_batch_id3(kind, cases, seed):
    """One by one and in chunks, compared on the way, too."""
    replaced = 0
    for number in range(cases):
        case = Case(kind, f"{seed} {number}")
        instances, labels = case.shuffled()
        tree, at = case.tree, 0
        while at < len(labels):
            part = slice(at, at + case.rng.choice([1] * 20 + [4, 25]))
            rows = [dict(zip(case.names, each, strict=True)) for each in instances[part]]
            if at and len(rows) == 1:
                tree.learn_one(rows[0], labels[at])
            else:
                tree.partial_fit(pd.DataFrame(rows, columns=case.names), labels[part], case.classes)
            at += len(rows)
            if at == len(labels) or case.rng.random() < 0.05:
                assert told(tree) == case.expected(instances[:at], labels[:at]), f"case {number}"
        replaced += tree.report()["replaced"]
    assert replaced > cases  # or nothing was tried


def shape(count=300, seed=3):
    """A frame of all kinds with missing values, and labels that are mostly a rule's."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"size": rng.normal(size=count), "colour": rng.choice(["red", "green", "blue"], count)})
    y = np.where((X["size"] > 0.2) ^ (X["colour"] == "red"), "yes", np.where(rng.random(count) < 0.1, "maybe", "no"))
    X.loc[rng.random(count) < 0.1, "size"] = np.nan
    X.loc[rng.random(count) < 0.1, "colour"] = None
    return X, y


def test_one_is_answered_as_many():
    X, y = shape()
    tree = ITI().fit(X, y)
    # What is the same in all respects but the class cannot be told apart.
    assert tree.score(X, y) > 0.95
    assert tree.get_depth() == tree.report()["depth"] > 2 and tree.get_n_leaves() > 4
    for i in range(0, 300, 37):
        row = X.iloc[i].to_dict()
        assert tree.predict_one(row) == tree.predict(X[i : i + 1])[0]
        assert list(tree.predict_proba_one(row).values()) == tree.predict_proba(X[i : i + 1])[0].tolist()
        assert list(tree.leaf_counts_one(row).values()) == tree.leaf_counts(X[i : i + 1])[0].tolist()


def test_each_is_predicted_before_it_is_learnt():
    X, y = shape(120)
    tree, expected = ITI(), []
    found = ITI().test_then_train(X, y, set(y))
    for i in range(len(y)):
        expected.append(tree.predict(X[i : i + 1])[0] if i else sorted(set(y))[0])
        tree.partial_fit(X[i : i + 1], y[i : i + 1], set(y))
    assert found.tolist() == expected


def test_declared_and_restarted():
    X, y = shape(100)
    tree = ITI().declare(X, set(y))
    assert tree.predict(X[:1]) == "maybe" and tree.report()["instances"] == 0
    assert told(tree.partial_fit(X, y)) == told(ITI().fit(X, y))
    assert told(tree.restart().partial_fit(X[:50], y[:50])) == told(ITI().fit(X[:50], y[:50]))
    assert tree.classes_.tolist() == ["maybe", "no", "yes"] and ITI().leaf_counts_one({}) == {}


def test_where_there_is_no_branch_the_node_predicts():
    tree = ITI().fit([[1.0], [2.0], [3.0]], ["a", "a", "b"])
    assert tree.predict_proba([[np.nan]]).tolist() == [[2 / 3, 1 / 3]] and tree.predict([[np.nan]]) == ["a"]
    X = pd.DataFrame({"sky": ["rain", "clear", "clear"]})
    tree = ID5R().fit(X, [1, 0, 0])
    assert tree.predict(pd.DataFrame({"sky": ["snow", "rain"]})).tolist() == [0, 1]
    assert tree.predict_proba_one({"sky": "snow"}) == {0: 2 / 3, 1: 1 / 3}


def test_new_attributes_and_classes():
    """Those that come later are missing before, as if they had been there from the first instance on."""
    rng = random.Random(5)
    rows = [{"a": rng.randrange(9), "b": rng.choice("xyz"), "c": rng.randrange(9) / 2} for _ in range(90)]
    labels = [row["a"] > 4 if row["b"] == "x" else row["c"] > 2 for row in rows]
    labels = ["other" if i > 60 and rng.random() < 0.3 else str(label) for i, label in enumerate(labels)]
    tree = ITI()
    for i, (row, label) in enumerate(zip(rows, labels, strict=True)):
        if i < 60:
            row.pop("c")
        if i < 30:
            row.pop("b")
        tree.learn_one(row, label)
        tree.predict_one({"a": 1, "unknown": 3})
    instances = [(row["a"], row.get("b"), row.get("c")) for row in rows]
    assert told(tree) == id3(instances, labels, [True, False, True])
    assert tree.classes_.tolist()[-1] == "other" and tree.schema_.names == ("a", "b", "c")


def test_saved_trees(tmp_path):
    """What a saved tree refuses, and takes; `test_sequences.py` has how it goes on."""
    X, y = shape()
    tree = ITI(nominal=["colour"], class_weight={"yes": 1.5})
    for row, label in zip(X[:200].to_dict("records"), y, strict=False):
        tree.learn_one(row, label)
    tree.save(tmp_path / "tree", run={"seen": 200})
    other = ITI.load(tmp_path / "tree")
    assert told(other) == told(tree) and other.get_params() == tree.get_params() and other.report() == tree.report()
    assert other.learn_one({"size": 1.0, "weight": 2.0}, "never").schema_.names[-1] == "weight"
    with pytest.raises(ValueError, match="a saved ITI, not ID5R"):
        ID5R.load(tmp_path / "tree")
    with pytest.raises(ValueError, match="ITI keeps every instance: it has 0, and 2[0-9]* more"):
        load_tree(tmp_path / "tree", max_instances=100)
    multiway = load_tree(tmp_path / "tree", nominal_split="multiway")
    assert any(node.test and node.test.value == -1 for node, _ in multiway._tree.root.nodes())


def test_on_the_command_line(tmp_path, cli):
    X, y = shape()
    X.assign(kind=y).to_csv(tmp_path / "data.csv", index=False)
    train = f"train {tmp_path}/data.csv --class kind --quiet --tree iti"
    out = cli(f"{train} --save {tmp_path}/tree --nominal-split multiway").out
    assert out.startswith("instances   300\n") and " pruned; " in out and "slot" not in out and "tie" not in out
    tree = load_tree(tmp_path / "tree")
    assert told(tree) == told(ITI(nominal_split="multiway").fit(X, y))
    assert "size missing" in cli(f"inspect {tmp_path}/tree --depth 2").out
    out = cli(f"inspect {tmp_path}/tree --statistics").out
    assert "instances        300\n" in out and "nominal  values 3\n" in out
    assert json.loads(cli(f"{train} --json").out)["attributes"]["colour"] == {"kind": "nominal", "values": 3}


def test_a_tree_as_deep_as_there_are_instances():
    """Deeper than Python's calls may be; it is copied, too."""
    count = 2 * sys.getrecursionlimit()
    X, y = np.arange(count)[:, None], np.arange(count) % 2
    tree = ITI().fit(X, y)
    assert tree.get_depth() > sys.getrecursionlimit() and tree.score(X, y) == 1
    assert tree.learn_one({"x0": 0.5}, 0).predict_one({"x0": 0.4}) == 0
    assert copy.deepcopy(tree).draw() == tree.draw()


def test_importances():
    X, y = shape()
    frame = pd.DataFrame({"no": np.zeros(len(y)), "yes": np.array(y) == y[0]})
    assert ITI().fit(frame, y).feature_importances_.tolist()[0] == 0
    tree = ITI().fit(X, y)
    found = tree.feature_importances_
    assert found.sum() == pytest.approx(1) and (found > 0).sum() > 1
    assert ITI().partial_fit(X[:1], y[:1], set(y)).feature_importances_.tolist() == [0] * len(found)


def test_an_interrupted_call_loses_nothing(monkeypatch):
    X, y = shape()
    tree = ITI().partial_fit(X[:100], y[:100], set(y))
    with monkeypatch.context() as patch:
        for name in ("_ensured", "_add"):
            patch.setattr(Tree, name, Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            tree.partial_fit(X[100:], y[100:])
    assert tree.report()["instances"] == 300 and told(tree) == told(ITI().fit(X, y))


def test_memory_is_bounded():
    X, y = shape()
    tree = ITI(max_instances=250).partial_fit(X[:200], y[:200], set(y))
    before = told(tree)
    for learn in (
        lambda: tree.partial_fit(X[:51], y[:51]),
        lambda: tree.test_then_train(X[:51], y[:51]),
        lambda: tree.partial_fit(X[:2], y[:2], sample_weight=[50, 1]),
        lambda: tree.learn_one(X.iloc[0].to_dict(), y[0], 51),
        lambda: tree.fit(X, y),
    ):
        with pytest.raises(ValueError, match="ITI keeps every instance: it has .* max_instances=250, so none of these"):
            learn()
            raise AssertionError
        assert told(tree) == before
    tree = tree.set_params(max_instances=300).partial_fit(X[:50], y[:50])
    with pytest.raises(ValueError, match="it has 250, and 1 more"):
        tree.set_params(max_instances=250).learn_one(X.iloc[0].to_dict(), y[0])
    assert tree.report()["instances"] == 250
    # The largest gains fit into 64 bits.
    assert kernel.logarithms(MOST_KEPT)[-1] == 20 * MOST_KEPT << kernel.FRACTION


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: ID5R().fit([[1.0]], [1]), "attribute 'x0' is numeric, ID5R takes nominal ones: .* choose ITI"),
        (lambda: ID5R(nominal=[0]).fit([[1], [2], [3]], [1, 2, 3]), "there are 3 classes, ID5R takes two: choose ITI"),
        (lambda: ID5R(nominal=[0]).fit([[1], [np.nan]], [1, 2]), "instance 1 has no value of attribute 'x0', and ID5R"),
        (lambda: ID5R().learn_one({"a": "x"}, 1).learn_one({"b": "x"}, 1), "attribute 'b' is new, and missing in the"),
        (lambda: ITI(nominal=[0]).fit([[i] for i in range(256)], [0, 1] * 128), "more than 255 values.*: 'x0'"),
        (lambda: ITI().fit([[np.inf]], [1]), "'x0': value 0 is inf"),
        (lambda: ITI(max_instances=0).fit([[1]], [1]), "max_instances must be 1 to 1048576 instances, not 0"),
        (lambda: ITI(nominal_split="both").fit([[1]], [1]), "nominal_split must be 'multiway' or 'one_vs_rest'"),
        (
            lambda: ITI().fit([[1], [2]], [0, 1]).set_params(nominal_split="multiway").partial_fit([[1]], [1]),
            "was 'one",
        ),
        (lambda: ITI().fit([[1], [2]], [0, 1]).partial_fit([[1, 2]], [1]), "X has 2 features, but ITI is expecting 1"),
        (lambda: ITI().predict([[1]]), "has not learnt anything yet"),
    ],
)
def test_refusals(make, message):
    with pytest.raises((ValueError, NotFittedError), match=message):
        make()


def test_what_is_refused_changes_nothing():
    X, y = shape()
    tree = ITI().fit(X, y)
    before = told(tree)
    many = pd.DataFrame({"size": 1.0, "colour": [f"c{i}" for i in range(300)]})
    for bad in (many, X.assign(size=np.inf), X[["colour", "size"]]):
        with pytest.raises(ValueError):
            tree.partial_fit(bad, y)
        with pytest.raises(ValueError):
            tree.fit(bad.rename(columns={"size": "colour", "colour": "colour"}), y)
    for x in ({"size": 1, "colour": "c400", "weight": 2}, {"size": "large"}):
        with pytest.raises((TypeError, ValueError)):
            tree.learn_one(x, y[0])
    assert told(tree) == before and tree.report()["instances"] == 300
    tree.partial_fit(X, y)


def test_texts():
    tree = ITI(nominal_split="multiway").fit(
        pd.DataFrame({"wind": [1, 1, 3, 3, 1, 2, 3.0, None], "sky": ["rain", "snow"] * 2 + ["clear"] * 4}),
        ["in"] * 4 + ["out", "out", "in", "in"],
    )
    assert tree.draw() == (
        "sky = rain: in, 100.0% of 2\n"
        "sky = snow: in, 100.0% of 2\n"
        "sky = clear\n"
        "    wind missing: in, 100.0% of 1\n"
        "    wind < 2.5: out, 100.0% of 2\n"
        "    wind >= 2.5: in, 100.0% of 1"
    )
    assert "..." in tree.draw(1) and '"sky"' in tree.to_graphviz() and "wind" not in tree.to_graphviz(1)
    assert "in, 66.7% of 3" in ITI().fit([[1], [1], [1]], ["in", "in", "out"]).draw()
