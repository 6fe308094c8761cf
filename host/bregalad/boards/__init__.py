"""Boards: one interface, whatever executes the commands."""

from __future__ import annotations

import inspect
from typing import Any

from ..extras import needing
from ..geometry import Geometry
from ..words import shown
from .base import Board, BoardError

__all__ = ["BOARDS", "LINKS", "Board", "BoardError", "check_name", "is_link", "open_board"]

BOARDS = {  # name: what it is
    "emulated": "the engine: the golden model, compiled by Numba; fast, needs no FPGA and no simulator",
    "simulated": "the RTL itself, compiled by Verilator: clock by clock, needs g++ and make",
}
_LINK, _CORE = ("timeout", "take_over"), ("timeout", "memory_size", "buffer")
LINKS = {  # what comes before the colon: what it is; what stands behind the colon; options
    "serial": ("an FPGA at a serial port, as in serial:/dev/ttyUSB0 or ...,baud=1000000", "a port", ("baud", *_LINK)),
    "udp": ("an FPGA in the network, as in udp:192.168.1.50 or udp:192.168.1.50:16978", "an address", _LINK),
    "pynq": ("a core in a PYNQ overlay, as in pynq:design.bit", "a file", _CORE[:2]),
    "uio": ("a core at a userspace I/O device, as in uio:/dev/uio0,buffer=udmabuf0", "a device", _CORE),
    "mem": ("a core at a bus address, as in mem:0xA0000000,buffer=0x70000000", "an address", _CORE),
    "xdma": ("a core on a card behind XDMA, as in xdma:/dev/xdma0", "a device", _CORE),
}


def is_link(name: object) -> bool:
    """Whether a board's name stands for one that tells its own geometry."""
    return isinstance(name, str) and ":" in name and name.partition(":")[0] in LINKS


def check_name(name: object) -> None:
    """Refuse a name that `open_board` does not know with a ValueError; opens nothing."""
    if is_link(name):
        _parse(name)
    elif not isinstance(name, str) or name not in BOARDS:
        raise ValueError(
            f"no board {shown(name)}; there are {', '.join(BOARDS)}, serial:PORT, udp:ADDRESS, pynq:FILE, "
            "uio:DEVICE, mem:ADDRESS and xdma:DEVICE"
        )


def open_board(name: str, geometry: Geometry | str | None = None, **options: Any) -> Board:
    """Open a board by name; of one behind a link, or a core, it is checked what it is.

    Parameters
    ----------
    name : str
        ``"emulated"`` (the golden model, compiled), ``"simulated"`` (the RTL, compiled),
        ``"serial:PORT"`` or ``"udp:ADDRESS"``; options may follow a link's name:
        ``"serial:/dev/ttyUSB0,baud=115200,timeout=20"``. Of a core in a system on chip
        ``"pynq:design.bit"``, ``"uio:/dev/uio0"``, ``"mem:0xA0000000,buffer=0x70000000"`` or
        ``"xdma:/dev/xdma0"``.
    geometry : Geometry or str, optional
        Sizes, or the name of a preset. If not given: what the board itself tells (links), or
        `Geometry()`, in hardware with 512 nodes.
    **options
        Handed to the board, such as ``memory_size``; links take ``timeout`` (seconds of silence
        after which a call fails), ``take_over`` (end another program's session), and ``baud``;
        cores take ``timeout``, ``memory_size``, and ``buffer``, where memory for DMA is.

    Raises
    ------
    ValueError
        If there is no such board or preset.
    BoardError
        If the board is not what it was taken for, or does not answer.
    """
    check_name(name)
    if geometry is not None:
        geometry = Geometry.of(geometry)
    if is_link(name):
        return _open_link(name, geometry, options)
    geometry = geometry or Geometry(nodes=0 if name == "emulated" else 512)
    with needing(f"the {name} board", "simulation"):
        # Imported here: numba takes a second, the simulated board needs Amaranth and Verilator.
        if name == "emulated":
            from .engine import Engine

            _check_options(name, options, [])
            return Engine(geometry)
        from .simulated import SimulatedBoard

        _check_options(name, options, [*inspect.signature(SimulatedBoard).parameters][1:])
        return SimulatedBoard(geometry, **options)


def _open_link(name, geometry, options):
    kind, place, written = _parse(name)
    _check_options(name, options, LINKS[kind][2])
    options = {**written, **options}
    if kind == "serial":
        with needing(f"{name}: a serial port"):
            from ..link.serial import SerialWire
        wire = SerialWire(place, options.pop("baud", None))
    elif kind == "udp":
        from ..link.udp import UdpWire

        wire = UdpWire(place)
    else:
        from .mapped import MappedBoard
        from .maps import MAPS

        mapped = MAPS[kind](place, **{key: options.pop(key) for key in ("buffer",) if key in options})
        return MappedBoard(mapped, geometry, **options)
    from .linked import LinkedBoard

    return LinkedBoard(wire, geometry, **options)


_OPTIONS = {  # what is allowed, and what makes it of a word
    "baud": ("an integer", int),
    "timeout": ("a number of seconds", float),
    "take_over": ("yes or no", {"yes": True, "no": False}.__getitem__),
    "memory_size": ("a number of bytes", int),
    "buffer": ("a word", str),
}


def _check_options(name, written, allowed):
    for key in written:
        if key not in allowed:
            raise ValueError(f"{name}: no option {key!r}; there are {', '.join(allowed) or 'none'}")


def _parse(name):
    """(kind, place, options) of a link's name."""
    kind, _, rest = name.partition(":")
    place, *words = rest.split(",")
    what, behind, allowed = LINKS[kind]
    options = {}
    for word in words:
        key, _, value = word.partition("=")
        _check_options(name, [key], allowed)
        kinds, made = _OPTIONS[key]
        try:
            options[key] = made(value)
        except (ValueError, KeyError):
            raise ValueError(f"{name}: {key} must be {kinds}, not {value!r}") from None
    if not place:
        raise ValueError(f"{name!r} lacks {behind}; {kind} is {what}")
    return kind, place, options
