"""Why a tree predicts what it does, of one instance."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...engine.statistics.bayes import UNIT
from ...fixed import UNUSED_CLASS
from ...geometry import MISSING
from ...tree.routing import route
from ...tree.table import FORK, NUMERIC
from .. import predictions

PRIOR = "(prior)"


@dataclass(frozen=True)
class Explanation:
    """Why an instance is predicted as it is.

    Attributes
    ----------
    path : list of str
        The tests that it passes, with its numbers.
    counts : dict of label to int
        How many instances of each class the leaf counts.
    rule : "majority class", "naive Bayes" or "estimated share of positives"
        What the leaf predicts by.
    prediction : label
    evidence : pandas.DataFrame
        A column for each class, whose sum is what the leaf compares. The first row, "(prior)", is of naive Bayes the
        binary logarithm of the leaf's instances, else the class's share of all. Each other row is of an attribute: the
        binary logarithm of its value's likelihood, else by how much its tests change the share.
    """

    path: list
    counts: dict
    rule: str
    prediction: object
    evidence: pd.DataFrame

    def __str__(self):
        """A line for each test, the leaf, then the evidence."""
        seen = ", ".join(f"{label} {count}" for label, count in self.counts.items())
        leaf = f"{self.prediction} by {self.rule}; the leaf counts {seen}"
        return "\n".join([*self.path, leaf, self.evidence.to_string(float_format="%+.3f")])


def explain(tree, x, rule):
    """As ``StreamTree.explain_one``; ``rule`` is what leaves predict by, unless it is naive Bayes."""
    row = tree._alone().row
    row.encode(x, read_only=True)
    view, codes, names = tree._shown(), row.codes.copy()[np.newaxis], tree.schema_.names
    numbers = dict(zip(tree._quantiser.numeric, row.numbers[0].tolist(), strict=True))
    nodes, labels = view.nodes, view.classes.tolist()
    leaf = int(route(nodes.table, codes)[0])
    way = [node for node in nodes.path(leaf) if nodes.kind[node] != FORK][::-1]
    path, tested = [], nodes.attribute[way[:-1]].tolist()
    for node, child, attribute in zip(way, way[1:], tested, strict=False):
        branch = [nodes.standing(each) for each in nodes.children(node)].index(child)
        number = f" ({numbers[attribute]:.6g})" if nodes.kind[node] == NUMERIC else ""
        words = view.conditions(node)[branch].removesuffix(" or missing")
        path.append(words + (" (missing)" if codes[0, attribute] == MISSING else number))
    if predictions.asks_board(tree, np.array([leaf]))[0]:
        rule, terms = "naive Bayes", _likelihoods(tree, codes, leaf, len(labels))
        best, rows = int(np.argmax(terms.sum(axis=0))), [PRIOR, *names]
    else:
        counts, best = view.counts()[way], nodes.majority[leaf]
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        terms, rows = np.diff(shares, axis=0, prepend=0), [PRIOR, *(names[attribute] for attribute in tested)]
    seen = dict(zip(labels, nodes.counts[leaf].tolist(), strict=False))
    evidence = pd.DataFrame(terms, rows, labels).groupby(level=0, sort=False).sum()  # of an attribute's tests one row
    return Explanation(path, seen, rule, labels[best], evidence)


def _likelihoods(tree, codes, leaf, classes):
    """Scores in bits, float array (1 + attributes, classes): without any attribute, and what each one adds.

    They are sums over the attributes that are not missing, so instances with one attribute each tell all.
    """
    one = np.full((1 + codes.shape[1], codes.shape[1]), MISSING, np.uint8)
    np.fill_diagonal(one[1:], codes[0])
    scores = tree._open_trainer().driver.predict(one, np.full(len(one), leaf), True)[:, :classes].astype(float)
    scores[1:] -= scores[0]
    return np.where(scores == UNUSED_CLASS, -np.inf, scores / UNIT)
