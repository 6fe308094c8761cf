"""Boards that are joined, each at the end of a wire of its own, which may be cut."""

import random

import pytest
from bregalad import VFDT, BoardError
from bregalad.boards.emulated import EmulatedBoard
from bregalad.boards.joined import JoinedBoard
from bregalad.boards.linked import LinkedBoard
from bregalad_sim.link import BoardEnd
from bregalad_sim.wire import SimulatedWire
from learning import CLASSES, GEOMETRY, check, learn, stream

OPTIONS = {"delta": 1e-3, "grace": 100, "leaf_prediction": "mc"}


def over_wires(seed, timeout):
    """A tree on two boards, and their wires."""
    wires = []
    for number in range(2):
        rng = random.Random(2 * seed + number)
        wires.append(SimulatedWire(BoardEnd(lambda: EmulatedBoard(GEOMETRY), rng=rng, ring_words=400), rng, None))
    return VFDT(JoinedBoard([LinkedBoard(wire, timeout=timeout) for wire in wires]), **OPTIONS), wires


@pytest.mark.parametrize("which", [0, 1])
def test_a_cut_link_costs_nothing(which):
    seed = 3
    X, y = stream(seed)
    whole = VFDT(EmulatedBoard(GEOMETRY), **OPTIONS)
    wanted = whole.test_then_train(X, y, CLASSES)
    dry, wires = over_wires(seed, 60.0)
    learn(dry, X, y, seed)
    one, cut = over_wires(seed, 3.0)
    wire, third = cut[which], wires[which].time / 3
    wire.cuts = [(third, float("inf"))]
    errors = []

    def on_error(error):
        errors.append(error)
        assert one.board.cut and not one.board.lost
        assert "no sign of life" in str(error)
        with pytest.raises(BoardError, match="no sign of life"):
            one.resume()
        wire.cuts = [(wire.time + third, float("inf"))] if len(errors) == 1 else []
        try:
            return one.resume()
        except BoardError as again:
            return on_error(again)

    check(one, learn(one, X, y, seed, on_error), whole, wanted)
    assert len(errors) == 2
