"""A tree's instances one by one: what does not change from one to the next is looked at once."""

import numpy as np

from ..data.row import Row
from ..driver.requirements import warn_of_lost


class OneByOne:
    """One instance at a time; by one thread at a time. What it predicts, the learner tells.

    ``classes`` has the labels by index, ``labels`` as a list. Unless each instance is learnt ``once``, `learn` is not
    for it. If it ``grows``, attributes may come later: unknown ones say nothing for a prediction. ``learnt`` is called
    with this and a class index, and learns the instance that ``row``, a Row, has encoded last: ``codes``, uint8 array
    (1, attributes). ``look`` is whether the code books are to be looked at.
    """

    look = False

    def __init__(self, quantiser, classes, once, grows, learnt=None):
        self._quantiser, self._learnt = quantiser, learnt
        self.row = Row(quantiser, grows)
        self.codes = self.row.codes[np.newaxis]
        self.labels = classes.tolist()
        self._places = {label: place for place, label in enumerate(self.labels)} if once else {}

    def learn(self, x, label):
        """Learn an instance; False, and nothing is done, if it is not one as those before. TypeError, ValueError as
        `Row.encode`.
        """
        try:
            place = self._places.get(label)
        except TypeError:  # not hashable
            place = None
        return place is not None and self._take(x, place)

    def _take(self, x, place):
        """Learn an instance of a class index; whether it could be."""
        if not self.row.encode(x):
            return False
        self._learnt(self, place)
        return True

    def predict(self, x):
        """Encode an instance; None: the learner tells the rest."""
        self.row.encode(x, read_only=True)

    shares = predict

    def seen(self):
        """Have the code books know the instance that has been encoded last."""
        self.look = self._quantiser.sample.add_row(self.row.numbers)
        if self.row.lost:
            warn_of_lost(self._quantiser)


class Single(OneByOne):
    """A tree's instances, learnt by ``trainer``."""

    def __init__(self, quantiser, trainer, classes, once, grows):
        super().__init__(quantiser, classes, once, grows)
        self.trainer = trainer
        self._label = np.zeros(1, np.int32)
        self._prediction = np.zeros(1, np.int32)
        self._shares = np.zeros(len(self.labels))

    def extend(self, quantiser):
        """Go on with the quantiser of more attributes, which the trainer counts already."""
        self._quantiser = quantiser
        self.row.extend(quantiser)
        self.codes = self.row.codes[np.newaxis]

    def _begun(self):
        """Whether the engine may go on by itself."""
        self._arguments = self.trainer.row_arguments(self.row.codes, self._label, self._prediction)
        return self._arguments is not None

    def _take(self, x, place):
        trainer = self.trainer
        if not (trainer.rows_only or self._begun()) or not trainer.rows_left or not self.row.encode(x):
            return False
        self._label[0] = place
        trainer.learn_row(self._arguments)
        self.seen()
        return True

    def predict(self, x):
        """``(leaf, label)`` of an instance, and whether naive Bayes has told the label: then the
        board's scores are the instance's. None if that takes more than the engine does."""
        self.row.encode(x, read_only=True)
        if not (self.trainer.rows_only or self._begun()):
            return None
        return self.trainer.driver.predict_row(self._arguments)

    def shares(self, x):
        """Class shares of an instance, as of the tree's ``predict_proba``: list. None as of `predict`."""
        self.row.encode(x, read_only=True)
        if not (self.trainer.rows_only or self._begun()):
            return None
        self.trainer.driver.predict_row_shares(self._arguments, self._shares)
        return self._shares.tolist()
