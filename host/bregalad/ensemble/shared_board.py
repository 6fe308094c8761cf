"""The tree that an ensemble's members are like, and the board that all share, if they share one."""

from ..boards import is_link, open_board
from ..boards.base import Board
from ..boards.divided import DividedBoard, check_division, part_of
from ..estimator import board as tree_board
from ..estimator.tree import StreamTree
from ..geometry import Geometry
from ..protocol.rows import MOST_WEIGHT
from ..words import shown
from .draws import thresholds
from .workers import parse

_MOST = 32768  # slots of a board


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
    geometry = tree_board.given_geometry(tree)
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
        parts = int(ensemble.members) * ensemble._trees_each
        if geometry is not None:
            check_division(geometry, parts)
        elif not is_link(tree.board) and parts * int(tree.slots) > _MOST:
            raise ValueError(
                f"{parts} trees of {tree.slots} slots take more than the {_MOST} of a board: choose slots <= "
                f"{_MOST // parts}, or fewer members"
            )


def is_shared(tree):
    """Whether members like this tree share a board; else each has an emulated one of its own."""
    return isinstance(tree.board, Board) or tree.board != "emulated"


def alone(tree, parts):
    """The template of a copy that has no open board: of emulated ones each tree has its own, as large as its part."""
    if tree.board == "emulated":
        tree.geometry = part_of(Geometry.of(tree.geometry), parts)


class SharedBoard:
    """A board, opened and divided between members; each has places for as many trees as it may have at a time.

    ``template`` says which board; the members' trees let go of other ones. ValueError if it cannot be divided,
    BoardError if it cannot be opened or another tree has it.
    """

    def __init__(self, template, members, each):
        self._template, self._members = template, members
        for member in members:
            member.drop_spare()
            for tree in member.trees:
                tree.close()
        self._opened, parts = not isinstance(template.board, Board), each * len(members)
        self.board = template.board
        if self._opened:
            geometry = tree_board.given_geometry(template)
            if geometry is None and not is_link(template.board):
                own = tree_board.geometry_of(members[0].tree)
                geometry = own.replace(slots=own.slots * parts)
            self.board = open_board(template.board, geometry)
        try:
            self._divided = DividedBoard(self.board, parts)
        except BaseException:
            if self._opened:
                self.board.close()
            raise
        for member in members:
            member.places = [self._divided.part(member.number * each + place) for place in range(each)]
            for tree, place in zip(member.trees, member.places, strict=False):
                tree.board, tree.geometry = place, None

    def leave(self):
        """Let go of the board, which no tree has by now."""
        for member in self._members:
            member.places = None
            for tree in member.trees:
                tree.board, tree.geometry = self._template.board, self._template.geometry
        self._divided.close()
        if self._opened:
            self.board.close()
