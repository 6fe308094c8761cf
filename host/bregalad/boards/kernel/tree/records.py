"""Records, one after the other, up to where the stream stands: ``sim/bregalad_sim/golden/tree.py`` on arrays."""

import numpy as np

from ....geometry import NONE, Geometry
from ....protocol.commands import PATH_LIMIT
from ....protocol.reports import SuggestionFlag, suggestion_layout
from ....protocol.rows import MOST_WEIGHT, WEIGHT_LOW
from ....protocol.tree import MANY, TREE_REPORTS, TreeKind
from ....protocol.words import putter, words_before
from ..bayes import classify
from ..bins import gather, locate, mixture
from ..counting import HALVED, INNER
from ..judge import proposes
from ..records import MINUS, TEST, count, due, failing_word
from ..reports import error
from ..state import (
    ALL,
    BAD_RECORDS,
    BEATS,
    CELLS,
    CLASSES,
    COUNTS,
    FLAGS,
    HALTED,
    LINK,
    NEIGHBOURS,
    NODES,
    PREDICTED,
    RECORDS,
    USED,
    N,
    compiled,
    inlined,
    inner,
)
from ..trials import trial
from .leaf_rows import BY_MAJORITY, learn_row, predicted_by
from .quantiser import encode
from .state import (
    ADDRESS,
    ASK_UP_TO,
    BASE,
    BLOCK,
    BY,
    CODED,
    DELAY,
    EDITS,
    EVERY,
    FIRST_OPEN,
    FLAGS_AT,
    HITS,
    INSTANCES,
    LABEL_AT,
    LEARNING,
    LEFT,
    LOCKED,
    MARKS,
    MORE,
    NEXT,
    NODE,
    NUMBER,
    ONLY,
    OPEN,
    OUT,
    REACH,
    READY,
    ROOT,
    SLOT,
    STOPS_ALL,
    STRIDE,
    TOLD,
    TOLD_LABEL,
    UNTIL,
)
from .walk import walk

__all__ = ["ask", "learn", "mark"]

PROPOSAL, STANDS, LEARNT, LABEL, MARK = map(
    int, (TreeKind.PROPOSAL, TreeKind.STANDS, TreeKind.LEARNT, TreeKind.LABEL, TreeKind.MARK)
)
_NUMBER, _LABEL, _MARK = (TREE_REPORTS[kind] for kind in (TreeKind.PROPOSAL, TreeKind.LABEL, TreeKind.MARK))
NUMBER_WORDS, put_number = _NUMBER.size // 4, putter(_NUMBER, "kind", "slot", "number")
LABEL_WORDS, put_label = _LABEL.size // 4, putter(_LABEL, "kind", "label", "node")
MARK_WORDS, put_mark = _MARK.size // 4, putter(_MARK, "kind", "instances", "hits")
REQUESTED = int(SuggestionFlag.REQUESTED)
# A suggestion's candidates lie behind the class counts, one after the other.
_TWO = suggestion_layout(Geometry(classes=2))
BEST, SECOND, CURRENT = (words_before(_TWO, f"{name}_cell") - 2 for name in ("best", "second", "current"))


@inner
def say_number(out, progress, kind, slot, number):
    """PROPOSAL, STANDS or LEARNT."""
    put_number(out, progress[USED], (kind, slot & 0xFFFF, number))
    progress[USED] += NUMBER_WORDS


@inner
def mark(out, progress, at):
    """Tell instances and hits since the last time."""
    put_mark(out, progress[USED], (np.int64(MARK), at[INSTANCES], at[HITS]))
    progress[USED] += MARK_WORDS
    at[INSTANCES] = at[HITS] = 0


@inner
def several(entries, slot, classes, only):
    """Whether a node's instances have several classes, as far as is known."""
    named = 0
    for k in range(classes):
        named += entries[slot, COUNTS + k] > 0 and k != only
    return entries[slot, FLAGS] & HALVED != 0 or only == MANY or named > (only == NONE)


@compiled
def ask(tree, slot):
    """Try a slot because a command asks for it."""
    trial_of(tree, slot, True)


