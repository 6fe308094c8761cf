"""puuCVFDT: positive and unlabelled instances of a window, alternates tested without negatives."""

import numpy as np
import pytest
from bregalad.boards import open_board
from bregalad.driver.totals import Totals
from bregalad.driver.trainer import Trainer
from bregalad.policy.positive import PositivePolicy
from bregalad.tree.cells import CellMap
from bregalad_sim.reference import ReferencePuuCVFDT
from comparison import agree
from driving import CAPACITIES, OPTIONS, drifting, geometry
from test_cvfdt import check_counts, concepts
from test_drift import check_slots_of

RULES = {"window": 1500, "inner_grace": 130, "grace": 100, "test_every": 150, "test_length": 60, "delta": 1e-2}


def unlabelled(codes, labels, seed, share=0.4):
    """Of a stream's positive instances a share keeps its label."""
    return codes, labels & (np.random.default_rng(seed).random(len(labels)) < share)


def trainer_on(board, nominal_split="multiway", level=0.3, **options):
    policy = PositivePolicy(**RULES | options, anytime=True, alternates=True, rivals=True, level=level)
    cells = CellMap.build(CAPACITIES, board.geometry.bins, nominal_split)
    trainer = Trainer(board, cells, policy, 2, review_period=1000)
    trainer.consult(Totals([0, 0], policy.window))
    return trainer


def pair(nominal_split="multiway", level=0.3, **options):
    """A trainer and the reference."""
    options = RULES | options
    trainer = trainer_on(open_board("emulated", geometry(400)), nominal_split, level, **options)
    return trainer, ReferencePuuCVFDT(CAPACITIES, level=level, bins=8, nominal_split=nominal_split, **options)


def check(trainer, reference):
    check_counts(trainer)
    check_slots_of(trainer)
    agree(trainer, reference)


@pytest.mark.parametrize("child_counts, nominal_split", OPTIONS)
@pytest.mark.parametrize(
    "count, block, same_attribute",
    [(5000, 60, "replace"), *(pytest.param(9000, 1, same, marks=pytest.mark.slow) for same in ("replace", "keep"))],
)
def test_equals_reference(child_counts, nominal_split, count, block, same_attribute):
    codes, labels = unlabelled(*drifting(1, count), seed=1)
    trainer, reference = pair(nominal_split, child_counts=child_counts, block=block, same_attribute=same_attribute)
    for at in range(0, len(codes), 2500):
        part = slice(at, at + 2500)
        assert (trainer.learn(codes[part], labels[part]) == reference.learn(codes[part], labels[part])).all()
    check(trainer, reference)
    assert reference.event_counts.splits > 3


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
@pytest.mark.parametrize("share, level", [(0.5, 0.2), pytest.param(0.1, 0.3, marks=pytest.mark.slow)])
def test_equals_reference_where_alternates_come_and_go(seed, share, level):
    codes, labels = unlabelled(*concepts(seed), seed, share)
    options = {"window": 800, "inner_grace": 60, "grace": 50, "test_every": 60, "test_length": 30}
    trainer, reference = pair(level=level, same_attribute="replace", **options)
    for at in range(0, len(codes), 1111):
        part = slice(at, at + 1111)
        trainer.learn(codes[part], labels[part])
        reference.learn(codes[part], labels[part])
        check(trainer, reference)
    assert reference.event_counts.alternates > 2 and reference.event_counts.swapped and reference.event_counts.dropped


@pytest.mark.parametrize("window", [None, 600])
def test_all_instances_count_or_those_of_the_window(window):
    codes, labels = unlabelled(*drifting(2, 4000), seed=2)
    trainer, _ = pair(window=window)
    trainer.learn(codes, labels)
    totals = trainer.totals
    assert totals.now.tolist() == totals.at(4000).tolist() == np.bincount(labels[-(window or 0) :]).tolist()
