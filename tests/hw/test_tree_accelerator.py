"""The whole board that holds trees against the golden model: any commands, edits, blocks and stalls."""

import numpy as np
import pytest
from bregalad.boards.simulated import SimulatedBoard
from bregalad.protocol.commands import CommandFlag, Opcode, pack_command
from bregalad.protocol.rows import MOST_WEIGHT, Column, RowKind, RowLayout, weighed
from bregalad_sim.golden.node import Node
from bregalad_sim.tree_lockstep import SIZES, SMALL, Lockstep, run


class WithRtl(Lockstep):
    def settle(self):
        self.board.settle()


def opens(geometry, memory_size, rng):
    slow = {"latency": rng.choice([0, 3, 20, 150]), "stall": rng.choice([0.1, 0.2, 0.5])}
    return SimulatedBoard(geometry, memory_size, **slow, seed=rng.getrandbits(32))


@pytest.mark.parametrize(
    "more, rounds", [(0, 6), *(pytest.param(more, 5, marks=pytest.mark.slow) for more in range(8))]
)
def test_rtl_does_what_the_golden_model_does(seed, more, rounds):
    # Memory's latency is another, and how often streams pause.
    seen = run(SMALL, seed + more, rounds, opens, kind=WithRtl)
    assert all(seen.values()), seen


def test_a_record_that_weighs_in_a_ring_of_links(seed):
    """It takes longer than anything else that is quiet, and is waited for."""
    both = WithRtl(SMALL, seed, lambda geometry, size, rng: SimulatedBoard(geometry, size))
    both.write("cells", count=SMALL.max_cells)
    columns = [Column(f"x{place}", place, RowKind.CODE) for place in range(SMALL.max_cells)]
    both.send(both.traffic.declare(RowLayout(columns, len(columns) + 1, flags=len(columns))))
    both.send(both.traffic.edit(0, Node(slot=0)))
    both.send(pack_command(SMALL, Opcode.PLACE, slot=0, parent=0, link=1))
    both.send(pack_command(SMALL, Opcode.PLACE, slot=1, parent=1, link=0))
    both.finish()
    both.load(0, bytes(len(columns)) + bytes([int(weighed(np.array(MOST_WEIGHT)))]))
    both.send(pack_command(SMALL, Opcode.LEARN, flags=CommandFlag.MEMORY, count=1))
    both.look()
    both.close()


@pytest.mark.parametrize("passes", [1, 2])
def test_rate(passes):
    """Rows of codes take their beats, 17 clocks for 16 of them at least, and a start."""
    geometry, count = SMALL, 2000
    cells = passes * geometry.lanes
    columns = [Column(f"x{place}", place, RowKind.CODE) for place in range(cells)]
    both = WithRtl(geometry, 1, lambda geometry, size, rng: SimulatedBoard(geometry, size))
    both.write("cells", count=cells)
    both.write("grace", leaf=0)
    both.send(both.traffic.declare(RowLayout(columns, cells + 1, label=cells)), both.traffic.edit(0, Node(slot=0)))
    both.send(both.traffic.turn(number=0, since=0, left=0xFFFF, first=0, slots=geometry.slots, flags=0))
    both.finish()
    both.load(0, bytes(count * (cells + 1)))
    both.board.write("control.clear", 1)
    both.send(pack_command(geometry, Opcode.LEARN, flags=CommandFlag.MEMORY, count=count))
    both.finish()
    counters = {name: both.board.read(f"{name}.count") for name in ("beats", "learning", "stall_input")}
    both.close()
    assert counters["beats"] == count * passes
    assert counters["learning"] <= count * max(passes, 17 / 16) * 1.01 + 150, counters


@pytest.mark.slow
@pytest.mark.parametrize("changes", SIZES, ids=str)
def test_rtl_of_other_geometries(changes, seed):
    for each in range(10):
        run(SMALL.replace(**changes), seed + each, 10, opens, kind=WithRtl)
