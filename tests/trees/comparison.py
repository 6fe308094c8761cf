"""Compare the accelerated tree with the float64 reference, split by split, event by event, count by count."""

from bregalad.driver import checkpoint
from bregalad.tree.table import FORK, LEAF, MULTIWAY, NUMERIC, ONE_VS_REST

EVENTS = ("attempts", "splits", "ties", "replaced", "pruned", "alternates", "swapped", "dropped")
_KINDS = {"": LEAF, "numeric": NUMERIC, "multiway": MULTIWAY, "one_vs_rest": ONE_VS_REST}


def difference(nodes, reference, counted=None, node=0, path="root"):
    """The first difference in words, or None; compares tests, branches and class counts, also of alternates.

    With what is ``counted`` at nodes, see `counted_by`, that, too.
    """
    counted = counted or {}
    if (nodes.kind[node] == FORK) != (reference.alternate is not None):
        return f"{path}: an alternate, or none in the reference"
    below = []
    if reference.alternate is not None:
        below.append((reference.alternate, int(nodes.child[node]) + 1, f"{path} beside"))
        node = int(nodes.child[node])
    for name, mine, theirs in _facts(nodes, reference, counted.get(node), node):
        if mine != theirs:
            return f"{path}: {name} {mine}, reference {theirs}"
    for branch, (child, other) in enumerate(zip(nodes.children(node), reference.children, strict=True)):
        below.append((other, child, f"{path}.{branch}"))
    return next(filter(None, (difference(nodes, other, counted, *place) for other, *place in below)), None)


def _facts(nodes, reference, counted, node):
    """What a node and the reference's have to be equal in: name, the node's, the reference's."""
    yield "kind", nodes.kind[node], (kind := _KINDS[reference.kind])
    if reference.observed is not None and counted is not None:
        observed, tables = counted
        yield "observed", observed.tolist(), reference.observed.tolist()
        for attribute, (table, observer) in enumerate(zip(tables, reference.observers, strict=True)):
            yield f"attribute {attribute} counted", table[: len(observer.table)].tolist(), observer.table
    if kind == LEAF:
        yield "counts", nodes.counts[node][: len(reference.counts)].tolist(), reference.counts.tolist()
        return
    for name in ("attribute", "threshold", "default"):
        if name != "threshold" or kind != MULTIWAY:
            yield name, int(getattr(nodes, name)[node]), getattr(reference, name)
    yield "width", int(nodes.width[node]), len(reference.children)


def counted_by(trainer):
    """What the board has counted, by node: instances of each class, and of each attribute's bins or values."""
    found, cells, geometry = checkpoint.read(trainer), trainer.cells, trainer.board.geometry
    counted = {}
    for node, entry, counts in zip(found["nodes"].tolist(), found["entries"], found["counts"], strict=True):
        tables = counts.reshape(len(cells), geometry.bins, geometry.classes)[:, :, : trainer.classes]
        tables = [cells.values(each, [*tables[cells.cells_of(each)]]) for each in range(len(cells.first_cell))]
        counted[node] = entry[4 : 4 + trainer.classes], tables
    return counted


def agree(trainer, reference):
    """Assert that the trees of a trainer and of the reference are the same, and so is all that happened to them."""
    assert difference(trainer.nodes, reference.root, counted_by(trainer)) is None
    mine, theirs = ({event: getattr(each.event_counts, event) for event in EVENTS} for each in (trainer, reference))
    assert mine == theirs
