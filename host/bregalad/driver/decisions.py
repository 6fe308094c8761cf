"""What becomes of a tree when a decision takes effect.

A node that is tried at a block's end keeps the verdict (``Nodes.verdict``) until it takes effect, at the next
block's end, whenever its report comes. So tree and predictions follow from the stream alone, never from timing
(docs/learners.md, "Blocks").
"""

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
    nodes, tally, cells, policy, growth = trainer.nodes, trainer.tally, trainer.cells, trainer.policy, trainer.growth
    verdict, cell, value = (int(getattr(nodes, name)[node]) for name in ("verdict", "cell", "value"))
    nodes.verdict[node] = KEEP
    if verdict >= ALTERNATE and not (verdict == ALTERNATE and policy.rivals):
        _change_alternate(trainer, node, verdict)
        return
    if verdict == CONSULT:
        asked = list(range(len(cells)))
    else:
        asked = [] if verdict == PRUNE else cells.cells_of(int(cells.attribute[cell])).tolist()
    n, own, bins = yield from trainer.driver.reading(int(nodes.slot[node]), asked)
    if verdict == PRUNE:
        growth.note(history.PRUNED, node)
        growth.prune(node, own, n)
        tally.pruned += 1
        return
    if verdict == CONSULT:
        verdict, cell, value = policy.consult(growth, node, own, bins, trainer.totals.at(tally.instances))
        if verdict == KEEP:
            return
        bins = [bins[place] for place in cells.cells_of(int(cells.attribute[cell]))]
    split = Split(cells, cell, value, bins)
    if verdict == RELOCATE:
        verdict = _relocate(trainer, node, split, own)
        if verdict == KEEP:
            return
        verdict = ALTERNATE if policy.rivals else verdict
    if verdict == ALTERNATE:
        _begin_rival(trainer, node, split, own)
        return
    if nodes.room[ROWS] > growth.style.most_rows:  # the board's table has no room for children
        return
    inner, tie = nodes.kind[node] != LEAF, verdict == TIE
    growth.split(node, split, own, tie)
    if policy.window is not None:
        date(nodes.table, node, tally.instances, growth.style.inherit)
    growth.note(history.REPLACED if inner else history.SPLIT, node)
    tally.replaced += int(inner)
    tally.splits += int(not inner)
    tally.ties += tie


def _change_alternate(trainer, node, verdict):
    nodes, growth, tally = trainer.nodes, trainer.growth, trainer.tally
    if verdict == SWAP:
        growth.note(history.SWAPPED, nodes.child[node] + 1)
        growth.swap(node)
        tally.swapped += 1
        return
    begins = verdict == ALTERNATE
    if begins:
        growth.note(history.DRIFT, node)
    if begins and not may_begin(nodes.table, nodes.room, growth.style, node):
        return
    if not begins or has_alternate(nodes.table, node):
        node = int(nodes.parent[node]) if begins else node
        growth.note(history.DROPPED, nodes.child[node] + 1)
        growth.drop(node)
        tally.dropped += 1
    if begins:
        growth.note(history.ALTERNATE, growth.fork(node))
        tally.alternates += 1


def _begin_rival(trainer, node, split, own):
    """Let an alternate begin beside a node, with a split that the node's statistics have told."""
    nodes, growth, seen = trainer.nodes, trainer.growth, trainer.tally.instances
    alternate = growth.fork(node)
    beside = int(nodes.child[node])
    if nodes.slot[alternate] < 0:
        growth.drop(node)
        return
    nodes.born[alternate] = nodes.made[alternate] = seen
    nodes.base[alternate] = nodes.base[beside]  # for the majority class of empty children
    growth.split(alternate, split, own, False)
    nodes.base[alternate] = 0
    date(nodes.table, alternate, seen, False)
    if growth.style.inherit:
        nodes.made[list(nodes.children(alternate))] = nodes.born[beside]
    nodes.evidence[alternate] = nodes.evidence[beside]
    growth.note(history.ALTERNATE, alternate)
    trainer.tally.alternates += 1


def _relocate(trainer, node, split, own):
    """The verdict on another threshold for the attribute that an inner node has."""
    nodes, policy = trainer.nodes, trainer.policy
    old = trainer.growth.current_split(node, split)
    if old.value == split.value:
        return KEEP
    gap = policy.gap(split.sides, old.sides, int(own.sum()))
    nodes.evidence[node, DECIDED + RIVAL] = nodes.evidence[node, DECIDED + GAIN] - gap
    return policy.moved(
        gap,
        int((own + nodes.base[node]).sum()),
        trainer.classes,
        nodes.depth(node),
        int(nodes.due_at[node]),
        len(trainer.cells.first_cell),
    )
