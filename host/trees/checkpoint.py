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

    Of a board that failed there is nothing to be read: ``restore`` then starts the leaves'
    statistics anew, and the tree itself is kept.

    Raises
    ------
    BoardError
        If the board reports an error or is gone.
    """
    if trainer.broken:
        words = trainer.board.geometry.bins * trainer.board.geometry.classes
        return {"leaves": np.zeros(0, np.int64), "entries": np.zeros((0, 1), np.uint32),
                "counts": np.zeros((0, len(trainer.cells), words), np.uint32)}
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
            elif kind is Kind.ERROR:
                raise trainer.error(report)
    size = geometry.bins * geometry.classes
    return {"leaves": leaves, "entries": np.array(entries, np.uint32).reshape(len(leaves), -1),
            "counts": np.array(counts, np.uint32).reshape(len(leaves), len(cells), size)}


def restore(trainer, checkpoint):
    """Put statistics onto a trainer's board, which has the same bins, classes and cells."""
    for name in ("slot", "head", "tail"):
        getattr(trainer.nodes, name)[:] = -1
    trainer.nodes.waiting[:] = 0
    for leaf, entry, cells in zip(*(checkpoint[name] for name in ("leaves", "entries", "counts")),
                                  strict=True):
        leaf = int(leaf)
        trainer.nodes.slot[leaf] = slot = trainer.pool.take(leaf)
        trainer.command(Opcode.CLEAR, slot=slot)
        trainer.rezoom(leaf)
        trainer.command(Opcode.WRITE, slot=slot, cell=NONE, payload=entry.tobytes())
        for cell, counts in enumerate(cells):
            trainer.command(Opcode.WRITE, slot=slot, cell=cell, payload=counts.tobytes())
    if not len(checkpoint["leaves"]):
        trainer.review()
    trainer.flush()
