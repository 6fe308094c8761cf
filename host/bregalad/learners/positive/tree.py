"""The tree of one positive level."""

import copy
from dataclasses import asdict

import numpy as np

from ...driver.totals import Totals
from ...estimator.tree import StreamTree
from ...policy.positive import PositivePolicy, shares
from ...predictors import Predictor
from ...tree.table import LEAF
from ...words import shown


class PositiveTree(StreamTree):
    """Base of the trees of positive and unlabelled instances, whose positive level is known.

    Their parameters are those of the learner that has such trees.
    """

    leaf_prediction = Predictor.MAJORITY.word
    class_weight = None
    _rule = "estimated share of positives"

    def __init__(self, **parameters):
        vars(self).update(parameters)

    @classmethod
    def _get_param_names(cls):
        return sorted(cls._options)

    def _decisive(self):
        return super()._decisive() | {"level": self.level, "positive": self.positive}

    def _policy(self):
        return PositivePolicy(**asdict(super()._policy()), level=self.level, positive=self._place)

    @property
    def _place(self):
        """Which class the labelled instances have."""
        known = getattr(self, "classes_", None)
        return 1 if known is None else int(np.flatnonzero(known == self.positive)[0])

    def _prepare(self, X, classes):
        if len(classes) == 2 and self.positive not in classes.tolist():
            raise ValueError(
                f"positive={shown(self.positive)} is none of the labels {shown(classes.tolist())}: choose one of them"
            )
        return super()._prepare(X, classes)

    def _begin(self):
        super()._begin()
        self._begin_totals([0, 0])

    def _begin_totals(self, counts):
        self._totals = Totals(counts, self._policy().window)

    def _trainer_on(self, board):
        trainer = super()._trainer_on(board)
        trainer.consult(self._totals)
        return trainer

    def chances(self, leaves):
        """The probability that an unlabelled instance is positive, of leaves; float array (n,)."""
        factor = self._policy().factor(self.totals)
        counts, place = self._nodes.counts[leaves], self._place
        empty = ~counts.any(axis=1)
        return np.where(empty, self.level, shares(counts[:, place], counts[:, 1 - place], factor))

    @property
    def totals(self):
        """How many instances of each class count; int array (2,)."""
        return self._totals.at(self._event_counts.instances)

    def chances_of(self, X):
        """The same as `chances`, of instances."""
        return self.chances(self._routed(X)[1])

    @property
    def found(self):
        """The shares of labelled and of unlabelled instances that are at leaves which predict the positive label."""
        leaves = self._predicting()
        counts, positive = self._nodes.counts[leaves], self.chances(leaves) > 0.5
        both = counts[positive].sum(axis=0) / np.maximum(counts.sum(axis=0), 1)
        return float(both[self._place]), float(both[1 - self._place])

    def _predicting(self):
        nodes = self._nodes.predicting()
        return nodes[self._nodes.kind[nodes] == LEAF]

    def _voter(self, weight=1.0):
        voter = super()._voter(weight)
        chances, positive = self.chances(voter.leaves)[:, np.newaxis], np.arange(2) == self._place
        shares = np.where(positive, chances, 1 - chances)
        return voter._replace(labels=np.where(chances[:, 0] > 0.5, self._place, 1 - self._place), shares=shares)

    @property
    def merit(self):
        """What can be told without negatives of how good the tree is: it grows as F1 squared does.

        Source: Lee and Liu, Learning with positive and unlabeled examples using weighted logistic regression, ICML
        2003.
        """
        labelled, unlabelled = self.found
        return labelled**2 / unlabelled if unlabelled else 0.0

    def _shown(self):
        """With the labels that leaves predict, which are not those that most of their instances have."""
        view, leaves = super()._shown(), self._predicting()
        view.nodes = copy.deepcopy(view.nodes)
        view.nodes.majority[leaves] = np.where(self.chances(leaves) > 0.5, self._place, 1 - self._place)
        return view
