"""Pages: where the statistics of slots lie in a board's memory while they are not on the chip.

With `Geometry.resident` the array has room for the statistics of so many slots at a time. Those of every slot have a
page in memory, all pages behind each other at its end. A page has the bin windows of all cells, and then their counts.
What all lanes have of a pass, a bin and a class lies together, in whole bus words, or several in one. Behind them is a
log: beats that wait to be counted until the page is on the chip again.
"""

from dataclasses import dataclass
from functools import cached_property

from ..geometry import CODE_WIDTH, Geometry


@dataclass(frozen=True)
class PageLayout:
    """Sizes of the pages of a geometry with ``resident``."""

    geometry: Geometry

    @property
    def item_bits(self) -> int:
        """Of what all lanes have of a pass, a bin and a class: W bits each, for a bin window, too."""
        return self.geometry.lanes * self.geometry.count_width

    @property
    def word_items(self) -> int:
        """Items in a bus word; 1 where an item takes more than one."""
        return max(1, self.geometry.bus_width // self.item_bits)

    @property
    def item_words(self) -> int:
        """Bus words of so many items."""
        return -(-self.item_bits // self.geometry.bus_width)

    def words(self, passes: int) -> int:
        """Bus words of the bin windows and counts of so many passes."""
        items = passes * (1 + self.geometry.bins * self.geometry.classes)
        return -(-items // self.word_items) * self.item_words

    @cached_property
    def beat_bits(self) -> int:
        """Of a beat in the log: its codes, its pass and class, and whether it takes back."""
        g = self.geometry
        return CODE_WIDTH * g.lanes + max(1, (g.passes - 1).bit_length()) + (g.classes - 1).bit_length() + 1

    @cached_property
    def beat_words(self) -> int:
        """Bus words of a beat in the log."""
        return -(-self.beat_bits // self.geometry.bus_width)

    @cached_property
    def size_words(self) -> int:
        """Bus words from a page to the next: a power of two, half of it or more for the statistics."""
        return 1 << (max(self.words(self.geometry.passes), self.beat_words) * 2 - 1).bit_length()

    @cached_property
    def log_beats(self) -> int:
        """Beats that a log holds."""
        return (self.size_words - self.words(self.geometry.passes)) // self.beat_words

    @property
    def total_bytes(self) -> int:
        """Of memory that the pages of all slots take."""
        return self.geometry.slots * self.size_words * self.geometry.bus_bytes


def page_bytes(geometry: Geometry) -> int:
    """Bytes at a memory's end that pages take; 0 where the chip holds all statistics."""
    return PageLayout(geometry).total_bytes if geometry.resident else 0
