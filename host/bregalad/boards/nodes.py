"""What the host knows of a board's node table: it refuses what would make no trees of it."""

from __future__ import annotations

from collections.abc import Iterable

from ..protocol.nodes import Node, pack_edit
from ..words import shown

__all__ = ["NodeTable"]


class NodeTable:
    """The trees of a board's node table, and the EDITs that change them.

    Parameters
    ----------
    nodes, attributes, slots : int
        Of the board: rows of its table, codes of a record, slots.
    roots : int
        Trees; their roots are the first nodes, leaves without a slot to begin with.

    Attributes
    ----------
    rows : dict
        Row of every node that hangs in a tree.
    """

    def __init__(self, nodes: int, attributes: int, slots: int, roots: int = 1):
        if not 1 <= roots <= nodes:
            raise ValueError(f"roots must be 1 to {nodes}, the table's nodes, not {shown(roots)}")
        self.nodes, self.attributes, self.slots, self.roots = nodes, attributes, slots, roots
        self.rows = {root: Node() for root in range(roots)}
        self._parents: dict[int, int] = {}  # of every node in `rows` but the roots

    def edit(self, opcode: int, changes: Iterable[tuple[int, Node]]) -> list[bytes]:
        """Change rows, all between two records.

        Parameters
        ----------
        opcode : int
            Of EDIT.
        changes : iterable of (int, Node)
            Nodes and their new rows. What none leads to any more is forgotten.

        Returns
        -------
        list of bytes
            The commands, in the order in which the board must have them.

        Raises
        ------
        ValueError
            If there is no such row, a node is named twice, or what came of it would be no trees: a cycle,
            a node with two parents, an orphan, a child without a row. Then nothing has changed.
        """
        changes = list(changes)
        new = dict(changes)
        for node, row in changes:
            if not 0 <= node < self.nodes:
                raise ValueError(f"node must be 0 to {self.nodes - 1}, not {shown(node)}")
            if trouble := row.trouble(self.nodes, self.attributes, self.slots):
                raise ValueError(f"node {node}: {trouble}")
        if len(new) < len(changes):
            twice = next(node for place, (node, _) in enumerate(changes) if node in dict(changes[:place]))
            raise ValueError(f"node {twice} is given twice: one row for each node")
        parents = self._changed_parents(new)
        for node in new:
            self._check_hangs(node, parents)
        gone = self._gone(new, parents)
        for node, row in new.items():
            for child in row.children:
                if child not in new and (child not in self.rows or child in gone):
                    raise ValueError(f"node {node} leads to node {child}, which has no row: give it one, too")
        order = sorted(new, key=lambda node: node in self.rows)  # those that none leads to first; sorting is stable
        for node in gone:
            self.rows.pop(node)
            self._parents.pop(node, None)
        self.rows.update(new)
        self._parents.update((node, parent) for node, parent in parents.items() if parent is not None)
        return [pack_edit(opcode, node, new[node], more=place + 1 < len(order)) for place, node in enumerate(order)]

    def keep(self, opcode: int, node: int) -> bytes:
        """The command by which a node that is locked stays as it is.

        Raises
        ------
        ValueError
            If no tree has the node.
        """
        if node not in self.rows:
            raise ValueError(f"no tree has node {shown(node)}")
        return pack_edit(opcode, node, None)

    def _changed_parents(self, new):
        """Parents as they become, of nodes whose parent changes; None: of none.

        A node may be taken from one that goes, as where an alternate takes its node's place.
        """
        parents: dict[int, int | None] = {}
        for node in new:
            if node in self.rows:
                parents.update(dict.fromkeys(self.rows[node].children))
        left = []  # nodes that were taken from another, and which
        for node, row in new.items():
            for child in row.children:
                if child < self.roots:
                    raise ValueError(f"node {node} leads to node {child}, a root")
                before = parents.get(child, self._parents.get(child))
                if before is not None:
                    left.append((child, before, node))
                parents[child] = node
        for child, before, node in left:
            if before in new or self._top(before, parents) < self.roots:
                raise ValueError(f"node {child} has two parents, node {before} and node {node}")
        return parents

    def _top(self, node, parents):
        """Where the way up from a node ends; at the node itself, or below, if it goes round."""
        seen = {node}
        while (parent := parents.get(node, self._parents.get(node))) is not None:
            if parent in seen:
                return self.nodes
            seen.add(parent)
            node = parent
        return node

    def _check_hangs(self, node, parents):
        top = self._top(node, parents)
        if top == self.nodes:
            raise ValueError(f"node {node} leads back to itself: a cycle")
        if top >= self.roots:
            raise ValueError(f"node {node} hangs in no tree: an orphan below node {top}")

    def _gone(self, new, parents):
        """Nodes that hang in no tree any more."""
        gone = set()
        left = [node for node, parent in parents.items() if parent is None]
        while left:
            node = left.pop()
            if node not in self.rows:
                continue
            gone.add(node)
            left += [child for child in self.rows[node].children if parents.get(child, node) == node]
        return gone
