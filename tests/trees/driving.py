"""Streams, and trainers on boards, for tests of the driver."""

from copy import deepcopy

import numpy as np
from bregalad.boards import open_board
from bregalad.driver import checkpoint
from bregalad.driver.trainer import Trainer
from bregalad.geometry import Geometry
from bregalad.policy.split_policy import SplitPolicy
from bregalad.tree.cells import CellMap
from bregalad.tree.table import FORK, LEAF
from bregalad_sim.latency import GoldenBoard, LateBoard
from comparison import agree

CAPACITIES = [0, 0, 5, 20, 0]  # numeric, numeric, nominal, nominal over three cells, numeric
OPTIONS = [(child, split) for child in ("inherit", "zero") for split in ("multiway", "one_vs_rest")]


def stream(seed, count=6000):
    """Codes and labels that a small tree describes, with noise and missing values."""
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, top, count) for top in (255, 255, 5, 20, 30)], axis=1).astype(np.uint8)
    labels = ((codes[:, 0] > 100) & (codes[:, 2] != 1) | (codes[:, 3] % 4 == 1) & (codes[:, 1] < 70)).astype(np.int32)
    labels ^= rng.random(count) < 0.05
    codes[rng.random(codes.shape) < 0.05] = 255
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


def learn_alike(trainer, reference, codes, labels, size=1 << 30):
    """Learn in parts of a size, and assert after each that trainer and reference have come to the same."""
    for at in range(0, len(codes), size):
        part = slice(at, at + size)
        assert (trainer.learn(codes[part], labels[part]) == reference.learn(codes[part], labels[part])).all()
        agree(trainer, reference)
        check_slots(trainer)


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


def concepts(seed, count=12_000, period=2000, tops=(255, 255, 5, 20, 255), numeric=(0, 1, 4), helps=None):
    """Another numeric attribute tells the class each period, with noise and missing values.

    ``tops`` are above all codes of the attributes; value 1 of the attribute that ``helps`` tells some of it, too.
    """
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, top, count) for top in tops], axis=1).astype(np.uint8)
    turn, rows = np.arange(count) // period, np.arange(count)
    value, other = (codes[rows, np.take(numeric, turn + later, mode="wrap")] for later in (0, 1))
    sure = False if helps is None else codes[:, helps] == 1
    labels = (value > 120) & ((other > 60) | sure) ^ (rng.random(count) < 0.05)
    codes[rng.random(codes.shape) < 0.03] = 255
    return codes, labels.astype(np.int32)


def cells_of(tree, sizes, other=False):
    """Cells of nominal splits in one form for each kind of tree, or in the other one."""
    return CellMap.build(CAPACITIES, sizes.bins, "one_vs_rest" if ("efdt" in tree) ^ other else "multiway")


def both(
    tree,
    count,
    sizes,
    seed,
    prediction="mc",
    review_period=20_000,
    *,
    board=None,
    late=None,
    rng=None,
    other=False,
    memory_size=4096,
    weights=None,
    **options,
):
    """A trainer on the emulated board and one on a device that have learnt the same, in any calls (``rng``).

    The device is the golden model, unless a ``board`` is given.
    """
    codes, labels = (part[:count] for part in drifting(seed, 8000))
    policy = SplitPolicy(**{"delta": 1e-2, "grace": 60, **TREES[tree], **options})
    if board is None:
        board = GoldenBoard(sizes.replace(nodes=512), memory_size)
    trainer, device = (
        Trainer(each, cells_of(tree, sizes, other), policy, 2, prediction=prediction, review_period=review_period)
        for each in (open_board("emulated", sizes), board if late is None else LateBoard(board, late))
    )
    expected, found, at = trainer.run(trainer.learning(codes, labels, weights)), [], 0
    while at < count:
        part = slice(at, at + (rng.choice([1, 17, 300, 2000]) if rng else -(-count // 2)))
        heavy = weights if weights is None else weights[part]
        found.append(device.run(device.learning(codes[part], labels[part], heavy)))
        at = part.stop
    assert (np.concatenate(found) == expected).all()
    same(device, trainer)
    return trainer, device


def same(device, trainer):
    """Whether trees are the same, and all that leaves have counted."""
    mine, theirs = device.nodes, trainer.nodes
    assert mine.difference(theirs) is None and active(mine) == active(theirs)
    one, two = device.event_counts.as_dict(), trainer.event_counts.as_dict()
    if device.board.read("decider.decides"):  # the board tells of some attempts only
        assert all(one.pop(name) <= two.pop(name) for name in ("attempts", "halvings"))
    assert one == two and device.event_counts.history == trainer.event_counts.history
    for name in ("observed", "period"):
        assert (getattr(mine, name)[mine.leaves()] == getattr(theirs, name)[theirs.leaves()]).all(), name
    one, two = checkpoint.read(device), checkpoint.read(trainer)
    entries = [np.delete(each["entries"], 3, axis=1) for each in (one, two)]  # a device's slots have periods, too
    assert (one["counts"] == two["counts"]).all() and (entries[0] == entries[1]).all()


def moving(boards, make, codes, labels, rng, most):
    """A trainer whose tree has gone from board to board, up to ``most`` instances later each, and its predictions.

    ``make(board, **learnt)`` makes the trainers.
    """
    found, at, trainer = [], 0, None
    for board in boards:
        if trainer is None:
            trainer = make(board)
        else:
            kept = checkpoint.read(trainer)  # which may change the nodes
            trainer = make(board, nodes=deepcopy(trainer.nodes), event_counts=deepcopy(trainer.event_counts))
            checkpoint.restore(trainer, kept)
        end = len(codes) if board is boards[-1] else min(at + rng.randrange(1, most), len(codes))
        found.append(trainer.learn(codes[at:end], labels[at:end]))
        at = end
    return trainer, np.concatenate(found)
