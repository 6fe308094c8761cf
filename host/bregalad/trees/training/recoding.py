"""A change of code books, on the tree and on its board."""

import numpy as np

from ...boards.kernel.state import EXTENT, TERMS
from ...compiled import njit
from ...geometry import NONE
from ...protocol.commands import Opcode
from ...protocol.reports import Kind, entry_layout, statistics_layout
from ..structure.nodes import code_range
from ..structure.recode import carry, pieces_of, recode_nodes
from ..structure.split import shift_of

__all__ = ["recoding"]


def recoding(trainer, changes, adopt):
    """Give nodes and statistics the codes of new books; a generator for `Steps`.

    Parameters
    ----------
    trainer : Trainer
        All that it was given is learnt.
    changes : dict of Change
        By attribute.
    adopt : callable
        Is given ``changes`` where the tree takes them over.
    """
    nodes = trainer.nodes
    live = nodes.descendants()
    held = live[nodes.slot[live] >= 0]
    attributes = np.array(sorted(changes))
    pieces = [pieces_of(*changes[attribute]) for attribute in attributes]
    cells = trainer.cells.first_cell[attributes]
    statistics = None
    if trainer.board.state is None:
        statistics = yield from _reading(trainer, held)
    before = _ranges(nodes.table, held, attributes)
    adopt(changes)
    for attribute in attributes.tolist():
        recode_nodes(nodes.table, live, attribute, changes[attribute].old, changes[attribute].new)
    after = _ranges(nodes.table, held, attributes)
    most = trainer.board.geometry.count_max
    if statistics is None:
        state, slots = trainer.board.state, nodes.slot[held].astype(np.int64)
        state.entries[slots, TERMS] = 0
        state.entries[slots, EXTENT] = state.counts.shape[1]
        for i, cell in enumerate(cells.tolist()):
            _carry_there(state.counts, slots, cell, before[:, i], after[:, i], pieces[i], most, state.lo, state.shift)
        return
    entries, counts = statistics
    for i, cell in enumerate(cells.tolist()):
        _carry_all(counts, cell, before[:, i], after[:, i], pieces[i], most)
    for node, entry, table in zip(held.tolist(), entries, counts, strict=True):
        slot = int(nodes.slot[node])
        trainer.command(Opcode.CLEAR, slot=slot)
        trainer.growth.rezoom(node)
        trainer.command(Opcode.WRITE, slot=slot, cell=NONE, payload=entry)
        for cell, bins in enumerate(table):
            trainer.command(Opcode.WRITE, slot=slot, cell=cell, payload=bins.astype(np.uint32).tobytes())
        trainer.flush()


@njit()
def _ranges(table, held, attributes):
    """The codes of attributes that nodes cover; int64 array (nodes, attributes, 2)."""
    found = np.empty((len(held), len(attributes), 2), np.int64)
    for i in range(len(held)):
        for j in range(len(attributes)):
            found[i, j, 0], found[i, j, 1] = code_range(table, held[i], attributes[j])
    return found


def _reading(trainer, held):
    """Entries (bytes) and counts (nodes, cells, bins, classes) of nodes; a generator for `Steps`."""
    geometry, cells = trainer.board.geometry, len(trainer.cells)
    body, bins = entry_layout(geometry).offset("n"), statistics_layout(geometry).offset("counts")
    entries, counts = [], []
    for node in held.tolist():
        for cell in (NONE, *range(cells)):
            trainer.command(Opcode.READ, slot=int(trainer.nodes.slot[node]), cell=cell)
        trainer.flush()
    while len(entries) + len(counts) < len(held) * (1 + cells):
        for kind, report in trainer.reports((yield True)):
            if kind is Kind.ENTRY:
                entries.append(report[body:])
            elif kind is Kind.STATISTICS:
                counts.append(np.frombuffer(report[bins:], np.uint32))
            elif kind is Kind.ERROR:
                raise trainer.error(report)
    shape = (len(held), cells, geometry.bins, geometry.classes)
    return entries, np.array(counts, np.int64).reshape(shape)


@njit()
def _carry_all(counts, cell, before, after, pieces, most):
    """`carry` of one cell of all nodes, int64 array (nodes, cells, bins, classes)."""
    bins, classes = counts.shape[2:]
    out = np.zeros((bins, classes), np.int64)
    for node in range(len(counts)):
        out[:] = 0
        carry(counts[node, cell], before[node], after[node], pieces, most, out)
        for index in range(bins):
            for k in range(classes):
                counts[node, cell, index, k] = out[index, k]


@njit()
def _carry_there(counts, slots, cell, before, after, pieces, most, lo, shift):
    """The same where a board in this process has them, uint32 array (slots, bins, classes, cells)."""
    bins, classes = counts.shape[1:3]
    own, out = np.empty((bins, classes), np.int64), np.empty((bins, classes), np.int64)
    for node in range(len(slots)):
        slot = slots[node]
        for index in range(bins):
            for k in range(classes):
                own[index, k] = counts[slot, index, k, cell]
        out[:] = 0
        carry(own, before[node], after[node], pieces, most, out)
        for index in range(bins):
            for k in range(classes):
                counts[slot, index, k, cell] = out[index, k]
        low, high = after[node]
        lo[slot, cell], shift[slot, cell] = low, shift_of(bins, high - low)
