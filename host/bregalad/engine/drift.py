"""The errors made at every node, watched as HAT does: where alternates begin, take over and go, in compiled code.

Source: Bifet and Gavalda, Adaptive learning from evolving data streams, IDA 2009; docs/learners.md.
"""

import math
from collections import namedtuple

from ..compiled import njit
from ..drift import adwin
from ..policy.decide import ALTERNATE, DROP, SWAP
from ..tree.table import FORK, KEPT, LEAF, NO_NODE, is_alternate, standing

_inner = njit(inner=True)

Watch = namedtuple("Watch", ["delta", "width", "certainty", "leaves"])
Watch.__doc__ = """What is watched, for compiled code.

delta : ADWIN's confidence that a node's errors have changed
width : a node and its alternate are compared when both have more errors, or none, in their windows
certainty : ln(2 / delta) of that comparison
leaves : whether leaves get alternates, too
"""


def watch_of(policy):
    """The `Watch` of a `SplitPolicy`, None if it watches nothing."""
    if not policy.watched:
        return None
    return Watch(
        float(policy.drift_delta),
        int(policy.switch_width),
        math.log(2 / policy.switch_delta),
        bool(policy.leaf_alternates),
    )


@_inner
def follow(table, windows, leaf, wrong, watch, block):
    """Take in an instance, whether its leaf's prediction was wrong, at the nodes that it has passed.

    The table and windows are those of ``Nodes``; the latter are written, and decisions of the former. ``watch`` is a
    Watch, ``block`` a Block. Returns how many decisions that has come to.
    """
    found, error = 0, 1.0 if wrong else 0.0
    node = leaf
    while True:
        row = table[node]
        if row["kind"] != FORK:
            before = adwin.estimate(windows, node)
            changed = adwin.update(windows, node, error, watch.delta)
            if changed and (watch.leaves or row["kind"] != LEAF) and adwin.estimate(windows, node) >= before:
                found += decide(row, ALTERNATE, block)
        parent = row["parent"]
        if parent == NO_NODE:
            return found
        if is_alternate(table, node):  # the one beside it has taken the instance in before
            return found + _compare(table, windows, parent, watch, block)
        node = parent


@_inner
def decide(row, decision, block):
    """A decision, if none is to take effect at the node, nor an attempt may come to one; 1 if it is one."""
    if row["decision"] != KEPT or row["due_at"] > block.made:
        return 0
    row["decision"], row["due_at"] = decision, block.made
    return 1


@_inner
def _compare(table, windows, fork, watch, block):
    """Whether an alternate takes over, or goes: 1 if it is one of these."""
    first = table[fork]["child"]
    node, alternate = standing(table, first), standing(table, first + 1)
    seen, other_seen = windows[node, adwin.WIDTH], windows[alternate, adwin.WIDTH]
    if min(seen, other_seen) <= watch.width or table[node]["decision"] == ALTERNATE:
        return 0
    error = adwin.estimate(windows, node)
    gap = error - adwin.estimate(windows, alternate)
    bound = math.sqrt(2.0 * error * (1.0 - error) * watch.certainty * (1.0 / seen + 1.0 / other_seen))
    if gap > bound:
        return decide(table[fork], SWAP, block)
    return decide(table[fork], DROP, block) if -gap > bound else 0
