"""Run the tools that make bitstreams: those of the environment, installed ones, or YoWASP's."""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path

# What a build leaves in its folder.
BITSTREAMS = "top.bit", "top.fs", "top.svf"
REPORTS = "report.json", "report.txt"
_LOOK = 5  # seconds between two looks at what a tool does
_LOG_EVERY = 30  # seconds between two words of it
_STEP = re.compile(r"^(?:[\d.]+ Executing|Info:) *(\w.{,60})", re.MULTILINE)  # of Yosys, of nextpnr


class BuildError(ValueError):
    """A board cannot be built as asked; the message says why."""


def tool(name):
    """The command of a tool, the environment's, an installed one or YoWASP's; BuildError if there is none."""
    if given := os.environ.get(_variable(name)):
        if shutil.which(given) is None:
            raise BuildError(f"{_variable(name)} names {given}, which is no program")
        return given
    here = os.pathsep.join((os.environ.get("PATH", ""), str(Path(sys.executable).parent)))
    for command in (name, f"yowasp-{name}"):
        if found := shutil.which(command, path=here):
            return found
    if name == "openFPGALoader":
        raise BuildError(
            "openFPGALoader is not installed; Debian's package is openfpgaloader, "
            "for others see https://trabucayre.github.io/openFPGALoader"
        )
    raise BuildError(f"{name} is not installed; pip install 'bregalad[boards]' brings it")


def _variable(name):
    """Of the environment, for a tool; the build script has the same."""
    return name.upper().replace("-", "_")


def forget(folder, *names):
    """Remove these files, if they are there."""
    for name in names:
        (folder / name).unlink(missing_ok=True)


def version_of(command):
    answer = subprocess.run([command, "--version"], capture_output=True, text=True)
    found = re.search(r"[Vv]ersion \S*?(\d[\w.-]*)|Yosys (\d\S*)", answer.stdout + answer.stderr)
    if found:
        return next(filter(None, found.groups()))
    # Apicula's tools do not say it themselves.
    scripts = entry_points(group="console_scripts", name=Path(command).name)
    return next((script.dist.version for script in scripts), "unknown")


def run_step(family, folder, name, stuck=lambda: False, say=lambda text: None, **environment):
    """Run one of a family's tools: the script of all steps, with the others doing nothing.

    What it does is said every half a minute.

    Returns
    -------
    bool
        False if it was stopped, as ``stuck`` said so.
    """
    with (
        _ended_by_signals() as listen,
        open(folder / "build.log", "a") as log,
        subprocess.Popen(
            ["sh", "build_top.sh"],
            cwd=folder,
            stdout=log,
            stderr=log,
            start_new_session=True,
            env=os.environ
            | dict.fromkeys(map(_variable, family.tools), "true")
            | {_variable(name): tool(name)}
            | environment,
        ) as running,
    ):
        logged = time.monotonic()
        try:
            listen(True)
            while True:
                try:
                    running.wait(_LOOK)
                    break
                except subprocess.TimeoutExpired:
                    if stuck():
                        return False
                    if time.monotonic() - logged >= _LOG_EVERY:
                        logged = time.monotonic()
                        say(f"{name}: {_doing(folder)}")
        finally:
            listen(False)
            if running.returncode is None:
                os.killpg(running.pid, signal.SIGKILL)
                running.wait()
    if running.returncode:
        lines = [
            line
            for name in ("build.log", "top.rpt", "top.tim")
            if (folder / name).exists()
            for line in (folder / name).read_text(errors="replace").splitlines()
            if "ERROR" in line
        ]
        raise BuildError(f"{name} failed: " + (lines[-1] if lines else f"see {folder / 'build.log'}"))
    return True


def _doing(folder):
    """The last step that a tool has told of in the younger of the logs."""
    logs = [path for path in (folder / "top.rpt", folder / "top.tim") if path.exists()]
    text = max(logs, key=lambda path: path.stat().st_mtime).read_text(errors="replace") if logs else ""
    return (_STEP.findall(text) or ["at work"])[-1].rstrip(" .")


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

    def end(number, frame):
        if listening:
            _raise_for(number)
        waiting.append(number)

    def listen(now):
        nonlocal listening
        listening = now
        if now and waiting:
            _raise_for(waiting.pop(0))

    before = {
        number: handler
        for number, own in (
            (signal.SIGINT, signal.default_int_handler),
            (signal.SIGTERM, signal.SIG_DFL),
            (signal.SIGHUP, signal.SIG_DFL),
        )
        if (handler := signal.getsignal(number)) is own
    }
    for number in before:
        signal.signal(number, end)
    try:
        yield listen
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if waiting:
            _raise_for(waiting[0])


def _raise_for(number):
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)
