"""The golden model's slots: what they count, and what attempts and naive Bayes make of it."""

from bregalad.fixed import BAYES_BINS
from bregalad.geometry import MISSING
from bregalad.protocol.registers import CONFIGURATION, EVENTS, CellKind
from bregalad.protocol.tree import TREE_REGISTERS

from .bayes import scores_of
from .candidates import gain_of, join
from .state import Cell, Entry


class Slots:
    """Rows, bins and bin window of all slots, and what is configured of cells and classes.

    Records are what changes them: see `Tree`.

    Parameters
    ----------
    geometry : Geometry

    Source: design, sections 4 and 5.
    """

    def __init__(self, geometry):
        self.geometry = g = geometry
        self.fields = {}  # run-time configuration
        for register in (*CONFIGURATION, *TREE_REGISTERS):
            for reg_field in register.fields:
                self.fields[f"{register.name}.{reg_field.name}"] = reg_field.reset
        self.cells = [Cell() for _ in range(g.max_cells)]
        self.entries = [self._entry() for _ in range(g.slots)]
        # counts[slot][cell][bin][class], bin_window[slot][cell] = (lo, shift)
        self.counts = [[self._bins() for _ in range(g.max_cells)] for _ in range(g.slots)]
        self.bin_window = [[(0, g.root_shift)] * g.max_cells for _ in range(g.slots)]
        self.events = dict.fromkeys(EVENTS, 0)

    @property
    def cells_in_use(self):
        """d: codes of a record."""
        return self.fields["cells.count"]

    def _bins(self):
        return [[0] * self.geometry.classes for _ in range(self.geometry.bins)]

    def _entry(self):
        return Entry([0] * self.geometry.classes)

    def _clear(self, slot):
        g = self.geometry
        self.entries[slot] = self._entry()
        self.counts[slot] = [self._bins() for _ in range(g.max_cells)]
        self.bin_window[slot] = [(0, g.root_shift)] * g.max_cells

    # Counting

    def _count(self, slot, label, minus, codes):
        """Update one node with an instance."""
        g = self.geometry
        entry = self.entries[slot]
        if not minus:
            if entry.n == g.count_max:
                self._halve(slot)
            entry.n += 1
            entry.class_counts[label] = (entry.class_counts[label] + 1) & g.count_max
            entry.since = (entry.since + 1) & 0xFFFFFF
        elif entry.class_counts[label] and entry.n:
            entry.n -= 1
            entry.class_counts[label] -= 1
        else:
            entry.underflow = True
        for first in range(0, len(codes), g.lanes):
            beat = range(first, min(first + g.lanes, len(codes)))
            stuck = [self._count_cell(slot, cell, codes[cell], label, minus) for cell in beat]
            self.events["clamped"] += any(stuck)
            self.events["beats"] += 1
        self.events["nodes"] += 1

    def _only_read(self, slot, label, codes):
        """A node that a record reaches, and that does not count it."""
        self.events["nodes"] += 1
        self.events["beats"] += self.geometry.passes_for(len(codes))

    def _count_cell(self, slot, cell, code, label, minus):
        """Count one code; True if the counter could not move."""
        index = self._bin(slot, cell, code)
        if index is None:
            return False
        counts = self.counts[slot][cell][index]
        limit = 0 if minus else self.geometry.count_max
        if counts[label] == limit:
            return True
        counts[label] += -1 if minus else 1
        return False

    def _bin(self, slot, cell, code):
        """The bin that counts a code, None if it is not counted."""
        config = self.cells[cell]
        last = self.geometry.bins - 1
        if code == MISSING or config.kind == CellKind.IGNORED:
            return None
        if config.kind == CellKind.NUMERIC:
            lo, shift = self.bin_window[slot][cell]
            return min(max(code - lo, 0) >> shift, last)
        value = code - config.base
        if 0 <= value <= (last - 1 if config.other else last):
            return value
        return last if config.other else None

    def _halve(self, slot):
        entry = self.entries[slot]
        entry.n >>= 1
        entry.class_counts = [count >> 1 for count in entry.class_counts]
        entry.halved = True
        for bins in self.counts[slot]:
            for counts in bins:
                counts[:] = [count >> 1 for count in counts]
        self.events["halvings"] += 1

    # Attempts

    def _period_of(self, entry):
        """Instances between attempts of a slot; 0: it is never tried."""
        return entry.period or self.fields["inner_grace.inner" if entry.inner else "grace.leaf"]

    def _candidates(self, slot):
        """Per cell in use: an attribute's candidate at its last cell, None elsewhere."""
        g = self.geometry
        cells = self.cells[: self.cells_in_use]
        classes = self.fields["classes.count"]
        parts = [gain_of(g, cell, config, self.counts[slot][cell], classes) for cell, config in enumerate(cells)]
        return join(g, cells, parts)

    # Naive Bayes

    def _scores(self, slot, codes):
        """Every class's naive Bayes score at a slot."""
        bins = [self._own_bin(slot, cell, code) for cell, code in enumerate(codes)]
        words = [self._words(slot, cell, index) for cell, index in enumerate(bins) if index is not None]
        return scores_of(self.entries[slot].class_counts, words, self.fields["classes.count"])

    def _words(self, slot, cell, index):
        """What a cell counts in a value's bin and in those beside it; in it alone three times."""
        counts = self.counts[slot][cell]
        if not self.fields["report.neighbours"] or self.cells[cell].kind != CellKind.NUMERIC:
            return [counts[index]] * BAYES_BINS
        nothing = [0] * self.geometry.classes
        below = counts[index - 1] if index else nothing
        above = counts[index + 1] if index + 1 < len(counts) else nothing
        return [counts[index], below, above]

    def _own_bin(self, slot, cell, code):
        """The bin of a code, None if its value is missing or counted by another cell."""
        index = self._bin(slot, cell, code)
        config = self.cells[cell]
        shared = config.other and config.kind != CellKind.NUMERIC
        return None if shared and index == self.geometry.bins - 1 else index
