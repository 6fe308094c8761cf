"""Streams, and trainers on boards, for tests of the driver."""

import random

import numpy as np
from bregalad.driver.trainer import Trainer
from bregalad.geometry import Geometry
from bregalad.tree.cells import CellMap
from bregalad.tree.table import FORK, LEAF

CAPACITIES = [0, 0, 5, 20, 0]  # numeric, numeric, nominal, nominal over three cells, numeric
OPTIONS = [(child, split) for child in ("inherit", "zero") for split in ("multiway", "one_vs_rest")]


def stream(seed, count=6000, missing=0.05):
    """Codes and labels that a small tree describes, with noise and missing values."""
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, top, count) for top in (255, 255, 5, 20, 30)], axis=1).astype(np.uint8)
    labels = ((codes[:, 0] > 100) & (codes[:, 2] != 1) | (codes[:, 3] % 4 == 1) & (codes[:, 1] < 70)).astype(np.int32)
    labels ^= rng.random(count) < 0.05
    codes[rng.random(codes.shape) < missing] = 255
    return codes, labels


ANYTIME = {"anytime": True, "inner_grace": 130}
TREES = {
    "vfdt": {},
    "efdt": ANYTIME,
    "efdt averages": ANYTIME | {"gain_average": True},
    "efdt moves": ANYTIME | {"same_attribute": "replace"},
    "efdt moa": ANYTIME | {"variant": "moa"},
    "efdt kdd2018": ANYTIME | {"variant": "kdd2018", "child_counts": "zero"},
    "vfdt genuine ties": {"ties": "htdt"},
    "vfdt adaptive": {"adaptive_grace": True},
}


def trainer_on(board, policy, nominal_split="multiway", **how):
    """A trainer of two classes by a policy."""
    return Trainer(board, CellMap.build(CAPACITIES, board.geometry.bins, nominal_split), policy, 2, **how)


def learn(trainer, codes, labels, seed=None):
    """Learn in one call, or (``seed``) in calls of random length."""
    rng = random.Random(seed)
    predictions, at = [], 0
    while at < len(codes):
        end = len(codes) if seed is None else at + rng.choice([1, 17, 300, 2000])
        predictions.append(trainer.learn(codes[at:end], labels[at:end]))
        at = end
    return np.concatenate(predictions)


def active(nodes):
    """Which leaves, from left to right, have a slot."""
    return (nodes.slot[nodes.leaves()] >= 0).tolist()


def check_slots(trainer):
    """Nodes hang together, and every slot is either free or held by one node that counts."""
    nodes, pool = trainer.nodes, trainer.growth.pool
    live = nodes.descendants()
    nodes._check_links(len(trainer.cells.first_cell))
    held = live[nodes.slot[live] >= 0]
    assert len(nodes) == len(live) and not (nodes.kind[held] == FORK).any()
    assert trainer.policy.anytime or (nodes.kind[held] == LEAF).all()
    assert sorted([*nodes.slot[held].tolist(), *pool.stack[1 : pool.free + 1].tolist()]) == list(range(pool.slots))
    assert (pool.node[nodes.slot[held]] == held).all() and (pool.node >= 0).sum() == len(held)


def geometry(slots=200, **changes):
    return Geometry(**{"lanes": 3, "passes": 3, "bins": 8, "slots": slots, **changes})


def drifting(seed, count):
    """Like ``stream`` for a while; then another attribute tells the class, then a third one."""
    codes, labels = stream(seed, count)
    for start, stop, attribute in ((1500, count // 2, 4), (count // 2, count, 0)):
        part = slice(start, stop)
        labels[part] = (codes[part, attribute] > np.median(codes[part, attribute])) ^ (codes[part, 2] == 2)
    return codes, labels
