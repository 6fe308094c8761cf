"""Statistics that are not on the chip lie in memory: the tree is the same, whatever has room."""

import pytest
from bregalad import Geometry
from bregalad.boards.base import BoardError
from bregalad.protocol.pages import PageLayout, page_bytes
from bregalad.protocol.reports import ErrorCode
from bregalad_sim.tree_lockstep import SIZES, SMALL, run
from marks import nightly
from models import TREE
from test_tree_accelerator import WithRtl, opens

PAGED = SMALL.replace(resident=2)


class WithPages(WithRtl):
    """Now and then memory does not answer for some of the pages' words, for a while."""

    moved = failed = 0

    def learn(self):
        super().learn()
        size, word = page_bytes(self.geometry), self.geometry.bus_bytes
        if self.rng.random() < 0.3:
            self.finish()
            words = [len(self.memory.data) + word * self.rng.randrange(size // word) for _ in range(20)]
            self.board.faults = dict.fromkeys(words, self.rng.choice([ErrorCode.SLAVE, ErrorCode.DECODE]))
            try:
                self.changes(10)
                self.compare()
            except BoardError as error:
                assert "page" in str(error)
                self.failed += 1
            self.board.faults = {}
            self.finish()

    def look(self):
        super().look()
        self.moved += self.board.read("page_bytes.count")


def test_sizes_of_a_page():
    """2 passes have 66 items; 16 lanes of 16 bits fill a word of 256; a beat is 16 codes, 3 bits."""
    wide = Geometry(lanes=16, passes=2, bus_width=256, slots=4096, nodes=4096, resident=64, count_width=16)
    pages = PageLayout(wide)
    assert (pages.words(2), pages.beat_words) == (66, 1)
    assert (pages.size_words, pages.log_beats, pages.total_bytes) == (256, 190, 4096 * 256 * 32)
    assert PageLayout(wide.replace(lanes=4)).words(2) == 17  # four in a word
    assert PageLayout(wide.replace(count_width=18)).words(2) == 132  # two words


@pytest.mark.parametrize(
    "geometry, rounds", [(TREE, 6), *nightly(*((PAGED.replace(**changes), 8) for changes in SIZES))], ids=str
)
def test_rtl_with_pages_does_what_the_golden_model_does(geometry, rounds, seed):
    """The golden model knows no pages: neither commands nor reports tell of them."""
    both = WithPages(geometry, seed, opens)
    for _ in range(rounds):
        both.round(8)
    both.close()
    assert both.moved and all(both.seen.values()), both.seen


@pytest.mark.slow
def test_many_random_sequences(seed):
    for each in range(30):
        run(PAGED.replace(resident=2 + each % 3), seed + each, 10, opens, kind=WithPages)


def test_memory_that_does_not_answer_for_a_page_is_told(seed):
    """Nothing is lost: once memory answers the board goes on, and the counts are the golden model's."""
    both = WithPages(TREE, seed, opens)
    both.round(2)
    size = page_bytes(both.geometry)
    both.board.faults = dict.fromkeys(
        range(len(both.memory.data), len(both.memory.data) + size, both.geometry.bus_bytes), ErrorCode.SLAVE
    )
    with pytest.raises(BoardError, match="memory does not answer for a page of statistics"):
        both.look()
    both.board.faults = {}
    both.look()
    both.close()
