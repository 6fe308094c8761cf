"""Ensembles, instance by instance. Oza and Russell 2001; Bifet, Holmes and Pfahringer 2010; Gomes et al. 2017.

Nothing is shared with the ensembles of the driver; ADWIN is River's.
"""

from fractions import Fraction
from functools import cache
from math import factorial

import numpy as np

from .hat import mean, new_window
from .learner import numbers
from .vfdt import ReferenceVFDT

WORD = 1 << 64
TERMS = 400  # of the exponential's series


class RandomVFDT(ReferenceVFDT):
    """VFDT whose leaves split on a few random attributes, and that learns an instance several times at once.

    ``subset`` are the attributes of a node, 0: all; others are of ``ReferenceVFDT``.
    """

    def __init__(self, capacities, classes, *, subset=0, seed=0, **options):
        super().__init__(capacities, classes, **options)
        self.subset, self.seed = subset, seed
        self._holds = False

    def test_then_train(self, x, y, times):
        """What is predicted; however often the instance is learnt, it is one of the stream."""
        found, before = int(self.predict(x)), self.event_counts.instances
        self._holds = True
        for _ in range(times):
            self.learn(x[None], [y])
            self.event_counts.instances = before
        self._holds = False
        self.event_counts.instances += 1
        if self.event_counts.instances >= self._ends:
            self._end_block()
        return found

    def predict(self, x):
        """The majority class of an instance's leaf."""
        return self.root.path(numbers(x).tolist())[-1].majority

    def _end_block(self):
        if not self._holds:
            super()._end_block()

    def candidates(self, node):
        found = super().candidates(node)
        if not self.subset:
            return found
        left = [a for a in range(len(self.capacities)) if a not in node.used]
        key, wanted, chosen = self._key(node), self.subset, set()
        for place, attribute in enumerate(left):
            key = mix(key)
            if (key >> 32) * (len(left) - place) >> 32 < wanted:
                chosen.add(attribute)
                wanted -= 1
        return [candidate for candidate in found if candidate.attribute in chosen]

    def _key(self, node):
        key = mix(self.seed)
        while node.parent is not None:
            key = mix(key ^ (node.branch << 32 | node.parent.attribute))
            node = node.parent
        return key


def mix(state):
    """SplitMix64's output for a state."""
    z = (state + 0x9E3779B97F4A7C15) % WORD
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB % WORD
    return z ^ z >> 31


def poisson(word, rate):
    """The Poisson number that 64 random bits stand for."""
    return sum(word >= step for step in _steps(rate))


@cache
def _steps(rate):
    """Where it goes up by 1: the shares of all smaller numbers, exactly, times 2**64."""
    rate = Fraction(rate)
    terms = [rate**k / factorial(k) for k in range(TERMS)]
    whole, reached, steps = sum(terms), Fraction(0), []
    for term in terms:
        reached += term
        steps.append(int(reached / whole * WORD))
    return [step for step in steps if step < WORD - 1]


class ReferenceBagging:
    """Online bagging; ``options`` are those of the trees."""

    def __init__(self, capacities, classes, *, members, rate, seed, subset=0, **options):
        self.capacities, self.classes, self.rate, self.seed = capacities, classes, rate, seed
        self.subset, self.options = subset, options
        self.made = [0] * members
        self.trees = [self.plant(member) for member in range(members)]
        self.seen = 0

    def plant(self, member):
        """A new tree."""
        seed = mix(mix(self.seed) ^ (member << 32 | self.made[member])) >> 1
        self.made[member] += 1
        return RandomVFDT(self.capacities, self.classes, subset=self.subset, seed=seed, **self.options)

    def times(self, member):
        """How often a member learns the instance."""
        block, word = divmod(self.seen, 4)
        generator = np.random.Philox(key=np.array([self.seed, member], np.uint64), counter=block)
        return poisson(int(generator.random_raw(4)[word]), self.rate)

    def weight(self, member):
        """What a member's vote counts."""
        return 1.0

    def test_then_train(self, x, y):
        """The class predicted."""
        votes, right = [0.0] * self.classes, []
        for member, tree in enumerate(self.trees):
            found = tree.test_then_train(x, y, self.times(member))
            votes[found] += self.weight(member)
            right.append(found == y)
        self.look(x, y, right)
        self.seen += 1
        return votes.index(max(votes))

    def look(self, x, y, right):
        """See which members were right."""


def worse(window, right):
    """Whether a window's mean has changed, and risen."""
    before = mean(window)
    return window.update(float(not right)) and mean(window) > before


class ReferenceLeveraging(ReferenceBagging):
    """Leveraging bagging; ``drift`` is ADWIN's confidence."""

    def __init__(self, *stream, drift, **options):
        super().__init__(*stream, **options)
        self.drift = drift
        self.windows = [new_window(drift) for _ in self.trees]
        self.drifts = 0

    def look(self, x, y, right):
        if any([worse(window, found) for window, found in zip(self.windows, right, strict=True)]):
            errors = [mean(window) for window in self.windows]
            worst = errors.index(max(errors))
            self.trees[worst] = self.plant(worst)
            self.windows[worst] = new_window(self.drift)
            self.drifts += 1


class ReferenceForest(ReferenceBagging):
    """Adaptive random forest; ``warning`` and ``drift`` are ADWIN's confidences."""

    def __init__(self, *stream, warning, drift, **options):
        super().__init__(*stream, **options)
        self.background = [None] * len(self.trees)
        self.confidences = warning, drift
        self.windows = [[new_window(each) for each in self.confidences] for _ in self.trees]
        self.scores = [(0, 0)] * len(self.trees)
        self.warnings = self.drifts = 0

    def weight(self, member):
        right, seen = self.scores[member]
        return right / seen if right else 1.0

    def look(self, x, y, right):
        for member, found in enumerate(right):
            windows = self.windows[member]
            self.scores[member] = self.scores[member][0] + found, self.scores[member][1] + 1
            if self.background[member] is not None:
                self.background[member].test_then_train(x, y, self.times(member))
            warned, drifted = (worse(window, found) for window in windows)
            if warned:
                self.warnings += 1
                self.background[member] = self.plant(member)
                windows[0] = new_window(self.confidences[0])
            if drifted:
                self.drifts += 1
                self.trees[member] = self.background[member] or self.plant(member)
                self.background[member] = None
                self.windows[member] = [new_window(each) for each in self.confidences]
                self.scores[member] = 0, 0
