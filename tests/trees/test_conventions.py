"""scikit-learn's names: what its trees tell of themselves, and its tools with ours in them."""

import joblib
import numpy as np
import pytest
from bregalad import VFDT, load_tree
from bregalad.learners.catalogue import TREES
from bregalad.tree.table import LEAF
from bregalad_sim.reference import criteria
from noisy import frame, stream
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def grown(name="vfdt", **options):
    X, y = frame(6000, missing=0)
    return TREES[name](delta=0.01, grace=50, tau=0.2, **options).fit(X, y), X, y


@pytest.mark.parametrize("name", TREES)
def test_depth_leaves_and_paths(name, tmp_path):
    tree, X, _ = grown(name)
    paths, leaves, nodes = tree.decision_path(X), tree.apply(X), tree._nodes
    assert paths.format == "csr" and paths.shape == (len(X), nodes.rows)
    assert (paths[:, 0].toarray() == 1).all()
    for i in range(0, len(X), 97):
        assert sorted(paths[i].indices) == sorted(nodes.path(leaves[i]))
    assert paths.max() == 1
    assert tree.get_depth() == paths.sum(axis=1).max() - 1 > 1
    assert tree.get_n_leaves() == (nodes.kind[nodes.predicting()] == LEAF).sum() > 2
    assert tree.decision_path(X[:0]).shape == (0, nodes.rows)
    tree.save(tmp_path / "tree")
    again = load_tree(tmp_path / "tree")
    assert again.get_depth() == tree.get_depth() and again.get_n_leaves() == tree.get_n_leaves()
    assert (again.feature_importances_ == tree.feature_importances_).all()


@pytest.mark.parametrize(
    "options", [{}, {"child_counts": "zero"}, {"nominal_split": "one_vs_rest"}, {"criterion": "gini"}]
)
@pytest.mark.parametrize("name", ["vfdt", pytest.param("efdt", marks=pytest.mark.slow)])
def test_importances(name, options):
    """Every inner node's decrease, by the reference, from the counts of the leaves below it, found by their paths."""
    tree, X, y = grown(name, **options)
    nodes, expected = tree._nodes, np.zeros(3)
    counts = np.zeros((nodes.rows, 2))
    for leaf in nodes.leaves().tolist():
        counts[[*nodes.path(leaf)]] += nodes.counts[leaf]
    for node in nodes.inner().tolist():
        sides = counts[[*nodes.children(node)]]
        expected[nodes.attribute[node]] += criteria.reduction(tree.criterion, sides[np.newaxis])[0]
    found = tree.feature_importances_
    assert found == pytest.approx(expected / expected.sum())
    assert found.sum() == pytest.approx(1) and found.argmin() == 1


def test_what_a_tree_tells_before_it_has_split():
    tree = VFDT()
    assert not hasattr(tree, "feature_importances_")
    for call in (tree.get_depth, tree.get_n_leaves, lambda: tree.decision_path([[1]])):
        with pytest.raises(NotFittedError):
            call()
    X, y = frame(100)
    tree.partial_fit(X, y, classes=["no", "yes"])
    for _ in range(2):
        assert tree.get_depth() == 0 and tree.get_n_leaves() == 1
        assert tree.feature_importances_.tolist() == [0] * 3
    assert tree.decision_path(X).toarray().tolist() == [[1]] * 100


@pytest.mark.parametrize("mode", ["r", "r+"])
def test_models_that_joblib_maps_into_memory(mode, tmp_path):
    """Learning writes to their arrays, but not to the file."""
    X, y = frame(6000)
    whole = VFDT().partial_fit(X[:3000], y[:3000], classes=["no", "yes"])
    joblib.dump(whole, tmp_path / "tree")
    data = (tmp_path / "tree").read_bytes()
    tree = joblib.load(tmp_path / "tree", mmap_mode=mode)
    np.testing.assert_array_equal(tree.predict(X), whole.predict(X))
    assert tree.partial_fit(X, y).difference(whole.partial_fit(X, y)) is None
    assert (tmp_path / "tree").read_bytes() == data


@pytest.mark.parametrize("kind", ["default", "pandas", "polars"])
def test_pipelines_hand_on_names(kind):
    """A classifier has no output to set: its transformers' is what it gets."""
    if kind == "polars":
        pytest.importorskip("polars")
    X, y = frame(6000)
    X = X.drop(columns="c")
    model = make_pipeline(StandardScaler(), VFDT(delta=0.01)).set_output(transform=kind)
    model.fit(X, y)
    assert model.score(X, y) > 0.7 and isinstance(model.predict(X), np.ndarray)
    assert hasattr(model[-1], "feature_names_in_") == (kind != "default")
    assert model[-1].n_features_in_ == 2


def test_pictures_in_notebooks():
    tree = VFDT(tau=0.25)
    for model in (tree, make_pipeline(StandardScaler(), tree)):
        assert "VFDT" in model._repr_html_() and "0.25" in model._repr_html_()
        model.fit(*stream(1000, missing=0))
        assert "VFDT" in model._repr_html_() and "VFDT" in repr(model)
    bundle = tree._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
