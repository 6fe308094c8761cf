"""Build bitstreams: synthesise, place and route with several seeds, and report what came out."""

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import contextmanager
from importlib.metadata import entry_points, version
from pathlib import Path

from .report import describe_path, table

__all__ = ["BRACKETS", "PLACERS", "BuildError", "build", "program", "synthesise", "tool"]

_CONSTRAINTS = Path(__file__).resolve().parents[1] / "constraints"
PLACERS = ("heap", "static")
BRACKETS = str.maketrans("[]", "<>")
_EXPECTED = re.compile(r"Max frequency for clock .*: ([\d.]+) MHz .* at ([\d.]+) MHz")
_RECEIVED = "eth_rx_clk"  # comes with Ethernet's data, not of the PLL; LiteEth calls it so
_ROUND = re.compile(r"iter=\d+ .* overused=(\d+) .* tmgfail=(\d+)")
_PATIENCE = 200  # rounds of the router without fewer faults
# Where it takes more and more wires at once, its rounds get long, and no router has come back.
_FALLING_BACK = 10
_MANY = 100  # wires
# Where only slack is lacking any more, rounds are short, and the router may end by itself after a
# thousand.
_LONG_PATIENCE = 1100
_LOOK = 5  # seconds between two looks at what a tool does


class BuildError(ValueError):
    """A board cannot be built as asked; the message says why."""


def tool(name):
    """The command of a tool: that of the environment, one that is installed, or YoWASP's.

    Raises
    ------
    BuildError
        If there is none.
    """
    if given := os.environ.get(_variable(name)):
        if shutil.which(given) is None:
            raise BuildError(f"{_variable(name)} names {given}, which is no program")
        return given
    here = os.pathsep.join((os.environ.get("PATH", ""), str(Path(sys.executable).parent)))
    for command in (name, f"yowasp-{name}"):
        if found := shutil.which(command, path=here):
            return found
    if name == "openFPGALoader":
        raise BuildError("openFPGALoader is not installed; Debian's package is openfpgaloader, "
                         "for others see https://trabucayre.github.io/openFPGALoader")
    raise BuildError(f"{name} is not installed; pip install 'bregalad[boards]' brings it")


def _variable(name):
    """Of the environment, for a tool; the build script has the same."""
    return name.upper().replace("-", "_")


def _version(command):
    said = subprocess.run([command, "--version"], capture_output=True, text=True)
    found = re.search(r"[Vv]ersion \S*?(\d[\w.-]*)|Yosys (\d\S*)", said.stdout + said.stderr)
    if found:
        return next(filter(None, found.groups()))
    # Apicula's tools do not say it themselves.
    scripts = entry_points(group="console_scripts", name=Path(command).name)
    return next((script.dist.version for script in scripts), "unknown")


def build(board, geometry=None, *, clock_mhz=None, aim_mhz=None, seeds=None, placer=PLACERS[0],
          output=None, say=print, **options):
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
        If the geometry does not fit, a tool is missing or fails, another build works in the folder,
        or a clock is missed. Then the report is written, but no bitstream.
    """
    if board.vendor:
        raise BuildError(f"{board.name} is built by {board.vendor}; hw.archive writes its project")
    geometry = geometry or board.geometry
    folder = Path(output or f"out/{board.name}")
    commands = {name: tool(name) for name in board.family.tools}
    top = board.top(geometry, (clock_mhz or board.clock_mhz) * 1e6, **options)
    # What was built before is kept until nothing else can be found wrong.
    with _alone_in(folder):
        return _built(board, top, folder, geometry, commands, aim_mhz, seeds or (board.seed,),
                      placer, options, say)


@contextmanager
def _alone_in(folder):
    """Keep other builds out of a folder: a file of theirs under a name of ours looks like ours."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise BuildError(f"another build works in {folder}: wait for it, or choose another "
                             "--output") from error
        yield


