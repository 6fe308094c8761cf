"""Decisions that take effect later: they outlive calls, saves and copies, and are as the page on learners says."""

import copy

import numpy as np
import pytest
from bregalad import EFDT, VFDT, load_tree
from bregalad.trees.contents import digest_of
from noisy import stream

OPTIONS = {"grace": 60, "delta": 1e-2, "delay": 250}


def waiting(tree):
    """Nodes that a decision waits for."""
    return np.flatnonzero(tree._nodes.verdict > 0).tolist()


@pytest.fixture(params=[VFDT, EFDT], ids=lambda kind: kind.__name__)
def begun(request):
    """A tree that a decision waits for, and the stream's rest."""
    X, y = stream(6000)
    tree = request.param(**OPTIONS)
    for at in range(0, 3000, 50):
        tree.partial_fit(X[at : at + 50], y[at : at + 50], classes=[False, True])
        if at > 1000 and waiting(tree):
            return tree, X[at + 50 :], y[at + 50 :], type(tree)(**OPTIONS).fit(X, y)
    raise AssertionError("no decision has waited")


def test_a_save_and_a_copy_keep_what_is_decided(begun, tmp_path):
    tree, X, y, whole = begun
    tree.save(tmp_path / "tree")
    again = load_tree(tmp_path / "tree")
    assert waiting(again) == waiting(tree)
    other = copy.deepcopy(tree)
    for each in (tree, again, other):
        each.partial_fit(X, y)
        assert each.difference(whole) is None


def test_statistics_that_are_lost_take_decisions_with_them(begun, tmp_path):
    """As after a board that failed: nodes begin to count anew, and what was decided is void."""
    tree, X, y, whole = begun
    tree.close()
    for name in ("nodes", "entries", "counts"):
        tree._checkpoint[name] = tree._checkpoint[name][:0]
    tree.partial_fit(X[:1], y[:1])
    assert not waiting(tree)
    assert tree.partial_fit(X[1:], y[1:]).score(X, y) > 0.8


def test_one_at_a_time_is_as_many_at_once(begun):
    tree, X, y, whole = begun
    many = copy.deepcopy(tree)
    for row, label in zip(X[:1500], y[:1500], strict=True):
        tree.learn_one(dict(zip(tree.schema_.names, row.tolist(), strict=True)), bool(label))
    assert tree.difference(many.partial_fit(X[:1500], y[:1500])) is None


def undecided():
    """A tree of nominal attributes, whose decision waits very long; no change of a code book brings it forward."""
    X, y = stream(3000, missing=0)
    return VFDT(nominal=[0, 1, 2], **OPTIONS | {"delay": 65_536}).fit((X * 4).astype(int), y)


def test_longest():
    """A tree that has not learnt as many instances has not split."""
    tree = undecided()
    assert tree.report()["leaves"] == 1 and waiting(tree) == [0]
    with pytest.raises(ValueError, match="delay must be 0 to 65536 instances, not 65537"):
        VFDT(delay=65_537).fit([[1.0]], [1])


@pytest.mark.parametrize(
    "name, value",
    [("verdict", 3), ("verdict", 4), ("verdict", 9), ("cell", 77), ("value", 250)],
)
def test_a_file_with_a_decision_that_no_trial_comes_to_is_refused(name, value, tmp_path):
    undecided().save(tmp_path / "tree")
    with np.load(tmp_path / "tree") as archive:
        arrays = dict(archive)
    arrays.pop("digest")
    arrays[f"node_{name}"][0] = value
    with open(tmp_path / "tree", "wb") as file:
        np.savez(file, digest=np.frombuffer(digest_of(arrays), np.uint8), **arrays)
    with pytest.raises(ValueError, match="a damaged saved tree"):
        load_tree(tmp_path / "tree")
