"""The RTL, trained by the driver: the tree of the emulated board, whatever stalls."""

import pytest
from bregalad.boards import open_board
from driving import TREES, both
from marks import nightly_but
from models import TREE


def same_in_rtl(tree, seed, prediction="mc", **options):
    """Trainers on the emulated and on a simulated board have learnt the same."""
    with open_board("simulated", TREE.replace(nodes=256), memory_size=8192, stall=0.2, seed=seed) as board:
        trainer, _ = both(tree, 1500, TREE.replace(nodes=0), 3, prediction, board=board, **options)
    assert trainer.event_counts.splits > 1


BLOCKS = [None, 1, 37, 1 / 8]
QUICK = {("vfdt", None), ("vfdt", 1), ("vfdt adaptive", None), ("efdt", 37), ("efdt moves", None)}


@pytest.mark.parametrize("tree, block", nightly_but(QUICK, [(tree, block) for tree in TREES for block in BLOCKS]))
def test_rtl_grows_the_same_tree(tree, block, seed):
    same_in_rtl(tree, seed, block=block)


@pytest.mark.parametrize("prediction", ["nb", "nba"])
@pytest.mark.parametrize("tree", ["vfdt", "efdt"])
def test_rtl_predicts_by_naive_bayes(tree, prediction, seed):
    same_in_rtl(tree, seed, prediction)
