"""The tree on the board: records in, candidates out; what the front and the array do together.

One order of records; all that happens follows from it. A record goes down the tree, its leaf predicts, and the array
counts it. Within a block the tree stays as it is. What is due is tried at the block's end. If the decider says that a
node is kept, that is all. Else the attempt is a *candidate*: the host is told, and answers before the next block's end.
"""

from collections import deque

import numpy as np
from bregalad.geometry import NONE
from bregalad.protocol import reports
from bregalad.protocol.commands import PATH_LIMIT, RecordFlag
from bregalad.protocol.reports import AttemptFlag, Kind
from bregalad.protocol.rows import weight_of
from bregalad.protocol.tree import DUE, TREE_REPORTS, TreeKind, mixed

from .candidates import Candidate, top
from .decider import Attempt, is_candidate
from .leaf_rows import LeafRows
from .memory import BusError
from .quantiser import GoldenQuantiser
from .slots import Slots
from .walker import NodeTable, Walker


class Tree(Slots):
    """Records, blocks and attempts; commands are what changes and reads all this: see `Golden`.

    Parameters
    ----------
    geometry : Geometry

    Source: Domingos and Hulten, KDD 2000, table 1, by blocks (docs/learners.md); host/bregalad/protocol/tree.py.
    """

    def __init__(self, geometry):
        super().__init__(geometry)
        self.quantiser = GoldenQuantiser(geometry)
        self.table = NodeTable(geometry.nodes, geometry.max_cells, geometry.slots, geometry.alternates)
        self.rows = LeafRows(geometry, geometry.nodes)
        self.halted = False
        self.number = self.begun = 0  # numbered records learnt: all, and as of the block's beginning
        self.end = self.length = 1  # number of the block's last record; records of the blocks behind it
        self.first, self.slots = 0, geometry.slots  # of the tree in turn
        self._walker = Walker(self.table)
        self._due_slots, self._all_due = [], False  # in the order in which they became due; there may be others
        self._owed = self._tried = False  # something is proposed; the block's end is over but for what is owed
        self._records = deque()  # of the LEARN under way
        self._learning = self._held = False  # it is; it waits for GO
        self._reports = []

    # Reports

    def _report(self, layout, **values):
        self._reports.append(layout.pack(**values))

    def _emit(self, kind, **values):
        self._report(TREE_REPORTS[kind], kind=kind, **values)

    def _error(self, code, address, count):
        self._report(reports.ERROR, kind=Kind.ERROR, flags=code, address=address, count=count)
        self.halted = True

    # Blocks

    def _run(self):
        """Learn what comes before the board waits for GO."""
        while not self.halted and not self._held:
            if self.number == self.end:
                self._end_block()
                continue
            if not self._records:
                break
            if isinstance(self._records[0], BusError):
                error = self._records.popleft()
                self._learning = False
                self._error(error.code, error.address, self.number)
                return
            codes, label, flags, root = self._records.popleft()
            if label >= self.geometry.classes:
                self.events["bad_records"] += 1
            else:
                self._record(codes, label, flags, root)
        if self._learning and not self.halted and not self._held:
            self._learning = False
            since, left = self.number - self.begun & 0xFFFF, self.end - self.number - 1 & 0xFFFF
            self._emit(TreeKind.LEARNT, since=since, number=self.number, left=left)

    def _end_block(self):
        """Go on with a block's end, up to where it waits for GO."""
        if not self._tried:
            if self._hold(self._owed):
                return
            self._try_due()
            self._owed |= bool(self.fields["block.waits"])
            self._tried = True
        if self._hold(self._owed and self.fields["block.at_once"]):
            return
        self._tried = False
        self.begun, self.end = self.end, self.end + self.length & 0xFFFFFFFF

    def _hold(self, holds):
        if holds:
            self._held = True
            self._emit(TreeKind.BLOCK, number=self.number)
        return holds

    def _try_due(self):
        """Try the slots that are due."""
        due, all_due = self._due_slots, self._all_due
        self._due_slots, self._all_due = [], False
        for slot in range(self.first, self.first + self.slots) if all_due else due:
            if self.entries[slot].due:
                self._attempt(slot)

    # Records

    def _record(self, codes, label, flags, root):
        test, minus = bool(flags & RecordFlag.TEST), bool(flags & RecordFlag.MINUS)
        self.number = self.number + (not (test or minus)) & 0xFFFFFFFF
        weight = 1 if test or minus else weight_of(flags)
        for item in self._walker.traverse(codes, root):
            self._reach(item, codes[: self.cells_in_use], label, test, minus, weight)

    def _reach(self, item, codes, label, test, minus, weight):
        """A record comes to a leaf."""
        leaf, slot, alternate = item["node"], item["slot"], item["alternate"]
        bayes = self._bayes(slot, codes)
        rows = self._rows_now()
        if not minus:
            result = rows.record(leaf, label, test=test, alternate=alternate, bayes=bayes, weight=weight)
            if result is not None and result.reported:
                self.events["predictions"] += 1
                self._emit(TreeKind.LABEL, label=result.label, node=leaf)
        if test:
            if slot != NONE:
                self._only_read(slot, label, codes)
            return
        self.events["records"] += 1
        if slot != NONE:
            self._count_path(slot, label, minus, codes, weight)

    def _count_path(self, slot, label, minus, codes, weight):
        """Count an instance at its slot and at all that links lead to, as often as it weighs; attempts come behind."""
        for left in reversed(range(max(1, weight))):
            at = slot
            for _ in range(PATH_LIMIT):
                if weight:
                    self._count(at, label, minus, codes)
                else:
                    self._only_read(at, label, codes)
                if not left and self._due(self.entries[at], minus, weight):
                    self._become_due(at)
                at = self.entries[at].link
                if at == NONE:
                    break

    def _due(self, entry, minus, weight):
        """Whether an instance makes a slot due that has counted it as often as it weighs: not if it is."""
        every, period = self.fields["every.records"], self._period_of(entry)
        asked = entry.inner and every > 0 and self.number % every == 0
        counted = weight > 0 and bool(period) and entry.since >= period
        return not minus and not entry.due and (asked or counted)

    def _become_due(self, slot):
        self.entries[slot].due = True
        if len(self._due_slots) < DUE:
            self._due_slots.append(slot)
        else:
            self._all_due = True

    def _bayes(self, slot, codes):
        """The class by naive Bayes, None if the slot knows none, or is an inner node's, above the leaf."""
        if not self.geometry.naive_bayes or slot == NONE:
            return None
        entry = self.entries[slot]
        if entry.inner or not entry.n:
            return None
        scores = self._scores(slot, codes)
        return scores.index(max(scores))

    # Attempts

    def _attempt(self, slot):
        """Decide; a candidate if it may change the tree."""
        entry = self.entries[slot]
        if self._is_candidate(entry, slot):
            self._owed = True
            self._emit(TreeKind.SPLIT_CANDIDATE, slot=slot, number=self.number)
            self._report_attempt(slot)
        entry.since = 0
        entry.halved = entry.underflow = False
        entry.due, entry.tried, entry.tried_at = False, True, self.number
        self.events["attempts"] += 1

    def _report_attempt(self, slot):
        g = self.geometry
        entry = self.entries[slot]
        candidates = self._candidates(slot)
        head = {"flags": attempt_flags(entry), "slot": slot, "n": entry.n, "class_counts": entry.class_counts}
        if self.fields["report.all"]:
            data = b"".join(reports.CANDIDATE.pack(**_shown(candidate)) for candidate in candidates)
            self._report(
                reports.gains_layout(g, self.cells_in_use),
                kind=Kind.GAINS,
                **head,
                candidates=np.frombuffer(data, "<u4"),
            )
        else:
            best, second, current = top(candidates, entry.current)
            named = {
                f"{name}_{key}": value
                for name, candidate in (("best", best), ("second", second), ("current", current))
                for key, value in _shown(candidate).items()
            }
            self._report(
                reports.top_candidates_layout(g),
                kind=Kind.TOP_CANDIDATES,
                **head,
                **named,
                left=best.left or [0] * g.classes,
            )

    def _is_candidate(self, entry, slot):
        if not self.fields["decider.decides"] or self.fields["report.all"]:  # GAINS are not decided
            return True
        several = entry.halved or mixed(entry.only, entry.class_counts)
        candidates = top(self._candidates(slot), entry.current)
        return is_candidate(
            self.fields, Attempt(entry.n, entry.inherited, entry.all_up_to, several, entry.inner, *candidates)
        )

    def _rows_now(self):
        """The leaf rows, with what registers say."""
        rows = self.rows
        rows.by, rows.reported = self.fields["leaf_predictor.by"], bool(self.fields["leaf_predictor.reported"])
        return rows


def attempt_flags(entry):
    """What an attempt's report says of a slot's entry."""
    return sum(flag * getattr(entry, flag.name.lower()) for flag in AttemptFlag)


def _shown(candidate):
    """The fields of a candidate, None or one that is not valid among them, as reports have them."""
    known = candidate if candidate is not None and candidate.valid else Candidate()
    return {field.name: getattr(known, field.name) for field in reports.CANDIDATE.fields}
