"""max_depth: leaves that far down do not split, whichever board learns."""

import pytest
from attempts import Bench, inner
from bregalad import load_tree
from bregalad.boards import open_board
from bregalad.learners.catalogue import TREES as CLASSES
from bregalad.policy.split_policy import SplitPolicy
from bregalad.tree.table import LEAF
from bregalad_sim.reference import ReferenceEFDT, ReferenceVFDT
from comparison import agree
from driving import CAPACITIES, TREES, drifting, geometry, learn, trainer_on
from noisy import stream


def reference(tree, max_depth):
    options = dict(TREES[tree])
    kind = ReferenceEFDT if options.pop("anytime", False) else ReferenceVFDT
    return kind(CAPACITIES, 2, bins=8, max_depth=max_depth, **{"delta": 1e-3, "grace": 100} | options)


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("max_depth", [pytest.param(1, marks=pytest.mark.slow), 3])
def test_equals_reference(tree, max_depth):
    codes, labels = drifting(2, 8000)
    trainer = trainer_on(open_board("emulated", geometry(2000)), tree=tree, max_depth=max_depth)
    predictions = learn(trainer, codes, labels, seed=3)
    expected = reference(tree, max_depth)
    assert predictions.tolist() == expected.learn(codes, labels).tolist()
    agree(trainer, expected)
    assert 0 < trainer.nodes.deepest <= max_depth


@pytest.mark.parametrize("options", [{}, {"ties": "htat"}, {"bound": "confidence-practical"}])
def test_only_leaves_at_that_depth(options):
    for max_depth, splits in ((None, True), (1, False), (2, False), (3, True)):
        bench = Bench(SplitPolicy(max_depth=max_depth, **options), 2, depth=2)
        assert bool(bench.decision([50_000, 50_000], 0.9, 0.1)) == splits


def test_inner_nodes_are_revised_at_any_depth():
    assert inner([500, 500], 0.1, 0.9, depth=3, max_depth=1)


@pytest.mark.parametrize("name", CLASSES)
def test_every_tree_has_it(name, tmp_path):
    X, y = stream(6000, missing=0)
    y = y ^ (X[:, 1] > 0.5)
    tree = CLASSES[name](max_depth=2, tau=0.2).fit(X, y)
    assert tree.get_depth() == 2
    assert CLASSES[name](max_depth=1, tau=0.2).fit(X, y).get_depth() == 1
    tree.save(tmp_path / "tree")
    again = load_tree(tmp_path / "tree", max_depth=3)
    assert again.partial_fit(X, y).get_depth() == 3
    again = load_tree(tmp_path / "tree", max_depth=1)  # what is deeper stays
    again.partial_fit(X, y)
    kinds = again._nodes.kind[again._nodes.descendants()]
    assert again.get_depth() == 2 and (kinds != LEAF).sum() <= 3
