"""What compiled code of the engine works on, as one argument."""

from ..compiled import Proxy, Record, define_proxy, njit, register

__all__ = ["BUSY", "COUNTS", "LEFT", "LENGTH", "PENDING", "PHASE", "TRIED", "TRIES", "make_arguments"]

# Elements of `block`: its instances, if it is not cut short; what is to be done at its end but to begin the next, 0:
# nothing; how far the end has got; 1: a decision is left to be carried out outside.
LENGTH, BUSY, PHASE, LEFT = range(4)
PENDING = 2  # of BUSY: decisions may be pending; 1: nodes may be due
# Phases: instances are counted; what was decided before the block takes effect, then what is due is tried; what has
# been decided in the block takes effect, too.
COUNTS, TRIES, TRIED = range(3)


@register
class _ArgumentsType(Record):
    pass


class Arguments(Proxy):
    """All that `learn` works on, as one argument: handed over one by one, the arrays would take
    longer than an instance.

    Parameters
    ----------
    state : statistics.State
    table, matrices, room, blank : arrays of ``Nodes``
    style : split.Style
    first_cell : int64 array (attributes,)
    stack, slot_node : arrays of ``SlotPool``
    edits : int64 array (rows, EDIT)
        For those of a node and its children. Written.
    words : int64 array (form.size,)
        For a split attempt. Written.
    neighbours : int
        Whether naive Bayes looks at the bins beside a number's, too.
    classes, form, options
        As in ``judge_row`` and ``SplitPolicy.judge``.
    multiple : int
        As in ``sending.advance``.
    rule : BlockRule
    block : int64 array (4,)
        By LENGTH, BUSY, PHASE and LEFT; written.
    tally : int64 array
        ``Tally.counts``. Written.
    past, kept, kept_labels : arrays
        ``read``, ``codes`` and ``labels`` of ``Memory``.
    codes : uint8 array (n * attributes,), read-only
    labels, predictions : int32 array (n,)
        Instances; the latter is written.
    weights : int32 array (n,) or None
        How often each is learnt; 0: it is predicted only. None: once each.
    """


_FIELDS = (
    "state",
    "table",
    "matrices",
    "room",
    "blank",
    "style",
    "first_cell",
    "stack",
    "slot_node",
    "edits",
    "words",
    "neighbours",
    "classes",
    "form",
    "options",
    "multiple",
    "rule",
    "block",
    "tally",
    "past",
    "kept",
    "kept_labels",
    "codes",
    "labels",
    "predictions",
    "weights",
)
define_proxy(Arguments, _ArgumentsType, list(_FIELDS))


@njit()
def make_arguments(*fields):
    """A `Arguments`; its own constructor would be compiled by every process anew."""
    return Arguments(*fields)
