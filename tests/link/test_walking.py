"""Boards that walk records, at the end of a bad wire: rows by LOAD, proposals back, always the same tree."""

import random

import numpy as np
import pytest
from bregalad import BoardError, Resident
from bregalad.boards.engine import Engine
from bregalad.driver.devices import rows
from bregalad_sim.latency import GoldenBoard
from bregalad_sim.wire import Faults
from learning import CLASSES, GEOMETRY, TREES, learn, linked, stream


def both(tree, seed, share, **options):
    """Instances, a tree on a board without a wire and what it predicts, one on a board that walks, and its wire."""
    X, y = stream(seed, 2000)
    kind, chosen = TREES[tree]
    whole = kind(board=Engine(GEOMETRY), **chosen)
    wanted = whole.test_then_train(X, y, CLASSES)
    one, wire, _ = linked(
        tree,
        seed,
        Faults.all(share),
        open_end=lambda: GoldenBoard(GEOMETRY.replace(nodes=512), 1 << 12),
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


def test_resident_rows_are_learnt_over_cuts(seed, monkeypatch):
    """`resume` finishes the call, and returns what it would have."""
    monkeypatch.setattr(rows, "_PART", 500)
    X, y = stream(seed, 2000)
    wanted, lasted = [], 0
    for cut in (False, True):
        tree, wire, _ = linked(
            "vfdt",
            seed,
            Faults.all(0.01),
            open_end=lambda: GoldenBoard(GEOMETRY.replace(nodes=512), 1 << 15),
            leaf_prediction="mc",
            timeout=3.0,
        )
        held = Resident(tree.board, X.astype(np.float32), y)
        tree.learn_resident(held)
        begin, found = wire.time, None
        if cut:
            wire.cuts = [(begin + share * lasted, float("inf")) for share in (0.1, 0.5, 0.9)]
        try:
            found = tree.learn_resident(held)
            assert not cut
        except BoardError as error:
            assert cut and "resume()" in str(error) and tree.unfinished
        while found is None:
            wire.cuts = [(max(start, wire.time + 0.01), stop) for start, stop in wire.cuts[1:]]
            try:
                found = tree.resume()
            except BoardError as error:
                assert "resume()" in str(error)
        lasted = wire.time - begin
        wanted.append((found, tree))
    assert wanted[0][0] == wanted[1][0] > 0.5 and wanted[0][1].difference(wanted[1][1]) is None
    assert not wanted[1][1].unfinished and wanted[1][1].report()["splits"] > 1
