"""Alternates: forks in the tree, what learns below them, and the slots that they take and give back."""

import random

import driving
import numpy as np
import pytest
from bregalad.boards import open_board
from bregalad.driver import checkpoint
from bregalad.driver.trainer import Trainer
from bregalad.policy.split_policy import SplitPolicy
from bregalad.tree.cells import CellMap
from bregalad.tree.table import FORK, LEAF, NO_NODE
from marks import nightly

ANYTIME = {"anytime": True, "inner_grace": 130}
TREES = {"leaves": {}, "paths": ANYTIME, "moves": ANYTIME | {"same_attribute": "replace"}}
# Of an anytime tree's: test_cvfdt.py and test_hat.py compare them with the reference each day.
KINDS = ["leaves", *nightly("paths", "moves")]


def trainer_on(tree="leaves", alternates=True, prediction="nba", classes=2, block=None, **changes):
    geometry = driving.geometry(**{"slots": 400, "naive_bayes": True, **changes})
    cells = CellMap.build(driving.CAPACITIES, geometry.bins)
    policy = SplitPolicy(delta=1e-3, grace=100, alternates=alternates, block=block, **TREES[tree])
    return Trainer(open_board("emulated", geometry), cells, policy, classes, prediction=prediction)


def subtree(nodes, top):
    """A part of a tree as one: nested tuples of tests, classes and counts."""
    if nodes.kind[top] == LEAF:
        return (nodes.majority[top], nodes.right[top], nodes.observed[top], *nodes.counts[top].tolist())
    names = ("kind", "attribute", "threshold", "width", "default")
    return (
        *(int(getattr(nodes, name)[top]) for name in names),
        *(subtree(nodes, below) for below in nodes.children(top)),
    )


def check(trainer):
    """Nodes hang together, and every slot is either free or its one node's."""
    nodes, pool = trainer.nodes, trainer.growth.pool
    live = nodes.descendants()
    nodes._check_links(len(driving.CAPACITIES))
    held = live[nodes.slot[live] >= 0]
    assert sorted(nodes.slot[held].tolist() + pool.stack[1 : pool.free + 1].tolist()) == list(range(pool.slots))
    assert (pool.node[nodes.slot[held]] == held).all()
    assert (np.flatnonzero(pool.node >= 0) == np.sort(nodes.slot[held])).all()
    assert len(nodes) == len(live)
    for node in live.tolist():
        if nodes.kind[node] == FORK:
            assert nodes.slot[node] < 0
            assert nodes.width[node] == 2
    if not trainer.policy.anytime:
        assert (nodes.kind[held] == LEAF).all()


def entries(trainer, top=0):
    """What the board has counted at the nodes from one on that have a slot, in order."""
    found = checkpoint.read(trainer)
    below = trainer.nodes.descendants(top)
    return found["counts"][np.isin(found["nodes"], below)]


@pytest.mark.parametrize("tree", KINDS)
def test_an_alternate_is_the_tree_that_has_seen_its_instances_alone(tree):
    codes, labels = driving.drifting(3, 6000)
    options = {"block": 1}  # how long blocks are depends on the whole tree
    trainer, plain = trainer_on(tree, **options), trainer_on(tree, alternates=False, **options)
    late = trainer_on(tree, alternates=False, **options)
    found = [trainer.learn(codes[:2000], labels[:2000])]
    assert trainer.nodes.width[0]
    alternate = trainer.growth.fork(0)
    found.append(trainer.learn(codes[2000:], labels[2000:]))
    assert (np.concatenate(found) == plain.learn(codes, labels)).all()
    late.learn(codes[2000:], labels[2000:])
    nodes = trainer.nodes
    assert nodes.width[alternate]
    assert subtree(nodes, int(nodes.child[0])) == subtree(plain.nodes, 0)
    # Codes of its own path alone are what a tree that begins anew would look at.
    assert subtree(nodes, alternate) == subtree(late.nodes, 0)
    assert (entries(trainer, alternate) == entries(late)).all()
    assert (entries(trainer, int(nodes.child[0])) == entries(plain)).all()
    check(trainer)
    trainer.growth.swap(0)
    check(trainer)
    assert subtree(nodes, 0) == subtree(late.nodes, 0)
    more = driving.drifting(5, 4000)
    assert (trainer.learn(*more) == late.learn(*more)).all()
    assert subtree(nodes, 0) == subtree(late.nodes, 0)
    assert (entries(trainer) == entries(late)).all()
    check(trainer)


