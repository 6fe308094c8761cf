"""Leaf rows: the golden model against the driver's router."""

import random

import numpy as np
import pytest
from bregalad.driver.devices.node_edits import row_words
from bregalad.geometry import Geometry
from bregalad.protocol.leaf_rows import Predictor, RowWord
from bregalad.tree.arrivals import ADAPTIVE, BAYES, MAJORITY, choose, count_class
from bregalad.tree.nodes import Nodes
from bregalad_sim.golden import leaf_rows


@pytest.mark.parametrize("by", Predictor)
def test_golden_is_the_drivers_leaf(by, seed):
    """Majority class, its lead, guesses and predictions of one leaf: as the driver's router has them."""
    rng = random.Random(seed)
    classes = 4
    predictor = {Predictor.MAJORITY: MAJORITY, Predictor.BAYES: BAYES, Predictor.ADAPTIVE: ADAPTIVE}[by]
    for _ in range(20):
        nodes = Nodes(classes)
        counts = [rng.choice([0, rng.randrange(5)]) for _ in range(classes)]
        first = rng.randrange(classes)
        nodes.counts[0] = counts
        nodes.majority[0] = counts.index(max(counts)) if any(counts) else first
        rows = leaf_rows.LeafRows(Geometry(classes=classes, naive_bayes=True), 1, by=by, reported=True)
        for word, value in enumerate(row_words(np.array(counts), first, 0).tolist()):
            rows.write(0, word, value)
        for _ in range(200):
            label, bayes = rng.randrange(classes), rng.choice([None, *range(classes)])
            node = nodes.table[0:1][0]
            want = count_class(node, nodes.counts, 0, label)
            if bayes is not None and predictor != MAJORITY:
                want = choose(node, predictor, want, bayes, label)
            result = rows.record(0, label, bayes=None if by == Predictor.MAJORITY else bayes)
            assert result.label == want
        row = rows.rows[0]
        assert row.counts == list(nodes.counts[0])
        assert row.words[RowWord.MAJORITY] == nodes.majority[0]
        assert row.words[RowWord.LEAD] == max(row.counts)
        assert row.words[RowWord.RIGHT] == nodes.right[0]


def test_words_of_a_new_leaf():
    assert row_words(np.array([3, 5, 5]), 0, -4).tolist() == [1, 5, -4, 3, 5, 5]
    assert row_words(np.array([0, 0, 0]), 2, 0)[:2].tolist() == [2, 0]
    assert row_words(np.array([0, 7, 0]), 0, 0)[0] == 1
