"""What compiled code of the engine works on, as one argument."""

from collections import namedtuple

from ..compiled import Proxy, Record, define_proxy, njit, register
from ..tree.table import Tree
from .statistics.state import slots_of

# Elements of `block`: its instances, if it is not cut short; what is to be done at its end but to begin the next, 0:
# nothing; how far the end has got; 1: a decision is left to be carried out outside.
LENGTH, BUSY, PHASE, LEFT = range(4)
PENDING = 2  # of BUSY: decisions may be pending; 1: nodes may be due
# Phases: instances are counted; what was decided before the block takes effect, then what is due is tried; what has
# been decided in the block takes effect, too.
COUNTS, TRIES, TRIED = range(3)


Stream = namedtuple("Stream", "codes labels predictions")
Stream.__doc__ = """Instances.

codes : uint8 array (n * attributes,), read-only
labels, predictions : int32 arrays (n,)
    The latter is written.
"""

Plan = namedtuple("Plan", "form options classes neighbours multiple rule")
Plan.__doc__ = """What a tree is learnt by.

form, options, classes
    As in ``decide_row``.
neighbours : int
    Whether naive Bayes looks at the bins beside a number's, too.
multiple : int
    With an instance whose number in the tree is a multiple of it, inner nodes above its leaf are due; 0: with none.
rule : BlockRule
"""

Work = namedtuple("Work", "slots events codes places found going tree memory stream plan block event_counts")
Work.__doc__ = """What instances are learnt with.

slots, events, codes, places : parts of a `State`
    The latter two of as many elements as there are cells in use.
found, going : uint32 arrays (GROUP,)
    For `walk`.
tree : Tree
memory : tuple
    ``read``, ``codes`` and ``labels`` of ``Memory``.
stream : Stream
plan : Plan
block : int64 array (4,)
    By LENGTH, BUSY, PHASE and LEFT; written.
event_counts : int64 array
    ``EventCounts.counts``. Written.
"""


@register
class _ArgumentsType(Record):
    pass


class Arguments(Proxy):
    """All that `learn` works on, as one argument: handed over one by one, the arrays would take longer than an
    instance.

    A State, a Work, the words of a split attempt, int64 (form.size,), which are written, and weights, int32 (n,), how
    often each instance is learnt, 0 if it is predicted only, or None: once each.
    """


define_proxy(Arguments, _ArgumentsType, ["state", "work", "words", "weights"])


@njit()
def make_arguments(state, words, weights, found, going, block, event_counts, *fields):
    """A `Arguments`: Python hands over one by one what `Tree`, memory, `Stream` and `Plan` have, in half the time.

    Its own constructor would be compiled by every process anew.
    """
    tree, stream, plan = Tree(*fields[:10]), Stream(*fields[13:16]), Plan(*fields[16:])
    codes, places = state.codes[: plan.form.cells], state.places[: plan.form.cells]
    slots, memory = slots_of(state), fields[10:13]
    work = Work(slots, state.events, codes, places, found, going, tree, memory, stream, plan, block, event_counts)
    return Arguments(state, work, words, weights)
