"""A classical tree for `draw`: its nodes by number, and in words."""

import numpy as np

from ...estimator.looking.draw import leaf_words
from ...estimator.looking.inspection import totals
from ...tree.table import LEAF
from .kernel import ABSENT
from .tree import majority

_INNER = LEAF + 1  # any other kind


class View:
    """A tree with the names of what it tests; ``nodes`` is itself, as far as `draw` looks at nodes."""

    note = ""

    def __init__(self, tree, quantiser, schema, classes):
        self._tree, self._quantiser, self.schema, self.classes = tree, quantiser, schema, classes
        self.nodes = self
        self._all = [tree.root]
        self._below = []
        for node in self._all:  # which grows
            first = len(self._all)
            self._all += [child for _, child in sorted(node.children.items())]
            self._below.append(range(first, len(self._all)))
        self.kind = [LEAF if node.test is None else _INNER for node in self._all]
        self.attribute = [node.test and node.test.attribute for node in self._all]

    def standing(self, node):
        """The node that predicts: none has an alternate."""
        return node

    def children(self, node):
        """The numbers of a node's children."""
        return self._below[node]

    def conditions(self, node):
        """What sends an instance to each child of an inner node, in words."""
        attribute, value = self._all[node].test
        name, book = self.schema.attributes[attribute].name, self._quantiser.books[attribute]
        if self.schema.attributes[attribute].kind == "numeric":
            words = {0: f"{name} < {value:.6g}", 1: f"{name} >= {value:.6g}"}
        elif value < 0:
            words = {code: f"{name} = {known}" for code, known in enumerate(book.values)}
        else:
            words = {0: f"{name} = {book.value(int(value))}", 1: f"{name} != {book.value(int(value))}"}
        words[ABSENT] = f"{name} missing"
        return [words[branch] for branch in sorted(self._all[node].children)]

    def decision(self, node):
        """No bound has decided on a test."""

    def counts(self):
        """Instances of each class, int64 array (nodes, classes), as `totals`."""
        counts = np.zeros((len(self._all), len(self.classes)), np.int64)
        for number, node in enumerate(self._all):
            if node.test is None:
                counts[number] = self._tree.counts(node, len(self.classes))
        return totals(self, range(len(self._all))[::-1], counts)

    def leaf(self, node):
        """A leaf's class, its share and how many instances it has."""
        counts = self._tree.counts(self._all[node], len(self.classes))
        return leaf_words(self.classes[majority(counts, self.classes)], counts)
