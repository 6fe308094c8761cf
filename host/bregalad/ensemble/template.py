"""The tree that an ensemble's members are like: what it may be."""

from ..boards.base import Board
from ..estimator import board as holder
from ..estimator.tree import StreamTree
from ..protocol.rows import MOST_WEIGHT
from ..words import shown
from .crew import parse
from .draws import thresholds
from .ground import check_ground, is_shared


def check_template(ensemble):
    """Refuse with a TypeError or ValueError a tree that no members can be like, or an engine that they cannot be on."""
    tree = ensemble._template
    if not isinstance(tree, StreamTree):
        raise TypeError(f"tree must be a tree that learns on a board, as VFDT(), not {shown(tree)}")
    if hasattr(tree, "classes_"):
        raise ValueError("tree has learnt already; members begin anew: give one that has not")
    tree.check_parameters()
    if ensemble.engine is not None:
        parse(ensemble.engine)
    geometry = holder.given_geometry(tree)
    if geometry is not None and geometry.nodes and len(thresholds(float(ensemble.rate))) > MOST_WEIGHT:
        raise ValueError(
            f"rate={ensemble.rate!r} draws more than {MOST_WEIGHT} now and then, and a board with a node table "
            f"(nodes={geometry.nodes}) counts no instance more often: choose rate <= 15, or nodes=0"
        )
    if is_shared(tree):
        if ensemble.engine is not None:
            raise ValueError(
                f"members that share a board ({tree.board.name if isinstance(tree.board, Board) else tree.board}) "
                "learn in this program: choose engine=None, or board='emulated'"
            )
        check_ground(tree, int(ensemble.members) * ensemble._trees_each)