def _built(board, top, folder, geometry, commands, aim_mhz, seeds, placer, options, say):
    """``build`` behind its checks."""
    family, start = board.family, time.monotonic()
    for old in ("build.log", "top.rpt", "top.tim", board.bitstream, "top.svf", "report.json",
                "report.txt"):
        (folder / old).unlink(missing_ok=True)
    say(f"{board.name}: synthesis of {geometry}")
    synthesise(board, top, folder, placer)

    asked = top.clock_hz / 1e6
    more = max(board.margin, (aim_mhz or asked) / asked)
    family.aim(folder, board.pins["CLOCK"], more)
    tried, best = [], None
    for seed in _most_promising_first(board, folder, seeds, placer, say):
        _place_and_route(family, folder, seed, placer)
        timing = json.loads((folder / "timing.json").read_text())
        clocks = _clocks(timing, more)
        mhz = clocks["array"]["achieved"]
        met = all(clock["achieved"] >= clock["asked"] for clock in clocks.values())
        tried.append({"seed": seed, "mhz": mhz})
        say(f"{board.name}: seed {seed}: {mhz:.1f} MHz of {asked:g}"
            + ("" if met else ", not all clocks met"))
        if best is None or (met, mhz) > best[:2]:
            best = met, mhz, seed, timing, clocks
            shutil.copy(folder / family.routed, folder / "best")
        if met:
            break
    met, achieved, seed, timing, clocks = best
    shutil.move(folder / "best", folder / family.routed)
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
        "tools": {name: _version(command) for name, command in commands.items()}
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
    _, _, packer = family.tools
    _step(family, folder, packer)
    return report


def _constraints(board):
    return (_CONSTRAINTS / board.constraints).read_text() if board.constraints else ""


def synthesise(board, top, folder, placer=PLACERS[0]):
    """Write the netlist that is placed and routed to a folder, and give its path.

    Parameters
    ----------
    board : Board
    top : Elaboratable
        What ``board.top`` has made.
    folder : Path
    placer : str
        That is to place it, one of ``PLACERS``.

    Raises
    ------
    BuildError
        If Yosys is missing or fails, or the netlist does not fit the device.
    """
    family = board.family
    plan = board.platform().prepare(
        top, debug_verilog=False, **family.overrides(_constraints(board), top.clock_hz))
    # Yosys' abc9 takes a name with an index for a bit of another net and stops.
    plan.files["top.il"] = re.sub(
        r"\\\S+", lambda name: name.group().translate(BRACKETS), plan.files["top.il"])
    plan.extract(folder)
    synthesiser, _, _ = family.tools
    _step(family, folder, synthesiser)
    path = folder / family.netlist
    netlist = json.loads(path.read_text())
    family.finish(netlist, board.platform.device, placer)
    path.write_text(json.dumps(netlist))
    _check_size(board, netlist)
    return path


def _most_promising_first(board, folder, seeds, placer, say):
    """Seeds by how near to the clocks the placer comes with them."""
    seeds = list(seeds)
    if len(seeds) == 1:
        return seeds
    shares = {}
    _, router, _ = board.family.tools
    for seed in seeds:
        # Placed anew to be routed: a placement that nextpnr reads back has lost the constants at
        # block RAMs and multipliers.
        _step(board.family, folder, router, SEED=str(seed),
              STEP_OPTIONS=f"--placer {placer} --no-route")
        shares[seed] = min(float(mhz) / float(asked) for mhz, asked
                           in _EXPECTED.findall((folder / "top.tim").read_text()))
        say(f"{board.name}: seed {seed}: placed for {100 * shares[seed]:.0f} % of its clock")
    return sorted(seeds, key=lambda seed: -shares[seed])


def _place_and_route(family, folder, seed, placer):
    """By the first of the family's routers that comes to an end; the last one does."""
    log = folder / "top.tim"
    log.unlink(missing_ok=True)
    _, tool_name, _ = family.tools
    *hopeful, last = (f"--placer {placer} {router} --report timing.json"
                      for router in family.routers)
    for options in hopeful:
        if _step(family, folder, tool_name,
                 stuck=lambda: log.exists() and _is_stuck(log.read_text()),
                 SEED=str(seed), STEP_OPTIONS=options):
            return
    _step(family, folder, tool_name, SEED=str(seed), STEP_OPTIONS=last)


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


