"""Blocks: how long they are, and decisions that take effect at their ends, which outlive calls, saves and copies."""

import copy

import numpy as np
import pytest
from bregalad import EFDT, EFHAT, HAT, VFDT, Geometry, load_tree
from bregalad_sim.reference import ReferenceEFDT, ReferenceHAT, ReferenceVFDT
from bregalad_sim.reference.efhat import ReferenceEFHAT
from noisy import stream

OPTIONS = {"grace": 60, "delta": 1e-2, "block": 1.0}
REFERENCES = {VFDT: ReferenceVFDT, EFDT: ReferenceEFDT, HAT: ReferenceHAT, EFHAT: ReferenceEFHAT}


def waiting(tree):
    """Nodes that a decision waits for."""
    return np.flatnonzero(tree._nodes.decision > 0).tolist()


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


@pytest.mark.parametrize("kind, share", [(VFDT, 1 / 8), (EFDT, 0.01), (EFDT, 0.2)])
def test_blocks_are_those_of_the_reference(kind, share):
    """By the leaves that there are when one begins."""
    X, y = stream(4000, missing=0)
    X = (X * 4).astype(int)  # no code book changes, which would begin another block
    options = {"block": share, "grace": 60, "delta": 0.1}
    tree, expected, lengths = kind(nominal=[0, 1, 2], **options), REFERENCES[kind]([4] * 3, 2, **options), {}
    for at in range(len(X)):
        tree.partial_fit(X[at : at + 1], y[at : at + 1], classes=[False, True])
        expected.learn(X[at : at + 1].astype(np.uint8), y[at : at + 1].astype(int))
        assert tree._event_counts.begun == expected._begun, at
        lengths[expected._begun] = max(1, int(share * 60 * expected.leaves))
    assert np.diff(list(lengths)).tolist() == list(lengths.values())[:-1] and len(set(lengths.values())) > 3


def test_the_longest_of_those_that_depend_on_the_tree():
    X, y = stream(2000, missing=0)
    tree = VFDT(nominal=[0, 1, 2], block=1.0, grace=5000).fit((X * 4).astype(int), y)
    assert tree._event_counts.begun == 1024


@pytest.mark.parametrize("kind", [HAT, EFHAT])
def test_blocks_do_not_grow_where_errors_are_watched(kind):
    X, y = stream(1500, missing=0)
    X = (X * 4).astype(int)  # no code book changes, which would begin another block
    options = {"block": 1 / 8, "grace": 60, "delta": 0.1}
    tree, expected = kind(nominal=[0, 1, 2], **options), REFERENCES[kind]([4] * 3, 2, **options)
    for at in range(len(X)):
        tree.partial_fit(X[at : at + 1], y[at : at + 1], classes=[False, True])
        expected.learn(X[at : at + 1].astype(np.uint8), y[at : at + 1].astype(int))
        assert tree._event_counts.begun == expected._begun == (at + 1) // 7 * 7
    assert tree.report()["leaves"] > 2 and expected.leaves > 2


def test_longest():
    """Tried at a block's end, a tree splits at the next one's."""
    X, y = stream(2999, missing=0)
    tree = VFDT(nominal=[0, 1, 2], **OPTIONS | {"block": 1500}).fit((X * 4).astype(int), y)
    assert tree.report()["leaves"] == 1 and waiting(tree) == [0]
    assert tree.partial_fit((X[:1] * 4).astype(int), y[:1]).report()["leaves"] > 1


@pytest.mark.parametrize("block", [0, -3, 65_537, 0.0, -0.5, 1.5, float("nan")])
def test_lengths_that_there_are_not(block):
    message = (
        "block must be an integer from 1 to 65536 instances, or a float above 0 and up to 1.0, or None for 1/32, "
        f"not {block}"
    )
    with pytest.raises(ValueError, match=message):
        VFDT(block=block).check_parameters()


def test_there_is_no_delay():
    with pytest.raises(TypeError, match="there is no delay: .* leave it out, or choose block, how long these are"):
        VFDT(delay=128)


def test_the_default():
    X, y = stream(6000)
    options = {"leaf_prediction": "mc", "geometry": Geometry(nodes=64), "grace": 60}
    tree = VFDT(**options).fit(X, y)
    assert tree.difference(VFDT(block=1 / 32, **options).fit(X, y)) is None
    assert tree.report()["splits"] > 1
