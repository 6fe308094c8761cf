"""The boards of the catalogue: their reference builds, their clocks, pins and memories."""

import fnmatch
import re

import pytest
from bregalad.geometry import PRESETS, Geometry
from bregalad_hw.boards import BOARDS
from bregalad_hw.boards.pll import ECP5Clock, GW2AClock, Series7Clock
from bregalad_hw.build.synthesis import constraints_of
from bregalad_hw.reports import kept
from marks import nightly

KEPT = kept()
NOT_ROUTED = {"colorlight-5a-75b", "ecpix5-85f", "tang-nano-20k", "ulx3s-25f", "versa-ecp5-5g"}
HIGH = {  # pins that must never be low: an ESP32's, which loads another bitstream then; a reset, which stops the clock
    "ulx3s-12f": {"esp32_0__gpio0__io": "L2"},
    "ulx3s-85f-sdram": {"esp32_0__gpio0__io": "L2"},
    "colorlight-5a-75b-8": {"eth_rgmii_0__rst__io": "R6"},
}


@pytest.mark.parametrize("name", sorted(KEPT))
def test_kept_builds_are_of_what_the_catalogue_has(name):
    """A report that bears a board's name is of what ``build`` makes of it by default."""
    report = KEPT[name]
    board = BOARDS[report["board"]]
    assert report["met"]
    assert report["clock_mhz"]["achieved"] >= report["clock_mhz"]["asked"]
    assert name == board.name or name.startswith(f"{board.name}-")
    if name == board.name:
        assert Geometry(**report["geometry"]) == board.geometry
        assert (report["clock_mhz"]["asked"], report["seed"]) == (board.clock_mhz, board.seed)


def test_every_board_was_built_with_its_defaults():
    """But for those of which docs/boards.md says that nobody knows what they reach."""
    assert {name for name, board in BOARDS.items() if not board.vendor} - NOT_ROUTED == set(KEPT) & set(BOARDS)


@pytest.mark.parametrize("mhz", [25, 50, 75, 100, 125, 150])
@pytest.mark.parametrize("loop, i_hz", [(ECP5Clock, 25e6), (Series7Clock, 100e6)])
def test_pll_makes_what_is_asked(loop, i_hz, mhz):
    assert loop(i_hz, mhz * 1e6).hz == pytest.approx(mhz * 1e6)


@pytest.mark.parametrize("mhz, made", [(54, 54), (81, 81), (50, 27 * 13 / 7), (75, 27 * 25 / 9)])
def test_gowins_pll_makes_what_is_asked_or_nearly(mhz, made):
    assert GW2AClock(27e6, mhz * 1e6).hz == pytest.approx(made * 1e6)


@pytest.mark.parametrize("name", BOARDS)
def test_the_slowest_clock_can_be_made(name):
    board = BOARDS[name]
    top = board.top(PRESETS["tiny"], board.slowest_mhz * 1e6, **({"baud": 300_000} if board.wire == "serial" else {}))
    assert top.clock_hz == pytest.approx(board.slowest_mhz * 1e6)


@pytest.mark.parametrize(
    "name",
    [
        *("ulx3s-12f", "colorlight-5a-75b-8"),
        *nightly("colorlight-5a-75b", "ulx3s-85f-sdram", "ecpix5-45f", "versa-ecp5", "versa-ecp5-5g"),
    ],
)
def test_pins_and_memories_are_the_boards(name):
    """What simulation, --aim, constraints and the catalogue name are pins and memories that the board has."""
    board = BOARDS[name]
    top = board.top(PRESETS["tiny"], board.clock_mhz * 1e6)
    files = board.platform().prepare(top, debug_verilog=False).files
    pins = files["top.lpf"]
    there = set(re.findall(r'LOCATE COMP "([\w.]+)(?:\[\d\])?"', pins))
    constraints = constraints_of(board)
    named = set(re.findall(r'PORT "([\w.]+)(?:\[\d\])?"', constraints))
    assert len(there) >= 4 and named < there
    assert {pin for name, pin in board.pins.items() if name != "LIT"} < there
    assert f'FREQUENCY PORT "{board.pins["CLOCK"]}" {top.pll.i_hz:.1f} HZ' in pins
    memories = [
        f"{module[1]}/m:{memory}"
        for module in re.finditer(r"^module \\(\S+)\n(.*?)^end", files["top.il"], re.MULTILINE | re.DOTALL)
        for memory in re.findall(r"^  memory .* \\(\S+)", module[2], re.MULTILINE)
    ]
    memories += [f"ethernet/m:{memory}" for memory in re.findall(r"reg \[\d+:0\] (\w+)\[", files.get("ethernet.v", ""))]
    assert all(fnmatch.filter(memories, name) for name in board.block_rams)
    for pin, ball in HIGH.get(name, {}).items():
        assert f'LOCATE COMP "{pin}" SITE "{ball}"' in pins
        (driver,) = re.findall(
            rf"^  wire width 1 output 0  \\{pin}$(.*?)^end", files["top.il"], re.MULTILINE | re.DOTALL
        )
        value, inverted = re.findall(r"cell \$xor .*?connect \\A 1'(.).*?connect \\B 1'(.)", driver, re.DOTALL)[0]
        assert value != inverted, f"{pin} is low"


def test_gowins_pins_are_the_boards():
    """As above; the router's clock is in the script, where --aim raises it."""
    board = BOARDS["tang-nano-20k"]
    top = board.top(PRESETS["tiny"], board.clock_mhz * 1e6)
    files = board.platform().prepare(top, debug_verilog=False, **board.family.overrides("", top.clock_hz)).files
    there = dict(re.findall(r'IO_LOC "([\w.]+)" (\d+);', files["top.cst"]))
    pins = {name: there[pin] for name, pin in board.pins.items() if name != "LIT"}
    assert pins == {"CLOCK": "4", "RX": "70", "TX": "69", "ALIVE": "15"}
    assert "--freq 81.000 " in files["build_top.sh"]
