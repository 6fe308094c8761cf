"""Which attributes a node may be split on, where each has a random few: drawn, but the same wherever the tree grows.

What is drawn depends on the seed and on the path from the root to the node: on the branches and on the attributes
tested there. So a node has its attributes for as long as it lives, and no number of a node or an attempt matters.

Source: Gomes et al., Adaptive random forests for evolving data stream classification, Machine Learning 106, 2017;
the mixing of bits: Steele, Lea and Flood, Fast splittable pseudorandom number generators, OOPSLA 2014 (SplitMix64).
"""

import numpy as np

from ..compiled import njit
from ..tree.table import NO_NODE

_GOLDEN, _FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_HALF = np.uint64(32)


@njit()
def mix(state):
    """64 bits that look random, from 64 of any kind."""
    z = np.uint64(state) + _GOLDEN
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))


@njit(inner=True)
def _key(table, node, seed):
    """What is drawn from at a node."""
    key = mix(np.uint64(seed))
    while table[node]["parent"] != NO_NODE:
        parent = np.int64(table[node]["parent"])
        branch = node - np.int64(table[parent]["child"])
        key = mix(key ^ (np.uint64(branch) << _HALF | np.uint64(table[parent]["attribute"])))
        node = parent
    return key


@njit()
def leave_out(table, node, subset, seed, out):
    """Leave ``subset`` of a node's attributes in, 0: all, and mark the others in ``out``, bool array (attributes,).

    What is out already stays out; an inner node's own attribute stays in.
    """
    if not subset:
        return
    left = np.int64(0)
    for attribute in range(len(out)):
        left += not out[attribute]
    own = np.int64(table[node]["attribute"])  # -1 at a leaf
    key = _key(table, np.int64(node), seed)
    wanted = np.int64(subset)
    for attribute in range(len(out)):
        if out[attribute]:
            continue
        key = mix(key)
        # One of those left is wanted with a probability of `wanted` to `left`.
        if np.int64((key >> _HALF) * np.uint64(left) >> _HALF) < wanted:
            wanted -= 1
        elif attribute != own:
            out[attribute] = True
        left -= 1
