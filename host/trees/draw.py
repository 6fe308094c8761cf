"""Trees for people to read: text and Graphviz."""

from dataclasses import dataclass

import numpy as np

from ..data.quantiser import Quantiser
from ..data.schema import Schema
from .structure.nodes import LEAF, MULTIWAY, NUMERIC, Nodes

__all__ = ["View", "text", "dot"]


@dataclass
class View:
    """A tree with the names of what it tests."""

    nodes: Nodes
    quantiser: Quantiser
    schema: Schema
    classes: np.ndarray

    def conditions(self, node):
        """What sends an instance to each child of an inner node, in words."""
        nodes = self.nodes
        attribute = int(nodes.attribute[node])
        name = self.schema.attributes[attribute].name
        book = self.quantiser.books[attribute]
        threshold = int(nodes.threshold[node])
        if nodes.kind[node] == NUMERIC:
            value = f"{book.threshold(threshold):.6g}"
            words = [f"{name} < {value}", f"{name} >= {value}"]
        elif nodes.kind[node] == MULTIWAY:
            words = [f"{name} = {_value(book, code)}" for code in range(nodes.width[node])]
        else:
            value = _value(book, threshold)
            words = [f"{name} = {value}", f"{name} != {value}"]
        words[nodes.default[node]] += " or missing"
        return words

    def leaf(self, node):
        """A leaf's class, its share and the instances that it has seen."""
        counts = self.nodes.counts[node]
        total = int(counts.sum())
        label = self.classes[self.nodes.majority[node]]
        share = f", {counts.max() / total:.1%} of {total}" if total else ", nothing seen"
        inactive = "" if self.nodes.slot[node] >= 0 else ", no slot"
        return f"{label}{share}{inactive}"


def _value(book, code):
    return book.value(code) if code < len(book.values) else f"value {code}"


def text(view, max_depth=None):
    """The tree, one line per node, children indented."""
    lines = []

    def walk(node, condition, indent, depth):
        if view.nodes.kind[node] == LEAF:
            lines.append(f"{indent}{condition}: {view.leaf(node)}" if condition
                         else view.leaf(node))
            return
        if condition:
            lines.append(f"{indent}{condition}")
            indent += "    "
        if max_depth is not None and depth >= max_depth:
            lines.append(f"{indent}...")
            return
        words = view.conditions(node)
        for child, condition in zip(view.nodes.children(node), words, strict=True):
            walk(child, condition, indent, depth + 1)

    walk(0, "", "", 0)
    return "\n".join(lines)


def dot(view, max_depth=None):
    """The tree in DOT, for ``dot -Tsvg``."""
    lines = ["digraph tree {", "  node [shape=box, fontname=\"sans-serif\"];"]

    def quote(words):
        return '"' + words.replace("\\", "\\\\").replace('"', '\\"') + '"'

    def walk(node, depth):
        if view.nodes.kind[node] == LEAF or (max_depth is not None and depth >= max_depth):
            words = view.leaf(node) if view.nodes.kind[node] == LEAF else "..."
            lines.append(f"  n{node} [label={quote(words)}, style=rounded];")
            return
        name = view.schema.attributes[int(view.nodes.attribute[node])].name
        lines.append(f"  n{node} [label={quote(name)}];")
        words = view.conditions(node)
        for child, condition in zip(view.nodes.children(node), words, strict=True):
            walk(child, depth + 1)
            lines.append(f"  n{node} -> n{child} [label={quote(condition.removeprefix(name))}];")

    walk(0, 0)
    return "\n".join([*lines, "}"])
