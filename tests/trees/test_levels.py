"""Slots of a board that counts several nodes of a path at once: which, and nothing else changes."""

import random

import numpy as np
import pytest
from bregalad import EFDT, Geometry, load_tree
from bregalad.boards import open_board
from bregalad.driver import checkpoint
from bregalad.driver.trainer import Trainer
from bregalad.engine.statistics.state import LINK
from bregalad.geometry import NONE
from bregalad.policy.split_policy import SplitPolicy
from bregalad.tree.cells import CellMap
from bregalad.tree.slots import SlotPool, give_back
from bregalad_sim.latency import GoldenBoard

CAPACITIES = [0, 0, 5, 20, 0]  # numeric, numeric, nominal, nominal over three cells, numeric
EAGER = {"block": 1, "delta": 0.1, "tau": 0.1, "grace": 50}
POLICIES = {"vfdt": EAGER, "efdt": EAGER | {"anytime": True, "inner_grace": 130}}


def stream(seed, count, noise=0.1):
    """Codes and labels of a concept that turns into another half-way, with missing values."""
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, top, count) for top in (255, 255, 5, 20, 30)], axis=1).astype(np.uint8)
    first = (codes[:, 0] > 100) & (codes[:, 2] != 1) | (codes[:, 3] % 4 == 1) & (codes[:, 1] < 70)
    second = (codes[:, 1] > 60) ^ (codes[:, 4] > 20) & (codes[:, 0] < 200)
    labels = np.where(np.arange(count) < count // 2, first, second).astype(np.int32)
    labels ^= rng.random(count) < noise
    codes[rng.random(codes.shape) < 0.05] = 255
    return codes, labels


def trainer_on(levels, slots, policy, *, golden=False, nominal_split="one_vs_rest", **options):
    geometry = Geometry(lanes=3, passes=3, bins=8, slots=slots, levels=levels)
    board = GoldenBoard(geometry.replace(nodes=512)) if golden else open_board("emulated", geometry)
    cells = CellMap.build(CAPACITIES, geometry.bins, nominal_split)
    return Trainer(board, cells, SplitPolicy(**POLICIES[policy]), 2, **options)


def links_of(board):
    """The links of a board's slots."""
    if board.state is None:
        return np.array([entry.link for entry in board.model.entries])
    return board.state.entries[:, LINK]


def groups(nodes, node, levels):
    """In how many groups, none with two of a level, the board counts a node's path; its levels."""
    path = [node]
    while nodes.parent[path[-1]] >= 0:
        path.append(int(nodes.parent[path[-1]]))
    found = [set()]
    for each in reversed(path):
        assert nodes.slot[each] >= 0
        level = int(nodes.slot[each]) % levels
        if level in found[-1]:
            found.append(set())
        found[-1].add(level)
    return len(found), [int(nodes.slot[each]) % levels for each in path]


def torn(nodes, levels, of=None):
    """Nodes whose path takes more groups than it must, if there are ``of`` levels to choose from."""
    alive = nodes.descendants()
    return [
        int(node)
        for node in alive[nodes.slot[alive] >= 0]
        if groups(nodes, int(node), levels)[0] != -(-(nodes.depth(int(node)) + 1) // (of or levels))
    ]


def fewest_free(pool, levels):
    """Free slots of the level that has fewest of them."""
    free = pool.stack[1 : pool.free + 1]
    return int(np.bincount(free % levels, minlength=levels).min())


# The pool


@pytest.mark.parametrize("levels", [1, 2, 4, 8])
@pytest.mark.parametrize("seed", range(3))
def test_of_a_level_the_slot_that_was_freed_last_is_next(levels, seed):
    """None of that level is free: of all slots the one that was freed last."""
    rng = random.Random(seed)
    pool, free, taken = SlotPool(32, levels), [*range(31, -1, -1)], {}
    others = 0
    for turn in range(3000):
        if free and (not taken or rng.random() < (0.7 if turn // 200 % 2 else 0.4)):
            level = rng.randrange(levels)
            fit = [slot for slot in free if slot % levels == level]
            others += not fit
            expected = (fit or free)[-1]
            assert pool.take(turn, level) == expected
            free.remove(expected)
            taken[expected] = turn
        else:
            slot = rng.choice([*taken])
            del taken[slot]
            give_back(pool.stack, pool.node, slot)
            free.append(slot)
        assert pool.free == len(free) and pool.stack[1 : pool.free + 1].tolist() == free
        assert {slot: node for slot, node in enumerate(pool.node) if node >= 0} == taken
    assert (others > 0) == (levels > 1)


# Trees


@pytest.mark.parametrize("slots", [20, 1000])
@pytest.mark.parametrize("golden", [False, True])
def test_no_link_leads_to_a_slot_that_is_free(slots, golden):
    """Where one does the board goes through all slots when that slot is taken anew."""
    codes, labels = stream(3, 4000 if golden else 12_000)
    trainer = trainer_on(4, slots, "efdt", golden=golden)
    for at in range(0, len(codes), 1000):
        trainer.learn(codes[at : at + 1000], labels[at : at + 1000])
        trainer.driver.fence()
        free = trainer.growth.pool.node < 0
        links = links_of(trainer.board)
        assert (links[free] == NONE).all()
        assert not free[links[links != NONE]].any()
    assert trainer.tally.replaced + trainer.tally.pruned > 1
    assert (trainer.nodes.slot[trainer.nodes.leaves()] < 0).any() or slots > 20


@pytest.mark.parametrize("broken", [False, True])
def test_a_tree_leaves_no_links_on_its_board(broken):
    codes, labels = stream(4, 2000)
    board = GoldenBoard(Geometry(lanes=3, passes=3, bins=8, slots=300, classes=2, levels=4, nodes=512))
    tree = EFDT(board=board, **EAGER, inner_grace=130)
    for _ in range(2):
        tree.partial_fit(codes, labels, classes=[0, 1])
        assert (links_of(board) != NONE).sum() > 20
        if broken:
            tree._trainer.failed = True
            with pytest.warns(UserWarning, match="starts anew"):
                tree.close()
        else:
            tree.close()
        assert (links_of(board) != NONE).any() == broken


@pytest.mark.parametrize("levels", [2, 4, 8])
@pytest.mark.parametrize("nominal_split", ["multiway", "one_vs_rest"])
def test_a_path_is_counted_in_as_few_groups_as_may_be(levels, nominal_split):
    codes, labels = stream(1, 12_000)
    trainer = trainer_on(levels, 4096, "efdt", nominal_split=nominal_split)
    nodes = trainer.nodes
    for at in range(0, len(codes), 1000):
        trainer.learn(codes[at : at + 1000], labels[at : at + 1000])
        assert fewest_free(trainer.growth.pool, levels) > 0
        assert torn(nodes, levels) == []
    assert (nodes.slot[nodes.descendants()] >= 0).all()
    assert nodes.deepest >= levels / 2 and len(nodes) > 40
    assert trainer.tally.replaced + trainer.tally.pruned > 0


@pytest.mark.parametrize("levels", [2, 4, 8])
def test_levels_are_used_alike(levels):
    """Most nodes are leaves: were a node's level its depth, theirs would be full first."""
    codes, labels = stream(2, 12_000)
    trainer = trainer_on(levels, 4096, "efdt")
    trainer.learn(codes, labels)
    used = np.bincount(trainer.nodes.slot[trainer.nodes.descendants()] % levels, minlength=levels)
    print(used)
    # What is counted with the root is not of its level, which it may have for itself.
    assert max(used) <= 2 * sum(used) / max(1, levels - 1)


@pytest.mark.parametrize("levels", [4, 8])
def test_no_slot_of_a_level_is_free(levels):
    codes, labels = stream(2, 12_000)
    trainer = trainer_on(levels, 4096, "efdt")
    nodes, pool = trainer.nodes, trainer.growth.pool
    for _ in range(4096 // levels):
        assert pool.take(0, level=1) % levels == 1
    for at in range(0, len(codes), 1000):
        trainer.learn(codes[at : at + 1000], labels[at : at + 1000])
        assert torn(nodes, levels, of=levels - 1) == []
    assert len(nodes) > 20


@pytest.mark.parametrize("policy", ["vfdt", "efdt"])
@pytest.mark.parametrize("slots", [8, 24, 1000])
@pytest.mark.parametrize("seed", range(3))
def test_trees_are_those_of_one_level(policy, slots, seed):
    codes, labels = stream(seed, 8000, noise=0.2)
    one = trainer_on(1, slots, policy, review_period=700)
    expected = one.learn(codes, labels)
    assert one.tally.splits >= 8
    assert (one.nodes.slot[one.nodes.leaves()] < 0).any() or slots == 1000
    counted = one.board.counters()["beats"]
    order = one.nodes.descendants()
    for levels in (2, 4, 8):
        many = trainer_on(levels, slots, policy, review_period=700)
        assert (many.learn(codes, labels) == expected).all()
        assert many.nodes.difference(one.nodes) is None
        assert many.tally == one.tally
        assert many.board.counters()["beats"] == counted
        mine = many.nodes.descendants()
        assert ((many.nodes.slot[mine] >= 0) == (one.nodes.slot[order] >= 0)).all()
        for name in ("counts", "base", "own", "since", "period", "low", "high"):
            live = (many.nodes.kind[mine] == 0) & (many.nodes.slot[mine] >= 0)
            assert (getattr(many.nodes, name)[mine] == getattr(one.nodes, name)[order])[live].all()


# Checkpoints


@pytest.mark.parametrize("policy", ["vfdt", "efdt"])
@pytest.mark.parametrize("before, after", [(1, 4), (4, 8), (8, 1), (2, 2)])
def test_restored_on_a_board_of_other_levels(policy, before, after):
    codes, labels = stream(5, 8000)
    whole = trainer_on(1, 1000, policy)
    expected = whole.learn(codes, labels)
    first = trainer_on(before, 1000, policy)
    head = first.learn(codes[:5000], labels[:5000])
    assert len(first.nodes) > 20
    saved = checkpoint.read(first)
    second = trainer_on(after, 1024, policy, nodes=first.nodes, tally=first.tally)
    checkpoint.restore(second, saved)
    assert policy == "vfdt" or torn(second.nodes, after) == []
    tail = second.learn(codes[5000:], labels[5000:])
    assert np.concatenate([head, tail]).tolist() == expected.tolist()
    assert second.nodes.difference(whole.nodes) is None
    assert policy == "vfdt" or torn(second.nodes, after) == []


def test_started_anew_after_a_failure():
    codes, labels = stream(6, 6000)
    trainer = trainer_on(4, 1000, "efdt")
    trainer.learn(codes, labels)
    assert len(trainer.nodes) > 20
    trainer.growth.restart()
    assert (trainer.nodes.slot[trainer.nodes.descendants()] >= 0).all()
    assert torn(trainer.nodes, 4) == []


def test_saved_trees_keep_their_levels(tmp_path):
    codes, labels = stream(7, 9000)
    board = Geometry(lanes=5, passes=1, bins=16, slots=1000, levels=4)
    tree = EFDT(geometry=board, grace=50, tau=0.1).fit(codes[:6000], labels[:6000])
    tree.save(tmp_path / "tree")
    again = load_tree(tmp_path / "tree")
    other = load_tree(tmp_path / "tree", geometry=board.replace(levels=8))
    # No geometry is given: the new board's is that of the one that was handed in.
    handed = EFDT(open_board("emulated", board), grace=50, tau=0.1).fit(codes[:6000], labels[:6000])
    handed.save(tmp_path / "handed")
    anew = load_tree(tmp_path / "handed")
    assert anew.geometry is None
    for each, levels in ((tree, 4), (again, 4), (other, 8), (anew, 4)):
        each.partial_fit(codes[6000:], labels[6000:])
        assert each._trainer.board.geometry.levels == levels
        assert torn(each._nodes, levels) == [] and len(each._nodes) > 20
        assert each.difference(tree) is None
