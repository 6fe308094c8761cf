"""A row of the node table: where it leads, and what a board cannot have in it."""

from dataclasses import dataclass

from bregalad.complete import complete
from bregalad.geometry import MISSING, NONE
from bregalad.protocol.nodes import EDIT, KIND_LOW, NodeKind

_CHILDREN = complete(
    NodeKind,
    {
        NodeKind.LEAF: lambda value: 0,
        NodeKind.NUMERIC: lambda value: 2,
        NodeKind.MULTIWAY: lambda value: value,
        NodeKind.ONE_VS_REST: lambda value: 2,
        NodeKind.FORK: lambda value: 2,
    },
    __file__,
)


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
        return range(self.child, self.child + _CHILDREN[self.kind](self.value))

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

    def trouble(self, nodes: int, attributes: int, slots: int) -> str:
        """What a table of so many nodes, attributes and slots cannot have in a row; empty if there is nothing."""
        if self.kind not in list(NodeKind):
            return f"kind must be 0 to {max(NodeKind)}, not {self.kind}"
        if self.slot != NONE and not 0 <= self.slot < slots:
            return f"slot must be 0 to {slots - 1} or NONE, not {self.slot}"
        if self.kind == NodeKind.LEAF:
            return ""
        if self.kind != NodeKind.FORK and not 0 <= self.attribute < attributes:
            return f"attribute must be 0 to {attributes - 1}, not {self.attribute}"
        if not 0 <= self.value <= 255 or not self.children:
            return f"value must be {int(self.kind == NodeKind.MULTIWAY)} to 255, not {self.value}"
        if not 0 <= self.child <= nodes - len(self.children):
            return f"children {self.child} to {self.children[-1]} must be within 0 to {nodes - 1}"
        if not 0 <= self.default < len(self.children):
            return f"default must be 0 to {len(self.children) - 1}, not {self.default}"
        return ""


def pack_edit(opcode: int, node: int, row: Node) -> bytes:
    """Bytes of an EDIT."""
    values = {name: getattr(row, name) for name in ("child", "value", "default", "slot")}
    return EDIT.pack(opcode=opcode, node=node, test=row.kind << KIND_LOW | row.attribute, **values)
