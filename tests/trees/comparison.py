"""Compare the accelerated tree with the float64 reference, split by split, event by event."""

from bregalad.tree.table import LEAF, MULTIWAY, NUMERIC, ONE_VS_REST

EVENTS = ("attempts", "splits", "ties", "replaced", "pruned", "alternates", "swapped", "dropped")
_KINDS = {"": LEAF, "numeric": NUMERIC, "multiway": MULTIWAY, "one_vs_rest": ONE_VS_REST}


def difference(nodes, reference, node=0, path="root"):
    """The first difference in words, or None; compares tests, branches and class counts."""
    kind = _KINDS[reference.kind]
    node = nodes.standing(node)
    if nodes.kind[node] != kind:
        return f"{path}: kind {nodes.kind[node]}, reference {kind}"
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
        found = difference(nodes, other, child, f"{path}.{branch}")
        if found:
            return found
    return None


def agree(trainer, reference):
    """Assert that the trees of a trainer and of the reference are the same, and so is what happened to them."""
    assert difference(trainer.nodes, reference.root) is None
    mine, theirs = ({event: getattr(each.event_counts, event) for event in EVENTS} for each in (trainer, reference))
    assert mine == theirs
