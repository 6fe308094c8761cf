"""Trees for people to read: text, Graphviz and web pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data.quantiser import Quantiser
from ...data.schema import Schema
from ...options.option import Option, integer
from ...tree.nodes import Nodes
from ...tree.table import LEAF, MADE, MULTIWAY, NUMERIC, N
from ..turns import in_turn
from .inspection import totals
from .page import page, points_of

if TYPE_CHECKING:
    from ...evaluation import Curve

_DEPTH = Option("max_depth", integer(0), none="all levels")


class Drawn:
    """What trees are drawn by; a subclass says in ``_shown`` what is to be seen, a `View`."""

    _curve: dict[str, Any] | None

    @in_turn
    def draw(self, max_depth: int | None = None) -> str:
        """The tree as text; where nothing is split, of a tree on a board also how far that is and what predicts."""
        _DEPTH.check(max_depth)
        return text(self._shown(), max_depth)

    @in_turn
    def to_html(self, curve: Curve | None = None) -> str:
        """The tree, what has happened to it, and a run's curve, as a web page that needs no other file.

        Parameters
        ----------
        curve : Curve, optional
            Of all that the tree has learnt; else that of the ``train`` that has saved it, if any has.
        """
        points = self._curve if curve is None else points_of(curve)
        return page(self._shown(), type(self).__name__, getattr(self, "history", None), points)

    @in_turn
    def to_graphviz(self, max_depth: int | None = None) -> str:
        """The tree in Graphviz's DOT language."""
        _DEPTH.check(max_depth)
        return dot(self._shown(), max_depth)

    def _shown(self):
        raise NotImplementedError


@dataclass
class View:
    """A tree with the names of what it tests, and a last line of its text."""

    nodes: Nodes
    quantiser: Quantiser
    schema: Schema
    classes: np.ndarray
    note: str = ""

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

    def counts(self):
        """Instances of each class, int64 array (nodes, classes), as `totals`."""
        counts = self.nodes.counts[:, : len(self.classes)].copy()
        return totals(self.nodes, self.nodes.predicting()[::-1].tolist(), counts)

    def decision(self, node):
        """What an inner node's split is based on: instances, gain, rival, bound; None: nothing is known of it."""
        evidence = self.nodes.evidence[node, MADE:].tolist()
        return evidence if evidence[N] else None

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
    nodes, lines = view.nodes, []
    waiting = [(0, "", 0)]  # nodes with what leads to them and their depths, the next one last
    while waiting:
        node, condition, depth = waiting.pop()
        node = nodes.standing(node)
        indent = "    " * (depth - 1)
        if nodes.kind[node] == LEAF:
            lines.append(f"{indent}{condition}: {view.leaf(node)}" if depth else view.leaf(node))
            continue
        if depth:
            lines.append(f"{indent}{condition}")
        if max_depth is not None and depth >= max_depth:
            lines.append("    " * depth + "...")
            continue
        family = zip(nodes.children(node), view.conditions(node), strict=True)
        waiting += [(child, words, depth + 1) for child, words in family][::-1]
    return "\n".join([*lines, view.note] if view.note else lines)


def dot(view, max_depth=None):
    """The tree in DOT, for ``dot -Tsvg``."""
    nodes = view.nodes
    lines = ["digraph tree {", '  node [shape=box, fontname="sans-serif"];']
    waiting = [(nodes.standing(0), 0, None)]  # nodes with their depths and the lines that lead to them
    while waiting:
        node, depth, edge = waiting.pop()
        leaf = nodes.kind[node] == LEAF
        if leaf or (max_depth is not None and depth >= max_depth):
            words = view.leaf(node) if leaf else "..."
            lines.append(f"  n{node} [label={_quoted(words)}, style=rounded];")
        else:
            name = view.schema.attributes[int(nodes.attribute[node])].name
            lines.append(f"  n{node} [label={_quoted(name)}];")
            family = zip(map(nodes.standing, nodes.children(node)), view.conditions(node), strict=True)
            waiting += [
                (child, depth + 1, f"  n{node} -> n{child} [label={_quoted(condition.removeprefix(name))}];")
                for child, condition in family
            ][::-1]
        if edge:
            lines.append(edge)
    return "\n".join([*lines, "}"])


def _quoted(words):
    return '"' + words.replace("\\", "\\\\").replace('"', '\\"') + '"'
