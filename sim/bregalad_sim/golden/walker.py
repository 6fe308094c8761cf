"""The golden model's node table and walker: where a record goes, and what stops it."""

from bregalad.geometry import NONE
from bregalad.protocol.nodes import EditError, Node, NodeKind

__all__ = ["NodeTable", "Walker"]


class NodeTable:
    """Rows, and for each node what has led to it last.

    Parameters
    ----------
    nodes, attributes, slots : int
    alternates : int
        Of one record at most.
    """

    def __init__(self, nodes, attributes, slots, alternates=1):
        self.nodes, self.attributes, self.slots, self.alternates = nodes, attributes, slots, alternates
        self.rows = [Node() for _ in range(nodes)]
        self.parents = [0] * nodes
        self.locked = set()

    def lock(self, node):
        """Let no record pass that reaches a node; an EditError if there is none such."""
        if node >= self.nodes:
            return EditError.NODE
        self.locked.add(node)
        return None

    def edit(self, node, row):
        """Write a row, or keep it, where that is None; either way the node's lock goes.

        Returns
        -------
        EditError or None
            Why it is refused.
        """
        if node >= self.nodes:
            return EditError.NODE
        if row is not None:
            if row.trouble(self.nodes, self.attributes, self.slots):
                return EditError.ROW
            self.rows[node] = row
            for child in row.children:
                self.parents[child] = node
        self.locked.discard(node)
        return None

    def walk(self, codes, root):
        """Where a record goes.

        Returns
        -------
        ways : list of (int, int)
            The leaf that the record comes to, and how many nodes the way there has; then the same for
            each alternate, in the order in which they were met. A way that has no leaf among as many
            nodes as there are goes round: that ends it all, and the last of them is all there is.
        stands : bool
            A node on the way is locked.
        lost : bool
            It went round.
        """
        starts, ways, stands = [root], [], False
        while len(ways) < len(starts):
            node, steps = starts[len(ways)], 1
            while True:
                stands |= node in self.locked
                row = self.rows[node]
                if row.kind == NodeKind.LEAF:
                    break
                if steps == self.nodes:
                    return [(node, 1)], stands, True
                if row.kind == NodeKind.FORK and len(starts) <= self.alternates:
                    starts.append(row.child + 1)
                node = row.child + row.branch(codes[row.attribute] if row.kind != NodeKind.FORK else 0)
                steps += 1
            ways.append((node, steps))
        return ways, stands, False

    def path(self, leaf, length):
        """So many nodes, from a leaf up."""
        path = [leaf]
        while len(path) < length:
            path.append(self.parents[path[-1]])
        return path


class Walker:
    """Records, edits and locks in their order, from all of which it follows what is given.

    Parameters
    ----------
    table : NodeTable
    paths : bool
        Give the nodes of the whole path, from the leaf up.
    """

    def __init__(self, table, paths=False):
        self.table, self.paths = table, paths
        self.number = 0  # records given
        self.more = False  # the last edit is to be followed by another

    def stands(self, codes, root):
        """Whether the next record has to wait for an edit."""
        return self.more or self.table.walk(codes, root)[1]

    def give(self, codes, root, numbered=True):
        """What comes of the next record: a list of items, fields as of ``item_layout``; not all are numbered."""
        ways, _, lost = self.table.walk(codes, root)
        items = []
        for index, (leaf, length) in enumerate(ways):
            for place, node in enumerate(self.table.path(leaf, length if self.paths else 1)):
                slot = NONE if lost else self.table.rows[node].slot
                items.append(
                    {
                        "number": self.number,
                        "node": node,
                        "slot": slot,
                        "leaf": place == 0,
                        "alternate": index > 0,
                        "lost": lost,
                        "last": False,
                    }
                )
        items[-1]["last"] = True
        self.number += numbered
        return items
