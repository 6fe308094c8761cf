"""The trees as CapyMOA's classifiers: with CapyMOA where it is installed, else by its interface."""

import importlib
import importlib.util
import sys
import types

import numpy as np
import pytest

_THERE = importlib.util.find_spec("capymoa") is not None


class _Classifier:
    """What `capymoa.base.Classifier` does, as documented."""

    def __init__(self, schema, random_seed=1):
        self.schema, self.random_seed = schema, random_seed


# Of a stream of a number and of a nominal attribute of three values; three classes.
_HEADER = types.SimpleNamespace(attribute=lambda place: types.SimpleNamespace(name=lambda: ("size", "colour")[place]))
_SCHEMA = types.SimpleNamespace(
    get_moa_header=lambda: _HEADER,
    get_num_attributes=lambda: 2,
    get_nominal_attributes=lambda: {"colour": ["red", "green", "blue"]},
    get_num_classes=lambda: 3,
)


@pytest.fixture
def adapter(monkeypatch):
    """`bregalad.capymoa` on a base class that stands in for CapyMOA's."""
    sys.modules.pop("bregalad.capymoa", None)
    base = types.ModuleType("capymoa.base")
    base.Classifier = _Classifier
    monkeypatch.setitem(sys.modules, "capymoa", types.ModuleType("capymoa"))
    monkeypatch.setitem(sys.modules, "capymoa.base", base)
    yield importlib.import_module("bregalad.capymoa")
    sys.modules.pop("bregalad.capymoa")  # or CapyMOA itself would get this one


def instances(seed=1, count=3000):
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    X = np.stack([rng.random(count), rng.integers(0, 3, count)], axis=1)
    X[rng.random(X.shape) < 0.02] = np.nan
    labels = np.where(X[:, 0] > 0.5, 2, X[:, 1] == 1)
    for x, label in zip(X, labels, strict=True):
        yield types.SimpleNamespace(x=x, y_index=int(label))


@pytest.mark.parametrize("kind", ["VFDT", "EFDT", "CorrHTree"])
def test_by_its_interface(adapter, kind):
    learner = getattr(adapter, kind)(_SCHEMA)
    right = total = 0
    for place, instance in enumerate(instances()):
        label, shares = learner.predict(instance), learner.predict_proba(instance)
        assert (label is None) == (shares is None) == (place == 0)
        if shares is not None:
            assert shares.shape == (3,) and shares.sum() == pytest.approx(1)
            assert label in (0, 1, 2)
        learner.train(instance)
        if place >= 1500:
            right += label == instance.y_index
            total += 1
    assert right > 0.9 * total
    assert learner.tree.report()["instances"] == 3000
    kinds = [attribute.kind for attribute in learner.tree.schema_.attributes]
    assert kinds == ["numeric", "nominal"]


@pytest.mark.skipif(not _THERE, reason="CapyMOA is not installed")
@pytest.mark.parametrize("kind", ["VFDT", "EFDT"])
def test_its_evaluation(kind):
    from capymoa.evaluation import prequential_evaluation
    from capymoa.stream.generator import AgrawalGenerator

    capymoa = importlib.import_module("bregalad.capymoa")
    stream = AgrawalGenerator()
    learner = getattr(capymoa, kind)(stream.get_schema(), leaf_prediction="nba", grace=100)
    assert kind in str(learner) and learner.get_params()["grace"] == 100
    results = prequential_evaluation(stream, learner, max_instances=10_000, window_size=1000)
    assert results["cumulative"].accuracy() > 80
    again = type(learner).from_params(stream.get_schema(), learner.get_params())
    assert again.tree.grace == 100 and again.tree.leaf_prediction == "nba"
