"""max_depth, of every tree: leaves that far down do not split; `test_trainer.py` compares with the reference."""

import pytest
from bregalad import load_tree
from bregalad.learners.catalogue import TREES
from bregalad.tree.table import LEAF
from noisy import stream


@pytest.mark.parametrize("name", TREES)
def test_every_tree_has_it(name, tmp_path):
    X, y = stream(6000, missing=0)
    y = y ^ (X[:, 1] > 0.5)
    tree = TREES[name](max_depth=2, tau=0.2).fit(X, y)
    assert tree.get_depth() == 2
    assert TREES[name](max_depth=1, tau=0.2).fit(X, y).get_depth() == 1
    tree.save(tmp_path / "tree")
    again = load_tree(tmp_path / "tree", max_depth=3)
    assert again.partial_fit(X, y).get_depth() == 3
    again = load_tree(tmp_path / "tree", max_depth=1)  # what is deeper stays
    again.partial_fit(X, y)
    kinds = again._nodes.kind[again._nodes.descendants()]
    assert again.get_depth() == 2 and (kinds != LEAF).sum() <= 3
