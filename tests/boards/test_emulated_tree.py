"""The compiled board that holds trees: what the golden model does, command by command."""

import pytest
from bregalad.boards import open_board
from bregalad.boards.emulated_tree import EmulatedTreeBoard
from bregalad.geometry import Geometry
from bregalad_sim.tree_lockstep import run

SMALL = Geometry(
    lanes=2, passes=2, bins=4, classes=3, slots=6, count_width=12, bus_width=64, naive_bayes=True, nodes=21
)
SIZES = [
    {},
    {"naive_bayes": False},
    {"lanes": 4, "passes": 3, "bus_width": 32, "nodes": 200, "slots": 16},
    {"lanes": 8, "passes": 1, "bus_width": 256, "classes": 5, "banks": 2, "nodes": 64},
    {"naive_bayes": False, "slots": 8, "levels": 4, "banks": 2},
]


class InParts(EmulatedTreeBoard):
    """It gets what is sent in parts of any size."""

    def __init__(self, geometry, memory_size, rng):
        super().__init__(geometry, memory_size)
        self._rng = rng

    def send(self, data):
        words = len(data) // self.geometry.bus_bytes
        cuts = sorted(self._rng.choices(range(words + 1), k=self._rng.choice([0, 0, 1, 5])))
        for begin, end in zip([0, *cuts], [*cuts, words], strict=True):
            super().send(data[begin * self.geometry.bus_bytes : end * self.geometry.bus_bytes])


@pytest.mark.parametrize("changes", SIZES, ids=str)
def test_emulated_board_does_what_the_golden_model_does(changes, seed):
    for each in range(4):
        run(SMALL.replace(**changes), seed + each, 5, InParts)


def test_it_is_the_emulated_board_of_a_geometry_with_nodes():
    board = open_board("emulated", SMALL, memory_size=1 << 10)
    assert isinstance(board, EmulatedTreeBoard) and board.state is None
    assert board.read("ram.bytes") == 1 << 10 and board.read("status.busy") == 0
