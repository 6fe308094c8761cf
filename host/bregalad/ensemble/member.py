"""One member of an ensemble: its tree, what watches it, and the tree that may take its place."""

from dataclasses import dataclass

import numpy as np

from ..drift.adwin import forget, new_windows
from ..driver.steps import steadily
from ..estimator import board as tree_board
from ..estimator.tree import StreamTree
from ..interrupt import unbroken
from ..policy.subset import mix
from .draws import Draws
from .shared_board import is_shared
from .votes import DRIFT, RIGHT, SEEN, WARNING, watch


@dataclass
class Style:
    """What all members of an ensemble have in common."""

    tree: StreamTree  # members are like it
    seed: int
    rate: float  # of `Draws`
    subset: int = 0  # attributes that each node may be split on; 0: all
    deltas: tuple[float, float] | None = None  # ADWIN's confidence for a warning, and for a drift; None: none watches
    weighted: bool = False  # whether votes count by the member's accuracy


class Member:
    """One member; its number is its place in the ensemble."""

    def __init__(self, number, style):
        self.number, self.style = number, style
        self.draws = Draws(style.seed, number, style.rate)
        self.tree = None
        self.background = None  # the tree that grows since the last warning
        self.spare = None  # a tree that is no more, whose board the next one takes
        self.places = None  # where members share a board: this one's parts of it
        self.windows = new_windows(2)  # see `watch`
        self.score = np.zeros(2, np.int64)  # instances predicted since the tree votes, and how many of them rightly
        self.made = self.warnings = self.drifts = 0  # trees so far

    @property
    def trees(self):
        """All that it holds: list of StreamTree."""
        return [tree for tree in (self.tree, self.background) if tree is not None]

    def plant(self, stream):
        """A new tree, which shares attributes, classes and code books with the ensemble ``stream``."""
        tree = self._new_tree(stream)
        if self.spare is not None:
            tree_board.follow(tree, self.spare)
            self.spare = None
        elif not is_shared(self.style.tree):
            tree._open_trainer()
        self.made += 1
        return tree

    def _new_tree(self, stream):
        seed = mix(mix(np.uint64(self.style.seed)) ^ np.uint64(self.number << 32 | self.made))
        tree = type(self.style.tree)(**self.style.tree.get_params(deep=False))
        if self.places is not None:
            tree.board, tree.geometry = self._place(), None
        tree._tells = not (self.number or self.made)
        tree._join(stream, subset=self.style.subset, seed=int(seed) >> 1)
        return tree

    def _place(self):
        """The part of the shared board for the next tree."""
        if self.spare is not None:
            return self.spare.board
        return next(place for place in self.places if all(tree.board is not place for tree in self.trees))

    def open(self, stream):
        """See to a board for every tree; on a shared one for the next tree, too, for its turn is no time to wait."""
        if self.places is not None and self.spare is None and len(self.trees) < len(self.places):
            spare = self._new_tree(stream)
            spare._open_trainer()
            self.spare = spare
        for tree in self.trees:
            tree._open_trainer().check_working()

    def drop(self, tree):
        """A tree is no more: what is planted next may have its board."""
        trainer = None if tree is None else tree._trainer
        if self.spare is None and trainer is not None and trainer.broken is None:
            self.spare = tree

    def drop_spare(self):
        """Let go of the board of a tree that is no more."""
        if self.spare is not None:
            tree_board.release(self.spare)
            self.spare = None

    def __getstate__(self):
        return self.__dict__ | {"spare": None, "places": None}

    def learn(self, codes, labels, first, stream):
        """Predict, then learn instances as often as they are drawn; what it predicts, and what each vote counts.

        A generator for `Steps`, as `replant`: it yields only where it waits for a board that is not in this process.
        ``codes`` are a uint8 array (n, attributes), ``labels`` int32 (n,); ``first`` is the first one's number in the
        stream. Returns int32 and float64 arrays (n,).
        """
        times = self.draws.take(first, len(labels))
        found = yield from _learn(self.tree, codes, labels, times)
        weights = np.ones(len(labels))
        if self.style.deltas is not None:
            yield from self._watch(codes, labels, times, found, weights, stream)
        return found, weights

    def replant(self, codes, labels, first, stream):
        """Begin a new tree in place of the old one, with these instances; what it predicts."""
        self.drop(self.tree)
        self.tree = self.plant(stream)
        self.drifts += 1
        return (yield from _learn(self.tree, codes, labels, self.draws.take(first, len(labels))))

    def _watch(self, codes, labels, times, found, weights, stream):
        """See what the windows say of predictions, and what the other tree predicts from a drift on.

        The tree has learnt all instances by now. That does no harm: behind a drift it is no more.
        """
        known = 0  # as far as the background tree has learnt
        at = 0
        while True:
            at, change = watch(found, labels, at, self.windows, self.style.deltas, self.score, weights)
            if not change:
                break
            if change & WARNING:
                self.warnings += 1
                self.drop(self.background)
                self.background, known = self.plant(stream), at
                forget(self.windows, 0)
            if change & DRIFT:
                self.drifts += 1
                if self.background is None:
                    self.background, known = self.plant(stream), at
                yield from _learn(self.background, codes[known:at], labels[known:at], times[known:at])
                self.drop(self.tree)
                self.tree, self.background = self.background, None
                self.windows[:] = 0.0
                self.score[:] = 0
                found[at:] = yield from _learn(self.tree, codes[at:], labels[at:], times[at:])
        if self.background is not None:
            yield from _learn(self.background, codes[known:], labels[known:], times[known:])
        if not self.style.weighted:
            weights[:] = 1.0

    @property
    def weight(self):
        """What its vote counts."""
        return self.score[RIGHT] / self.score[SEEN] if self.style.weighted and self.score[RIGHT] else 1.0


def _learn(tree, codes, labels, times):
    if not len(labels):
        return np.zeros(0, np.int32)
    trainer = tree._open_trainer()
    if trainer.board.instant:
        with unbroken():  # or it would have learnt what others have not
            return tree.learn_codes(codes, labels, times)
    trainer.check_weights(times, len(labels))
    return (yield from steadily(trainer.learning(codes, labels, times)))
