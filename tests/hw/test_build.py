"""Bitstreams: one whole build of the smallest geometry, and what is refused."""

import json
import os
import re
import signal
import subprocess
import sys
import zipfile
from dataclasses import replace

import pytest
from bregalad.geometry import PRESETS, Geometry
from bregalad_hw.boards import BOARDS
from bregalad_hw.build import synthesis, tools
from bregalad_hw.build.bitstream import _clocks, alone_in, build
from bregalad_hw.build.families import ECP5
from bregalad_hw.build.report import describe_path, table
from bregalad_hw.build.routing import is_stuck, most_promising_first, place_and_route
from bregalad_hw.build.synthesis import _check_size, synthesise
from bregalad_hw.build.tools import BuildError, tool
from models import LEAST, words


def program(folder, monkeypatch, name, does):
    """A tool that does something else than its own."""
    path = folder / name
    path.write_text(f'#!/bin/sh\ntest "$1" = --version && exit\n{does}\n')
    path.chmod(0o755)
    monkeypatch.setenv(name.upper().replace("-", "_"), str(path))


def step(kind, delay, start, end):
    """Of a path in nextpnr's report."""
    return {"type": kind, "delay": delay, "from": {"cell": start}, "to": {"cell": end}}


def test_only_the_plls_clocks_were_asked_for_more():
    """The transceiver's was not, though the others are aimed at just what it has."""
    timing = {
        "critical_paths": [],
        "fmax": {
            "$glbnet$networked.clk": {"constraint": 125.0, "achieved": 126.0},
            "$glbnet$networked.ethernet.sys_clk": {"constraint": 125.0, "achieved": 70.0},
            "$glbnet$networked.ethernet.eth_rx_clk": {"constraint": 125.0, "achieved": 126.0},
        },
    }
    assert {name: clock["asked"] for name, clock in _clocks(timing, 2).items()} == {
        "array": 62.5,
        "sys_clk": 62.5,
        "eth_rx_clk": 125,
    }


