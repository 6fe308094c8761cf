"""Build bitstreams: synthesise, place and route with several seeds, and report what came out."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

from .floorplan import place_lanes
from .packing import pack_registers
from .report import describe_path, table
from .trimming import trim_luts

__all__ = ["BRACKETS", "PLACERS", "BuildError", "build", "improve", "program", "script",
           "synthesise", "tool"]

_CONSTRAINTS = Path(__file__).resolve().parents[1] / "constraints"
_TOOLS = {"YOSYS": "yosys", "NEXTPNR_ECP5": "nextpnr-ecp5", "ECPPACK": "ecppack"}
PLACERS = ("heap", "static")
BRACKETS = str.maketrans("[]", "<>")
_EXPECTED = re.compile(r"Max frequency for clock .*: ([\d.]+) MHz .* at ([\d.]+) MHz")
_FREQUENCY = re.compile(r"FREQUENCY PORT .* ([\d.]+) MHZ")
_ROUND = re.compile(r"iter=\d+ .* overused=(\d+) .* tmgfail=(\d+)")
_PATIENCE = 200  # rounds of the router without fewer faults
# Where it takes more and more wires at once, its rounds get long, and no router has come back.
_FALLING_BACK = 10
_MANY = 100  # wires
# Where only slack is lacking any more, rounds are short, and the router may end by itself after a
# thousand.
_LONG_PATIENCE = 1100
_LOOK = 5  # seconds between two looks at what a tool does
_NOUNS = {"DP16KD": "block RAMs", "MULT18X18D": "multipliers", "LUT4": "LUTs"}
# No memory of the design is read where it is written in the same clock, or what it then gives is
# not used; a block RAM alone is enough for that. Queues between two clocks, in modules that have a
# domain's clock beside `clk`, need nothing of the kind. Yosys does not merge registers that are to
# be kept, so replicas stay apart.
_BEFORE = r"""
chformal -remove
proc *replica_*
setattr -set keep 1 *replica_*/t:$dff
select t:$memrd_v2 r:TRANSPARENCY_MASK=1'0 %i r:CLK_ENABLE=1 %i w:*_clk %m %d
setparam -set COLLISION_X_MASK 1'1
select -clear
"""
# All eight registers of a tile share two resets and few enables, so a net of less than that keeps
# others away from where it goes; logic does the same.
_OPTIONS = "-run begin:map_ffs"
_BEHIND = r"""
opt_clean
dfflegalize -cell $_DFF_?_ 01 -cell $_DFF_?P?_ r -cell $_SDFF_?P?_ r -cell $_DFFE_??_ 01 \
    -cell $_DFFE_?P??_ r -cell $_SDFFE_?P??_ r -cell $_DLATCH_?_ x -mince 8 -minsrst 8
synth_ecp5 -top {top} -run map_ffs:
"""


class BuildError(ValueError):
    """A board cannot be built as asked; the message says why."""


def tool(name):
    """The command of a tool: that of the environment, one that is installed, or YoWASP's.

    Raises
    ------
    BuildError
        If there is none.
    """
    if given := os.environ.get(name.upper().replace("-", "_")):
        return given
    here = os.pathsep.join((os.environ.get("PATH", ""), str(Path(sys.executable).parent)))
    for command in (name, f"yowasp-{name}"):
        if found := shutil.which(command, path=here):
            return found
    raise BuildError(f"{name} is not installed; pip install 'bregalad[boards]' brings it")


def _version(command):
    said = subprocess.run([command, "--version"], capture_output=True, text=True)
    found = re.search(r"[Vv]ersion \S*?(\d[\w.-]*)|Yosys (\d\S*)", said.stdout + said.stderr)
    return next(filter(None, found.groups())) if found else "unknown"


def script(top):
    """What Yosys does to a design that it has read: a module's name in, a netlist out."""
    return f"{_BEFORE}\nsynth_ecp5 {_OPTIONS} -top {top}\n{_BEHIND.format(top=top)}\n"


