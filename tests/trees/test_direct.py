"""The direct loop: what it learns, predicts and leaves on the board is what commands would."""

import numpy as np
import pytest
from bregalad.boards import open_board
from bregalad.geometry import Geometry
from bregalad.sim.latency import GoldenBoard
from bregalad.trees import checkpoint
from bregalad.trees.cells import CellMap
from bregalad.trees.policy import SplitPolicy
from bregalad.trees.trainer import Trainer

# Numeric; two nominal ones with more values than a cell has bins; a small nominal one.
CAPACITIES = [0, 20, 40, 5]
CLASSES = 3
GEOMETRY = Geometry(lanes=4, passes=3, bins=8, classes=CLASSES, slots=400, naive_bayes=True)


def stream(seed, count=3000):
    """Classes that the wide attributes tell, with noise and missing values."""
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, top, count) for top in (255, 20, 40, 5)],
                     axis=1).astype(np.uint8)
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
