"""The board's statistics of a tree, read back and written again."""

import numpy as np

from ...geometry import NONE
from ...interrupt import check_interrupt
from ...protocol.commands import Opcode
from ...protocol.layout import Layout
from ...protocol.reports import EntryFlag, Kind, entry_body, entry_layout, statistics_layout
from ...warn import warn
from ..policy.policy import ALTERNATE, SWAP
from ..structure.table import FORK, LEAF, forget_trial
from .entries import plain_entries, whole_entry

__all__ = ["misfit", "nothing", "read", "restore", "widened"]


def read(trainer):
    """Statistics of every node that has a slot.

    Returns
    -------
    dict of int array
        ``nodes`` (L,), parents before children; ``entries`` (L, words of a slot's entry),
        ``counts`` (L, cells, bins x classes).

    Of a board that failed there is nothing to be read, see ``nothing``.

    Raises
    ------
    BoardError
        If the board reports an error or is gone.
    KeyboardInterrupt
        Between two reports; it may be read again.
    """
    if trainer.broken:
        return nothing(trainer, trainer.broken)
    nodes = _nodes(trainer)
    return _checkpoint(trainer, nodes, *(_ask(trainer, nodes) if len(nodes) else ([], [])))


def nothing(trainer, why):
    """No statistics, of a board that failed, and a warning that says why.

    ``restore`` then starts those of all nodes anew, and the tree itself is kept.
    """
    if count := len(_nodes(trainer)):
        warn(f"{why}: the tree is kept, but not what the board had counted for {count} of its nodes, which starts anew")
    return _checkpoint(trainer, np.zeros(0, np.int64), [], [])


def _nodes(trainer):
    nodes = trainer.nodes.descendants()
    return nodes[trainer.nodes.slot[nodes] >= 0]


def _checkpoint(trainer, nodes, entries, counts):
    geometry = trainer.board.geometry
    size = geometry.bins * geometry.classes
    words = _body(geometry).size // 4
    return {
        "nodes": nodes,
        "entries": np.array(entries, np.uint32).reshape(len(nodes), words),
        "counts": np.array(counts, np.uint32).reshape(len(nodes), len(trainer.cells), size),
    }


def _body(geometry):
    """A saved entry: what READ reports of it and WRITE takes where there is no node table."""
    return Layout("entry", *entry_body(geometry.replace(nodes=0)))


