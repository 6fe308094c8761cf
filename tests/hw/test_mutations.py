"""One line of a block changed in a copy of the RTL: the block's bench has to see it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import bregalad_hw
import pytest

HW = Path(bregalad_hw.__file__).parent
BENCHES = Path(__file__).with_name("test_benches.py")

# File, what it says, what it says in the copy, the bench.
MUTATIONS = [
    ("array/adder.py", "else left + right", "else left - right", "bench_adder"),
    ("array/processor.py", "near.eq(ahead[0])", "near.eq(0)", "bench_processor"),
    ("array/processor.py", "Mux(ahead[2], 2, Mux(ahead[3], 3, 0))", "Mux(ahead[2], 2, 0)", "bench_processor"),
    ("array/log2.py", "clear.eq(normal[-shift:] == 0)", "clear.eq(normal[-shift:] == 1)", "bench_log2"),
    ("array/merge.py", "with m.Elif(best_moves | above_second):", "with m.Elif(best_moves):", "bench_merge"),
    ("gain/xlog2x.py", "self.width - 1 - normaliser.o_shifts", "self.width - normaliser.o_shifts", "bench_xlog2x"),
    ("mcmu/dma.py", "Mux(to_read < in_block, to_read, in_block)", "in_block", "bench_dma"),
    ("mcmu/dma.py", "(reserved + beats <= depth)", "1", "bench_dma"),
    ("mcmu/posted.py", "put.eq(free & (refused | self.i.valid))", "put.eq(free & self.i.valid)", "bench_posted"),
    ("mcmu/loader.py", "outside | (last_byte > self.memory_size)", "outside", "bench_loader"),
    (
        "mcmu/editor.py",
        "row.due.eq(own_timed & (row.since > own_limit))",
        "row.due.eq(own_timed & (row.since >= own_limit))",
        "bench_editor",
    ),
    ("mcmu/predictor.py", "Cat(best[0][1], known)", "Cat(best[0][1], 1)", "bench_predictor"),
    ("mcmu/report.py", "left_words == 2", "left_words == 1", "bench_report"),
    ("mcmu/row_memory.py", "(i.araddr[high:] != 0) * Response.DECERR", "0", "bench_row_memory"),
    ("mcmu/scheduler.py", "(arrived & (pushing.slot == slot))", "0", "bench_scheduler"),
    ("mcmu/scheduler.py", "(begun != self.snapshots)", "1", "bench_scheduler"),
    ("mcmu/tracker.py", "self.due.eq(closing & row.due)", "self.due.eq(closing)", "bench_tracker"),
    ("mcmu/rows.py", "(row.same & valid) | back", "back", "bench_tracker"),
    ("front/search.py", "sought.key >= edge.key", "sought.key > edge.key", "bench_quantiser"),
    ("front/node_table.py", "last >= self.nodes", "last > self.nodes", "bench_walker"),
    ("front/node_table.py", "edit.default >= children", "edit.default > children", "bench_walker"),
    ("front/decider.py", "is_candidate.eq(left >= right)", "is_candidate.eq(left > right)", "bench_decider"),
    ("mcmu/editor.py", "return many | Mux(none", "return Mux(none", "bench_editor"),
    ("mcmu/editor.py", "self.decides & ~mixed", "~mixed", "bench_editor"),
    (
        "front/decisions.py",
        "self.candidate_found.eq(decider.o.payload)",
        "self.candidate_found.eq(1)",
        "bench_decisions",
    ),
    (
        "front/leaf_rows.py",
        "Mux(same[1], made, Mux(same[2], older, read.data))",
        "Mux(same[1], made, read.data)",
        "bench_leaf_rows",
    ),
    ("front/cutter.py", "(want > 0)", "(want >= 0)", "bench_quantiser"),
    ("gain/scan.py", "Mux(whole, last_bin, last_bin - 1)", "last_bin - 1", "bench_gain"),
    ("front/front.py", " & walk.o.p.last", "", "bench_front"),
    ("mcmu/tracker.py", "last_copy & ~node.header.follows", "last_copy", "bench_tracker"),
    ("link/cobs.py", "full.eq(size == _BLOCK - 1)", "full.eq(size == _BLOCK)", "bench_cobs"),
    ("link/uart.py", "left == _BITS) & level", "left == _BITS) & ~level", "bench_uart"),
    ("link/window.py", "int(ReportsFlag.LAST), 0)", "0, 0)", "bench_window"),
    ("soc/lite.py", "(strobe != 0b1111)", "(strobe == 0)", "bench_lite"),
    ("soc/shared.py", "~refusing & (count == 0)", "~refusing", "bench_shared"),
    ("soc/reports.py", "whole | ended | ~open_", "whole | ~open_", "bench_reports"),
    ("array/array.py", "left.eq(longest)", "left.eq(longest - 1)", "bench_array"),
    ("link/session.py", "alive & ~self.lapsed &", "alive &", "bench_session"),
    ("registers.py", "value &= fits", "pass", "bench_registers"),
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
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", BENCHES, "-k", f"{bench}-"],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    print(found.stdout[-3000:], found.stderr[-3000:])
    assert found.returncode == 1
    assert "SystemExit" in found.stdout, "no bench has failed"  # but something else has
