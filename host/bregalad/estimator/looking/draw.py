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
        seen = leaf_words(self.classes[self.nodes.majority[node]], self.nodes.counts[node])
        return seen if self.nodes.slot[node] >= 0 else f"{seen}, no slot"


def leaf_words(label, counts):
    """What a leaf predicts, and of which share of the instances that it has counted."""
    total = int(counts.sum())
    return f"{label}, {counts.max() / total:.1%} of {total}" if total else f"{label}, nothing seen"


def _value(book, code):
    return book.value(code) if code < len(book.values) else f"value {code}"


def text(view, max_depth=None):
    """The tree, one line per node, children indented."""
    lines = []
    for node, _, depth, words, end in _shown_nodes(view, max_depth):
        indent = "    " * (depth - 1)
        if view.nodes.kind[node] == LEAF:
            lines.append(f"{indent}{words}: {end}" if depth else end)
        else:
            lines += [f"{indent}{words}"] * (depth > 0) + ["    " * depth + "..."] * (end is not None)
    return "\n".join([*lines, view.note] if view.note else lines)


def dot(view, max_depth=None):
    """The tree in DOT, for ``dot -Tsvg``."""
    lines = ["digraph tree {", '  node [shape=box, fontname="sans-serif"];']
    names = {}  # of the attributes that nodes test
    for node, above, _, words, end in _shown_nodes(view, max_depth):
        if end is None:
            names[node] = view.schema.attributes[int(view.nodes.attribute[node])].name
            lines.append(f"  n{node} [label={_quoted(names[node])}];")
        else:
            lines.append(f"  n{node} [label={_quoted(end)}, style=rounded];")
        if above is not None:
            lines.append(f"  n{above} -> n{node} [label={_quoted(words.removeprefix(names[above]))}];")
    return "\n".join([*lines, "}"])


def _shown_nodes(view, max_depth):
    """Nodes to a depth, parents first: each, the one above, its depth, what leads to it, and its last words.

    These are None where nodes follow below.
    """
    nodes, waiting = view.nodes, [(view.nodes.standing(0), None, 0, "")]
    while waiting:
        node, above, depth, words = waiting.pop()
        deep = max_depth is not None and depth >= max_depth
        end = view.leaf(node) if nodes.kind[node] == LEAF else "..." if deep else None
        yield node, above, depth, words, end
        if end is None:
            family = zip(map(nodes.standing, nodes.children(node)), view.conditions(node), strict=True)
            waiting += [(child, node, depth + 1, condition) for child, condition in family][::-1]


def _quoted(words):
    return '"' + words.replace("\\", "\\\\").replace('"', '\\"') + '"'