def _ask(trainer, nodes):
    """Entries and counts of these nodes, in order."""
    cells = range(len(trainer.cells))
    entries, counts = [], []
    geometry = trainer.board.geometry
    layout, bins = entry_layout(geometry), statistics_layout(geometry).offset("counts")
    if most := trainer.board.saves(len(cells)):
        return _saved(trainer, nodes, most)
    with trainer.asking() as answers:
        for node in nodes:
            check_interrupt()
            slot = int(trainer.nodes.slot[node])
            for cell in (NONE, *cells):
                trainer.command(Opcode.READ, slot=slot, cell=cell)
            trainer.flush()
        while len(entries) + len(counts) < len(nodes) * (1 + len(cells)):
            for kind, report in answers():
                if kind is Kind.ENTRY:
                    words = np.frombuffer(report, np.uint32).reshape(-1, layout.size // 4)  # one, or several in a row
                    entries += list(words[:, layout.offset("n") // 4 :])
                elif kind is Kind.STATISTICS:
                    counts.append(np.frombuffer(report[bins:], np.uint32))
    return _plain(trainer, nodes, entries), counts


def _saved(trainer, nodes, most):
    """The same of a board that writes them to memory, ``most`` slots at a time."""
    slots, cells = trainer.nodes.slot[nodes], len(trainer.cells)
    entries, counts = [], []
    with trainer.asking():
        trainer.flush()
        for at in range(0, len(slots), most):
            check_interrupt()
            rows = trainer.board.save(slots[at : at + most], cells)
            entries.append(rows["entry"]["body"].copy())
            counts.append(rows["cells"]["body"].copy())
    return _plain(trainer, nodes, np.concatenate(entries)), np.concatenate(counts)


def _plain(trainer, nodes, entries):
    """Entries as of a board without a node table."""
    return entries if trainer.walking is None else plain_entries(trainer, nodes, entries)


def misfit(checkpoint, classes, geometry, cells, counting):
    """Why statistics do not fit a board, in words; None if they do.

    Parameters
    ----------
    checkpoint : dict
        As read.
    classes : int
        Of the board that they were read from.
    geometry : Geometry
        Of the board that they shall be written to.
    cells : int
        That the attributes take there.
    counting : int
        Nodes that cannot do without a slot: an anytime tree's inner ones.
    """
    held, held_cells, size = checkpoint["counts"].shape
    for name, value in (("bins", size // classes), ("classes", classes)):
        if value != getattr(geometry, name):
            return f"saved from a board with {name} = {value}, this one has {getattr(geometry, name)}"
    if held and held_cells != cells:
        return f"saved with {held_cells} cells, these parameters take {cells}"
    if cells > geometry.max_cells:
        return f"{cells} cells are needed, this board has {geometry.max_cells}"
    if held > geometry.slots:
        return f"{held} nodes have statistics, this board has {geometry.slots} slots"
    if counting > geometry.slots:
        return f"{counting} inner nodes want statistics, this board has {geometry.slots} slots"
    most = int(checkpoint["entries"][:, 0].max(initial=0))
    if most > geometry.count_max:
        return f"a node has counted {most} instances, this board's counters hold {geometry.count_max}"
    return None


def widened(checkpoint, known, classes):
    """Statistics of ``known`` classes as those of more."""
    more = classes - known
    counts = checkpoint["counts"]
    held, cells, size = counts.shape
    counts = counts.reshape(held, cells, size // known, known)
    return {
        **checkpoint,
        "entries": np.pad(checkpoint["entries"], ((0, 0), (0, more))),
        "counts": np.pad(counts, ((0, 0), (0, 0), (0, 0), (0, more))).reshape(held, cells, size // known * classes),
    }


def restore(trainer, checkpoint):
    """Put statistics onto a trainer's board, which has the same bins, classes and cells."""
    growth, nodes = trainer.growth, trainer.nodes
    live = nodes.descendants()
    nodes.slot[live] = -1
    counting = live[nodes.kind[live] != FORK] if trainer.policy.anytime else nodes.leaves()
    # What is decided on alternates takes no counts, unless they are rivals, which begin as splits.
    taking = nodes.verdict[counting] < (SWAP if trainer.policy.rivals else ALTERNATE)
    for node in np.setdiff1d(counting[taking], checkpoint["nodes"]).tolist():
        forget_trial(nodes.table[node])
    if not len(checkpoint["nodes"]):
        growth.restart()
    body = _body(trainer.board.geometry).dtype
    slots, entries = [], []
    for node, entry in zip(checkpoint["nodes"], checkpoint["entries"], strict=True):
        node = int(node)
        slot = growth.take(node)
        slots.append(slot)
        trainer.command(Opcode.CLEAR, slot=slot)
        growth.rezoom(node)
        entry = np.frombuffer(entry.tobytes(), body).copy()[0]
        inner = nodes.kind[node] != LEAF
        current = int(trainer.cells.first_cell[nodes.attribute[node]]) if inner else NONE
        flags = int(entry["entry_flags"]) & ~EntryFlag.INNER | (EntryFlag.INNER if inner else 0)
        entry["entry_flags"] = flags
        nodes.own[node] = int(entry["n"])
        if inner or not trainer.policy.adaptive_grace:  # the policy may be another than before
            nodes.period[node] = growth.role_period(node)
        # Its parent may have got another slot.
        entry["link"], entry["current"], entry["period"] = growth.link(node), current, 0
        payload = entry.tobytes() if trainer.walking is None else whole_entry(trainer, node, entry)
        entries.append(np.frombuffer(payload, np.uint32))
    _write(trainer, slots, entries, checkpoint["counts"])
    trainer.begin_block(trainer.tally.begun)
    trainer.flush()


def _write(trainer, slots, entries, counts):
    """Set what slots have counted."""
    board, cells = trainer.board, len(trainer.cells)
    if most := board.saves(cells):
        trainer.flush()
        for at in range(0, len(slots), most):
            part = slice(at, at + most)
            rows = board.rows(slots[part], cells)
            rows["entry"]["body"], rows["cells"]["body"] = entries[part], counts[part]
            board.put_back(rows)
        return
    for slot, entry, matrix in zip(slots, entries, counts, strict=True):
        trainer.command(Opcode.WRITE, slot=slot, cell=NONE, payload=entry.tobytes())
        for cell, bins in enumerate(matrix):
            trainer.command(Opcode.WRITE, slot=slot, cell=cell, payload=bins.tobytes())
