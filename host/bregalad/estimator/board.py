"""The board of a tree: opened when it is needed, held, let go of."""

import logging

import numpy as np

from ..boards import is_link, open_board
from ..boards.base import Board, BoardError
from ..driver import checkpoint
from ..driver.requirements import check_classes, check_nodes, check_ties
from ..driver.trainer import Trainer
from ..geometry import HARDWARE_CLASSES, MOST_CLASSES, MOST_NODES, Geometry
from ..interrupt import deferred_interrupt
from ..predictors import predictor_of, usual_predictor
from ..tree.cells import CellMap, check_cells


def prediction_on(tree, geometry):
    """What leaves are to predict by on a board; of an unknown geometry (None) as on most."""
    if tree.leaf_prediction is not None:
        return tree.leaf_prediction
    return usual_predictor(geometry is None or geometry.naive_bayes).word


def open_trainer(tree):
    """What learns on the tree's board, which is opened if there is none."""
    if tree._trainer is not None:
        return tree._trainer
    tree._check_unchanged()
    opens = not isinstance(tree.board, Board)
    geometry = geometry_of(tree) if opens else None
    options = {} if tree._wave is None else {"wave": tree._wave}
    board = open_board(tree.board, geometry, **options) if opens else tree.board
    try:
        trainer = tree._trainer_on(board)
    except BaseException:
        if opens:
            board.close()
        raise
    with deferred_interrupt():  # or the statistics would be nowhere
        tree._trainer, tree._nodes, tree._checkpoint = trainer, trainer.nodes, None
        tree._memory = trainer.memory
        tree._opened = opens
    return trainer


def trainer_on(tree, board):
    """What learns the tree on a board, which gets the statistics that are to go there."""
    cells = cells_of(tree, board.geometry.bins)
    if tree._checkpoint is not None:
        known, classes = tree._nodes.classes, board.geometry.classes
        if classes > known:
            tree._checkpoint = checkpoint.widened(tree._checkpoint, known, classes)
            tree._nodes.widen(classes)
        check_fit(tree, board.geometry)
    check_ties(board.geometry, tree._policy(), len(tree.classes_))
    prediction = tree._prediction or prediction_on(tree, board.geometry)
    trainer = Trainer(
        board,
        cells,
        tree._policy(),
        len(tree.classes_),
        prediction=prediction,
        nodes=tree._nodes,
        event_counts=tree._event_counts,
        review_period=int(tree.review_period),
        memory=tree._memory,
    )
    chosen = tree.leaf_prediction is not None or tree._prediction is not None
    if not (chosen or predictor_of(prediction).takes_bayes) and tree._tells:
        logging.getLogger("bregalad").warning(
            "the geometry of board %s has no naive Bayes, so leaves predict their majority class, which is mostly "
            "less accurate: choose another geometry, or say by leaf_prediction='mc' that this is meant",
            board.name,
        )
    tree._prediction = prediction
    if tree._checkpoint is not None:
        try:
            checkpoint.restore(trainer, tree._checkpoint)
        except BaseException:
            board.release(trainer)  # an exception's traceback would keep the trainer alive
            raise
    return trainer


def follow(tree, other):
    """Begin anew on the board of another tree, one like this but for the seed, which lets go of it."""
    tree._trainer = other._trainer.followed(tree._policy(), tree._event_counts)
    tree._nodes, tree._opened, tree._prediction = tree._trainer.nodes, other._opened, other._prediction
    tree._memory = tree._trainer.memory
    other._trainer = None


def make_room(tree, classes):
    """See to a board that counts so many classes; ValueError if it cannot be had."""
    room = tree._open_trainer().board.geometry.classes
    if classes <= room:
        return
    geometry = tree._trainer.board.geometry
    most = _most_classes(tree)
    if given_geometry(tree) is not None or is_link(tree.board) or classes > most:
        check_classes(geometry, classes)
    wider = geometry.replace(classes=min(max(classes, 2 * room), most))
    tree.close()
    tree._kept_geometry = wider
    tree._open_trainer()


