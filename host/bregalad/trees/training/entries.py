"""Slots' entries of a board with a node table, which knows of each slot its last trial, and of boards without one."""

import numpy as np

from ...protocol.layout import Layout
from ...protocol.reports import EntryFlag, entry_body
from ..policy.judge import MAX_PERIOD
from ..structure.table import KEPT, LEAF

__all__ = ["plain_entries", "whole_entry"]


def plain_entries(trainer, nodes, found, entries):
    """Entries as of a board without a node table; what they say of the last trials goes to the tree.

    Parameters
    ----------
    trainer : Trainer
    nodes : int64 array (n,)
    found : structured array (n,)
        The entries of their slots.
    entries : structured array (n,)
        Written.
    """
    tree = trainer.nodes
    now = np.uint32(trainer.tally.instances & 0xFFFFFFFF)
    ahead = (found["until"] - now).view(np.int32).astype(np.int64)  # records from now on
    kept = (found["entry_flags"] & EntryFlag.OUT != 0) & (tree.verdict[nodes] == KEPT) & (ahead >= 0)
    tree.due_at[nodes[kept]] = trainer.tally.instances + ahead[kept] - trainer.policy.delay
    tree.since[nodes] = found["since"]
    for name in entries.dtype.names:
        entries[name] = found[name]
    entries["entry_flags"] &= ~np.uint16(EntryFlag.OUT)


def whole_entry(trainer, node, plain):
    """The entry of a node's slot, from that of `plain_entries`; bytes."""
    tree = trainer.nodes
    layout = Layout("entry", *entry_body(trainer.board.geometry))
    values = {name: plain[name] for name in plain.dtype.names} | {"since": int(tree.since[node])}
    until = int(tree.due_at[node]) + int(trainer.policy.delay)
    if until >= trainer.tally.instances:
        values["entry_flags"] = int(values["entry_flags"]) | EntryFlag.OUT
        values["until"] = until & 0xFFFFFFFF
    if trainer.policy.adaptive_grace and tree.kind[node] == LEAF:
        values["period"] = min(int(tree.period[node]), MAX_PERIOD)
    return layout.pack(**values)
