"""The driver on one board: the reference's tree, slots, checkpoints, errors."""

import pytest
from bregalad.boards import open_board
from bregalad.tree import routing as walk
from bregalad.tree.table import LEAF, MULTIWAY, NUMERIC
from bregalad_sim.reference import ReferenceVFDT
from comparison import agree
from driving import CAPACITIES, OPTIONS, drifting, geometry, learn, stream, trainer_on


@pytest.mark.parametrize("child_counts, nominal_split", OPTIONS)
def test_equals_reference(child_counts, nominal_split):
    codes, labels = stream(1)
    trainer = trainer_on(open_board("emulated", geometry()), child_counts, nominal_split)
    predictions = learn(trainer, codes, labels, seed=3)
    reference = ReferenceVFDT(
        CAPACITIES, 2, bins=8, delta=1e-3, grace=100, child_counts=child_counts, nominal_split=nominal_split
    )
    expected = reference.learn(codes, labels)
    agree(trainer, reference)
    assert predictions.tolist() == expected.tolist() and reference.event_counts.splits >= 3


@pytest.mark.parametrize("nominal_split", ["multiway", "one_vs_rest"])
def test_instances_are_routed_together_as_one_by_one(nominal_split):
    codes, labels = drifting(14, 10_000)
    trainer = trainer_on(open_board("emulated", geometry(2000)), nominal_split=nominal_split)
    nodes = trainer.nodes
    assert not walk.route(nodes.table, codes[:5]).any()  # the root is a leaf
    learn(trainer, codes, labels)
    expected = []
    for row in codes[: 3 * walk.GROUP].tolist():
        at = 0
        while (kind := nodes.kind[at]) != LEAF:
            code, value = row[nodes.attribute[at]], nodes.threshold[at]
            branch = code >= value if kind == NUMERIC else code != value
            if kind == MULTIWAY:
                branch = code if code < nodes.width[at] else nodes.default[at]
            at = nodes.child[at] + (nodes.default[at] if code == 255 else branch)
        expected.append(int(at))
    assert len(set(expected)) > 3
    for count in (0, 1, walk.GROUP, walk.GROUP + 1, len(expected)):
        assert walk.route(nodes.table, codes[:count]).tolist() == expected[:count]
