"""Naive Bayes predictions from the statistics that a board holds."""

import numpy as np

from ..compiled import njit
from ..fixed import BAYES_BINS, BAYES_FRACTION, UNUSED_CLASS
from ..protocol.commands import Opcode, RecordFlag, pack_command, record_layout
from ..protocol.reports import Kind, layout_of

__all__ = ["odds", "odds_of_one", "predict"]

_RECORDS = 4096  # sent between two looks at the predictions
_UNIT = BAYES_BINS << BAYES_FRACTION


def predict(trainer, codes, leaves, scores=False):
    """Naive Bayes predictions of the leaves that have statistics.

    Parameters
    ----------
    trainer : Trainer
        Between two calls of ``learn``.
    codes : uint8 array (n, attributes)
    leaves : int array (n,)
        Their leaves; all with a slot.
    scores : bool

    Returns
    -------
    int32 array (n,), or with ``scores`` int array (n, classes of the board)
        Classes, or their scores, for `odds`.

    Raises
    ------
    BoardError
        If the board reports an error or is gone.
    """
    kind = Kind.SCORES if scores else Kind.PREDICTION
    answers = np.zeros(len(codes), layout_of(kind, trainer.board.geometry, 0).dtype)
    if trainer.board.geometry.nodes:  # it takes no records with a slot
        with trainer.beside() as other:
            return predict(other, codes, leaves, scores)
    with trainer.asking() as reports:
        trainer.flush()
        trainer.fence()
        trainer.board.write("report.predictions", 2 if scores else 1)
        for start in range(0, len(codes), _RECORDS):
            part = slice(start, start + _RECORDS)
            _ask(trainer, reports, codes[part], leaves[part], answers[part])
        trainer.fence()
        trainer.choose_predictions()
    return answers["scores"] if scores else answers["label"].astype(np.int32)


def odds(scores):
    """Class shares by the scores of naive Bayes.

    Parameters
    ----------
    scores : int array (n, classes)
        log2 of every class's share less a constant, times BAYES_BINS; of one that the leaf has not
        seen, the least integer.

    Returns
    -------
    float array (n, classes)
    """
    scores = np.ascontiguousarray(scores, np.int64)
    shares = np.empty(scores.shape)
    _odds(scores, shares)
    return shares


@njit(error_model="numpy")
def odds_of_one(scores, shares):
    """The same of one instance, to be written: float64 array (classes,), of which there may be more scores."""
    classes = len(shares)
    most, total = scores[:classes].max(), 0.0
    for k in range(classes):
        shares[k] = 0.0 if scores[k] == UNUSED_CLASS else np.exp2((scores[k] - most) / _UNIT)
        total += shares[k]
    for k in range(classes):
        shares[k] /= total


@njit(error_model="numpy")
def _odds(scores, shares):
    for row in range(len(scores)):
        odds_of_one(scores[row], shares[row])


def _ask(trainer, reports, codes, leaves, answers):
    """Fill ``answers`` with the board's predictions."""
    board, cells = trainer.board, trainer.cells
    records = np.zeros(len(codes), record_layout(len(cells)).dtype)
    records["slot"] = trainer.nodes.slot[leaves]
    records["flags"] = RecordFlag.TEST
    records["codes"] = codes[:, cells.attribute]
    board.send(pack_command(board.geometry, Opcode.LEARN, count=len(records), payload=records.tobytes()))
    got = 0
    while got < len(records):
        for _, report in reports():
            rows = np.frombuffer(report, answers.dtype)
            answers[got : got + len(rows)] = rows
            got += len(rows)
