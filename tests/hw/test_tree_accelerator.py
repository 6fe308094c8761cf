"""The whole board that holds trees against the golden model: any commands, edits, locks and stalls."""

import random

import numpy as np
import pytest
from bregalad.boards.simulated import SimulatedBoard
from bregalad.protocol.commands import CommandFlag, Opcode, pack_command
from bregalad.protocol.nodes import Node, NodeKind
from bregalad.protocol.rows import MOST_WEIGHT, Column, RowKind, RowLayout, weighed
from bregalad.protocol.tree import TreeOpcode, pack_tree
from bregalad_sim.tree_lockstep import SIZES, SMALL, Lockstep, run


class WithRtl(Lockstep):
    def settle(self):
        self.board.settle()


def opens(geometry, memory_size, rng):
    slow = {"latency": rng.choice([0, 3, 20, 150]), "stall": rng.choice([0.1, 0.2, 0.5])}
    return SimulatedBoard(geometry, memory_size, **slow, seed=rng.getrandbits(32))


@pytest.mark.parametrize(
    "more, rounds", [(0, 2), *(pytest.param(more, 5, marks=pytest.mark.slow) for more in range(8))]
)
def test_rtl_does_what_the_golden_model_does(seed, more, rounds):
    run(SMALL, seed + more, rounds, opens, kind=WithRtl)  # memory's latency is another, and how often streams pause


def rows_of(codes, labels=None):
    """Rows of one attribute and a label, and the layout of them."""
    rows = np.zeros((len(codes), 2), np.uint8)
    rows[:, 0] = codes
    rows[:, 1] = 0 if labels is None else labels
    return rows, RowLayout([Column("x", 0, RowKind.CODE)], 2, label=1)


def plain(both, layout, **fields):
    """Registers as they are after a reset but for these, and the layout."""
    for host in both.hosts:
        for name, values in {"cells": {"count": 1}, **fields}.items():
            host.board.write_fields(name, **values)
    both.begin()
    both.send(both.traffic.declare(layout))
    both.finish()


def test_a_record_that_weighs_in_a_ring_of_links(seed):
    """It takes longer than anything else that is quiet, and is waited for."""
    both = WithRtl(SMALL, seed, lambda geometry, size, rng: SimulatedBoard(geometry, size))
    columns = [Column(f"x{place}", place, RowKind.CODE) for place in range(SMALL.max_cells)]
    plain(both, RowLayout(columns, len(columns) + 1, flags=len(columns)), cells={"count": len(columns)})
    both.edits([(0, Node(slot=0))])
    both.send(pack_command(SMALL, Opcode.PLACE, slot=0, parent=0, link=1))
    both.send(pack_command(SMALL, Opcode.PLACE, slot=1, parent=1, link=0))
    for host in both.hosts:
        host.board.load(0, np.array([0] * len(columns) + [weighed(np.array(MOST_WEIGHT))], np.uint8))
    both.begin()
    both.send(pack_command(SMALL, Opcode.LEARN, flags=CommandFlag.MEMORY, count=1))
    assert both.stop()
    both.look()
    both.close()


@pytest.mark.parametrize("passing", range(6))
def test_a_record_behind_some_that_pass_stands_once_they_are_counted(passing, seed):
    """Locks of one moment take so long that all is calm; then records pass, and right behind them one stands."""
    both, delay = WithRtl(SMALL, seed, opens), 8
    g = both.geometry
    rows, layout = rows_of([0] * (delay + passing) + [200] * 3)
    plain(both, layout, delay={"records": delay})
    split = Node(NodeKind.NUMERIC, 0, 100, 1, 0)
    both.edits([(0, split)])
    nodes = [2, *range(3, 2 + g.slots)]
    both.send(b"".join(pack_tree(g, TreeOpcode.NODE, slot=slot, node=node) for slot, node in enumerate(nodes)))
    both.send(b"".join(pack_command(g, Opcode.TRIAL, slot=slot) for slot in range(g.slots)))
    both.wait(0)
    for host in both.hosts:
        host.board.load(0, rows.reshape(-1))
    both.finish()
    both.begin()
    both.send(pack_command(g, Opcode.LEARN, flags=CommandFlag.MEMORY, count=len(rows)))
    assert not both.stop()
    assert both.hosts[1].number == delay + passing
    both.edits([(2, None)])
    assert both.stop() and both.hosts[1].number == len(rows)
    both.close()


