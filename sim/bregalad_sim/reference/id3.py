"""Batch ID3, plainly: what ID5R and ITI must have come to, whatever the order of the instances.

Source: Quinlan, Induction of decision trees, Machine Learning 1, 1986; docs/learners.md.
"""

from collections import Counter, defaultdict, namedtuple
from math import fsum, log2

SAME = 1e-7  # gains, in bits times instances, closer than this are equal: only rounding tells them apart

# ``value``: the threshold, or the value that is tested; None where each value has its branch. ``children``: by
# branch, which is "<", ">=", "=", "!=", or with a branch per value that; None for a missing value.
Inner = namedtuple("Inner", "attribute value children")


def id3(instances, labels, numeric, multiway=False):
    """The tree of instances, tuples in which None is a missing value: an Inner, or a leaf's sorted positions.

    ``numeric`` says per attribute whether it is, else it is nominal; ``multiway`` whether nominal attributes have a
    branch per value, or test one value against the rest.
    """

    def grow(rows):
        if len({labels[row] for row in rows}) < 2:
            return sorted(rows)
        best, most = None, None
        for attribute in range(len(numeric)):
            known = {row: instances[row][attribute] for row in rows if instances[row][attribute] is not None}
            for value in candidates(known.values(), numeric[attribute], multiway):
                sides = defaultdict(list)
                for row, each in known.items():
                    sides[branch(each, value, numeric[attribute])].append(labels[row])
                gain = entropy([labels[row] for row in known]) - fsum(map(entropy, sides.values()))
                if most is None or gain > most + SAME:
                    best, most = (attribute, value), gain
        if best is None:
            return sorted(rows)
        attribute, value = best
        sides = defaultdict(list)
        for row in rows:
            sides[branch(instances[row][attribute], value, numeric[attribute])].append(row)
        return Inner(attribute, value, {side: grow(part) for side, part in sides.items()})

    return grow(range(len(instances)))


def candidates(values, numeric, multiway):
    """What an attribute may be asked where it has these values."""
    ordered = sorted(set(values), key=lambda value: (isinstance(value, str), value))
    if len(ordered) < 2:
        return []
    if numeric:
        return [(low + high) / 2 for low, high in zip(ordered, ordered[1:], strict=False)]
    return [None] if multiway else ordered


def branch(each, value, numeric):
    """Where a value goes."""
    if each is None or value is None:
        return each
    if numeric:
        return "<" if each < value else ">="
    return "=" if each == value else "!="


def entropy(labels):
    """The entropy of labels in bits, times their number."""
    total = len(labels)
    return fsum(count * log2(total / count) for count in Counter(labels).values())
