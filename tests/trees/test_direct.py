"""The direct loop: what it learns, predicts and leaves on the board is what commands would."""

import numpy as np
import pytest
from bregalad.boards import open_board
from bregalad.driver import checkpoint
from bregalad.driver.trainer import Trainer
from bregalad.geometry import Geometry
from bregalad.policy.split_policy import SplitPolicy
from bregalad.policy.subset import leave_out
from bregalad.tree.cells import CellMap
from bregalad.tree.nodes import Nodes
from bregalad.tree.split import sides_of
from bregalad.tree.table import LEAF
from bregalad_sim.latency import GoldenBoard

# Numeric; two nominal ones with more values than a cell has bins; a small nominal one.
CAPACITIES = [0, 20, 40, 5]
CLASSES = 3
GEOMETRY = Geometry(lanes=4, passes=3, bins=8, classes=CLASSES, slots=400, naive_bayes=True)
WALKING = GEOMETRY.replace(nodes=1024)


def stream(seed, count=3000):
    """Classes that the wide attributes tell, with noise and missing values."""
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, top, count) for top in (255, 20, 40, 5)], axis=1).astype(np.uint8)
    labels = np.where(codes[:, 1] % 7 == 6, 2, (codes[:, 2] + codes[:, 1] // 10) // 8 % 2)
    noise = rng.random(count) < 0.1
    labels[noise] = rng.integers(0, CLASSES, noise.sum())
    codes[rng.random(codes.shape) < 0.05] = 255
    return codes, labels.astype(np.int32)


def trainer_on(board, anytime, nominal_split, prediction, block=1, **options):
    cells = CellMap.build(CAPACITIES, GEOMETRY.bins, nominal_split)
    policy = SplitPolicy(delta=1e-3, grace=50, anytime=anytime, inner_grace=130, block=block)
    return Trainer(board, cells, policy, CLASSES, prediction=prediction, **options)


@pytest.mark.parametrize("prediction", [pytest.param("nb", marks=pytest.mark.slow), "nba"])
@pytest.mark.parametrize("nominal_split", ["multiway", "one_vs_rest"])
@pytest.mark.parametrize("anytime", [False, True])
def test_wide_nominal_attributes_with_naive_bayes_leaves(anytime, nominal_split, prediction):
    codes, labels = stream(21)
    how = (anytime, nominal_split, prediction)
    direct = trainer_on(open_board("emulated", GEOMETRY), *how)
    golden = trainer_on(GoldenBoard(WALKING), *how)
    predictions = direct.learn(codes, labels)
    wrong = np.flatnonzero(predictions != golden.learn(codes, labels))
    assert not len(wrong), f"instance {wrong[0]} is predicted otherwise"
    assert golden.nodes.difference(direct.nodes) is None
    split = direct.nodes.attribute[direct.nodes.descendants()]
    assert set(split) & {1, 2}, "no wide attribute is split by"
    mine, theirs = checkpoint.read(direct), checkpoint.read(golden)
    assert all((mine[name] == theirs[name]).all() for name in mine)


@pytest.mark.parametrize("make", [lambda: open_board("emulated", GEOMETRY), lambda: GoldenBoard(WALKING)])
@pytest.mark.parametrize("attribute, code", [(1, 20), (2, 44), (3, 254)])
def test_codes_beyond_an_attributes_values_are_refused(make, attribute, code):
    codes, labels = stream(22, 600)
    codes[300] = [254, 19, 39, 4]
    codes[301] = 255
    wrong = codes.copy()
    wrong[350, attribute] = code
    trainer, other = (trainer_on(make(), False, "multiway", "nb") for _ in range(2))
    trainer.learn(codes[:200], labels[:200])
    with pytest.raises(ValueError, match=f"must be 0 to {CAPACITIES[attribute] - 1}, or 255 .* not {code}$"):
        trainer.learn(wrong[200:], labels[200:])
    assert trainer.event_counts.instances == 200
    trainer.learn(codes[200:], labels[200:])
    other.learn(codes, labels)
    assert other.nodes.difference(trainer.nodes) is None
    assert (checkpoint.read(other)["counts"] == checkpoint.read(trainer)["counts"]).all()


@pytest.mark.parametrize("nominal_split", ["multiway", "one_vs_rest"])
def test_a_splits_edits_find_room_whatever_the_bins_hold(nominal_split):
    growth = trainer_on(GoldenBoard(WALKING), True, nominal_split, "mc").growth
    cells = growth.cells
    full = np.ones((GEOMETRY.bins, CLASSES), np.int64)
    for attribute, first in enumerate(cells.first_cell):
        values = cells.values(attribute, [full] * len(cells.cells_of(attribute)))
        family = len(sides_of(values, cells.kind[first], 0))
        assert 1 + family <= growth.most_edits


# Weights, and random attributes


@pytest.mark.parametrize("anytime", [False, True])
@pytest.mark.parametrize("width", [12, 16])
def test_an_instance_of_weight_k_counts_as_k_in_a_row(anytime, width):
    """But for its attempt, which comes behind; here there is none. A slot of 12 bits is halved midway."""
    codes, labels = stream(23)
    weights = np.random.default_rng(23).integers(0, 9, len(labels)).astype(np.int32)
    weights[[500, 1500, 2500]] = 900, 4000, 10_000
    geometry = GEOMETRY.replace(count_width=width)
    cells = CellMap.build(CAPACITIES, geometry.bins, "multiway")
    policy = SplitPolicy(grace=1 << 20, anytime=anytime, inner_grace=1 << 20)
    at_once, repeated = (
        Trainer(open_board("emulated", geometry), cells, policy, CLASSES, prediction="nba") for _ in range(2)
    )
    at_once.run(at_once.learning(codes, labels, weights))
    repeated.learn(codes.repeat(weights, axis=0), labels.repeat(weights))
    assert (at_once.board.counters()["halvings"] > 0) == (width == 12)
    for name in ("counts", "majority", "observed", "since"):
        assert (getattr(at_once.nodes, name) == getattr(repeated.nodes, name)).all(), name
    mine, theirs = checkpoint.read(at_once), checkpoint.read(repeated)
    assert all((mine[name] == theirs[name]).all() for name in mine)


def test_weights_of_one_change_nothing_and_of_zero_only_predict():
    codes, labels = stream(24)
    how = (False, "multiway", "nba")
    one, plain, none = (trainer_on(open_board("emulated", GEOMETRY), *how) for _ in range(3))
    found = one.run(one.learning(codes, labels, np.ones(len(labels), np.int32)))
    assert (found == plain.learn(codes, labels)).all() and plain.nodes.difference(one.nodes) is None
    weights = np.ones(len(labels), np.int32)
    weights[1000:] = 0
    found = none.run(none.learning(codes, labels, weights))
    other = trainer_on(open_board("emulated", GEOMETRY), *how)
    other.learn(codes[:1000], labels[:1000])
    assert other.nodes.difference(none.nodes) is None
    for at in range(1000, 1100):  # as it is, whatever has come before
        again = trainer_on(open_board("emulated", GEOMETRY), *how)
        again.learn(codes[:1000], labels[:1000])
        assert again.learn(codes[at : at + 1], labels[at : at + 1]) == found[at]


def test_weights_that_a_board_does_not_take():
    walking = trainer_on(GoldenBoard(WALKING), False, "multiway", "nba")
    walking.check_weights(np.full(10, 63, np.int32), 10)
    with pytest.raises(ValueError, match="board golden takes weights up to 63, not 64: choose board='emulated'"):
        walking.check_weights(np.full(10, 64, np.int32), 10)


@pytest.mark.parametrize("anytime", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_random_attributes_are_the_same_on_a_board_that_knows_nothing_of_them(anytime):
    codes, labels = stream(26, 5000)
    cells = CellMap.build(CAPACITIES, GEOMETRY.bins, "one_vs_rest")
    trees = {}
    for seed in (1, 2):
        policy = SplitPolicy(delta=1e-3, grace=50, anytime=anytime, inner_grace=130, subset=2, seed=seed)
        direct = Trainer(open_board("emulated", GEOMETRY), cells, policy, CLASSES, prediction="mc")
        found = direct.learn(codes, labels)
        if seed == 1:
            golden = Trainer(GoldenBoard(WALKING), cells, policy, CLASSES, prediction="mc")
            assert (found == golden.learn(codes, labels)).all()
            assert golden.nodes.difference(direct.nodes) is None
        assert len(direct.nodes) > 3
        trees[seed] = direct.nodes
        options = policy.options
        for node in direct.nodes.descendants():
            out = np.zeros(len(CAPACITIES), bool)
            leave_out(direct.nodes.table, node, options.subset, options.seed, out)
            assert (~out).sum() - (direct.nodes.kind[node] != LEAF) <= 2 <= (~out).sum()
            assert direct.nodes.kind[node] == LEAF or not out[direct.nodes.attribute[node]]
    assert trees[1].difference(trees[2]) is not None


def test_every_few_attributes_are_drawn_as_often():
    print("seed 27")
    nodes = Nodes(2)
    drawn = np.zeros(5, int)
    for seed in range(5000):
        out = np.array([False, False, True, False, False])
        leave_out(nodes.table, 0, 2, seed, out)
        assert (~out).sum() == 2
        drawn += ~out
    assert drawn[2] == 0 and abs(drawn[[0, 1, 3, 4]] - 2500).max() < 4 * np.sqrt(1250)
