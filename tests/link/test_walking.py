"""Boards that walk records, at the end of a bad wire: rows by LOAD, proposals back, always the same tree."""

import random

import pytest
from bregalad import BoardError
from bregalad.boards.emulated import EmulatedBoard
from bregalad_sim.latency import GoldenBoard
from bregalad_sim.wire import Faults
from learning import CLASSES, GEOMETRY, TREES, learn, linked, stream

DELAY = 40


def both(tree, seed, share, **options):
    """Instances, a tree on a board without a wire and what it predicts, one on a board that walks, and its wire."""
    X, y = stream(seed, 2000)
    kind, chosen = TREES[tree]
    whole = kind(board=EmulatedBoard(GEOMETRY), delay=DELAY, **chosen)
    wanted = whole.test_then_train(X, y, CLASSES)
    one, wire, _ = linked(
        tree,
        seed,
        Faults.all(share),
        open_end=lambda: GoldenBoard(GEOMETRY.replace(nodes=512), 1 << 12),
        delay=DELAY,
        **options,
    )
    return X, y, whole, wanted, one, wire


@pytest.mark.parametrize("share", [0.01, 0.2])
@pytest.mark.parametrize("tree", TREES)
def test_same_tree_over_bad_wire(tree, share, seed):
    X, y, whole, wanted, one, _ = both(tree, seed, share)
    assert (learn(one, X, y, seed) == wanted).all()
    assert one.difference(whole) is None and one.report()["splits"] > 1
    assert one.board.statistics().frames_resent


@pytest.mark.parametrize("tree", TREES)
def test_same_tree_after_cuts(tree, seed):
    X, y, whole, wanted, dry, wire = both(tree, seed, 0.01)
    learn(dry, X, y, seed)
    time = wire.time
    X, y, whole, wanted, one, wire = both(tree, seed, 0.01, timeout=3.0)
    rng = random.Random(seed)
    wire.cuts = sorted((rng.uniform(0, 0.9 * time), float("inf")) for _ in range(3))
    cuts = []

    def on_error(error):
        assert "resume()" in str(error)
        cuts.append(wire.cuts.pop(0))
        wire.cuts = [(max(start, wire.time + 0.01), stop) for start, stop in wire.cuts]
        try:
            return one.resume()
        except BoardError as again:
            return on_error(again)

    assert (learn(one, X, y, seed, on_error) == wanted).all()
    assert one.difference(whole) is None and cuts
