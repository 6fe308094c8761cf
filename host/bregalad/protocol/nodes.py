"""The node table: a node's row, and the command that changes one.

The tree lies on the board, a row for each node. A node's children stand side by side; its row names
the first. A node with an alternate is a FORK, whose children are the node as it would be without and
the alternate: a record goes down both.

An EDIT writes one row, while no record is under way.
"""

from dataclasses import dataclass
from enum import IntEnum

from ..complete import complete
from ..geometry import MISSING, NONE
from .layout import Field, Layout

KIND_LOW = 13  # the lowest bit of a row's test that belongs to the kind


class NodeKind(IntEnum):
    """What a node does with a record's code, `c`; where that is missing, it is the default child."""

    LEAF = 0  # the walk ends here
    NUMERIC = 1  # child 0 if c < value, else child 1
    MULTIWAY = 2  # child c of `value` children; the default child if c is not below that
    ONE_VS_REST = 3  # child 0 if c is the value, else child 1
    FORK = 4  # whatever the code is, child 0, and from child 1, the alternate, on a second walk


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


class EditError(IntEnum):
    """Why an edit is refused; then it changes nothing."""

    NODE = 1  # there is no such node
    ROW = 2  # a child, the default child, the attribute, the slot or the kind does not exist


EDIT = Layout(
    "edit",
    Field("opcode", 8),
    Field("flags", 8, "0."),
    Field("node", 16, "The node whose row this is."),
    Field("reserved", 32),
    Field("test", 16, f"{KIND_LOW - 1}:0 are the attribute whose code is looked at, 15:{KIND_LOW} the NodeKind."),
    Field("child", 16, "Child 0, the others follow it."),
    Field("value", 8, "What codes are compared with; of MULTIWAY the number of children. No threshold is above 255."),
    Field("default", 8, f"The child of a missing code, {MISSING}, and of one above all that are known."),
    Field("slot", 16, "What counts here, or NONE."),
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