@pytest.mark.parametrize("tree", KINDS)
@pytest.mark.parametrize("prediction", [pytest.param("mc", marks=pytest.mark.slow), "nba"])
@pytest.mark.parametrize("seed", range(3))
def test_alternates_that_are_dropped_leave_nothing_behind(tree, prediction, seed):
    """Wherever they stand, in each other, too."""
    rng = random.Random(seed)
    codes, labels = driving.drifting(seed, 6000)
    trainer = trainer_on(tree, prediction=prediction, slots=2000)
    plain = trainer_on(tree, alternates=False, prediction=prediction, slots=2000)
    nodes, at, forked = trainer.nodes, 0, 0
    while at < len(codes):
        end = at + rng.choice([1, 40, 500])
        assert (trainer.learn(codes[at:end], labels[at:end]) == plain.learn(codes[at:end], labels[at:end])).all(), seed
        at = end
        live = nodes.descendants()
        forks = live[nodes.kind[live] == FORK]
        if len(forks) < 6:
            trainer.growth.fork(rng.choice(nodes.inner().tolist() or [0]))
            forked += 1
        elif rng.random() < 0.5:
            trainer.growth.drop(rng.choice(forks.tolist()))
        check(trainer)
    assert forked > 6
    while nodes.forks:
        live = nodes.descendants()
        trainer.growth.drop(int(live[nodes.kind[live] == FORK][0]))
        check(trainer)
    assert nodes.difference(plain.nodes) is None, seed
    assert (entries(trainer) == entries(plain)).all(), seed


# An anytime tree's inner nodes take a slot each: 12 are too few.
@pytest.mark.parametrize(
    "tree, slots",
    [
        *(("leaves", slots) for slots in (12, 40, 400)),
        *nightly(*((tree, slots) for tree in ("paths", "moves") for slots in (40, 400))),
    ],
)
def test_no_slot_leaks(tree, slots):
    seed = slots + 1
    rng = random.Random(seed)
    codes, labels = driving.drifting(seed, 12_000)
    trainer = trainer_on(tree, slots=slots)
    nodes, at, done = trainer.nodes, 0, set()
    while at < len(codes):
        end = at + rng.choice([1, 60, 400])
        trainer.learn(codes[at:end], labels[at:end])
        at = end
        live = nodes.descendants()
        forks = live[nodes.kind[live] == FORK].tolist()
        change = rng.choice(["fork", "swap", "drop"])
        if change == "fork":
            trainer.growth.fork(rng.choice(nodes.inner().tolist() or [0]))
        elif forks:
            getattr(trainer.growth, change)(rng.choice(forks))
        else:
            continue
        done.add(change)
        trainer.begin_block(trainer.event_counts.instances)
        check(trainer)
    assert done == {"fork", "swap", "drop"}, seed


def test_depth_and_used_attributes_go_through_forks():
    codes, labels = driving.drifting(1, 6000)
    trainer = trainer_on()
    trainer.learn(codes, labels)
    nodes = trainer.nodes
    deepest, inner = nodes.deepest, nodes.inner().tolist()
    depths = {node: nodes.depth(node) for node in inner if node}
    for node in inner[::-1]:
        trainer.growth.fork(node)
    assert nodes.deepest == deepest
    assert nodes.forks == len(inner)
    assert len(nodes.predicting()) == len(nodes) - 2 * len(inner)
    assert nodes.depth(0) == 0
    for node, depth in depths.items():
        assert nodes.depth(nodes.standing(node)) == depth
        assert nodes.depth(int(nodes.child[node]) + 1) == depth
    assert nodes.parent[0] == NO_NODE
