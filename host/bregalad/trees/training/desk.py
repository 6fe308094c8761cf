"""What compiled code of `direct` works on, as one argument."""

import numpy as np
from numba.experimental import structref

from ...compiled import Proxy, Record, njit

__all__ = ["Commands", "LEFT", "NEXT", "make_desk"]

# Elements of `ahead`: instances learnt when the next decision takes effect; 1: that is left to be done.
NEXT, LEFT = range(2)


@structref.register
class _DeskType(Record):
    pass


class Desk(Proxy):
    """All that `direct.learn` works on, as one argument: handed over one by one, the arrays would take
    longer than an instance.

    Parameters
    ----------
    state : kernel.State
    table, matrices, room, blank : arrays of ``Nodes``
    style : split.Style
    first_cell : int64 array (attributes,)
    stack, slot_node : arrays of ``SlotPool``
    written, read : uint8 arrays
        Of ``Commands``, for a node and its children.
    classes, form, options
        As in ``judge_row`` and ``SplitPolicy.judge``.
    multiple, delay : int
        As in ``sending.advance``.
    ahead : int64 array (2,)
        By NEXT and LEFT; written.
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
    "written",
    "read",
    "classes",
    "form",
    "options",
    "multiple",
    "delay",
    "ahead",
    "tally",
    "past",
    "kept",
    "kept_labels",
    "codes",
    "labels",
    "predictions",
    "weights",
)
structref.define_proxy(Desk, _DeskType, list(_FIELDS))


@njit()
def make_desk(*fields):
    """A `Desk`; its own constructor would be compiled by every process anew."""
    return Desk(*fields)


class Commands:
    """A buffer that compiled code writes commands to and the kernel reads them from."""

    def __init__(self, size):
        self.written = np.zeros(size, np.uint8)
        self.read = self.written.view()
        self.read.flags.writeable = False  # as the kernel's other input, so one compiled version
