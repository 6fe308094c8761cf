"""The parameters of an ensemble and of the tree that its members are like, which says what concerns the stream."""

from __future__ import annotations

from ..boards.base import Board
from ..cluster import parse
from ..protocol.rows import MOST_WEIGHT
from ..trees.estimator import StreamTree
from ..trees.parameters import Parameters
from ..words import shown
from . import options
from .draws import thresholds
from .ground import check_ground, is_shared

__all__ = ["Template"]


class Template(Parameters):
    """Mixin of every ensemble.

    A subclass says in ``_default_tree`` which tree its members are like if none is given.
    """

    # As constructors are given them.
    engine: str | None
    members: int
    rate: float
    tree: StreamTree | None

    _trees_each = 1  # that a member may have at a time
    _name = ""  # of `options.NAMES`

    def _default_tree(self):
        raise NotImplementedError

    @property
    def _template(self):
        return self._default_tree() if self.tree is None else self.tree

    @property
    def nominal(self):
        """The tree's; as the following."""
        return self._template.nominal

    @property
    def nominal_values(self):
        """Room for values of a nominal attribute that does not declare them."""
        return self._template.nominal_values

    @property
    def nominal_split(self):
        """One child per value, or one value against the rest."""
        return self._template.nominal_split

    @property
    def class_weight(self):
        """How often each instance of a class is drawn."""
        return self._template.class_weight

    def _policy(self):
        return self._template._policy()

    def check_parameters(self) -> None:
        """Refuse wrong parameters with a ValueError or TypeError, before any data are read."""
        for name, value in self._chosen().items():
            options.check(name, value)
        tree = self._template
        if not isinstance(tree, StreamTree):
            raise TypeError(f"tree must be a tree that learns on a board, as VFDT(), not {shown(tree)}")
        if hasattr(tree, "classes_"):
            raise ValueError("tree has learnt already; members begin anew: give one that has not")
        if tree.feed != "stream":
            raise ValueError(f"members learn by the feed 'stream', not {shown(tree.feed)}")
        tree.check_parameters()
        if self.engine is not None:
            parse(self.engine)
        geometry = tree._given_geometry()
        if geometry is not None and geometry.nodes and len(thresholds(float(self.rate))) > MOST_WEIGHT:
            raise ValueError(
                f"rate={self.rate!r} draws more than {MOST_WEIGHT} now and then, and a board that holds the tree "
                f"itself (nodes={geometry.nodes}) counts no instance more often: choose rate <= 15, or nodes=0"
            )
        if is_shared(tree):
            self._check_engine()
            check_ground(tree, int(self.members) * self._trees_each)

    def _check_engine(self):
        """Refuse workers for members that share a board."""
        board = self._template.board
        if self.engine is not None and is_shared(self._template):
            raise ValueError(
                f"members that share a board ({board.name if isinstance(board, Board) else board}) learn in this "
                "program: choose engine=None, or board='emulated'"
            )

    def _compiled_as(self):
        """As of `Saving`."""
        return f"{type(self).__name__} of {self._template._compiled_as()}"

    def _decisive(self):
        own = {name: value for name, value in self._chosen().items() if name not in ("tree", "threads", "engine")}
        return own | self._template._decisive()

    def _check_unchanged(self):
        for name, value in getattr(self, "_made_with", {}).items():
            now = getattr(self if name in self._options else self._template, name)
            if now != value:
                raise ValueError(
                    f"{name} was {shown(value)} when this ensemble began to learn, and is {shown(now)} now: that takes "
                    "effect with fit or reset; set it back to go on"
                )

    def _check_size(self, capacities, classes):
        self._template._check_size(capacities, classes)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._template.__sklearn_tags__().classifier_tags.multi_class
        return tags