def test_a_project_for_vivado(tmp_path, cli):
    """Everything that the project's script names is in the archive, whatever the day."""
    arguments = ["build", "arty-a7-35", "--geometry", *words(LEAST), "--output", tmp_path]
    others = [tmp_path / name for name in ("top.bit", "report.json", "report.txt", "top.svf")]
    for other in others:
        other.write_text("of another board")
    assert str(tmp_path / "top.zip") in cli(arguments).out
    assert not any(other.exists() for other in others)
    archive = (tmp_path / "top.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "top.zip") as zipped:
        files = {name: zipped.read(name).decode() for name in zipped.namelist()}
    script = files["top.tcl"]
    named = re.findall(r"^ *(?:add_files|read_xdc) \"?([\w.]+)\"?$", script, re.MULTILINE)
    assert sorted(named) == ["board.xdc", "top.sv", "top.xdc"] and set(named) < set(files)
    assert "-part xc7a35ticsg324-1L" in script and "-keep_equivalent_registers" in script
    assert re.search(r"create_clock -name clk100_0__io -period 10\.0 ", files["top.xdc"])
    assert re.search(r"^module top\(", files["top.sv"], re.MULTILINE)
    # Ports that a constraint names are ports of the design.
    ports = re.findall(r"get_ports \"?(\w+)", files["top.xdc"] + files["board.xdc"])
    assert len(ports) > 7 and all(
        re.search(rf"^ *(in|out)put (wire )?{port}\b", files["top.sv"], re.MULTILINE) for port in ports
    )
    (tmp_path / BOARDS["arty-a7-35"].bitstream).write_text("of an older one")
    cli(arguments)
    assert (tmp_path / "top.zip").read_bytes() == archive
    assert not (tmp_path / BOARDS["arty-a7-35"].bitstream).exists()


@pytest.mark.parametrize(
    "board, counts, message",
    [
        ("ulx3s-12f", {"DP16KD": 57}, "does not fit ulx3s-12f: it needs 57 block RAMs of 56"),
        (
            "tang-nano-20k",
            {"SDPX9B": 46, "DPX9B": 1, "MULT18X18": 47, "MULT9X9": 3, "LUT1": 5, "LUT4": 15000, "ALU": 5731}
            | {"RAM16SDP4": 1, "DFFRE": 9000, "DFF": 6553},
            "47 block RAMs of 46, 49 multipliers of 48, 20744 LUTs .* 15553 .*; fewer lanes",
        ),
    ],
)
def test_what_does_not_fit(board, counts, message):
    cells = {f"{kind}{i}": {"type": kind} for kind, count in counts.items() for i in range(count)}
    with pytest.raises(BuildError, match=message):
        _check_size(BOARDS[board], {"modules": {"top": {"cells": cells}}})


def test_block_rams_go_first_to_what_needs_them(tmp_path, monkeypatch):
    """What the catalogue puts into them without need is in distributed RAMs where all do not fit."""
    tried = []

    def netlist(board, top, folder, block_rams, say):
        tried.append(block_rams)
        cells = {str(i): {"type": "DP16KD"} for i in range(57 if block_rams else 33)}
        return {"modules": {"top": {"cells": cells}}}

    monkeypatch.setattr(synthesis, "_netlist", netlist)
    monkeypatch.setattr(ECP5, "finish", lambda *_: None)
    board = BOARDS["colorlight-5a-75b"]
    made = json.loads(synthesise(board, None, tmp_path).read_text())
    assert tried == [board.block_rams, ()] and len(made["modules"]["top"]["cells"]) == 33


@pytest.mark.parametrize(
    "faults, stuck",
    [
        ([], False),
        ([900, 40, 7, 0], False),
        ([900] + [7] * 200, False),
        ([900] + [7] * 201, True),
        ([900, 3] + list(range(4, 204)), True),
        (list(range(5000, 100, -1)), False),
        ([700] + [1500] * 9, False),
        ([700] + [1500] * 10, True),
        ([7] + [90] * 50, False),
        ([700] + [1300] * 50, False),
    ],
)
def test_a_router_that_comes_to_nothing(faults, stuck):
    log = "Info:     iter={} wires=9 overused={} overuse=77 tmgfail={} archfail=NA\n"
    lines = (log.format(i, count - count // 2, count // 2) for i, count in enumerate(faults))
    assert is_stuck("".join(lines)) is stuck


@pytest.mark.parametrize("rounds, stuck", [(1000, False), (1200, True)])
def test_a_router_that_lacks_nothing_but_slack_may_end(rounds, stuck):
    assert is_stuck("iter=1 wires=9 overused=0 overuse=0 tmgfail=5 archfail=NA\n" * rounds) is stuck


@pytest.mark.slow
def test_a_gowin_whose_clock_is_missed(tmp_path, monkeypatch):
    """Each tool is called once, in turn, with what its family has; but the last is not."""
    device = "--device GW2AR-LV18QN88C8/I7 --vopt family=GW2A-18C --vopt cst=top.cst"
    long = step("clk-to-q", 18.7, "linked.uart.due_DFFRE_Q", "linked.uart.bits_DFF_Q_1")
    timing = {
        "fmax": {"clk": {"constraint": 81, "achieved": 53.5}, "pll.early_clk": {"constraint": 81, "achieved": 900}},
        "critical_paths": [{"from": "posedge clk", "to": "posedge clk", "path": [long]}],
        "utilization": {
            "DFF": {"used": 5, "available": 15552},
            "LUT4": {"used": 7, "available": 20736},
            "OSC": {"used": 0},
        },
    }
    (tmp_path / "timing").write_text(json.dumps(timing))
    netlist = {"modules": {"top": {"cells": {"a": {"type": "DFF"}}}}}
    for name, does in (
        ("yosys", f"echo '{json.dumps(netlist)}' > top.syn.json"),
        ("nextpnr-himbaechel-gowin", f"cp {tmp_path}/timing timing.json; touch top.pnr.json"),
        ("gowin_pack", "touch top.fs"),
    ):
        program(tmp_path, monkeypatch, name, f'echo "{name}" "$@" >> {tmp_path}/called\n{does}')
    board, folder = BOARDS["tang-nano-20k"], tmp_path / "out"
    with pytest.raises(
        BuildError, match="reaches 53.5 MHz, not 81, .*: 18.7 ns, 0.0 .* from due in uart to bits in uart"
    ):
        build(board, LEAST, output=folder, say=lambda text: None)
    report = json.loads((folder / "report.json").read_text())
    assert not report["met"] and report["device"] == "GW2AR-18C" and report["grade"] == "C8/I7"
    assert "flip-flops            5 of  15552" in table(report)
    called = [line.split(" ", 1) for line in (tmp_path / "called").read_text().splitlines()]
    assert [name for name, _ in called] == ["yosys", "nextpnr-himbaechel-gowin"]
    assert device in called[1][1] and "--freq 81.000 --timing-allow-fail --seed 1" in called[1][1]
    assert not (folder / "top.fs").exists()
    timing["fmax"]["clk"]["achieved"] = 81.5
    (tmp_path / "timing").write_text(json.dumps(timing))
    build(board, LEAST, output=folder, say=lambda text: None)
    assert (tmp_path / "called").read_text().splitlines()[-1] == "gowin_pack -d GW2A-18C -o top.fs top.pnr.json"
    assert (folder / "top.fs").exists()
    program(tmp_path, monkeypatch, "gowin_pack", "echo half > top.fs; exit 1")
    with pytest.raises(BuildError, match="gowin_pack failed"):
        build(replace(board, margin=1.04), LEAST, output=folder, say=lambda text: None)
    assert "--freq 84.240 " in (tmp_path / "called").read_text().splitlines()[-1]
    assert json.loads((folder / "report.json").read_text())["clock_mhz"]["asked"] == 81
    assert not (folder / "top.fs").exists()  # a part of a bitstream


def test_a_clock_out_of_reach_is_routed_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(tools, "_LOOK", 0.05)
    monkeypatch.setattr(tools, "_LOG_EVERY", 0)
    (tmp_path / "build_top.sh").write_text(
        'echo "$SEED: $STEP_OPTIONS" >> done\n'
        'case "$STEP_OPTIONS" in *ripup*) ;; *) exit 0 ;; esac\n'
        'echo "Info: Routing.." > top.tim\n'
        "sleep 0.3\n"
        'while true; do echo "Info:     iter=1 x overused=8 y tmgfail=8 z" >> top.tim; done\n'
    )
    said = []
    place_and_route(ECP5(), tmp_path, 3, "static", said.append)
    assert "nextpnr-ecp5: Routing" in said
    assert (tmp_path / "done").read_text().splitlines() == [
        f"3: --placer static --router router2{option} --report timing.json" for option in (" --tmg-ripup", "")
    ]


def test_a_tool_that_fails(tmp_path, monkeypatch):
    """What goes on is told with the time; an older build's error is not."""
    (tmp_path / "build_top.sh").write_text('echo "ERROR: no such cell" >&2; exit 1\n')
    with pytest.raises(BuildError, match="nextpnr-ecp5 failed: ERROR: no such cell"):
        place_and_route(ECP5(), tmp_path, 3, "heap")
    program(tmp_path, monkeypatch, "yosys", 'echo "ERROR: now" >&2; exit 1')
    (tmp_path / "top.tim").write_text("ERROR: long ago\n")
    said = []
    with pytest.raises(BuildError, match="yosys failed: ERROR: now"):
        build(BOARDS["ulx3s-12f"], LEAST, output=tmp_path, say=said.append)
    assert said and all(re.match(r"  0:\d\d ulx3s-12f: synthesis of ", text) for text in said)


def test_one_build_at_a_time_in_a_folder(tmp_path, cli):
    (tmp_path / "top.bit").write_text("the other one's")
    with alone_in(tmp_path):
        error = cli(f"build ulx3s-12f --output {tmp_path}", 1).err
    assert f"another build works in {tmp_path}: wait for it" in error
    assert (tmp_path / "top.bit").read_text() == "the other one's"
    with alone_in(tmp_path):
        pass


@pytest.mark.parametrize(
    "number, early",
    [(signal.SIGTERM, False), (signal.SIGTERM, True), (signal.SIGHUP, True), (signal.SIGINT, False)],
)
def test_no_tool_outlives_its_build(tmp_path, number, early):
    (tmp_path / "build_top.sh").write_text("echo $$ > told; exec sleep 1000\n")
    os.mkfifo(tmp_path / "told")
    # Whoever runs the tests may ignore signals, and that is inherited.
    # The early signal comes before anybody knows the tool's number.
    running = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"""
import os, signal, subprocess
from pathlib import Path
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
class Popen(subprocess.Popen):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        print(Path("{tmp_path}/told").read_text(), flush=True)
        if {early}:
            os.kill(os.getpid(), {number.value})
subprocess.Popen = Popen
from bregalad_hw.build.families import ECP5
from bregalad_hw.build.routing import place_and_route
place_and_route(ECP5(), Path({str(tmp_path)!r}), 1, "heap")
""",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    tool_number = int(running.stdout.readline())
    if not early:
        running.send_signal(number)
    assert running.wait(60) != 0
    with pytest.raises(ProcessLookupError):
        os.kill(tool_number, 0)


@pytest.mark.parametrize(("placer", "margin"), [("heap", None), ("static", "40")])
def test_nextpnr_takes_what_the_netlist_says_of_the_router(placer, margin, tmp_path):
    nothing = {"attributes": {"top": f"{1:032b}"}, "ports": {}, "cells": {}, "netnames": {}}
    netlist = {"creator": "a test", "modules": {"top": nothing}}
    ECP5().finish(netlist, "LFE5U-12F", placer)
    (tmp_path / "top.json").write_text(json.dumps(netlist))
    subprocess.run(
        [tool("nextpnr-ecp5"), "--12k", "--quiet", "--json", "top.json", "--write", "placed.json", "--no-route"],
        cwd=tmp_path,
        check=True,
    )
    placed = json.loads((tmp_path / "placed.json").read_text())
    said = placed["modules"]["top"]["settings"]
    assert said["router2/estimateWeight"] == "1.0"
    assert said.get("router2/bbMargin/x") == said.get("router2/bbMargin/y") == margin


def test_the_most_promising_placement_is_routed_first(tmp_path):
    """The worst of its clocks says what a placement is worth."""
    (tmp_path / "build_top.sh").write_text(
        'test "$STEP_OPTIONS" = "--placer static --no-route" || exit 1\n'
        'for clock in "a: $((70 + SEED % 3)).5 MHz (FAIL at 80.00 MHz)" '
        '"b: 9.00 MHz (PASS at 5.00 MHz)"; do echo "Info: Max frequency for clock $clock"; done '
        "> top.tim\n"
    )
    said = []
    assert most_promising_first(BOARDS["ulx3s-12f"], tmp_path, range(3, 7), "static", said.append) == [5, 4, 3, 6]
    assert said[0] == "ulx3s-12f: seed 3: placed for 88 % of its clock"
    (tmp_path / "build_top.sh").unlink()
    assert most_promising_first(BOARDS["ulx3s-12f"], tmp_path, [9], "heap", said.append) == [9]


def test_a_missing_tool(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BuildError, match="no-such-tool is not installed"):
        tool("no-such-tool")
    monkeypatch.setenv("NO_SUCH_TOOL", "/nowhere/at-all")
    with pytest.raises(BuildError, match="NO_SUCH_TOOL names /nowhere/at-all, which is no prog"):
        tool("no-such-tool")
    monkeypatch.setenv("NO_SUCH_TOOL", sys.executable)
    assert tool("no-such-tool") == sys.executable


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--clock 1", "no clock near 1 MHz"),
        ("--seed -1", "--seed must be 0 to 2147483646, not -1"),
        ("--seed 2147483647", "--seed must be 0 to 2147483646"),
    ],
)
def test_what_was_built_before_is_kept_until_all_is_checked(tmp_path, options, message, cli):
    for name in ("top.bit", "report.json"):
        (tmp_path / name).write_text("old")
    assert message in cli(f"build ulx3s-12f --output {tmp_path} {options}", 1).err
    assert (tmp_path / "top.bit").read_text() == (tmp_path / "report.json").read_text() == "old"


def test_program_runs_the_loader(tmp_path, monkeypatch, cli):
    program(tmp_path, monkeypatch, "openfpgaloader", f'echo "$@" > {tmp_path}/said; test "$1" = -b')
    for name in ("top.bit", "top.fs"):
        (tmp_path / name).write_bytes(b"")
    for arguments, said in (
        ("ulx3s-12f", "-b ulx3s {}/top.bit"),
        ("colorlight-5a-75b --cable ft232", "-b colorlight -c ft232 {}/top.bit"),
        ("tang-nano-20k", "-b tangnano20k {}/top.fs"),
    ):
        cli(f"program {arguments} --output {tmp_path}")
        assert (tmp_path / "said").read_text() == said.format(tmp_path) + "\n"
    (tmp_path / "report.json").write_text('{"board": "ecpix5-85f"}')
    error = cli(f"program ulx3s-12f --output {tmp_path}", 1).err
    assert "top.bit is for ecpix5-85f, not for ulx3s-12f" in error
    (tmp_path / "report.json").unlink()
    program(tmp_path, monkeypatch, "openfpgaloader", "exit 1")
    assert "is the board connected and powered?" in cli(f"program ulx3s-12f --output {tmp_path}", 1).err


def test_geometry_of_words():
    assert Geometry.parse([], PRESETS["fine"]) == PRESETS["fine"]
    small = PRESETS["tiny"].replace(slots=8, naive_bayes=True)
    assert Geometry.parse(["tiny", "slots=8", "naive_bayes=1"], PRESETS["fine"]) == small


def test_path_in_words():
    due = "linked.framed.accelerator.controller.tracker.due_TRELLIS_FF_Q"
    best = "linked.accelerator.array.merge.best_TRELLIS_FF_Q"
    path = [
        step("clk-to-q", 0.5, due, due),
        step("routing", 2.0, due, "linked.accelerator.controller.slots.x_LUT4_Z"),
        step("setup", 0.25, best, best),
    ]
    ends = {"from": "posedge a", "to": "posedge b", "path": []}, {"from": "posedge a", "to": "posedge a", "path": path}
    timing = {"critical_paths": list(ends)}
    assert describe_path(timing, "a") == (
        "2.8 ns, 2.0 of them in wires, from due in controller.tracker to best in array.merge by way of controller.slots"
    )
    assert describe_path(timing, "c") == "no path within the clock"
