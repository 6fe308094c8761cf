"""A change of code books, on the tree and on its board."""

import numpy as np

from ...boards.kernel.state import EXTENT, TERMS
from ...compiled import njit
from ...protocol.commands import CommandFlag, Opcode
from ..structure.nodes import code_range
from ..structure.recode import carry, pieces_of, recode_nodes
from ..structure.split import shift_of

__all__ = ["recoding"]


def recoding(trainer, changes, adopt):
    """Give nodes and statistics the codes of new books; a generator for `Steps`.

    Parameters
    ----------
    trainer : Trainer
        All that it was given is learnt, and all decisions have taken effect.
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
    counts = None
    if trainer.board.state is None:
        places = [(slot, cell) for slot in nodes.slot[held].tolist() for cell in cells.tolist()]
        found = yield from trainer.reading(places)
        shape = (len(held), len(cells), trainer.board.geometry.bins, trainer.board.geometry.classes)
        counts = np.array(found, np.int64).reshape(shape)
    before = _ranges(nodes.table, held, attributes)
    adopt(changes)
    for attribute in attributes.tolist():
        recode_nodes(nodes.table, live, attribute, changes[attribute].old, changes[attribute].new)
    after = _ranges(nodes.table, held, attributes)
    most = trainer.board.geometry.count_max
    if counts is None:
        state, slots = trainer.board.state, nodes.slot[held].astype(np.int64)
        state.entries[slots, TERMS] = 0
        state.entries[slots, EXTENT] = state.counts.shape[1]
        for i, cell in enumerate(cells.tolist()):
            _carry_there(state.counts, slots, cell, before[:, i], after[:, i], pieces[i], most, state.lo, state.shift)
        return
    bins = trainer.board.geometry.bins
    for i, cell in enumerate(cells.tolist()):
        _carry_all(counts[:, i], before[:, i], after[:, i], pieces[i], most)
        for node, slot in enumerate(nodes.slot[held].tolist()):
            if (before[node, i] != after[node, i]).any():
                low, high = after[node, i].tolist()
                zoom = {"lo": low, "shift": shift_of(bins, high - low)}
                trainer.command(Opcode.PLACE, flags=CommandFlag.KEEP, slot=slot, parent=slot, cell=cell, **zoom)
            trainer.command(Opcode.WRITE, slot=slot, cell=cell, payload=counts[node, i].astype(np.uint32).tobytes())
    trainer.flush()


@njit()
def _ranges(table, held, attributes):
    """The codes of attributes that nodes cover; int64 array (nodes, attributes, 2)."""
    found = np.empty((len(held), len(attributes), 2), np.int64)
    for i in range(len(held)):
        for j in range(len(attributes)):
            found[i, j, 0], found[i, j, 1] = code_range(table, held[i], attributes[j])
    return found


@njit()
def _carry_all(counts, before, after, pieces, most):
    """`carry` of one cell of all nodes, int64 array (nodes, bins, classes)."""
    bins, classes = counts.shape[1:]
    out = np.zeros((bins, classes), np.int64)
    for node in range(len(counts)):
        out[:] = 0
        carry(counts[node], before[node], after[node], pieces, most, out)
        for index in range(bins):
            for k in range(classes):
                counts[node, index, k] = out[index, k]


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
