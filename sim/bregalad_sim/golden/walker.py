"""The golden model's node table and walker: where a record goes."""

from bregalad.geometry import NONE
from bregalad.protocol.nodes import EditError, NodeKind

from .node import Node


class NodeTable:
    """Rows of nodes.

    Parameters
    ----------
    nodes, attributes, slots : int
    alternates : int
        Of one record at most.
    """

    def __init__(self, nodes, attributes, slots, alternates=1):
        self.nodes, self.attributes, self.slots, self.alternates = nodes, attributes, slots, alternates
        self.rows = [Node() for _ in range(nodes)]

    def edit(self, node, row):
        """Write a row.

        Returns
        -------
        EditError or None
            Why it is refused.
        """
        if node >= self.nodes:
            return EditError.NODE
        if not row.fits(self.nodes, self.attributes, self.slots):
            return EditError.ROW
        self.rows[node] = row
        return None

    def walk(self, codes, root):
        """Where a record goes.

        Returns
        -------
        leaves : list of int
            The leaf that the record comes to; then that of each alternate, in the order in which they
            were met. A way that has no leaf among as many nodes as there are goes round: that ends it
            all, and the last of them is all there is.
        lost : bool
            It went round.
        """
        starts, leaves = [root], []
        while len(leaves) < len(starts):
            node, steps = starts[len(leaves)], 1
            while True:
                row = self.rows[node]
                if row.kind == NodeKind.LEAF:
                    break
                if steps == self.nodes:
                    return [node], True
                if row.kind == NodeKind.FORK and len(starts) <= self.alternates:
                    starts.append(row.child + 1)
                node = row.child + row.branch(codes[row.attribute] if row.kind != NodeKind.FORK else 0)
                steps += 1
            leaves.append(node)
        return leaves, False


class Walker:
    """Records and edits in their order, from which it follows what is given.

    Parameters
    ----------
    table : NodeTable
    """

    def __init__(self, table):
        self.table = table

    def traverse(self, codes, root):
        """What comes of the next record: a list of items, fields as of ``item_layout``."""
        leaves, lost = self.table.walk(codes, root)
        return [
            {
                "node": node,
                "slot": NONE if lost else self.table.rows[node].slot,
                "alternate": way > 0,
                "lost": lost,
                "last": way == len(leaves) - 1,
            }
            for way, node in enumerate(leaves)
        ]
