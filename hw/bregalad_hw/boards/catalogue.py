"""The boards that bitstreams are built for."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from amaranth_boards import arty_a7, colorlight_5a75b_r7_0, ecpix5, ulx3s, versa_ecp5, versa_ecp5_5g
from bregalad.geometry import PRESETS, Geometry

from ..build.families import ECP5, Family, Gowin
from .network import ECPIX5, Colorlight5A75B, Colorlight5A75BRevision8, ECPIX5Memory, VersaECP5
from .platforms import Colorlight5A75BRevision8Platform, TangNano20KPlatform
from .serial import ULX3S, ArtyA7, TangNano20K, ULX3SMemory


@dataclass(frozen=True)
class Board:
    """A board, and what is built for it unless other sizes are asked for."""

    name: str
    what: str
    platform: Callable  # makes the Amaranth platform
    top: Callable  # top(geometry, clock_hz, **options); its `clock_hz` is the clock that it has in fact
    geometry: Geometry
    clock_mhz: float  # of the array
    loader: str  # openFPGALoader's name of the board
    constraints: str  # file in `constraints/`; of boards that need one
    wire: str  # "serial" or "udp": what it is reached by, as `open_board` calls it
    pins: dict  # of the top level, by what a simulation of that wire calls them
    family: Family | None = None  # of the device; of boards whose netlist is made here
    resources: dict = field(default_factory=dict)  # what the device has of each of the family's `nouns`
    # Memories that are put into block RAMs although distributed RAMs would do, as long as there are enough: Yosys'
    # module/m:memory. Of boards that have fewer LUTs to spare.
    block_rams: tuple = ()
    slowest_mhz: float = 3.125  # of the array: the slowest clock that the PLL makes, or its memory is tried with
    vendor: str = ""  # the vendor's tool that makes the bitstream, where the open ones do not
    bitstream: str = "top.bit"  # the file that the tools make
    seed: int = 1  # of the placer, if none is told: one with which the default geometry can be routed
    # The file in `sim/` that has what a simulation needs around the top level, as module `system`; instead of the core
    # of that name, if there is one.
    chips: str = ""
    # Of the memory's controller, if it has a clock of its own; `clock_mhz` and it are simulated as they are.
    memory_mhz: float = 0
    memory_rate: float = 0  # bytes per second at which rows come from the board's own memory: measured, docs/results.md
    # Times each clock that the router is asked for, where one of them is near to what can be had: nextpnr may find a
    # routed design a percent slower than its router took it for.
    margin: float = 1


# Over a link rows are codes: no board without a memory chip has searchers. Naive Bayes, and more than two classes,
# where there is room for them.
_LEAST = Geometry(lanes=1, passes=4, bins=4, classes=2, slots=8, count_width=12, bus_width=32, nodes=64, searchers=0)
_SMALL = Geometry(lanes=2, passes=4, bins=8, classes=2, slots=32, count_width=16, bus_width=32, nodes=256, searchers=0)
_MIDDLE = PRESETS["small"].replace(searchers=0, naive_bayes=True)
# Behind Gigabit Ethernet few lanes take a row as fast as it comes, and leave room for the link.
_MIDDLE_BY_ETHERNET = _MIDDLE.replace(lanes=_MIDDLE.lanes // 2, passes=_MIDDLE.passes * 2)
# Trees with a memory chip are larger than the array: their statistics come and go, in whole bus words.
_IN_MEMORY = Geometry(
    lanes=4, passes=8, slots=2048, count_width=16, bus_width=128, naive_bayes=True, nodes=4096, resident=64
)
_WIDE_IN_MEMORY = _IN_MEMORY.replace(lanes=8, passes=4, resident=32)
_LARGE = Geometry(
    lanes=8, passes=4, bins=16, classes=4, slots=64, bus_width=128, nodes=512, searchers=0, naive_bayes=True
)
# LFE5U-12F is the 25F under another name; the open tools use all of it.
_ECP5_25 = {"DP16KD": 56, "MULT18X18D": 28, "LUT4": 24288}
_ECP5_45 = {"DP16KD": 108, "MULT18X18D": 72, "LUT4": 43848}
_ECP5_85 = {"DP16KD": 208, "MULT18X18D": 156, "LUT4": 83640}


_ULX3S_PINS = {"CLOCK": "clk25_0__io", "RX": "uart_0__rx__io", "TX": "uart_0__tx__io", "ALIVE": "led_0__io", "LIT": "1"}
_ARTY_PINS = _ULX3S_PINS | {"CLOCK": "clk100_0__io"}
_TANG_NANO_PINS = _ULX3S_PINS | {"CLOCK": "clk27_0__io", "LIT": "0"}


def _network_pins(top, alive):
    return {
        "CLOCK": f"{top.clock}_0__{top.clock_port}",
        "ALIVE": alive,
        "LIT": "0",
        "RX_CLOCK": "eth_rgmii_0__rx_clk__io",
        "RX_CTRL": f"eth_rgmii_0__rx_{top.control}__io",
        "RX_DATA": "eth_rgmii_0__rx_data__io",
        "TX_CTRL": f"eth_rgmii_0__tx_{top.control}__io",
        "TX_DATA": "eth_rgmii_0__tx_data__io",
    }


def _ecpix5(size, platform, geometry, clock_mhz, resources):
    return Board(
        name=f"ecpix5-{size}",
        what=f"LambdaConcept ECPIX-5, LFE5UM5G-{size.upper()} grade 8, Gigabit Ethernet",
        platform=platform,
        top=ECPIX5,
        geometry=geometry,
        clock_mhz=clock_mhz,
        loader="ecpix5",
        constraints="ecpix5.lpf",
        wire="udp",
        pins=_network_pins(ECPIX5, "rgb_led_0__g__io"),
        family=ECP5(),
        resources=resources,
    )


def _versa(name, device, platform):
    return Board(
        name=name,
        what=f"Lattice ECP5 Versa, {device} grade 8, Gigabit Ethernet",
        # The loader knows no Versa; this board of Lattice's has the same cable.
        platform=platform,
        top=VersaECP5,
        geometry=_MIDDLE_BY_ETHERNET,
        clock_mhz=62.5,
        loader="ecp5_evn",
        constraints="versa-ecp5.lpf",
        wire="udp",
        pins=_network_pins(VersaECP5, "led_0__io"),
        family=ECP5(),
        resources=_ECP5_45,
        margin=1.04,
    )


_COLORLIGHT = Board(
    name="colorlight-5a-75b",
    what="Colorlight 5A-75B revision 7.0, LFE5U-25F grade 6, Gigabit Ethernet",
    platform=colorlight_5a75b_r7_0.Colorlight_5A75B_R70Platform,
    top=Colorlight5A75B,
    geometry=_SMALL.replace(lanes=1, passes=8),
    clock_mhz=50,
    loader="colorlight",
    constraints="colorlight-5a-75b.lpf",
    wire="udp",
    pins=_network_pins(Colorlight5A75B, "led_0__io"),
    family=ECP5(dense=True),
    resources=_ECP5_25,
    block_rams=(
        "*.slots*/m:rows",
        "*.lane_*/m:bin_windows",
        "*.counters/m:totals",
        "*.array.fifo/m:storage",
        "*.scheduler.heads/m:storage",
        "*.receiver.words.unbuffered/m:storage",
        "*.transmitter.heads.unbuffered/m:storage",
        *(f"ethernet/m:storage_{queue}" for queue in (1, 3, 4)),
    ),
)


def _arty(size, platform):
    return Board(
        name=f"arty-a7-{size}",
        what=f"Digilent Arty A7, XC7A{size}T grade 1, USB serial port",
        platform=platform,
        top=ArtyA7,
        geometry=_LARGE,
        clock_mhz=75,
        loader=f"arty_a7_{size}t",
        constraints="arty-a7.xdc",
        wire="serial",
        pins=_ARTY_PINS,
        slowest_mhz=6.25,
        vendor="Vivado",
    )


def _ulx3s(size, platform, geometry, clock_mhz, resources, seed=1):
    return Board(
        name=f"ulx3s-{size}",
        what=f"Radiona ULX3S, LFE5U-{size.upper()} grade 6, USB serial port",
        platform=platform,
        top=ULX3S,
        geometry=geometry,
        clock_mhz=clock_mhz,
        loader="ulx3s",
        constraints="ulx3s.lpf",
        wire="serial",
        pins=_ULX3S_PINS,
        family=ECP5(),
        resources=resources,
        seed=seed,
    )


BOARDS = {
    board.name: board
    for board in (
        _ulx3s("12f", ulx3s.ULX3S_12F_Platform, _SMALL, 50, _ECP5_25),
        _ulx3s("25f", ulx3s.ULX3S_25F_Platform, _SMALL, 50, _ECP5_25),  # as large as the 12F
        _ulx3s("45f", ulx3s.ULX3S_45F_Platform, _MIDDLE, 50, _ECP5_45),
        replace(_ulx3s("85f", ulx3s.ULX3S_85F_Platform, _LARGE, 65, _ECP5_85, seed=2), margin=1.06),
        replace(
            _ulx3s("85f", ulx3s.ULX3S_85F_Platform, _IN_MEMORY, 50, _ECP5_85),
            name="ulx3s-85f-sdram",
            what="Radiona ULX3S, LFE5U-85F grade 6, USB serial port, its 32 MB of SDRAM",
            top=ULX3SMemory,
            slowest_mhz=50,
            chips="sdram.v",
            memory_rate=87e6,
        ),
        _ecpix5("45f", ecpix5.ECPIX545Platform, _MIDDLE_BY_ETHERNET, 62.5, _ECP5_45),
        _ecpix5("85f", ecpix5.ECPIX585Platform, _LARGE.replace(lanes=4, passes=8), 62.5, _ECP5_85),
        replace(
            _ecpix5("85f", ecpix5.ECPIX585Platform, _WIDE_IN_MEMORY, 62.5, _ECP5_85),
            name="ecpix5-85f-ddr3",
            what="LambdaConcept ECPIX-5, LFE5UM5G-85F grade 8, Gigabit Ethernet, its 512 MB of DDR3",
            top=ECPIX5Memory,
            chips="dram_phy.v",
            memory_mhz=ECPIX5Memory.memory_hz / 1e6,
            memory_rate=590e6,
            margin=1.02,
        ),
        _versa("versa-ecp5", "LFE5UM-45F", versa_ecp5.VersaECP5Platform),
        _versa("versa-ecp5-5g", "LFE5UM5G-45F", versa_ecp5_5g.VersaECP55GPlatform),
        _COLORLIGHT,
        replace(
            _COLORLIGHT,
            name="colorlight-5a-75b-8",
            what="Colorlight 5A-75B revisions 8.0 and 8.2, LFE5U-25F grade 6, Gigabit Ethernet",
            platform=Colorlight5A75BRevision8Platform,
            top=Colorlight5A75BRevision8,
            seed=2,
        ),
        Board(
            name="tang-nano-20k",
            what="Sipeed Tang Nano 20K, GW2AR-18 grade 8, USB serial port",
            platform=TangNano20KPlatform,
            top=TangNano20K,
            geometry=_LEAST,
            clock_mhz=81,
            loader="tangnano20k",
            constraints="",
            wire="serial",
            pins=_TANG_NANO_PINS,
            family=Gowin(),
            resources={"BSRAM": 46, "MULT18X18": 48, "LUT4": 20736, "DFF": 15552},
            slowest_mhz=4.5,
            bitstream="top.fs",
        ),
        _arty("35", arty_a7.ArtyA7_35Platform),
        _arty("100", arty_a7.ArtyA7_100Platform),
    )
}


def find_board(name):
    """The board of that name; ValueError if there is none."""
    if name not in BOARDS:
        raise ValueError(f"no board {name!r} to build for; there are {', '.join(BOARDS)}")
    return BOARDS[name]
