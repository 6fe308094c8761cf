"""What a tree tells of itself: its sizes, its paths, what its attributes are worth."""

import numpy as np
from scipy.sparse import csr_matrix

from ...policy.criteria import remainder
from ...predictors import predictor_of
from ...tree.table import LEAF
from ...words import counted


def report(tree):
    """As ``StreamTree.report``."""
    events = tree._event_counts.as_dict()
    del events["begun"], events["ends"]
    nodes = tree._nodes
    if nodes is None:
        sizes = {"nodes": 1, "leaves": 1, "inactive_leaves": 0, "slots": 1, "depth": 0}
    else:
        pool, saved = tree._trainer and tree._trainer.growth.pool, tree._checkpoint
        predicting = nodes.predicting()
        leaves = predicting[nodes.kind[predicting] == LEAF]
        sizes = {
            "nodes": len(predicting),
            "leaves": len(leaves),
            "inactive_leaves": int((nodes.slot[leaves] < 0).sum()),
            "slots": pool.slots - pool.free if pool else 0 if saved is None else len(saved["nodes"]),
            "depth": int(nodes.deepest),
        }
    return {**events, **sizes, "leaf_prediction": tree.leaf_prediction_}


def unsplit(tree):
    """What a tree without a split says of itself."""
    leaf = tree._nodes.table[tree._nodes.standing(0)]
    how, events = tree.leaf_prediction_, tree._event_counts
    trusts = predictor_of(how).trusts_bayes
    bayes = trusts is not None and trusts(leaf["right"])
    return (
        f"No split {'is left' if events.splits else 'yet'}: {counted(events.instances, 'instance')}, "
        f"{counted(events.attempts, 'attempt')}, one every {leaf['period']} (grace). "
        f"The leaf predicts {'by naive Bayes' if bayes else 'its majority class'} ({how})."
    )


def paths(nodes, at):
    """The nodes on the way to these leaves, int array (n,), as ``StreamTree.decision_path`` has them."""
    count, rows, passed = len(at), [], []
    row = np.arange(count)
    while len(row):
        rows.append(row)
        passed.append(at)
        at = nodes.parent[at]
        row, at = row[at >= 0], at[at >= 0]
    row, column = (np.concatenate([np.zeros(0, np.int64), *part]) for part in (rows, passed))
    return csr_matrix((np.ones(len(row), np.int64), (row, column)), (count, nodes.rows))


def totals(nodes, order, counts):
    """Class counts of leaves, int array (nodes, classes), and of inner nodes the sums of theirs, which are written."""
    for node in order:
        if children := [nodes.standing(child) for child in nodes.children(node)]:
            counts[node] = counts[children].sum(axis=0)
    return counts


def importances(view, order, criterion, attributes):
    """How much each attribute's splits lessen the impurity; float array (attributes,), sum 1, or all 0.

    The order of a `View`'s nodes is one in which children come before parents; criterion is a number.
    """
    found, nodes, counts = np.zeros(attributes), view.nodes, view.counts()
    for node in order:
        children = [nodes.standing(child) for child in nodes.children(node)]
        if children:
            sides = counts[children]
            lessened = remainder(criterion, counts[node : node + 1]) - remainder(criterion, sides)
            found[nodes.attribute[node]] += max(lessened, 0.0)
    total = found.sum()
    return found / total if total else found
