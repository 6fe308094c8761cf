"""Slots' entries of a board with a node table, which knows of each slot its last trial, and of boards without one."""

import numpy as np

from ...policy.decide import MAX_PERIOD
from ...protocol.reports import EntryFlag, entry_body
from ...tree.table import LEAF, NEVER

_MOST_SINCE = (1 << 24) - 1  # that a slot counts


def plain_entries(trainer, nodes, found, entries):
    """Write entries of nodes' slots, structured array (n,), as of a board without a node table.

    What those ``found`` say of the last trials goes to the tree.
    """
    tree, learnt, flags = trainer.nodes, trainer.tally.instances, found["entry_flags"]
    due, tried = flags & EntryFlag.DUE != 0, flags & EntryFlag.TRIED != 0
    ago = np.uint32(learnt & 0xFFFFFFFF) - found["tried"]  # records; numbers go round
    tree.due_at[nodes[tried]] = learnt - ago[tried].astype(np.int64)
    tree.since[nodes] = np.where(due, np.maximum(found["since"], tree.period[nodes]), found["since"])
    for name in entries.dtype.names:
        entries[name] = found[name]
    entries["entry_flags"] &= ~np.uint16(EntryFlag.DUE | EntryFlag.TRIED)


def relinked(trainer, node, entry):
    """The entry of a node's slot as it was told, but with the link that the node has now; bytes."""
    layout = entry_body(trainer.board.geometry)
    return layout.pack(**{name: entry[name] for name in layout.dtype.names} | {"link": trainer.growth.link(node)})


def whole_entry(trainer, node, plain):
    """The entry of a node's slot, from that of `plain_entries`; bytes."""
    tree = trainer.nodes
    layout = entry_body(trainer.board.geometry)
    since, due_at, flags = int(tree.since[node]), int(tree.due_at[node]), int(plain["entry_flags"])
    values = {name: plain[name] for name in plain.dtype.names} | {"since": min(since, _MOST_SINCE)}
    if since >= tree.period[node]:
        flags |= EntryFlag.DUE
    if due_at != NEVER:
        flags |= EntryFlag.TRIED
        values["tried"] = due_at & 0xFFFFFFFF
    if trainer.policy.adaptive_grace and tree.kind[node] == LEAF:
        values["period"] = min(int(tree.period[node]), MAX_PERIOD)
    return layout.pack(**values | {"entry_flags": flags})