def _step(family, folder, name, stuck=lambda: False, **environment):
    """Run one of a family's tools: the script of all steps, with the others doing nothing.

    Returns
    -------
    bool
        False if it was stopped, as ``stuck`` said so.
    """
    with _ended_by_signals() as listen, open(folder / "build.log", "a") as log, subprocess.Popen(
            ["sh", "build_top.sh"], cwd=folder, stdout=log, stderr=log, start_new_session=True,
            env=os.environ | dict.fromkeys(map(_variable, family.tools), "true")
            | {_variable(name): tool(name)} | environment) as running:
        try:
            listen(True)
            while True:
                try:
                    running.wait(_LOOK)
                    break
                except subprocess.TimeoutExpired:
                    if stuck():
                        return False
        finally:
            listen(False)
            if running.returncode is None:
                os.killpg(running.pid, signal.SIGKILL)
                running.wait()
    if running.returncode:
        lines = [line for name in ("build.log", "top.rpt", "top.tim")
                 if (folder / name).exists()
                 for line in (folder / name).read_text(errors="replace").splitlines()
                 if "ERROR" in line]
        raise BuildError(f"{name} failed: "
                         + (lines[-1] if lines else f"see {folder / 'build.log'}"))
    return True


@contextmanager
def _ended_by_signals():
    """Make SIGTERM and SIGHUP exceptions, as Ctrl-C is one: a tool must not outlive its build.

    It is a session of its own, and would go on for an hour, into the folder of the next build.
    Yields a function that says whether signals are raised as they come; else, as at first, they
    wait, at most for the end: an exception while a tool is started, or ended, would leave it to
    itself. Where they are ignored (nohup) or handled by the program, they are left so.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda now: None
        return
    waiting, listening = [], False

    def act(number):
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(128 + number)

    def end(number, frame):
        if listening:
            act(number)
        waiting.append(number)

    def listen(now):
        nonlocal listening
        listening = now
        if now and waiting:
            act(waiting.pop(0))

    before = {number: handler
              for number, own in ((signal.SIGINT, signal.default_int_handler),
                                  (signal.SIGTERM, signal.SIG_DFL),
                                  (signal.SIGHUP, signal.SIG_DFL))
              if (handler := signal.getsignal(number)) is own}
    for number in before:
        signal.signal(number, end)
    try:
        yield listen
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if waiting:
            act(waiting[0])


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
            "asked": round(asked, 2), "achieved": round(fmax["achieved"], 2),
            "path": describe_path(timing, net)}
    return clocks


def _check_size(board, netlist):
    """Raise BuildError if the device has too little of something, before the placer tries."""
    family = board.family
    needs = family.needs(Counter(
        cell["type"] for cell in netlist["modules"]["top"]["cells"].values()))
    short = [f"{needs[kind]} {noun} of {board.resources[kind]}"
             for kind, noun in family.nouns.items() if needs[kind] > board.resources[kind]]
    if short:
        raise BuildError(f"the geometry does not fit {board.name}: it needs {', '.join(short)}; "
                         "fewer lanes, passes or slots do")


def program(board, output=None, *, cable=None):
    """Load a board's bitstream with openFPGALoader, over a cable of that name if it is told.

    Raises
    ------
    BuildError
        If there is no bitstream, it is another board's, or it cannot be loaded.
    """
    folder = Path(output or f"out/{board.name}")
    bitstream, report = folder / board.bitstream, folder / "report.json"
    if not bitstream.is_file():
        raise BuildError(f"there is no {bitstream}; bregalad build {board.name} makes it")
    if report.is_file() and (found := json.loads(report.read_text())["board"]) != board.name:
        raise BuildError(f"{bitstream} is for {found}, not for {board.name}")
    command = [tool("openFPGALoader"), "-b", board.loader,
               *(("-c", cable) if cable else ()), str(bitstream)]
    if subprocess.run(command).returncode:
        raise BuildError(f"{' '.join(command)} failed; is the board connected and powered?")
