"""The golden tree board and a host that answers its proposals: the tree of the driver that routes every instance."""

import numpy as np
import pytest
from bregalad.boards import open_board
from bregalad.trees.policy.policy import SplitPolicy
from bregalad.trees.structure.cells import CellMap
from bregalad.trees.training.trainer import Trainer
from bregalad_sim.tree_host import GoldenLine, TreeHost
from driving import CAPACITIES, TREES, active, drifting, geometry


def both(tree, count, sizes, seed, prediction="mc", delay=0, review_period=20_000, **options):
    """Trainer and host that have learnt the same, and their predictions."""
    codes, labels = (part[:count] for part in drifting(seed, 8000))
    cells = CellMap.build(CAPACITIES, sizes.bins, "one_vs_rest" if "efdt" in tree else "multiway")
    policy = SplitPolicy(**{"delta": 1e-2, "grace": 60, "delay": delay, **TREES[tree], **options})
    how = {"prediction": prediction, "review_period": review_period}
    trainer = Trainer(open_board("emulated", sizes), cells, policy, 2, **how)
    board = sizes.replace(nodes=4096)
    host = TreeHost(GoldenLine(board), board, cells, policy, 2, **how)
    return trainer, host, trainer.learn(codes, labels), host.learn(codes, labels)


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("delay", [0, 90])
def test_host_answers_proposals_and_the_tree_is_the_same(tree, delay):
    trainer, host, expected, predictions = both(tree, 2500, geometry(80), 3, delay=delay)
    assert (predictions == expected).all()
    host._read_rows()
    assert host.nodes.difference(trainer.nodes) is None
    assert trainer.tally.splits > 1
    print(f"{host.proposals} proposals of {trainer.tally.trials} trials, {trainer.tally}")
    assert host.proposals <= trainer.tally.trials
    asks = not host._rule["judge.decides"]
    assert asks == (host.proposals == trainer.tally.trials) or "efdt" in tree


@pytest.mark.parametrize("prediction", ["nb", "nba"])
@pytest.mark.parametrize("tree", ["vfdt", "efdt"])
def test_leaves_predict_by_naive_bayes(tree, prediction):
    sizes = geometry(80, naive_bayes=True)
    trainer, host, expected, predictions = both(tree, 1500, sizes, 4, prediction, delay=30)
    assert (predictions == expected).all()
    host._read_rows()
    assert host.nodes.difference(trainer.nodes) is None


@pytest.mark.parametrize("tree", ["vfdt", "efdt"])
@pytest.mark.parametrize("delay", [0, 50])
def test_short_of_slots(tree, delay):
    """Which leaves keep a slot is read from their rows."""
    trainer, host, expected, predictions = both(tree, 2500, geometry(7), 5, delay=delay, review_period=500)
    assert (predictions == expected).all()
    host._read_rows()
    assert host.nodes.difference(trainer.nodes) is None
    assert active(host.nodes) == active(trainer.nodes)
    assert not all(active(host.nodes)) and np.unique(expected).size == 2