@pytest.mark.parametrize("delay", [0, 3])
@pytest.mark.parametrize("stops", [False, True])
def test_locks_that_a_turn_finds(stops, delay, seed):
    """Those whose time has come are carried out, but where they stop all records: then they are dropped as well."""
    both = WithRtl(SMALL, seed, opens)
    rows, layout = rows_of([0] * 20)
    plain(both, layout, delay={"records": delay})
    both.traffic.stops, both.traffic.delay = stops, delay
    both.edits([(0, Node(slot=0))])
    both.send(both.traffic.trial(0))  # of a slot whose node is 0
    both.finish()
    both.traffic.stops = False
    both.send_turn()
    for host in both.hosts:
        host.board.load(0, rows.reshape(-1))
    both.begin()
    both.send(pack_command(both.geometry, Opcode.LEARN, flags=CommandFlag.MEMORY, count=len(rows)))
    if not both.stop():
        assert not (stops or delay)
        both.edits([(0, None)])
        assert both.stop()
    else:
        assert stops or delay
    both.look()
    both.close()


@pytest.mark.parametrize("stops", [False, True])
def test_a_turn_says_whether_locks_stop_records(stops, seed):
    both = WithRtl(SMALL, seed, opens)
    g, traffic = both.geometry, both.traffic
    rows, layout = rows_of([0] * 5 + [200] * 3 + [0] * 2)  # the trial of the fifth locks node 1
    plain(both, layout, grace={"leaf": 5})
    traffic.stops = not stops
    both.edits([(0, Node(NodeKind.NUMERIC, 0, 100, 1, 0)), (1, Node(slot=0)), (2, Node())])
    both.send(pack_tree(g, TreeOpcode.NODE, slot=0, node=1))
    for host in both.hosts:
        host.board.load(0, rows.reshape(-1))
    traffic.stops = stops
    both.send_turn()
    begun = both.hosts[1].number
    both.begin()
    both.send(pack_command(g, Opcode.LEARN, flags=CommandFlag.MEMORY, count=len(rows)))
    assert not both.stop()
    assert both.hosts[1].number - begun == (5 if stops else 8)
    both.edits([(1, None)])
    assert both.stop()
    both.close()


def test_commands_of_other_slots_as_records_come_lose_no_count(seed):
    """As a host sends them that answers while the LEARN goes on; memory pauses, so that all is calm now and then."""
    rng = random.Random(seed)
    both = WithRtl(SMALL, seed, opens)
    g = both.geometry
    codes = [rng.randrange(200) for _ in range(300)]
    rows, layout = rows_of(codes, [rng.randrange(g.classes) for _ in codes])
    plain(both, layout, grace={"leaf": 60_000})
    split = Node(NodeKind.NUMERIC, 0, 100, 1, 0)
    both.edits([(0, split), (1, Node(slot=0)), (2, Node(slot=1))])
    for host in both.hosts:
        host.board.load(0, rows.reshape(-1))
    for _ in range(10):
        both.begin()
        both.send(pack_command(g, Opcode.LEARN, flags=CommandFlag.MEMORY, count=len(rows)))
        for _ in range(60):
            slot, kind = rng.randrange(2, g.slots), rng.randrange(4)
            commands = [
                pack_command(g, Opcode.CLEAR, slot=slot),
                pack_command(g, Opcode.PLACE, slot=slot, parent=slot),
                both.traffic.edit(9, None),
                both.traffic.node(slot),
            ]
            both.send(commands[kind], int(kind == 2))
            if rng.random() < 0.5:
                both.board.receive()  # a few clocks pass
        for host in both.hosts:
            host.pull()
        assert both.stop()
    both.look()
    both.close()


@pytest.mark.slow
@pytest.mark.parametrize("changes", SIZES, ids=str)
def test_rtl_of_other_geometries(changes, seed):
    for each in range(10):
        run(SMALL.replace(**changes), seed + each, 10, opens, kind=WithRtl)