def build(board, geometry=None, *, clock_mhz=None, aim_mhz=None, seeds=None, placer=PLACERS[0],
          output=None, say=print, **options):
    """Build a board's bitstream, ``top.bit`` in ``output``, and its report beside it.

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
        Of nextpnr, one of ``PLACERS``: ``static`` needs less wire, but heeds no slack.
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
        If the geometry does not fit, a tool is missing or fails, or a clock is missed. Then the
        report is written, but no bitstream.
    """
    if board.vendor:
        raise BuildError(f"{board.name} is built by {board.vendor}; hw.archive writes its project")
    geometry = geometry or board.geometry
    folder = Path(output or f"out/{board.name}")
    folder.mkdir(parents=True, exist_ok=True)
    for old in ("build.log", "top.bit", "top.svf", "report.json", "report.txt"):
        (folder / old).unlink(missing_ok=True)
    commands = {variable: tool(name) for variable, name in _TOOLS.items()}
    start = time.monotonic()

    top = board.top(geometry, (clock_mhz or board.clock_mhz) * 1e6, **options)
    say(f"{board.name}: synthesis of {geometry}")
    synthesise(board, top, folder)

    asked = top.clock_hz / 1e6
    more = max(1, (aim_mhz or asked) / asked)
    constraints = folder / "top.lpf"
    pin = f'FREQUENCY PORT "{board.pins["CLOCK"]}" '
    constraints.write_text(re.sub(
        f"({pin})([\\d.]+)", lambda found: f"{found[1]}{float(found[2]) * more:.1f}",
        constraints.read_text()))
    tried, best = [], None
    for seed in _most_promising_first(board, folder, seeds or (board.seed,), placer, say):
        _place_and_route(folder, seed, placer)
        timing = json.loads((folder / "timing.json").read_text())
        clocks = _clocks(timing, more, (_CONSTRAINTS / board.constraints).read_text())
        mhz = clocks["array"]["achieved"]
        met = all(clock["achieved"] >= clock["asked"] for clock in clocks.values())
        tried.append({"seed": seed, "mhz": mhz})
        say(f"{board.name}: seed {seed}: {mhz:.1f} MHz of {asked:g}"
            + ("" if met else ", not all clocks met"))
        if best is None or (met, mhz) > best[:2]:
            best = met, mhz, seed, timing, clocks
            shutil.copy(folder / "top.config", folder / "best.config")
        if met:
            break
    met, achieved, seed, timing, clocks = best
    shutil.move(folder / "best.config", folder / "top.config")
    array = clocks.pop("array")

    report = {
        "board": board.name, "device": board.platform.device, "grade": board.platform.speed,
        "geometry": geometry.as_dict(),
        "options": options,
        "clock_mhz": {"asked": asked, "achieved": achieved}, "other_clocks": clocks,
        "met": met, "placer": placer, "seed": seed, "seeds": tried,
        "use": {name: [use["used"], use["available"]]
                for name, use in timing["utilization"].items() if use["used"]},
        "critical_path": array["path"],
        "tools": {name: _version(commands[variable]) for variable, name in _TOOLS.items()}
        | {"amaranth": version("amaranth")},
        "seconds": round(time.monotonic() - start),
    }
    (folder / "report.json").write_text(json.dumps(report, indent=1) + "\n")
    (folder / "report.txt").write_text(table(report) + "\n")
    if achieved < asked:
        raise BuildError(
            f"the array reaches {achieved:.1f} MHz, not {asked:g}, and so there is no "
            f"bitstream: {report['critical_path']}; a lower --clock, more --seeds or fewer lanes "
            "help")
    for name, clock in clocks.items():
        if clock["achieved"] < clock["asked"]:
            raise BuildError(
                f"the clock {name} reaches {clock['achieved']:.1f} MHz, not {clock['asked']:g}, "
                f"and so there is no bitstream: {clock['path']}; more --seeds help")
    _step(folder, "ECPPACK")
    return report


def synthesise(board, top, folder):
    """Write the netlist that is placed and routed, ``top.json``, to a folder.

    Parameters
    ----------
    board : Board
    top : Elaboratable
        What ``board.top`` has made.
    folder : Path

    Raises
    ------
    BuildError
        If Yosys is missing or fails, or the netlist does not fit the device.
    """
    constraints = (_CONSTRAINTS / board.constraints).read_text()
    plan = board.platform().prepare(
        top, debug_verilog=False, script_after_read=_BEFORE, synth_opts=_OPTIONS,
        script_after_synth=_BEHIND.format(top="top"), add_preferences=constraints,
        # Missed clocks are judged here, by the report.
        nextpnr_opts="--timing-allow-fail --seed $SEED $STEP_OPTIONS")
    # Yosys' abc9 takes a name with an index for a bit of another net and stops.
    plan.files["top.il"] = re.sub(
        r"\\\S+", lambda name: name.group().translate(BRACKETS), plan.files["top.il"])
    plan.extract(folder)
    _step(folder, "YOSYS")
    netlist = json.loads((folder / "top.json").read_text())
    improve(netlist)
    place_lanes(netlist, board.platform.device)
    (folder / "top.json").write_text(json.dumps(netlist))
    _check_size(board, netlist)


def improve(netlist):
    """Do better, in place, what Yosys leaves to be done in an ECP5 netlist of any design."""
    pack_registers(netlist)
    trim_luts(netlist)


def _most_promising_first(board, folder, seeds, placer, say):
    """Seeds by how near to the clocks the placer comes with them."""
    seeds = list(seeds)
    if len(seeds) == 1:
        return seeds
    shares = {}
    for seed in seeds:
        # Placed anew to be routed: a placement that nextpnr reads back has lost the constants at
        # block RAMs and multipliers.
        _step(folder, "NEXTPNR_ECP5", SEED=str(seed), STEP_OPTIONS=f"--placer {placer} --no-route")
        shares[seed] = min(float(mhz) / float(asked) for mhz, asked
                           in _EXPECTED.findall((folder / "top.tim").read_text()))
        say(f"{board.name}: seed {seed}: placed for {100 * shares[seed]:.0f} % of its clock")
    return sorted(seeds, key=lambda seed: -shares[seed])


