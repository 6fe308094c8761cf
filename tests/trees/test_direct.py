"""The direct loop: what it learns, predicts and leaves on the board is what commands would."""

import numpy as np
import pytest
from bregalad.boards import open_board
from bregalad.geometry import Geometry
from bregalad.trees.policy.policy import SplitPolicy
from bregalad.trees.structure.cells import CellMap
from bregalad.trees.structure.split import sides_of
from bregalad.trees.training import checkpoint
from bregalad.trees.training.trainer import Trainer
from bregalad_sim.latency import GoldenBoard

# Numeric; two nominal ones with more values than a cell has bins; a small nominal one.
CAPACITIES = [0, 20, 40, 5]
CLASSES = 3
GEOMETRY = Geometry(lanes=4, passes=3, bins=8, classes=CLASSES, slots=400, naive_bayes=True)


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


def trainer_on(board, anytime, nominal_split, prediction):
    cells = CellMap.build(CAPACITIES, GEOMETRY.bins, nominal_split)
    policy = SplitPolicy(delta=1e-3, grace=50, anytime=anytime, inner_grace=130)
    return Trainer(board, cells, policy, CLASSES, prediction=prediction)


@pytest.mark.parametrize("prediction", ["nb", "nba"])
@pytest.mark.parametrize("nominal_split", ["multiway", "one_vs_rest"])
@pytest.mark.parametrize("anytime", [False, True])
def test_wide_nominal_attributes_with_naive_bayes_leaves(anytime, nominal_split, prediction):
    codes, labels = stream(21)
    how = (anytime, nominal_split, prediction)
    direct = trainer_on(open_board("emulated", GEOMETRY), *how)
    golden = trainer_on(GoldenBoard(GEOMETRY), *how)
    assert direct._direct is not None and golden._direct is None
    predictions = direct.learn(codes, labels)
    wrong = np.flatnonzero(predictions != golden.learn(codes, labels))
    assert not len(wrong), f"instance {wrong[0]} is predicted otherwise"
    assert golden.nodes.difference(direct.nodes) is None
    split = direct.nodes.attribute[direct.nodes.descendants()]
    assert set(split) & {1, 2}, "no wide attribute is split by"
    mine, theirs = checkpoint.read(direct), checkpoint.read(golden)
    assert (mine["counts"] == theirs["counts"]).all()
    assert (mine["entries"] == theirs["entries"]).all()


@pytest.mark.parametrize("make", [lambda: open_board("emulated", GEOMETRY), lambda: GoldenBoard(GEOMETRY)])
@pytest.mark.parametrize("attribute, code", [(1, 20), (2, 44), (3, 254)])
def test_codes_beyond_an_attributes_values_are_refused(make, attribute, code):
    codes, labels = stream(22, 600)
    codes[300] = [254, 19, 39, 4]
    codes[301] = 255
    wrong = codes.copy()
    wrong[350, attribute] = code
    trainer, other = (trainer_on(make(), False, "multiway", "nb") for _ in range(2))
    trainer.learn(codes[:200], labels[:200])
    with pytest.raises(
        ValueError,
        match=f"codes of attribute {attribute} must be 0 to {CAPACITIES[attribute] - 1}, or 255 .* not {code}$",
    ):
        trainer.learn(wrong[200:], labels[200:])
    assert trainer.tally.instances == 200
    trainer.learn(codes[200:], labels[200:])
    other.learn(codes, labels)
    assert other.nodes.difference(trainer.nodes) is None
    assert (checkpoint.read(other)["counts"] == checkpoint.read(trainer)["counts"]).all()


@pytest.mark.parametrize("nominal_split", ["multiway", "one_vs_rest"])
def test_a_splits_commands_find_room_whatever_the_bins_hold(nominal_split):
    growth = trainer_on(GoldenBoard(GEOMETRY), True, nominal_split, "mc").growth
    cells = growth.cells
    full = np.ones((GEOMETRY.bins, CLASSES), np.int64)
    for attribute, first in enumerate(cells.first_cell):
        values = cells.values(attribute, [full] * len(cells.cells_of(attribute)))
        family = len(sides_of(values, cells.kind[first], 0))
        assert (1 + family) * growth.style.command_bytes <= growth.split_bytes
