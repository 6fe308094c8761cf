"""The driver's strict order: the same tree on a board that answers at once and on a late one."""

import random
from types import SimpleNamespace

import numpy as np
import pytest
from bregalad.boards import open_board
from bregalad.driver import checkpoint
from bregalad.driver.trainer import Trainer
from bregalad.policy.split_policy import SplitPolicy
from bregalad.tree.cells import CellMap
from bregalad_sim.latency import LateBoard
from bregalad_sim.record_board import RecordBoard
from driving import (
    CAPACITIES,
    OPTIONS,
    TREES,
    active,
    drifting,
    geometry,
    learn,
    stream,
    trainer_on,
)


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("nominal_split", ["multiway", "one_vs_rest"])
@pytest.mark.parametrize("block", [1, 1 / 16, 300])
def test_latency_changes_nothing(tree, nominal_split, block):
    codes, labels = drifting(12, 20_000)
    first = trainer_on(open_board("emulated", geometry(2000)), nominal_split=nominal_split, tree=tree, block=block)
    expected = learn(first, codes, labels)
    assert first.tally.splits >= 3
    assert block != 1 or tree.startswith("vfdt") or "averages" in tree or first.tally.replaced >= 1
    for seed in range(2):
        board = LateBoard(RecordBoard(geometry(2000)), random.Random(seed))
        late = trainer_on(board, nominal_split=nominal_split, tree=tree, block=block)
        assert (learn(late, codes, labels, seed) == expected).all()
        assert late.nodes.difference(first.nodes) is None
        assert late.tally == first.tally


@pytest.mark.parametrize("count_width", [12, 18])  # with and without halving
@pytest.mark.parametrize("tree", TREES)
def test_trials_are_of_the_same_instances_at_any_latency(tree, count_width):
    codes, labels = drifting(6, 20_000)
    reports = []
    for rng in (SimpleNamespace(choice=lambda counts: counts[-1]), random.Random(6)):
        board = LateBoard(RecordBoard(geometry(2000, count_width=count_width)), rng)
        trainer = trainer_on(board, tree=tree)
        reports.append(found := [])
        judge = trainer.trials.judge

        def noting(words, halvings, judge=judge, found=found):
            found += words.tolist()
            judge(words, halvings)

        trainer.trials.judge = noting
        learn(trainer, codes, labels)
        assert len(found) == trainer.tally.trials > 60
    assert reports[0] == reports[1]


@pytest.mark.parametrize("tree", [tree for tree in TREES if tree.startswith("efdt")])
@pytest.mark.parametrize("seed", [9])
def test_an_anytime_trees_counts_are_halved_in_the_streams_order(tree, seed):
    """Nodes near the root are full often."""
    sizes = geometry(2000, count_width=12)
    codes, labels = drifting(seed, 40_000)
    boards = open_board("emulated", sizes), LateBoard(RecordBoard(sizes), random.Random(seed))
    first, late = (trainer_on(board, nominal_split="one_vs_rest", tree=tree) for board in boards)
    expected = learn(first, codes, labels)
    assert (learn(late, codes, labels, seed) == expected).all()
    assert late.nodes.difference(first.nodes) is None
    assert late.tally == first.tally
    assert first.tally.halvings > 20
    one, other = checkpoint.read(first), checkpoint.read(late)
    assert (one["entries"][:, 0] == other["entries"][:, 0]).all() and (one["counts"] == other["counts"]).all()


@pytest.mark.parametrize("slots", [2, *(pytest.param(slots, marks=pytest.mark.slow) for slots in (5, 20)), 8])
@pytest.mark.parametrize("child_counts, nominal_split", OPTIONS)
@pytest.mark.parametrize("tree", ["vfdt", "vfdt adaptive", "efdt", "efdt averages"])
@pytest.mark.parametrize("block", [1, 1 / 16, 150])
def test_short_of_slots_latency_changes_nothing(slots, child_counts, nominal_split, tree, block):
    codes, labels = stream(2)
    options = {"block": block, "review_period": 1000}
    first = trainer_on(open_board("emulated", geometry(slots)), child_counts, nominal_split, tree, **options)
    expected = learn(first, codes, labels)
    assert (first.nodes.slot[first.nodes.leaves()] < 0).any() or slots == 20 or first.tally.splits < slots
    for seed in range(3):
        board = LateBoard(RecordBoard(geometry(slots)), random.Random(seed))
        late = trainer_on(board, child_counts, nominal_split, tree, **options)
        assert (learn(late, codes, labels, seed) == expected).all()
        assert late.nodes.difference(first.nodes) is None
        assert active(late.nodes) == active(first.nodes)
        assert late.tally == first.tally
        leaves, others = late.nodes.leaves(), first.nodes.leaves()
        for name in ("own", "since", "period"):
            assert (getattr(late.nodes, name)[leaves] == getattr(first.nodes, name)[others]).all()


@pytest.mark.parametrize(
    "seed", [36, 37, 38, 39, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(40, 60))]
)
@pytest.mark.parametrize("tree", ["vfdt", "vfdt adaptive", "efdt"])
def test_short_of_slots_many_splits_are_under_way(tree, seed):
    """All leaves are tried often, and what a split costs them depends on others before it."""
    rng = random.Random(seed)
    codes, labels = stream(seed, 20_000)
    labels[np.random.default_rng(seed).random(len(labels)) < 0.3] ^= 1
    slots = rng.randrange(3, 40)
    options = {
        "delta": 0.2,
        "grace": rng.randrange(10, 60),
        "tau": rng.choice([0.03, 0.1]),
        "child_counts": rng.choice(["inherit", "zero"]),
        "block": rng.choice([1, 20, 500, 0.02, 0.5]),
        **TREES[tree],
    }
    cells = CellMap.build(CAPACITIES, 8, rng.choice(["multiway", "one_vs_rest"]))

    def trainer(board):
        return Trainer(board, cells, SplitPolicy(**options), 2, review_period=2000)

    first = trainer(open_board("emulated", geometry(slots)))
    expected = learn(first, codes, labels)
    assert first.tally.splits > slots / 2 or tree == "efdt" or options["block"] != 1
    for batch_bytes in (100, 3000, 100_000):
        board = LateBoard(RecordBoard(geometry(slots)), rng)
        board.batch_bytes = batch_bytes
        late = trainer(board)
        assert (learn(late, codes, labels, seed) == expected).all()
        assert late.nodes.difference(first.nodes) is None
        assert late.tally == first.tally
        leaves, others = late.nodes.leaves(), first.nodes.leaves()
        for name in ("own", "since", "period"):
            assert (getattr(late.nodes, name)[leaves] == getattr(first.nodes, name)[others]).all()
