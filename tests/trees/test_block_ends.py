"""Blocks: how long they are, and decisions that take effect at their ends."""

import copy

import numpy as np
import pytest
from bregalad import EFDT, EFHAT, HAT, VFDT, load_tree
from bregalad_sim.reference import ReferenceEFDT, ReferenceHAT, ReferenceVFDT
from bregalad_sim.reference.efhat import ReferenceEFHAT
from noisy import stream

OPTIONS = {"grace": 60, "delta": 1e-2, "block": 1.0}
REFERENCES = {VFDT: ReferenceVFDT, EFDT: ReferenceEFDT, HAT: ReferenceHAT, EFHAT: ReferenceEFHAT}


def waiting(tree):
    """Nodes that a decision waits for."""
    return np.flatnonzero(tree._nodes.decision > 0).tolist()


@pytest.mark.parametrize("kind", [VFDT, EFDT])
def test_decisions_that_wait_are_saved_and_copied_but_lost_with_statistics(kind, tmp_path):
    """These are lost as after a board that failed: nodes begin to count anew, and what was decided is void."""
    X, y = stream(6000)
    tree, at = kind(**OPTIONS), 0
    while at < 1000 or not waiting(tree):
        tree.partial_fit(X[at : at + 50], y[at : at + 50], classes=[False, True])
        at += 50
    tree.save(tmp_path / "tree")
    others, whole = (load_tree(tmp_path / "tree"), copy.deepcopy(tree)), kind(**OPTIONS).fit(X, y)
    for other in others:
        assert waiting(other) == waiting(tree)
        assert other.partial_fit(X[at:], y[at:]).difference(whole) is None
    tree.close()
    for name in ("nodes", "entries", "counts"):
        tree._checkpoint[name] = tree._checkpoint[name][:0]
    tree.partial_fit(X[at : at + 1], y[at : at + 1])
    assert not waiting(tree)
    assert tree.partial_fit(X[at + 1 :], y[at + 1 :]).score(X, y) > 0.8


@pytest.mark.parametrize("kind, share", [(VFDT, 1 / 8), (EFDT, 0.01), (EFDT, 0.2), (HAT, 1 / 8), (EFHAT, 1 / 8)])
def test_blocks_are_those_of_the_reference(kind, share):
    """By the leaves that there are when one begins; all as long as the first where errors are watched."""
    X, y = stream(4000 if kind in (VFDT, EFDT) else 1500, missing=0)
    X = (X * 4).astype(int)  # no code book changes, which would begin another block
    options = {"block": share, "grace": 60, "delta": 0.1}
    tree, expected, lengths = kind(nominal=[0, 1, 2], **options), REFERENCES[kind]([4] * 3, 2, **options), {}
    for at in range(len(X)):
        tree.partial_fit(X[at : at + 1], y[at : at + 1], classes=[False, True])
        expected.learn(X[at : at + 1].astype(np.uint8), y[at : at + 1].astype(int))
        assert tree._event_counts.begun == expected._begun, at
        leaves = expected.leaves if kind in (VFDT, EFDT) else 1
        lengths[expected._begun] = max(1, int(share * 60 * leaves))
    assert np.diff(list(lengths)).tolist() == list(lengths.values())[:-1] and expected.leaves > 2
    assert len(set(lengths.values())) > 3 or kind in (HAT, EFHAT)


def test_the_longest_of_those_that_depend_on_the_tree():
    X, y = stream(2000, missing=0)
    tree = VFDT(nominal=[0, 1, 2], block=1.0, grace=5000).fit((X * 4).astype(int), y)
    assert tree._event_counts.begun == 1024


def test_longest():
    """Tried at a block's end, a tree splits at the next one's."""
    X, y = stream(2999, missing=0)
    tree = VFDT(nominal=[0, 1, 2], **OPTIONS | {"block": 1500}).fit((X * 4).astype(int), y)
    assert tree.report()["leaves"] == 1 and waiting(tree) == [0]
    assert tree.partial_fit((X[:1] * 4).astype(int), y[:1]).report()["leaves"] > 1
