"""The board's statistics of a tree, read back and written again."""

import numpy as np

from ..geometry import NONE
from ..policy.decide import ALTERNATE, SWAP
from ..protocol.reports import EntryFlag, entry_body
from ..tree.deactivation import role_period
from ..tree.table import FORK, LEAF, forget_attempt
from ..warn import warn


def read(trainer):
    """Statistics of every node that has a slot; a dict of int arrays.

    ``nodes`` (L,), parents before children; ``entries`` (L, words of a slot's entry), ``counts`` (L, cells, bins x
    classes). Of a board that failed there is nothing to be read, see ``nothing``. BoardError if the board reports an
    error or is gone; a KeyboardInterrupt comes between two reports, after which it may be read again.
    """
    if trainer.broken:
        return nothing(trainer, trainer.broken)
    nodes = _nodes(trainer)
    entries = np.zeros(len(nodes), entry_type(trainer.board.geometry))
    counts = trainer.driver.read(nodes, entries) if len(nodes) else []
    return _checkpoint(trainer, nodes, entries.view(np.uint32), counts)


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
    geometry, held = trainer.board.geometry, len(nodes)
    return {
        "nodes": nodes,
        "entries": np.array(entries, np.uint32).reshape(held, entry_type(geometry).itemsize // 4),
        "counts": np.array(counts, np.uint32).reshape(held, len(trainer.cells), geometry.bins * geometry.classes),
    }


def entry_type(geometry):
    """A saved entry: what READ reports of it and WRITE takes where there is no node table; structured dtype."""
    return entry_body(geometry.replace(nodes=0)).dtype


def check(checkpoint, classes, geometry, cells, counting):
    """Refuse with a ValueError statistics that do not fit a board.

    The checkpoint is as read, from a board of so many ``classes``; the geometry is that of the board that it shall be
    written to, where the attributes take so many ``cells``, and ``counting`` nodes cannot do without a slot: an anytime
    tree's inner ones.
    """
    held, held_cells, size = checkpoint["counts"].shape
    for name, value in (("bins", size // classes), ("classes", classes)):
        if value != getattr(geometry, name):
            raise ValueError(f"saved from a board with {name} = {value}, this one has {getattr(geometry, name)}")
    if held and held_cells != cells:
        raise ValueError(f"saved with {held_cells} cells, these parameters take {cells}")
    if cells > geometry.max_cells:
        raise ValueError(f"{cells} cells are needed, this board has {geometry.max_cells}")
    if held > geometry.slots:
        raise ValueError(f"{held} nodes have statistics, this board has {geometry.slots} slots")
    if counting > geometry.slots:
        raise ValueError(f"{counting} inner nodes want statistics, this board has {geometry.slots} slots")
    most = int(checkpoint["entries"][:, 0].max(initial=0))
    if most > geometry.count_max:
        raise ValueError(f"a node has counted {most} instances, this board's counters hold {geometry.count_max}")


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
    taking = nodes.decision[counting] < (SWAP if trainer.policy.rivals else ALTERNATE)
    for node in np.setdiff1d(counting[taking], checkpoint["nodes"]).tolist():
        forget_attempt(nodes.table[node])
    if not len(checkpoint["nodes"]):
        growth.restart()
    entries = checkpoint["entries"].view(entry_type(trainer.board.geometry)).reshape(-1).copy()
    for node, entry in zip(checkpoint["nodes"].tolist(), entries, strict=True):
        growth.clear(growth.take(node))
        growth.set_bin_windows(node)
        inner = nodes.kind[node] != LEAF
        current = int(trainer.cells.first_cell[nodes.attribute[node]]) if inner else NONE
        flags = int(entry["entry_flags"]) & ~EntryFlag.INNER | (EntryFlag.INNER if inner else 0)
        entry["entry_flags"] = flags
        nodes.observed[node] = int(entry["n"])
        if inner or not trainer.policy.adaptive_grace:  # the policy may be another than before
            nodes.period[node] = int(role_period(growth.arrays, node))
        # Its parent may have got another slot.
        entry["link"], entry["current"], entry["period"] = growth.link(node), current, 0
    trainer.driver.write(np.asarray(checkpoint["nodes"], np.int64), entries, checkpoint["counts"])
    trainer.resume_block()
