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
    if reference.alternate is not None:
        found = difference(nodes, reference.alternate, counted, int(nodes.child[node]) + 1, f"{path} beside")
        if found:
            return found
        node = int(nodes.child[node])
    kind = _KINDS[reference.kind]
    if nodes.kind[node] != kind:
        return f"{path}: kind {nodes.kind[node]}, reference {kind}"
    if reference.observed is not None and node in counted:
        observed, tables = counted[node]
        if observed.tolist() != reference.observed.tolist():
            return f"{path}: {observed} are counted, reference {reference.observed}"
        for attribute, (table, observer) in enumerate(zip(tables, reference.observers, strict=True)):
            if table[: len(observer.table)].tolist() != observer.table:
                return f"{path}: attribute {attribute} is counted as {table}, reference {observer.table}"
    if kind == LEAF:
        mine = nodes.counts[node][: len(reference.counts)].tolist()
        if mine != reference.counts.tolist():
            return f"{path}: counts {mine}, reference {reference.counts.tolist()}"
        return None
    for name, theirs in (
        ("attribute", reference.attribute),
        ("threshold", reference.threshold),
        ("default", reference.default),
        ("width", len(reference.children)),
    ):
        mine = int(getattr(nodes, name)[node])
        if mine != theirs and not (name == "threshold" and kind == MULTIWAY):
            return f"{path}: {name} {mine}, reference {theirs}"
    for branch, (child, other) in enumerate(zip(nodes.children(node), reference.children, strict=True)):
        found = difference(nodes, other, counted, child, f"{path}.{branch}")
        if found:
            return found
    return None


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
