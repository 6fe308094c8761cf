"""Classes told by a random tree."""

from collections import namedtuple
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ...compiled import njit
from ...options.option import integer
from .base import Block, Generator, Share, classified, model_numbers, nominals, numerics

_LEAF = -1  # in place of an attribute
_MOST_NODES = 1 << 22

# A tree as arrays: the attribute tested (nominal ones first), the threshold of a numeric one, the
# first child (the others follow it), and a leaf's class.
Nodes = namedtuple("Nodes", "attribute threshold child label")


@dataclass(eq=False, repr=False)
class RandomTree(Generator):
    """A random tree tells the class; nominal and numeric attributes, uniformly distributed.

    Nominal attributes split multiway and once per path, numeric ones at a uniform point of what is
    left of 0..1, ``x < threshold`` going left. Every leaf's class is drawn uniformly.

    Parameters
    ----------
    classes, nominals, numerics : int
    values : int
        Of every nominal attribute, 2 to 255.
    depth : int
        Tests on the longest path, at most.
    first_leaf : int
        Level from which on nodes may be leaves before that.
    leaf_share : float
        Share of the nodes from there on that are.
    noise : float
        Probability that a label is another one.
    attribute_noise : float
        Probability that a nominal value is another one; numeric values get Gaussian noise of this
        share of their standard deviation.
    seed, model_seed : int
        For the instances; for the tree.

    Source: Domingos and Hulten, KDD 2000, section 4.1, with MOA's options and defaults; noise as
    in Kirkby, Improving Hoeffding trees, 2007.
    """

    classes: Annotated[int, integer(2)] = 2
    nominals: Annotated[int, integer(0)] = 5
    numerics: Annotated[int, integer(0)] = 5
    values: Annotated[int, integer(2, 255)] = 5
    depth: Annotated[int, integer(0)] = 5
    first_leaf: Annotated[int, integer(0)] = 3
    leaf_share: Share = 0.15
    noise: Share = 0.0
    attribute_noise: Share = 0.0
    model_seed: Annotated[int, integer(0)] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        sizes = self.classes, self.nominals, self.numerics, self.values, self.depth, self.first_leaf, self.leaf_share
        size, *nodes = _grow(model_numbers(self.model_seed), *sizes, _MOST_NODES)
        if size > _MOST_NODES:
            raise ValueError(
                f"a tree of depth {self.depth} with {self.values} values has more than {_MOST_NODES} nodes: choose less"
            )
        self.nodes = Nodes(*(part[:size].copy() for part in nodes))

    def _schema(self):
        if not self.nominals + self.numerics:
            raise ValueError("there must be an attribute, but nominals and numerics are 0")
        values = (f"v{i + 1}" for i in range(self.values))
        return classified(nominals(self.nominals, values) + numerics(self.numerics), self.classes)

    def _block(self, rng, first, count, state):
        kinds = [attribute.kind for attribute in self.schema.attributes]
        nominal = rng.integers(0, self.values, (count, kinds.count("nominal")), np.uint8)
        numeric = rng.random((count, kinds.count("numeric")))
        labels = self.nodes.label[_route(*self.nodes[:3], nominal, numeric)]
        labels = self._mislabelled(rng, labels, self.noise)
        if self.attribute_noise:
            other = nominal + rng.integers(1, self.values, nominal.shape, np.uint16)
            nominal = np.where(rng.random(nominal.shape) < self.attribute_noise, other % self.values, nominal).astype(
                np.uint8
            )
            numeric += rng.normal(0, self.attribute_noise / 12**0.5, numeric.shape)
        return Block(numeric, nominal, labels)


@njit()
def _grow(rng, classes, nominals, numerics, values, depth, first_leaf, leaf_share, most):  # noqa: C901 (compiled)
    """A random tree: number of nodes (over ``most``: given up), then the arrays of `Nodes`."""
    # The system gives memory as it is written to.
    attribute, child = np.empty(most, np.int32), np.empty(most, np.int32)
    parent, level = np.empty(most, np.int32), np.empty(most, np.int32)
    threshold, label = np.empty(most), np.empty(most, np.int64)
    attribute[0], threshold[0], child[0], label[0], parent[0], level[0] = _LEAF, 0, 0, 0, -1, 0
    used = np.zeros(nominals, np.bool_)
    size = 1
    node = 0
    while node < size:
        used[:] = False
        free = nominals
        at = parent[node]
        while at >= 0:
            if attribute[at] < nominals:
                used[attribute[at]] = True
                free -= 1
            at = parent[at]
        leaf = level[node] >= depth or free + numerics == 0
        if not leaf and level[node] >= first_leaf:
            leaf = rng.random() < leaf_share
        if leaf:
            label[node] = int(rng.random() * classes)
            node += 1
            continue
        pick = int(rng.random() * (free + numerics))
        if pick < free:
            width = values
            chosen = 0
            while used[chosen] or pick:
                pick -= not used[chosen]
                chosen += 1
        else:
            width = 2
            chosen = nominals + pick - free
            low, high = 0.0, 1.0
            at = node
            while parent[at] >= 0:
                above = parent[at]
                if attribute[above] == chosen:
                    if at == child[above]:
                        high = min(high, threshold[above])
                    else:
                        low = max(low, threshold[above])
                at = above
            threshold[node] = low + (high - low) * rng.random()
        attribute[node] = chosen
        child[node] = size
        if size + width > most:
            return most + 1, attribute, threshold, child, label
        for i in range(size, size + width):
            attribute[i], threshold[i], child[i], label[i], parent[i] = _LEAF, 0, 0, 0, node
            level[i] = level[node] + 1
        size += width
        node += 1
    return size, attribute, threshold, child, label


@njit()
def _route(attribute, threshold, child, nominal, numeric):
    """The leaf of every instance."""
    leaves = np.empty(len(numeric), np.int64)
    first = nominal.shape[1]
    for i in range(len(numeric)):
        node = 0
        while attribute[node] >= 0:
            tested = attribute[node]
            if tested < first:
                node = child[node] + nominal[i, tested]
            else:
                node = child[node] + (numeric[i, tested - first] >= threshold[node])
        leaves[i] = node
    return leaves