@inner
def trial_of(tree, slot, requested):
    """Try a slot; what the judge says changes nothing is not told."""
    state, at = tree.state, tree.at
    entries, extra, out, progress = state.entries, tree.extra, state.out, state.progress
    classes = state.counts.shape[2]
    mixed = several(entries, slot, classes, extra[slot, ONLY])
    before = progress[USED]
    say_number(out, progress, np.int64(PROPOSAL), slot, at[NUMBER])
    words = progress[USED] + classes
    trial(state, slot, np.int64(REQUESTED if requested else 0))
    told = requested or state.registers[ALL]
    if not told:
        told = proposes(
            tree.rule,
            entries[slot, N],
            extra[slot, BASE],
            extra[slot, ASK_UP_TO],
            mixed,
            entries[slot, FLAGS] & INNER != 0,
            out,
            words + BEST,
            words + SECOND,
            words + CURRENT,
        )
    if not told:
        progress[USED] = before
    elif at[OPEN] < len(tree.open):  # more only TRIALs can make; such a proposal locks nothing
        place = (at[FIRST_OPEN] + at[OPEN]) % len(tree.open)
        tree.open[place, 0], tree.open[place, 1] = extra[slot, NODE], at[NUMBER]
        at[OPEN] += 1
    extra[slot, OUT], extra[slot, UNTIL] = 1, at[NUMBER] + tree.settings[DELAY] & 0xFFFFFFFF


@inlined
def is_due(tree, slot, minus, weight):
    """Whether an instance makes a trial of a slot due that has counted it as often as it weighs."""
    state, extra, number = tree.state, tree.extra, tree.at[NUMBER]
    # Numbers go round: a record that is counted behind `until` ends it.
    if extra[slot, OUT] and (extra[slot, UNTIL] - number + (1 << 31)) & 0xFFFFFFFF < 1 << 31:
        extra[slot, OUT] = 0
    if minus or extra[slot, OUT]:
        return False
    every = tree.settings[EVERY]
    if every and state.entries[slot, FLAGS] & INNER and number % every == 0:
        return True
    return weight > 0 and due(state.entries, state.registers, slot) != 0


@inlined
def is_late(tree):
    """Lock the nodes whose time has come, or say whether there are any, if each stops all records."""
    at, proposals = tree.at, tree.open
    while at[OPEN] and proposals[at[FIRST_OPEN], 1] + tree.settings[DELAY] <= at[NUMBER]:
        if at[STOPS_ALL]:
            return True
        tree.nodes[proposals[at[FIRST_OPEN], 0], LOCKED] = 1
        at[FIRST_OPEN] = (at[FIRST_OPEN] + 1) % len(proposals)
        at[OPEN] -= 1
    return False


@inlined
def by_bayes(state, mix, slot, codes, places):
    """The class by naive Bayes, -1 if the slot knows none, or is an inner node's, above the leaf."""
    entries, shape, config, registers = state.entries, state.counts.shape, state.config, state.registers
    if not len(state.shares) or slot == NONE or not entries[slot, N] or entries[slot, FLAGS] & INNER:
        return np.int64(-1)
    locate(config, state.lo, state.shift, mix, shape, slot, codes, places)
    label = classify(
        entries,
        shape,
        state.counters,
        state.shares,
        config,
        mix,
        registers[NEIGHBOURS],
        min(registers[CLASSES], shape[2]),
        state.scores,
        state.logs,
        state.bayes_table,
        slot,
        places,
    )
    return np.int64(label)


@inlined
def predict(tree, leaf, label, test, bayes, weight):
    """Predict a record by its leaf's row; learn it there, but for a test; tell what is asked for."""
    out, progress, at, settings = tree.state.out, tree.state.progress, tree.at, tree.settings
    predicted = predicted_by(tree.rows, leaf, settings[BY], bayes)
    if not test:
        learn_row(tree.rows, leaf, label, settings[BY], bayes, predicted, weight)
        tree.tallies[label, predicted] = tree.tallies[label, predicted] + 1 & 0xFFFFFFFF
        at[INSTANCES] += 1
        at[HITS] += label == predicted
    if test or settings[TOLD_LABEL]:
        tree.state.events[PREDICTED] += 1
        put_label(out, progress[USED], (np.int64(LABEL), predicted, leaf))
        progress[USED] += LABEL_WORDS
    if not test and 0 < settings[MARKS] <= at[INSTANCES]:
        mark(out, progress, at)


