"""One line of a block changed in a copy of the RTL: the block's bench has to see it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import bregalad_hw
import pytest

HW = Path(bregalad_hw.__file__).parent
TESTS = Path(__file__).parent

# File, what it says, what it says in the copy, the bench's test.
MUTATIONS = [
    ("array/adder.py", "else left + right", "else left - right", "test_array.py -k test_adder"),
    ("array/processor.py", "near.eq(ahead[0])", "near.eq(0)", "test_blocks.py -k test_processor"),
    (
        "array/processor.py",
        "Mux(ahead[2], 2, Mux(ahead[3], 3, 0))",
        "Mux(ahead[2], 2, 0)",
        "test_blocks.py -k test_processor",
    ),
    ("array/log2.py", "clear.eq(normal[-shift:] == 0)", "clear.eq(normal[-shift:] == 1)", "test_array.py -k test_log2"),
    (
        "array/merge.py",
        "with m.Elif(best_moves | above_second):",
        "with m.Elif(best_moves):",
        "test_blocks.py -k test_merge",
    ),
    (
        "gain/xlog2x.py",
        "self.width - 1 - normaliser.o_shifts",
        "self.width - normaliser.o_shifts",
        "test_array.py -k test_xlog2x",
    ),
    ("mcmu/dma.py", "Mux(to_read < in_block, to_read, in_block)", "in_block", "test_mcmu.py -k test_dma"),
    ("mcmu/dma.py", "(reserved + beats <= depth)", "1", "test_mcmu.py -k test_dma"),
    (
        "mcmu/posted.py",
        "put.eq(free & (refused | self.i.valid))",
        "put.eq(free & self.i.valid)",
        "test_mcmu.py -k test_posted",
    ),
    ("mcmu/loader.py", "outside | (last_byte > self.memory_size)", "outside", "test_mcmu.py -k test_loader"),
    (
        "mcmu/editor.py",
        "row.due.eq(own_timed & (row.since > own_limit))",
        "row.due.eq(own_timed & (row.since >= own_limit))",
        "test_mcmu.py -k test_editor",
    ),
    ("mcmu/predictor.py", "Cat(best[0][1], known)", "Cat(best[0][1], 1)", "test_blocks.py -k test_predictor"),
    ("mcmu/report.py", "left_words == 2", "left_words == 1", "test_blocks.py -k test_report"),
    ("mcmu/row_memory.py", "(i.araddr[high:] != 0) * Response.DECERR", "0", "test_mcmu.py -k test_row_memory"),
    ("mcmu/scheduler.py", "(arrived & (pushing.slot == slot))", "0", "test_blocks.py -k test_scheduler"),
    ("mcmu/scheduler.py", "(begun != self.snapshots)", "1", "test_blocks.py -k test_scheduler"),
    ("mcmu/tracker.py", "self.due.eq(closing & row.due)", "self.due.eq(closing)", "test_blocks.py -k test_tracker"),
    ("mcmu/rows.py", "(row.same & valid) | back", "back", "test_blocks.py -k test_tracker"),
    ("front/search.py", "sought.key >= edge.key", "sought.key > edge.key", "test_front_quantiser.py -k test_quantiser"),
    ("front/node_table.py", "last >= self.nodes", "last > self.nodes", "test_walker.py -k test_matches_golden"),
    (
        "front/node_table.py",
        "edit.default >= children",
        "edit.default > children",
        "test_walker.py -k test_matches_golden",
    ),
    (
        "front/decider.py",
        "is_candidate.eq(left >= right)",
        "is_candidate.eq(left > right)",
        "test_decider.py -k test_decider",
    ),
    ("mcmu/editor.py", "return many | Mux(none", "return Mux(none", "test_mcmu.py -k test_editor"),
    ("mcmu/editor.py", "self.decides & ~mixed", "~mixed", "test_mcmu.py -k test_editor"),
    (
        "front/decisions.py",
        "self.candidate_found.eq(decider.o.payload)",
        "self.candidate_found.eq(1)",
        "test_decider.py -k test_decisions",
    ),
    (
        "front/leaf_rows.py",
        "Mux(same[1], made, Mux(same[2], older, read.data))",
        "Mux(same[1], made, read.data)",
        "test_leaf_rows.py -k test_leaf_rows",
    ),
    ("front/cutter.py", "(want > 0)", "(want >= 0)", "test_front_quantiser.py -k test_quantiser"),
    ("gain/scan.py", "Mux(whole, last_bin, last_bin - 1)", "last_bin - 1", "test_array.py -k test_gain"),
    ("front/front.py", " & walk.o.p.last", "", "test_front.py -k test_front"),
    ("mcmu/tracker.py", "last_copy & ~node.header.follows", "last_copy", "test_blocks.py -k test_tracker"),
    ("link/cobs.py", "full.eq(size == _BLOCK - 1)", "full.eq(size == _BLOCK)", "test_link.py -k test_cobs"),
    ("link/uart.py", "left == _BITS) & level", "left == _BITS) & ~level", "test_link.py -k test_uart"),
    ("link/window.py", "int(ReportsFlag.LAST), 0)", "0, 0)", "test_link.py -k test_window"),
    ("soc/lite.py", "(strobe != 0b1111)", "(strobe == 0)", "test_soc.py -k test_registers"),
    ("soc/shared.py", "~refusing & (count == 0)", "~refusing", "test_soc.py -k test_shared"),
    ("soc/reports.py", "whole | ended | ~open_", "whole | ~open_", "test_soc.py -k test_reports"),
    ("array/array.py", "left.eq(longest)", "left.eq(longest - 1)", "test_array.py -k test_array"),
    ("link/session.py", "alive & ~self.lapsed &", "alive &", "test_link.py -k test_session"),
    ("registers.py", "value &= fits", "pass", "test_blocks.py -k test_registers"),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    "file, line, other, bench", MUTATIONS, ids=[f"{file}-{other}" for file, _, other, _ in MUTATIONS]
)
def test_the_bench_sees_it(file, line, other, bench, tmp_path):
    copy = tmp_path / HW.name
    shutil.copytree(HW, copy)
    text = (copy / file).read_text()
    assert text.count(line) == 1, f"{file} has {line!r} {text.count(line)} times"
    (copy / file).write_text(text.replace(line, other))
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    name, *which = bench.split()
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", TESTS / name, *which],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    print(found.stdout[-3000:], found.stderr[-3000:])
    assert found.returncode == 1
    assert "SystemExit" in found.stdout, "no bench has failed"  # but something else has
