"""Random records as fast as the simulated board's array takes them, and what its counters say."""

from dataclasses import dataclass

import numpy as np
from bregalad.boards import open_board
from bregalad.driver.devices.device import configure_cells
from bregalad.geometry import NONE
from bregalad.protocol.commands import Opcode, pack_command, record_layout
from bregalad.protocol.layout import Layout
from bregalad.protocol.registers import CellKind
from bregalad.protocol.reports import EntryFlag, entry_body
from bregalad.tree.cells import CellMap
from bregalad.tree.slots import SlotPool, best_level, joined

__all__ = ["Load", "begin", "measure", "slots_of", "tree_slots"]

_REST = 400  # records after which a leaf's decision is in, at one beat per clock


def tree_slots(depth):
    """Slots of a binary tree whose leaves are all ``depth`` nodes from the board's view."""
    return (1 << depth) - 1


def slots_of(geometry, used, depth):
    """A slot for each of ``used`` leaves, or of a tree's nodes, the root first, as the driver does.

    Raises
    ------
    ValueError
        If not every path can be counted in as few groups as there may be.
    """
    levels = geometry.levels
    pool = SlotPool(geometry.slots, levels)
    slots, together = [], []
    for node in range(used):
        above = together[(node - 1) // 2] if depth > 1 and node else 0
        slots.append(pool.take(node, int(best_level(pool.stack, levels, above))))
        together.append(int(joined(above, slots[-1], levels)))
        if together[-1] & above != above and above != (1 << levels) - 1:
            raise ValueError(
                f"a tree of {depth} levels takes more than {geometry.slots} slots where these have {levels} levels"
            )
    return slots


@dataclass(frozen=True)
class Load:
    """Random records, and the nodes that count them.

    Parameters
    ----------
    cells : int
        Codes of a record.
    depth : int
        Nodes that count a record. 1: leaves alone. Else the leaves of a binary tree that is so
        many nodes deep.
    slots : int, optional
        Leaves, with ``depth`` 1: all slots of the geometry unless given.
    grace, inner_grace : int
    kind : int
        CellKind of the attributes.
    predictions : int
        What is asked for every record, as in the register.
    apart : bool
        Leaves begin their periods at random phases, as long under way; else all together.
    rests : bool
        No record comes to a leaf under trial, as the driver mostly sees to; else at random.
    """

    cells: int
    depth: int = 1
    slots: int | None = None
    grace: int = 200
    inner_grace: int = 2000
    kind: int = CellKind.NUMERIC
    predictions: int = 0
    apart: bool = True
    rests: bool = True


def begin(board, load, *, count=20_000, seed=1):
    """Set a board up for a `Load`; ``count`` records that it is to learn, structured array.

    Its counters are 0 then, and nothing is under way.

    Raises
    ------
    ValueError
        If the geometry has too few slots for the tree, or too few of a level.
    """
    g, depth = board.geometry, load.depth
    rng = np.random.default_rng(seed)
    inner = tree_slots(depth - 1) if depth > 1 else 0
    used = tree_slots(depth) if depth > 1 else load.slots or g.slots
    if used > g.slots:
        raise ValueError(f"a tree of {depth} levels takes {used} slots, the geometry has {g.slots}")
    slots = np.array(slots_of(g, used, depth))
    since = [
        int(rng.integers(max(1, period))) if load.apart else 0
        for period in [load.inner_grace] * inner + [load.grace] * (used - inner)
    ]
    records = np.zeros(count, record_layout(load.cells).dtype)
    records["slot"] = slots[inner + _leaves(rng, since[inner:], load.grace, count, load.rests)]
    records["label"] = rng.integers(2, size=count)
    top = g.bins if load.kind != CellKind.NUMERIC else 255
    records["codes"] = rng.integers(top, size=records["codes"].shape)
    entry = Layout("entry", *entry_body(g))
    setting = []
    for node, slot in enumerate(slots.tolist()):
        link = slots[(node - 1) // 2] if depth > 1 and node else NONE
        row = entry.pack(since=since[node], link=link, current=NONE, entry_flags=EntryFlag.INNER if node < inner else 0)
        setting += [
            pack_command(g, Opcode.CLEAR, slot=slot),
            pack_command(g, Opcode.WRITE, slot=slot, cell=NONE, payload=row),
        ]
    capacity = 0 if load.kind == CellKind.NUMERIC else g.bins
    configure_cells(board, CellMap.build([capacity] * load.cells, g.bins))
    board.write("grace.leaf", load.grace)
    board.write("inner_grace.inner", load.inner_grace)
    board.write_fields("report", predictions=load.predictions, neighbours=int(load.kind == CellKind.NUMERIC))
    board.send(b"".join(setting) + pack_command(g, Opcode.FENCE))
    board.receive(wait=True)
    board.clear_counters()
    return records


def measure(geometry, load, *, count=20_000, seed=1):
    """Counters of a board that learns ``count`` records of a `Load` without a pause.

    Raises
    ------
    ValueError
        As `begin`.
    """
    with open_board("simulated", geometry) as board:
        records = begin(board, load, count=count, seed=seed)
        board.send(pack_command(geometry, Opcode.LEARN, count=count, payload=records.tobytes()))
        board.settle()
        return board.counters()


def _leaves(rng, since, grace, count, rests):
    """Which leaf every record goes to."""
    chosen = rng.integers(len(since), size=count)
    if not (rests and grace):
        return chosen
    since = list(since)
    until = [0] * len(since)  # the record before which the leaf is under trial
    for i, leaf in enumerate(chosen):
        for other in range(leaf, leaf + len(since)):
            if until[other % len(since)] <= i:
                leaf = other % len(since)
                break
        chosen[i] = leaf
        since[leaf] += 1
        if since[leaf] == grace:
            since[leaf], until[leaf] = 0, i + _REST
    return chosen
