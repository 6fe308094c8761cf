"""Instances that lie in a board's memory, at the end of a wire that is cut."""

import numpy as np
from bregalad import BoardError, Resident
from bregalad.driver.devices import rows
from bregalad_sim.wire import Faults
from learning import linked, stream


def test_resident_rows_are_learnt_over_cuts(seed, monkeypatch):
    """`resume` finishes the call, and returns what it would have."""
    monkeypatch.setattr(rows, "_PART", 500)
    X, y = stream(seed, 2000)
    wanted, lasted = [], 0
    for cut in (False, True):
        tree, wire, _ = linked("vfdt", seed, Faults.all(0.01), memory=1 << 15, leaf_prediction="mc", timeout=3.0)
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
