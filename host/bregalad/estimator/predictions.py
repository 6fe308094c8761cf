"""What leaves predict: their majority class, or by naive Bayes from the statistics that the board holds."""

import numpy as np

from ..engine.statistics import bayes
from ..export.model import Voter
from ..predictors import predictor_of
from ..tree import routing as walk
from ..tree.table import LEAF


def indices(tree, codes, leaves):
    """Class indices of instances by their leaves; int array (n,)."""
    classes = tree._nodes.majority[leaves]
    ask = asks_board(tree, leaves)
    if ask.any():
        classes[ask] = tree._open_trainer().driver.predict(codes[ask], leaves[ask], False)
    return classes


def shares(tree, codes, leaves):
    """Class shares of instances by their leaves; float array (n, classes)."""
    found = walk.shares(tree._nodes, leaves)[:, : len(tree.classes_)]
    ask = asks_board(tree, leaves)
    if ask.any():
        scores = tree._open_trainer().driver.predict(codes[ask], leaves[ask], True)
        found[ask] = bayes.class_shares(scores[:, : len(tree.classes_)])
    return found


def voter(tree, weight):
    """What is exported of a tree whose vote counts so much: ``export.model.Voter``."""
    nodes = tree._nodes
    order = nodes.predicting()
    leaves = order[nodes.kind[order] == LEAF]
    bayes = asks_board(tree, leaves)
    found = walk.shares(nodes, leaves)[:, : len(tree.classes_)]
    return Voter(weight, nodes, leaves, nodes.majority[leaves], found, bayes, tree._trainer)


def asks_board(tree, leaves):
    """Which of these leaves predict by naive Bayes; bool array."""
    tree._check_unchanged()
    predictor = predictor_of(tree.leaf_prediction_)
    if not predictor.takes_bayes:
        return np.zeros(len(leaves), bool)
    tree._open_trainer()  # a loaded tree's leaves get their slots there
    table = tree._nodes.table[leaves]
    return (table["slot"] >= 0) & (table["observed"] > 0) & predictor.trusts_bayes(table["right"])