@inner
def fail(tree, code, word):
    """The LEARN ends at a word that memory has not answered."""
    at = tree.at
    at[LEFT] = at[LEARNING] = 0
    error(tree.state.out, tree.state.progress, code, word, at[NUMBER])


@compiled
def learn(tree):
    """Learn records until the LEARN has ended, the stream stands or the board has halted, or there is no room."""
    state, nodes, at = tree.state, tree.nodes, tree.at
    entries, counts, progress, out = state.entries, state.counts, state.progress, state.out
    data, events, lo, shift = state.memory, state.events, state.lo, state.shift
    shape = counts.shape
    classes, stride, block = shape[2], at[STRIDE], tree.block
    cells = state.registers[CELLS]
    passes = (cells + state.lanes - 1) // state.lanes
    mix = mixture(state.config, cells)
    where, codes, places = state.order[:cells], state.codes[:cells], state.places[:cells]
    by = tree.settings[BY]
    inside = data.size - data.size % state.bus_bytes
    at[READY] = 0
    while at[LEFT] and not progress[HALTED] and progress[USED] + state.reserve <= out.size:
        row = at[ADDRESS]
        word, code = np.int64(-1), np.int64(0)
        apart = len(state.faults) > 0 or row + stride > inside
        if apart:
            word, code = failing_word(state, row, stride)
            if word >= 0 and row + at[REACH] > word:
                fail(tree, code, word)
                return
        if at[NEXT] == at[CODED]:
            at[NEXT], at[CODED] = 0, 1 if apart else min(BLOCK, at[LEFT], (inside - row) // stride)
            encode(tree, row, at[CODED])
        if at[MORE]:
            return
        label = np.int64(data[row + at[LABEL_AT]]) if at[LABEL_AT] >= 0 else np.int64(0)
        flags = np.int64(data[row + at[FLAGS_AT]]) if at[FLAGS_AT] >= 0 else np.int64(0)
        known = label < classes
        test, minus = flags & TEST != 0, flags & MINUS != 0
        numbered = known and not test and not minus
        weight = (flags >> WEIGHT_LOW) + 1 & MOST_WEIGHT if numbered else np.int64(1)
        late = numbered and is_late(tree)
        if known:
            own = block[at[NEXT]]
            leaf, stands, lost = walk(nodes, own, at[ROOT])
            if numbered and (late or stands):
                if not at[TOLD]:
                    say_number(out, progress, np.int64(STANDS), at[EDITS], at[NUMBER])
                at[TOLD] = 1
                return
            at[NUMBER] += numbered
            slot = np.int64(NONE) if lost else np.int64(nodes[leaf, SLOT])
            rows = gather(mix, shape, own, 0, where, codes, places)
            if not minus:
                bayes = np.int64(-1)
                if by != BY_MAJORITY:  # else nothing depends on it
                    bayes = by_bayes(state, mix, slot, codes, places)
                predict(tree, leaf, label, test, bayes, weight)
            if test:
                if slot != NONE:
                    events[NODES] += 1
                    events[BEATS] += passes
            else:
                events[RECORDS] += 1
                for copy in range(max(1, weight)):
                    node = slot
                    for _ in range(PATH_LIMIT):
                        if node == NONE:
                            break
                        if weight:
                            locate(state.config, lo, shift, mix, shape, node, codes, places)
                            count(state, node, label, minus, places, rows)
                        else:
                            events[NODES] += 1
                            events[BEATS] += passes
                        if copy + 1 >= weight and is_due(tree, node, minus, weight):
                            trial_of(tree, np.int64(node), False)
                        node = entries[node, LINK]
        else:
            events[BAD_RECORDS] += 1
        at[LEFT] -= 1
        at[ADDRESS] += stride
        at[NEXT] += 1
        if word >= 0:
            fail(tree, code, word)
            return
    at[READY] = at[LEFT] > 0 and not progress[HALTED]  # but for room
    if at[LEARNING] and not at[LEFT] and not progress[HALTED]:
        at[LEARNING] = 0
        say_number(out, progress, np.int64(LEARNT), at[EDITS], at[NUMBER])
