"""What becomes of a tree when a decision, which its node keeps until then (``Nodes.decision``), takes effect."""

from ..engine import history
from ..policy.decide import ALTERNATE, CONSULT, KEEP, PRUNE, RELOCATE, SWAP, TIE
from ..tree.alternates import may_begin
from ..tree.split import Split
from ..tree.table import DECIDED, GAIN, LEAF, RIVAL, ROWS, has_alternate
from ..tree.window import date


def carrying_out(trainer, node):
    """Have a node's decision take effect; a generator for `Steps`.

    For an alternate the board is asked nothing, else for the attribute that wins, or for all.
    """
    nodes, cells, policy = trainer.nodes, trainer.cells, trainer.policy
    event_counts, growth = trainer.event_counts, trainer.growth
    decision, cell, value = (int(getattr(nodes, name)[node]) for name in ("decision", "cell", "value"))
    nodes.decision[node] = KEEP
    if decision >= ALTERNATE and not (decision == ALTERNATE and policy.rivals):
        _change_alternate(trainer, node, decision)
        return
    n, observed, bins = yield from trainer.driver.reading(int(nodes.slot[node]), _cells_read(cells, decision, cell))
    if decision == PRUNE:
        growth.record(history.PRUNED, node)
        growth.prune(node, observed, n)
        event_counts.pruned += 1
        return
    if decision == CONSULT:
        decision, cell, value = policy.consult(growth, node, observed, bins, trainer.totals.at(event_counts.instances))
        if decision == KEEP:
            return
        bins = [bins[place] for place in cells.cells_of(int(cells.attribute[cell]))]
    split = Split(cells, cell, value, bins)
    if decision == RELOCATE:
        decision = _relocate(trainer, node, split, observed)
        if decision == KEEP:
            return
        decision = ALTERNATE if policy.rivals else decision
    if decision == ALTERNATE:
        _begin_rival(trainer, node, split, observed)
        return
    if nodes.room[ROWS] > growth.style.most_rows:  # the board's table has no room for children
        return
    inner, tie = nodes.kind[node] != LEAF, decision == TIE
    growth.split(node, split, observed, tie)
    if policy.window is not None:
        date(nodes.table, node, event_counts.instances, growth.style.inherit)
    growth.record(history.REPLACED if inner else history.SPLIT, node)
    event_counts.replaced += int(inner)
    event_counts.splits += int(not inner)
    event_counts.ties += tie


def _cells_read(cells, decision, cell):
    if decision == CONSULT:
        return list(range(len(cells)))
    return [] if decision == PRUNE else cells.cells_of(int(cells.attribute[cell])).tolist()


def _change_alternate(trainer, node, decision):
    nodes, growth, event_counts = trainer.nodes, trainer.growth, trainer.event_counts
    if decision == SWAP:
        growth.record(history.SWAPPED, nodes.child[node] + 1)
        growth.join(node, 1)
        event_counts.swapped += 1
        return
    begins = decision == ALTERNATE
    if begins:
        growth.record(history.DRIFT, node)
    if begins and not may_begin(nodes.table, nodes.room, growth.style, node):
        return
    if not begins or has_alternate(nodes.table, node):
        node = int(nodes.parent[node]) if begins else node
        growth.record(history.DROPPED, nodes.child[node] + 1)
        growth.join(node, 0)
        event_counts.dropped += 1
    if begins:
        growth.record(history.ALTERNATE, growth.fork(node))
        event_counts.alternates += 1


def _begin_rival(trainer, node, split, observed):
    """Let an alternate begin beside a node, with a split that the node's statistics have told."""
    nodes, growth, seen = trainer.nodes, trainer.growth, trainer.event_counts.instances
    alternate = growth.fork(node)
    beside = int(nodes.child[node])
    if nodes.slot[alternate] < 0:
        growth.join(node, 0)
        return
    nodes.born[alternate] = nodes.made[alternate] = seen
    nodes.inherited[alternate] = nodes.inherited[beside]  # for the majority class of empty children
    growth.split(alternate, split, observed, False)
    nodes.inherited[alternate] = 0
    date(nodes.table, alternate, seen, False)
    if growth.style.inherit:
        nodes.made[list(nodes.children(alternate))] = nodes.born[beside]
    nodes.evidence[alternate] = nodes.evidence[beside]
    growth.record(history.ALTERNATE, alternate)
    trainer.event_counts.alternates += 1


def _relocate(trainer, node, split, observed):
    """The decision on another threshold for the attribute that an inner node has."""
    nodes, policy = trainer.nodes, trainer.policy
    old = trainer.growth.current_split(node, split)
    if old.value == split.value:
        return KEEP
    gap = policy.gap(split.sides, old.sides, int(observed.sum()))
    nodes.evidence[node, DECIDED + RIVAL] = nodes.evidence[node, DECIDED + GAIN] - gap
    return policy.moved(
        gap,
        int((observed + nodes.inherited[node]).sum()),
        trainer.classes,
        nodes.depth(node),
        int(nodes.due_at[node]),
        len(trainer.cells.first_cell),
    )
