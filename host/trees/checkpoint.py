"""The board's statistics of a tree, read back and written again."""

import numpy as np

from ..geometry import NONE
from ..protocol.commands import Opcode
from ..protocol.reports import Kind

__all__ = ["read", "restore"]


def read(trainer):
    """Statistics of every active leaf.

    Returns
    -------
    dict of int array
        ``leaves`` (L,), ``entries`` (L, words of a slot's entry), ``counts`` (L, cells,
        bins x classes).

    Raises
    ------
    BoardError
        If the board reports an error or is gone.
    """
    geometry = trainer.board.geometry
    leaves = np.flatnonzero(trainer.nodes.slot >= 0)
    cells = range(len(trainer.cells))
    for leaf in leaves:
        slot = int(trainer.nodes.slot[leaf])
        for cell in (NONE, *cells):
            trainer.command(Opcode.READ, slot=slot, cell=cell)
    trainer.flush()
    wanted = len(leaves) * (1 + len(cells))
    entries, counts = [], []
    while len(entries) + len(counts) < wanted:
        for kind, report in trainer.reports(trainer.board.receive(wait=True)):
            words = np.frombuffer(report, np.uint32)
            if kind is Kind.ENTRY:
                entries.append(words[1:])
            elif kind is Kind.STATISTICS:
                counts.append(words[2:])
            else:
                raise trainer.error(report)
    size = geometry.bins * geometry.classes
    return {"leaves": leaves, "entries": np.array(entries, np.uint32).reshape(len(leaves), -1),
            "counts": np.array(counts, np.uint32).reshape(len(leaves), len(cells), size)}


def restore(trainer, checkpoint):
    """Put statistics onto a trainer's board, which has the same bins, classes and cells."""
    trainer.nodes.slot[:] = -1
    for leaf, entry, cells in zip(*(checkpoint[name] for name in ("leaves", "entries", "counts")),
                                  strict=True):
        leaf = int(leaf)
        trainer.nodes.slot[leaf] = slot = trainer.pool.take(leaf)
        trainer.command(Opcode.CLEAR, slot=slot)
        trainer.rezoom(leaf)
        trainer.command(Opcode.WRITE, slot=slot, cell=NONE, payload=entry.tobytes())
        for cell, counts in enumerate(cells):
            trainer.command(Opcode.WRITE, slot=slot, cell=cell, payload=counts.tobytes())
    trainer.flush()
