"""The node table, and where a record goes: ``sim/bregalad_sim/golden/walker.py`` on arrays."""

import numpy as np

from ....geometry import MISSING, NONE
from ....protocol.nodes import EDIT, KIND_LOW, EditFlag, NodeKind
from ..arithmetic import u16
from ..state import inlined, inner
from .state import ATTRIBUTE, CHILD, DEFAULT, KIND, LOCKED, SLOT, VALUE

__all__ = ["MORE_FOLLOWS", "NODE_AT", "STOP", "edit", "walk"]

LEAF, NUMERIC, MULTIWAY, FORK = map(int, (NodeKind.LEAF, NodeKind.NUMERIC, NodeKind.MULTIWAY, NodeKind.FORK))
MOST_KIND = int(max(NodeKind))
KEEP, MORE_FOLLOWS, STOP = map(int, (EditFlag.KEEP, EditFlag.MORE, EditFlag.STOP))
NODE_AT, TEST_AT, CHILD_AT, VALUE_AT, DEFAULT_AT, SLOT_AT = map(
    EDIT.offset, ("node", "test", "child", "value", "default", "slot")
)
LOW = (1 << KIND_LOW) - 1


@inner
def edit(nodes, attributes, slots, stream, at):
    """Write a node's row, or keep it; its lock goes. Whether there are such a node, children, attribute and slot."""
    node = u16(stream, at + NODE_AT)
    if node >= len(nodes):
        return False
    if not stream[at + 1] & KEEP:
        test, child, slot = u16(stream, at + TEST_AT), u16(stream, at + CHILD_AT), u16(stream, at + SLOT_AT)
        kind, attribute = test >> KIND_LOW, test & LOW
        value, default = np.int64(stream[at + VALUE_AT]), np.int64(stream[at + DEFAULT_AT])
        if kind > MOST_KIND or slot >= slots and slot != NONE:
            return False
        if kind != LEAF:
            children = value if kind == MULTIWAY else 2
            if kind != FORK and attribute >= attributes or default >= children or child > len(nodes) - children:
                return False
        row = nodes[node]
        row[KIND], row[ATTRIBUTE], row[VALUE], row[CHILD] = kind, min(attribute, attributes - 1), value, child
        row[DEFAULT], row[SLOT] = default, slot
    nodes[node, LOCKED] = 0
    return True


@inlined
def walk(nodes, codes, root):
    """``(node, stands, lost)``: where a record's way ends, whether a node on it is locked, and whether it goes round.

    There are no alternates: a fork leads to its first child.
    """
    node, stands, steps = np.int64(root), np.int32(0), 1
    while True:
        at = np.uint64(node)
        stands |= nodes[at, LOCKED]
        kind = nodes[at, KIND]
        if kind == LEAF or steps == len(nodes):
            break
        code = np.int32(codes[np.uint64(nodes[at, ATTRIBUTE])])
        value = nodes[at, VALUE]
        if kind == FORK:
            branch = np.int32(0)
        elif code == MISSING or kind == MULTIWAY and code >= value:
            branch = nodes[at, DEFAULT]
        elif kind == MULTIWAY:
            branch = code
        else:
            branch = np.int32(code >= value if kind == NUMERIC else code != value)
        node = np.int64(nodes[at, CHILD] + branch)
        steps += 1
    return node, stands != 0, kind != LEAF
