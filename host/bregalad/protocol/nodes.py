"""The node table: a node's row, and the command that changes one.

The tree lies on the board, a row for each node. A node's children stand side by side; its row names
the first. A node with an alternate is a FORK, whose children are the node as it would be without and
the alternate: a record goes down both.

An EDIT writes one row, while no record is under way.
"""

from enum import IntEnum

from ..geometry import MISSING
from .layout import Field, Layout

KIND_LOW = 13  # the lowest bit of a row's test that belongs to the kind


class NodeKind(IntEnum):
    """What a node does with a record's code, `c`; where that is missing, it is the default child."""

    LEAF = 0  # the walk ends here
    NUMERIC = 1  # child 0 if c < value, else child 1
    MULTIWAY = 2  # child c of `value` children; the default child if c is not below that
    ONE_VS_REST = 3  # child 0 if c is the value, else child 1
    FORK = 4  # whatever the code is, child 0, and from child 1, the alternate, on a second walk


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