def _place_and_route(folder, seed, placer):
    """By slack first: otherwise 32 lanes lose a sixth of the clock that they were placed for.

    A clock that is out of reach the router may follow for ever. Without heed of slack it always
    ends, so that there is something to report.
    """
    options = f"--placer {placer} --router router2 --report timing.json"
    log = folder / "top.tim"
    log.unlink(missing_ok=True)
    if not _step(folder, "NEXTPNR_ECP5", stuck=lambda: log.exists() and _is_stuck(log.read_text()),
                 SEED=str(seed), STEP_OPTIONS=f"{options} --tmg-ripup"):
        _step(folder, "NEXTPNR_ECP5", SEED=str(seed), STEP_OPTIONS=options)


def _is_stuck(log):
    """Whether the router's rounds have come to nothing for long."""
    rounds = [tuple(map(int, found)) for found in _ROUND.findall(log)]
    if not rounds:
        return False
    faults = [sum(found) for found in rounds]
    overused, _ = rounds[-1]
    since = len(faults) - faults.index(min(faults))
    if overused > _MANY and faults[-1] > 2 * min(faults):
        return since > _FALLING_BACK
    return since > (_PATIENCE if overused else _LONG_PATIENCE)


def _step(folder, variable, stuck=lambda: False, **environment):
    """Run one of the tools: the script of all steps, with the others doing nothing.

    Returns
    -------
    bool
        False if it was stopped, as ``stuck`` said so.
    """
    with open(folder / "build.log", "a") as log, subprocess.Popen(
            ["sh", "build_top.sh"], cwd=folder, stdout=log, stderr=log, start_new_session=True,
            env=os.environ | dict.fromkeys(_TOOLS, "true") | {variable: tool(_TOOLS[variable])}
            | environment) as running:
        try:
            while True:
                try:
                    running.wait(_LOOK)
                    break
                except subprocess.TimeoutExpired:
                    if stuck():
                        return False
        finally:
            if running.returncode is None:
                os.killpg(running.pid, signal.SIGKILL)
    if running.returncode:
        lines = [line for name in ("build.log", "top.rpt", "top.tim")
                 if (folder / name).exists()
                 for line in (folder / name).read_text(errors="replace").splitlines()
                 if "ERROR" in line]
        raise BuildError(f"{_TOOLS[variable]} failed: "
                         + (lines[-1] if lines else f"see {folder / 'build.log'}"))
    return True


def _clocks(timing, more, constraints):
    """By name, what a clock is and what it reaches (MHz), and its longest path.

    The array's is that of domain ``sync``; it goes by any of the names that its net has. Clocks
    that the PLL makes were asked for ``more`` times as much, not those that come from elsewhere.
    """
    clocks = {}
    outside = [float(mhz) for mhz in _FREQUENCY.findall(constraints)]
    for net, fmax in timing["fmax"].items():
        name = net.removeprefix("$glbnet$").rpartition(".")[2]
        if name in ("clk", "started"):
            name = "array"
        asked = fmax["constraint"]
        if name == "array" or all(abs(asked - pin) > 0.001 * pin for pin in outside):
            asked /= more
        clocks[name] = {
            "asked": round(asked, 2), "achieved": round(fmax["achieved"], 2),
            "path": describe_path(timing, net)}
    return clocks


def _check_size(board, netlist):
    """Raise BuildError if the device has too little of something, before the placer tries."""
    cells = [cell["type"] for cell in netlist["modules"]["top"]["cells"].values()]
    needs = {kind: cells.count(kind) for kind in board.resources}
    needs["LUT4"] += 2 * cells.count("CCU2C") + 4 * cells.count("TRELLIS_DPR16X4")
    short = [f"{needs[kind]} {_NOUNS[kind]} of {there}" for kind, there in board.resources.items()
             if needs[kind] > there]
    if short:
        raise BuildError(f"the geometry does not fit {board.name}: it needs {', '.join(short)}; "
                         "fewer lanes, passes or slots do")


def program(board, output=None, *, cable=None):
    """Load a board's bitstream with openFPGALoader, over a cable of that name if it is told.

    Raises
    ------
    BuildError
        If there is no bitstream, or it cannot be loaded.
    """
    bitstream = Path(output or f"out/{board.name}") / "top.bit"
    if not bitstream.is_file():
        raise BuildError(f"there is no {bitstream}; bregalad build {board.name} makes it")
    command = [tool("openFPGALoader"), "-b", board.loader,
               *(("-c", cable) if cable else ()), str(bitstream)]
    if subprocess.run(command).returncode:
        raise BuildError(f"{' '.join(command)} failed; is the board connected and powered?")
