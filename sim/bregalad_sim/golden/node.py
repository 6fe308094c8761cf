"""A row of the node table: where it leads, and what a board cannot have in it."""

from dataclasses import dataclass

from bregalad.geometry import MISSING, NONE
from bregalad.protocol.nodes import EDIT, KIND_LOW, NodeKind


@dataclass(frozen=True)
class Node:
    """A node's row."""

    kind: int = NodeKind.LEAF
    attribute: int = 0
    value: int = 0
    child: int = 0
    default: int = 0
    slot: int = NONE

    @property
    def children(self) -> range:
        """The nodes that it leads to."""
        count = {NodeKind.LEAF: 0, NodeKind.MULTIWAY: self.value}.get(self.kind, 2)
        return range(self.child, self.child + count)

    def branch(self, code: int) -> int:
        """The child, counted from 0, that a record with this code goes to."""
        if self.kind == NodeKind.FORK:
            return 0
        if code == MISSING:
            return self.default
        if self.kind == NodeKind.NUMERIC:
            return int(code >= self.value)
        if self.kind == NodeKind.MULTIWAY:
            return code if code < self.value else self.default
        return int(code != self.value)

    def fits(self, nodes: int, attributes: int, slots: int) -> bool:
        """Whether a table of so many nodes, attributes and slots can have the row."""
        if self.kind not in list(NodeKind) or self.slot != NONE and not 0 <= self.slot < slots:
            return False
        if self.kind == NodeKind.LEAF:
            return True
        return (
            (self.kind == NodeKind.FORK or 0 <= self.attribute < attributes)
            and 0 <= self.value <= 255
            and 0 <= self.child <= nodes - len(self.children)
            and 0 <= self.default < len(self.children)
        )


def pack_edit(opcode: int, node: int, row: Node) -> bytes:
    """Bytes of an EDIT."""
    values = {name: getattr(row, name) for name in ("child", "value", "default", "slot")}
    return EDIT.pack(opcode=opcode, node=node, test=row.kind << KIND_LOW | row.attribute, **values)
