"""The driver on one board: the reference's tree, slots, checkpoints, errors."""

import pytest
from bregalad.boards import open_board
from bregalad.tree import routing as walk
from bregalad.tree.table import LEAF, MULTIWAY, NUMERIC
from bregalad_sim.reference import ReferenceVFDT
from comparison import difference
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
    assert difference(trainer.nodes, reference.root) is None
    assert predictions.tolist() == expected.tolist()
    assert trainer.event_counts.splits == reference.event_counts.splits >= 3
    assert trainer.event_counts.ties == reference.event_counts.ties
    assert trainer.event_counts.attempts == reference.event_counts.attempts


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


@pytest.mark.parametrize("tree", ["vfdt", "efdt", "efdt kdd2018"])
@pytest.mark.parametrize("slots", [8, 500])
def test_slots_in_use_are_those_of_nodes_that_count(tree, slots):
    codes, labels = drifting(3, 20_000)
    trainer = trainer_on(open_board("emulated", geometry(slots)), tree=tree, review_period=500)
    for at in range(0, len(codes), 500):
        trainer.learn(codes[at : at + 500], labels[at : at + 500])
        nodes, pool = trainer.nodes, trainer.growth.pool
        alive = nodes.descendants()
        assert len(alive) == len(nodes)
        held = {int(slot): node for node, slot in zip(alive, nodes.slot[alive], strict=True) if slot >= 0}
        assert len(held) + pool.free == slots
        assert all(pool.node[slot] == node for slot, node in held.items())
        if tree == "vfdt":
            assert all(nodes.kind[node] == LEAF for node in held.values())
        elif slots == 500:
            assert len(held) == len(nodes)
    assert tree == "vfdt" or trainer.event_counts.replaced + trainer.event_counts.pruned > 0
