"""Build bitstreams: synthesise, place and route with several seeds, and report what came out."""

import json
import shutil
import time
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from filelock import FileLock, Timeout

from .report import describe_path, table
from .routing import most_promising_first, place_and_route
from .synthesis import PLACERS, synthesise
from .tools import BITSTREAMS, REPORTS, BuildError, forget, run_step, tool, version_of

_RECEIVED = "eth_rx_clk"  # comes with Ethernet's data, not of the PLL; LiteEth calls it so


def build(
    board,
    geometry=None,
    *,
    clock_mhz=None,
    aim_mhz=None,
    seeds=None,
    placer=PLACERS[0],
    output=None,
    say=print,
    **options,
):
    """Build a board's bitstream, its ``bitstream`` in ``output``, and its report beside it.

    Parameters
    ----------
    board : Board
    geometry : Geometry, optional
    clock_mhz : float, optional
        Of the array.
    aim_mhz : float, optional
        What the router is asked for, if that is more; of other clocks of the PLL, as much more. It
        goes no further than it is asked, and then lacks half a per cent.
    seeds : sequence of int, optional
        Of the placer, the board's own by default. All are placed, then routed, the most promising
        first, until one meets all clocks.
    placer : str
        Of nextpnr, one of ``PLACERS``: ``static`` needs less wire, but is not timing-driven.
    output : str or Path, optional
        ``out/<board>`` by default.
    say : callable
        Told what goes on.
    **options
        Of the board's top level.

    Returns
    -------
    dict
        The report.

    Raises
    ------
    BuildError
        If the geometry does not fit, a tool is missing or fails, another build works in the folder,
        or a clock is missed. Then the report is written, but no bitstream.
    """
    if board.vendor:
        raise BuildError(f"{board.name} is built by {board.vendor}; hw.build.archive writes its project")
    geometry = geometry or board.geometry
    folder = Path(output or f"out/{board.name}")
    commands = {name: tool(name) for name in board.family.tools}
    top = board.top(geometry, (clock_mhz or board.clock_mhz) * 1e6, **options)
    # What was built before is kept until nothing else can be found wrong.
    with alone_in(folder):
        return _built(board, top, folder, geometry, commands, aim_mhz, seeds or (board.seed,), placer, options, say)


@contextmanager
def alone_in(folder):
    """Keep other builds out of a folder, which is made if need be and has a ``.lock`` then; ValueError if one is in."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        held = FileLock(folder / ".lock").acquire(timeout=0)
    except Timeout as error:
        raise ValueError(f"another build works in {folder}: wait for it, or choose another --output") from error
    with held:
        yield


def _built(board, top, folder, geometry, commands, aim_mhz, seeds, placer, options, say):
    """``build`` after its checks."""
    family, start = board.family, time.monotonic()
    say = _timed(say, start)
    forget(folder, *BITSTREAMS, *REPORTS, "build.log", "top.rpt", "top.tim")
    say(f"{board.name}: synthesis of {geometry}")
    synthesise(board, top, folder, placer, say)

    asked = top.clock_hz / 1e6
    more = max(board.margin, (aim_mhz or asked) / asked)
    family.aim(folder, board.pins["CLOCK"], more)
    tried, best = [], None
    for seed in most_promising_first(board, folder, seeds, placer, say):
        say(f"{board.name}: place and route, seed {seed}")
        place_and_route(family, folder, seed, placer, say)
        timing = json.loads((folder / "timing.json").read_text())
        clocks = _clocks(timing, more)
        mhz = clocks["array"]["achieved"]
        met = all(clock["achieved"] >= clock["asked"] for clock in clocks.values())
        tried.append({"seed": seed, "mhz": mhz})
        say(f"{board.name}: seed {seed}: {mhz:.1f} MHz of {asked:g}" + ("" if met else ", not all clocks met"))
        if best is None or (met, mhz) > best[:2]:
            best = met, mhz, seed, timing, clocks
            shutil.copy(folder / family.routed, folder / "best")
        if met:
            break
    met, achieved, seed, timing, clocks = best
    shutil.move(folder / "best", folder / family.routed)
    array = clocks.pop("array")

    report = {
        "board": board.name,
        "device": board.platform.device,
        "grade": board.platform.speed,
        "geometry": geometry.as_dict(),
        "options": options,
        "clock_mhz": {"asked": asked, "achieved": achieved},
        "other_clocks": clocks,
        "met": met,
        "placer": placer,
        "seed": seed,
        "seeds": tried,
        "use": {name: [use["used"], use["available"]] for name, use in timing["utilization"].items() if use["used"]},
        "critical_path": array["path"],
        "tools": {name: version_of(command) for name, command in commands.items()} | {"amaranth": version("amaranth")},
        "seconds": round(time.monotonic() - start),
    }
    (folder / "report.json").write_text(json.dumps(report, indent=1) + "\n")
    (folder / "report.txt").write_text(table(report) + "\n")
    if achieved < asked:
        raise BuildError(
            f"the array reaches {achieved:.1f} MHz, not {asked:g}, and so there is no "
            f"bitstream: {report['critical_path']}; a lower --clock, more --seeds or fewer lanes "
            "help"
        )
    for name, clock in clocks.items():
        if clock["achieved"] < clock["asked"]:
            raise BuildError(
                f"the clock {name} reaches {clock['achieved']:.1f} MHz, not {clock['asked']:g}, "
                f"and so there is no bitstream: {clock['path']}; more --seeds help"
            )
    _, _, packer = family.tools
    say(f"{board.name}: bitstream")
    try:
        run_step(family, folder, packer)
    except BaseException:
        forget(folder, *BITSTREAMS)  # a part of one loads as well as a whole one
        raise
    return report


def _timed(say, start):
    """``say`` with minutes and seconds since the start before the text."""

    def timed(text):
        minutes, seconds = divmod(round(time.monotonic() - start), 60)
        say(f"{minutes:3}:{seconds:02} {text}")

    return timed


def _clocks(timing, more):
    """By name, what a clock is and what it reaches (MHz), and its longest path.

    The array's is that of domain ``sync``; it goes by any of the names that its net has. Clocks
    that the PLL makes were asked for ``more`` times as much.
    """
    clocks = {}
    for net, fmax in timing["fmax"].items():
        name = net.removeprefix("$glbnet$").rpartition(".")[2]
        if name in ("clk", "started"):
            name = "array"
        asked = fmax["constraint"]
        if name != _RECEIVED:
            asked /= more
        clocks[name] = {
            "asked": round(asked, 2),
            "achieved": round(fmax["achieved"], 2),
            "path": describe_path(timing, net),
        }
    return clocks
