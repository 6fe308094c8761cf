"""Rows of nodes as fields of an EDIT, and back."""

from bregalad.protocol.nodes import KIND_LOW

from ..golden.node import Node


def edit_of(node, row):
    """The fields of the EDIT that writes a row."""
    values = {name: getattr(row, name) for name in ("child", "value", "default", "slot")}
    return {"node": node, "test": row.kind << KIND_LOW | row.attribute, **values}


def row_of(edit):
    """The row that an EDIT writes."""
    kind, attribute = edit["test"] >> KIND_LOW, edit["test"] & (1 << KIND_LOW) - 1
    return Node(kind, attribute, *(edit[name] for name in ("value", "child", "default", "slot")))
