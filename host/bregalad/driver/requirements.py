"""What a tree asks of a board; who asks for more than a board has is told the remedy."""

from ..geometry import HARDWARE_CLASSES, MISSING, MOST_CLASSES, Geometry
from ..options import table as options
from ..predictors import predictor_of, usual_predictor
from ..tree.alternates import ways
from ..tree.table import NO_NODE
from ..warn import warn


def check_abilities(geometry, policy, prediction):
    """Refuse a board that lacks what a tree needs: in its bitstream, for its alternates, for its window.

    ``prediction`` is what leaves predict by. It is a ValueError with the remedy.
    """
    if policy.criterion != geometry.criterion:
        raise ValueError(
            f"the board's gain units compute {geometry.criterion}, the tree asks for "
            f"{policy.criterion}: choose criterion={geometry.criterion!r}, or a "
            f"geometry with criterion={policy.criterion!r}"
        )
    options.check("leaf_prediction", prediction)
    if predictor_of(prediction).takes_bayes and not geometry.naive_bayes:
        raise ValueError(
            f"leaf_prediction={prediction!r} takes a board with naive Bayes: choose "
            f"a geometry with naive_bayes=True, or leaf_prediction={usual_predictor(False).word!r}"
        )
    if policy.alternates and geometry.nodes:
        if policy.rivals:
            raise ValueError(
                f"a board with a node table (nodes={geometry.nodes}) neither forgets nor tests alternates by what they "
                "predict: choose board='emulated' and a geometry with nodes=0, or another tree"
            )
        if not geometry.alternates:
            raise ValueError(
                f"a board with a node table (nodes={geometry.nodes}) learns no alternates unless it is built for them: "
                "choose a geometry with alternates, 1 to 7, or another tree"
            )
    window, most = policy.window, geometry.count_max
    if window is not None and window > most:  # they would be halved
        raise ValueError(
            f"a window of {window} instances is larger than the board's counters, which hold {most}: choose "
            f"window <= {most}, or a geometry with count_width >= {int(window).bit_length()}"
        )


def check_classes(geometry, classes):
    """Refuse with a ValueError more classes than a board has counters for."""
    if classes > MOST_CLASSES:
        raise ValueError(
            f"there are {classes} classes, and no board has counters for more than "
            f"{MOST_CLASSES}: are these class labels?"
        )
    if classes > geometry.classes:
        where = f" on the emulated board, hardware takes {HARDWARE_CLASSES}" if classes > HARDWARE_CLASSES else ""
        raise ValueError(
            f"the stream has {classes} classes, but the board has counters for "
            f"{geometry.classes}: choose a geometry with classes >= {classes}{where}"
        )


def check_nodes(geometry, nodes):
    """Refuse with a ValueError a board that routes records if it has no room for a tree's `Nodes`."""
    if not geometry.nodes:
        return
    if nodes.rows > geometry.nodes:
        raise ValueError(
            f"the tree has {nodes.rows} nodes, the board's node table {geometry.nodes} rows: "
            "choose a geometry with more nodes"
        )
    if (most := int(ways(nodes.table, nodes.rows, NO_NODE))) > geometry.alternates:
        raise ValueError(
            f"instances go down up to {most} alternates of the tree, on the board down {geometry.alternates}: choose a "
            f"geometry with alternates={most} or more"
        )


def check_ties(geometry, policy, classes):
    """Warn of counters so narrow that the tie threshold is without effect at the root.

    Not where those of the default geometry are too narrow, too: such a threshold means no ties.
    """
    needed = policy.width_for_ties(classes)
    if needed is not None and geometry.count_width < needed <= Geometry.count_width:
        warn(
            f"the board halves its counts at {geometry.count_max} instances, before a leaf of "
            f"{classes} classes can break a tie (tau={policy.tau:g}, delta={policy.delta:g}), so "
            "the tree may hardly grow: choose a geometry with count_width >= "
            f"{needed}, or a greater tau",
        )


def warn_of_lost(quantiser):
    """Warn of nominal attributes with more values than they have room for, of each once.

    Where that is more than 1 % of the values met, from 1,000 on.
    """
    for attribute, book, share in quantiser.crowded():
        remedy = "group its values, or leave it out"
        if attribute.values:
            remedy = f"declare more than its {len(attribute.values)}, or {remedy}"
        elif book.capacity < MISSING:
            remedy = f"give it room by nominal_values, up to {MISSING}, or {remedy}"
        warn(
            f"attribute {attribute.name!r}: {share:.0%} of its values so far are none of the "
            f"{book.capacity} that it has room for, and count as missing: {remedy}",
        )