def make_cells(tree, quantiser):
    """Go on with a quantiser of more attributes; ValueError if the board has no room for them."""
    trainer = tree._open_trainer()
    geometry = trainer.board.geometry
    cells = cells_of(tree, geometry.bins, quantiser)
    fixed = given_geometry(tree) is not None or is_link(tree.board)
    check_cells(geometry if fixed else _widest_geometry(tree), len(cells))
    if len(cells) <= geometry.max_cells and trainer.driver.widens:
        with deferred_interrupt():
            trainer.widen(cells)
            tree._quantiser = quantiser
        return
    if not fixed:
        # Where attributes come one after another, few of them find no room.
        room = min(2 * len(cells), _widest_geometry(tree).max_cells) if trainer.driver.widens else len(cells)
        geometry = geometry.replace(**_shape(max(room, geometry.max_cells)))
    tree.close()
    tree._memory.widen(len(quantiser.books))
    counts = tree._checkpoint["counts"]
    tree._checkpoint["counts"] = np.pad(counts, ((0, 0), (0, len(cells) - counts.shape[1]), (0, 0)))
    tree._quantiser, tree._kept_geometry = quantiser, geometry


def check_fit(tree, geometry):
    """Refuse a board that cannot take the tree or the statistics with a ValueError."""
    nodes = tree._nodes
    check_nodes(geometry, nodes)
    inner = len(nodes.inner()) if tree._policy().anytime else 0
    checkpoint.check(tree._checkpoint, nodes.classes, geometry, len(cells_of(tree, geometry.bins)), inner)


def cells_of(tree, bins, quantiser=None):
    """The cells that the attributes, those of another quantiser if one is given, take on a board of so many bins."""
    books = (quantiser or tree._quantiser).books
    return CellMap.build([getattr(book, "capacity", 0) for book in books], bins, tree.nominal_split)


def geometry_of(tree):
    """The board's geometry: its own, the one given, or one that fits the stream.

    None: a board at the end of a link, not open yet, will tell.
    """
    own = given_geometry(tree)
    if own is not None:
        return own
    if is_link(tree.board):
        return None
    if tree._kept_geometry is not None:
        return tree._kept_geometry
    geometry = Geometry(
        **_shape(len(cells_of(tree, 16))),
        bins=16,
        classes=max(2, len(tree.classes_)),
        slots=int(tree.slots),
        count_width=24,
        bus_width=256,
        criterion=tree._policy().criterion,
        naive_bayes=predictor_of(tree.leaf_prediction_).takes_bayes,
    )
    return geometry if tree.board == "emulated" else for_hardware(geometry)


def for_hardware(geometry):
    """A geometry with as much room that hardware can be built of."""
    lanes = 1 << (geometry.lanes - 1).bit_length()
    nodes = geometry.nodes or min(2 * geometry.slots, MOST_NODES)
    return geometry.replace(lanes=lanes, passes=-(-geometry.max_cells // lanes), nodes=nodes)


def close(tree):
    """As ``StreamTree.close``."""
    trainer = tree.__dict__.get("_trainer")
    if trainer is None:
        return
    known = trainer.board.cut
    try:
        statistics = checkpoint.read(trainer)
    except BoardError as error:
        if trainer.board.cut and not (known or trainer.board.lost):
            raise
        statistics = checkpoint.nothing(trainer, error)
    with deferred_interrupt():
        tree._checkpoint = statistics
        release(tree)


def release(tree):
    """Let go of the board; what it has counted is lost."""
    trainer = tree.__dict__.pop("_trainer", None)
    tree._trainer = tree._unfinished = tree._single = None
    if trainer is None:
        return
    trainer.leave()
    if tree._opened:
        trainer.board.close()


def given_geometry(tree):
    """The open board's geometry, or the one that is given; None if neither is."""
    if isinstance(tree.board, Board):
        return tree.board.geometry
    return None if tree.geometry is None else Geometry.of(tree.geometry)


def _widest_geometry(tree):
    """That of the board in use, or of any board that can be opened."""
    return given_geometry(tree) or Geometry(classes=_most_classes(tree), lanes=1024, passes=31)


def _most_classes(tree):
    """Classes that a board opened by name can have counters for."""
    return MOST_CLASSES if tree.board == "emulated" else HARDWARE_CLASSES


def check_size(tree, capacities, classes):
    """Refuse a stream that the board, or any board, is too small for."""
    geometry = _widest_geometry(tree)
    cells = len(CellMap.build(capacities, geometry.bins, tree.nominal_split))
    check_classes(geometry, classes)
    check_cells(geometry, cells)


def _shape(cells):
    """Lanes and passes for so many cells."""
    lanes = max(min(cells, 16), -(-cells // 256))
    return {"lanes": lanes, "passes": -(-cells // lanes)}
