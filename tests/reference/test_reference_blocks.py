"""When the reference trees are tried, and when they change: at the ends of blocks."""

import math
from functools import partial

import numpy as np
import pytest
from bregalad_sim.reference import (
    ReferenceBagging,
    ReferenceCVFDT,
    ReferenceEFDT,
    ReferenceHAT,
    ReferencePuuCVFDT,
    ReferencePuuVFDT,
    ReferenceVFDT,
)
from bregalad_sim.reference.efhat import ReferenceEFHAT

CAPACITIES = [0, 0, 3]
TREE = {"grace": 40, "delta": 1e-2}
WATCHED = {"drift_delta": 0.1, "switch_width": 40}
WINDOW = {"window": 300, "inner_grace": 60, "test_every": 60, "test_length": 30, "bins": 8}
KINDS = {
    "vfdt": partial(ReferenceVFDT, CAPACITIES, 2, leaf_prediction="nba"),
    "efdt": partial(ReferenceEFDT, CAPACITIES, 2, inner_grace=90, same_attribute="replace"),
    "efdt by the tree's count": partial(ReferenceEFDT, CAPACITIES, 2, inner_grace=90, variant="moa"),
    "puuvfdt": partial(ReferencePuuVFDT, CAPACITIES, level=0.3),
    "hat": partial(ReferenceHAT, CAPACITIES, 2, **WATCHED),
    "efhat": partial(ReferenceEFHAT, CAPACITIES, 2, inner_grace=90, **WATCHED),
    "cvfdt": partial(ReferenceCVFDT, CAPACITIES, 2, same_attribute="replace", **WINDOW),
    "puucvfdt": partial(ReferencePuuCVFDT, CAPACITIES, level=0.3, **WINDOW),
}


def drifting(seed, count=2000):
    """One attribute tells the class, then another one."""
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, top, count) for top in (255, 255, 3)], axis=1).astype(np.uint8)
    late = np.arange(count) // 700 % 2
    labels = (codes[np.arange(count), late] > 100) & (codes[:, 2] < 2) ^ (rng.random(count) < 0.05)
    return codes, labels.astype(int)


def halves(count):
    """A nominal attribute that is the class."""
    labels = np.arange(count) % 2
    return labels[:, None].astype(np.uint8), labels


def changes(tree):
    """How often the tree has changed in whatever way."""
    event_counts = tree.event_counts
    return [
        event_counts.splits,
        event_counts.replaced,
        event_counts.pruned,
        event_counts.alternates,
        event_counts.swapped,
        event_counts.dropped,
    ]


def test_a_split_takes_effect_a_block_after_its_attempt():
    codes, labels = halves(300)
    tree, ends = ReferenceVFDT([2], 2, block=1 / 32), []
    for at in range(300):
        ends += [tree._ends] if tree._ends not in ends else []
        tree.learn(codes[at : at + 1], labels[at : at + 1])
    # A block is 200 / 32 instances for each leaf; the 200th comes within one, whose end is the attempt.
    assert ends == [*range(6, 211, 6), *range(222, 301, 12), 306]
    assert [decision[:2] for decision in tree.decisions] == [(204, "split")]
    assert [split.seen for split in tree.splits] == [210]
    assert [child.counts.tolist() for child in tree.root.children] == [[150, 0], [0, 150]]
    assert [child.observed.sum() for child in tree.root.children] == [45, 45]


@pytest.mark.parametrize(
    "block, grace, length", [(7, 200, 7), (65536, 1, 65536), (1 / 32, 20, 1), (1.0, 10**6, 1024), (0.3, 10, 3)]
)
def test_length(block, grace, length):
    tree = ReferenceVFDT([2], 2, block=block, grace=grace)
    assert tree._ends == length
    tree.learn(*halves(length))
    assert tree._begun == length


@pytest.mark.parametrize("kind", KINDS)
def test_a_tree_changes_at_the_ends_of_blocks_only(kind, seed=1):
    codes, labels = drifting(seed)
    tree, before, at = KINDS[kind](block=25, **TREE), [0] * 6, set()
    for i in range(len(codes)):
        tree.learn(codes[i : i + 1], labels[i : i + 1])
        if changes(tree) != before:
            before = changes(tree)
            at.add((i + 1) % 25)
    assert before[0] > 1 and at == {0}
    assert ("hat" in kind or "cvfdt" in kind) == (before[3] > 0)


@pytest.mark.parametrize("block", [1 / 32, 50])
@pytest.mark.parametrize("kind", KINDS)
def test_chunks_change_nothing(kind, block, seed=2):
    codes, labels = drifting(seed, 1000)
    found = set()
    for chunk in (1, 7, 4096):
        tree = KINDS[kind](block=block, **TREE)
        parts = [tree.learn(codes[at : at + chunk], labels[at : at + chunk]) for at in range(0, len(codes), chunk)]
        found.add(repr((np.concatenate(parts).tolist(), changes(tree), tree.event_counts, getattr(tree, "splits", 0))))
    assert len(found) == 1


def test_a_tree_wide_count_waits_for_the_blocks_end(seed=3):
    codes, labels = drifting(seed)
    tree = ReferenceEFDT(CAPACITIES, 2, inner_grace=90, variant="moa", block=50, **TREE)
    # A leaf until the 100th instance, due with the 180th and the 270th.
    for until, tried_at in ((199, 50), (200, 200), (299, 200), (300, 300)):
        seen = tree.event_counts.instances
        tree.learn(codes[seen:until], labels[seen:until])
        assert tree.root.tried_at == tried_at
    assert tree.root.kind


@pytest.mark.parametrize("grace", [30, 31])
def test_what_errors_decide_takes_effect_at_the_end_of_its_block(grace):
    """Whether an attempt ends that, too, or not."""
    codes, labels = halves(60)
    tree = ReferenceHAT([2], 2, block=30, grace=grace, max_depth=0)
    tree.learn(codes[:59], labels[:59])
    assert tree._decide_later(tree.root, False, -math.inf, tree._begin_alternate)
    assert not tree._decide_later(tree.root, False, -math.inf, tree._begin_alternate)  # one at a time
    assert tree.event_counts.alternates == 0
    tree.learn(codes[59:], labels[59:])
    assert tree.event_counts.alternates == 1


def test_settling_begins_a_block():
    tree = ReferenceVFDT([2], 2, block=1 / 32)
    tree.learn(*halves(207))
    tree.settle()
    assert [split.seen for split in tree.splits] == [207] and (tree._begun, tree._ends) == (207, 219)


def test_an_instance_is_one_of_a_block_however_often_it_is_learnt():
    member = ReferenceBagging([2], 2, members=1, rate=1.0, seed=1, block=3, grace=2, delta=0.5).trees[0]
    codes, labels = halves(2)
    member.test_then_train(codes[0], labels[0], 2)
    member.test_then_train(codes[1], labels[1], 5)
    assert member._begun == 0
    member.test_then_train(codes[1], labels[1], 0)
    assert member._begun == 3 and [decision.seen for decision in member.decisions] == [3]


@pytest.mark.parametrize("block", [0, -1, 65_537, 0.0, 1.5, math.nan, math.inf])
@pytest.mark.parametrize("kind", ["vfdt", "cvfdt"])
def test_refused(kind, block):
    with pytest.raises(ValueError, match="block must be 1 to 65536 instances, or a fraction"):
        KINDS[kind](block=block)


@pytest.mark.parametrize("block", ["1/32", True, None])
def test_no_number(block):
    with pytest.raises(TypeError, match="block must be an int or a float, not"):
        ReferenceVFDT([2], 2, block=block)
