"""Nominal attributes with more values than they have room for are warned of."""

import warnings

import numpy as np
import pandas as pd
import pytest
from bregalad import VFDT, load_tree


def crowd(count=3000, values=1000, seed=1):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"shop": rng.integers(0, values, count).astype(str), "few": rng.choice(list("abc"), count)})
    return X, rng.integers(0, 2, count)


def test_each_is_warned_of_once():
    X, y = crowd()
    X["other"] = X["shop"]
    tree = VFDT()
    with pytest.warns(UserWarning) as found:
        tree.partial_fit(X, y, classes=[0, 1])
    summary = tree.quantiser_summary()["attributes"]["shop"]
    share = summary["overflowed"] / summary["seen"]
    assert len(found) == 2 and share > 0.8
    for name, warning in zip(("shop", "other"), found, strict=True):
        assert str(warning.message) == (
            f"attribute {name!r}: {share:.0%} of its values so far are none of the 64 that it has "
            "room for, and count as missing: give it room by nominal_values, up to 255, or group "
            "its values, or leave it out"
        )
        assert warning.filename == __file__
    tree.partial_fit(X, y)
    tree.encode(X)  # filterwarnings makes errors of more


def test_in_small_chunks():
    """From 1,000 values on, in whatever call they come."""
    X, y = crowd()
    tree = VFDT().partial_fit(X[:900], y[:900], classes=[0, 1])
    for at in range(900, 999, 11):
        tree.partial_fit(X[at : at + 11], y[at : at + 11])
    with pytest.warns(UserWarning, match="'shop': 87% of its values"):
        tree.partial_fit(X[999:1010], y[999:1010])
    assert tree.report()["instances"] == 1010


@pytest.mark.parametrize("rare, warned", [(30, False), (31, True)])
def test_a_hundredth_is_no_matter(rare, warned):
    values = np.array(["a", "b"] * 1500, object)
    values[-rare:] = "c"
    tree = VFDT(nominal_values=2)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        tree.fit(pd.DataFrame({"v": values}), [0, 1] * 1500)
    assert [str(warning.message)[:17] for warning in found] == ["attribute 'v': 1%"] * warned


@pytest.mark.parametrize(
    "options, remedy",
    [
        ({"nominal_values": 255}, "the 255 that.* missing: group its values, or leave it out"),
        ({"nominal": {"shop": [str(i) for i in range(9)]}}, "the 9 that.* missing: declare more than its 9, or group"),
    ],
)
def test_the_remedy_is_one(options, remedy):
    X, y = crowd()
    with pytest.warns(UserWarning, match=remedy):
        VFDT(**options).fit(X, y)


def test_of_encoded_and_loaded_trees(tmp_path):
    X, y = crowd()
    tree = VFDT().fit(X[:500], y[:500])
    tree.save(tmp_path / "tree")
    with pytest.warns(UserWarning, match="'shop'"):
        tree.encode(X)
    with pytest.warns(UserWarning, match="'shop'"):
        load_tree(tmp_path / "tree").partial_fit(X, y)


def test_as_an_error_it_comes_when_all_is_learnt():
    X, y = crowd()
    tree = VFDT()
    with pytest.raises(UserWarning):
        tree.partial_fit(X, y, classes=[0, 1])
    assert tree.report()["instances"] == 3000
