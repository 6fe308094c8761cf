"""Members of an ensemble that learn in one process: all of them, or a worker's."""

from concurrent.futures import ThreadPoolExecutor
from inspect import isgenerator

import numpy as np

from ..data.quantiser import Quantiser
from ..driver.recoding import recoding
from ..driver.steps import at_once, steadily


class Known:
    """What trees are told of the stream of an ensemble, without its code books: codes come ready."""

    def __init__(self, ensemble):
        self.schema_, self.classes_, self._grows = ensemble.schema_, ensemble.classes_, ensemble._grows
        if hasattr(ensemble, "feature_names_in_"):
            self.feature_names_in_ = ensemble.feature_names_in_
        capacity = [getattr(book, "capacity", 1) for book in ensemble._quantiser.books]
        self._quantiser = Quantiser(self.schema_, capacity=capacity)

    def tell(self, members):
        """Have trees share this."""
        for member in members:
            for tree in member.trees:
                tree._quantiser = self._quantiser


class Share:
    """Members that learn the same instances; several at a time, if there are ``threads`` and each has its own board.

    What changes them is a generator for `Steps`, which yields only where it waits for a board elsewhere. The ``stream``
    is an Ensemble, or Known.
    """

    def __init__(self, members, stream, threads=1):
        self.members, self.stream, self._threads = members, stream, threads
        self._batch = None  # what was learnt last

    @property
    def trees(self):
        """All trees, those that grow in the background, too."""
        return [tree for member in self.members for tree in member.trees]

    def open(self):
        """See to a board for every tree."""
        for member in self.members:
            member.open(self.stream)

    def call(self, name, *arguments):
        """Call a method where all boards are in this process."""
        found = getattr(self, name)(*arguments)
        return at_once(found) if isgenerator(found) else found

    def learn(self, codes, labels, first):
        """Predict, then learn instances, of which the first one's number is ``first``.

        Returns what is predicted, int32 (members, n), and what these votes count, float64 (members, n).
        """
        labels = labels.astype(np.int32, copy=False)  # they may have come as bytes
        self._batch = codes, labels, first
        found, weights = zip(
            *(yield from self._each(lambda member: member.learn(codes, labels, first, self.stream))),
            strict=True,
        )
        return np.array(found), np.array(weights)

    def replant(self, number, at):
        """Begin a member anew with what was learnt last, from there on; what it predicts."""
        codes, labels, first = self._batch
        member = next(member for member in self.members if member.number == number)
        return (yield from member.replant(codes[at:], labels[at:], first + at, self.stream))

    def vote(self, codes):
        """What members predict, and what their votes count; arrays (members, n), (members,)."""
        found = self._at_once(lambda member: member.tree.predict_codes(codes))
        return np.array(found, np.int32), self._weights

    def shares(self, codes):
        """The members' class shares, and what their votes count; arrays (members, n, classes), (members,)."""
        return np.array(self._at_once(lambda member: member.tree._shares_of_codes(codes))), self._weights

    @property
    def _weights(self):
        """What the members' votes count."""
        return np.array([member.weight for member in self.members], float)

    def thresholds(self):
        """Which codes any tree compares each attribute with; bool array (attributes, codes + 1)."""
        return np.any([tree._thresholds() for tree in self.trees], axis=0)

    def settle(self):
        """Have all decisions take effect now."""
        for tree in self.trees:
            trainer = tree._open_trainer()
            yield from steadily(trainer.settling())

    def recode(self, changes):
        """Go on with other code books; after `settle`."""
        for tree in self.trees:
            yield from steadily(recoding(tree._trainer, changes, lambda _: None))

    @property
    def _together(self):
        """Whether several members learn at the same time."""
        return self._threads > 1 and len(self.members) > 1 and self.members[0].places is None

    def _at_once(self, work):
        """Do something with every member; the results in order."""
        if not self._together:
            return [work(member) for member in self.members]
        with ThreadPoolExecutor(self._threads) as pool:
            return list(pool.map(work, self.members))

    def _each(self, work):
        """Take steps with every member; the results in order."""
        if self._together:
            return self._at_once(lambda member: at_once(work(member)))
        found = []
        for member in self.members:
            found.append((yield from work(member)))
        return found
