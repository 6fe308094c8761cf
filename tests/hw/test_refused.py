"""Sizes that blocks are not built of: what their constructors say."""

import pytest
from bregalad.geometry import PRESETS, Geometry
from bregalad.protocol.registers import Access, Field, Register
from bregalad_hw.array.array import AttributeProcessorArray
from bregalad_hw.array.log2 import Log2
from bregalad_hw.boards.pll import ECP5Clock
from bregalad_hw.delay import DelayLine
from bregalad_hw.front import ring
from bregalad_hw.front.front import Front
from bregalad_hw.front.leaf_rows import LeafRows
from bregalad_hw.front.node_table import NodeTable
from bregalad_hw.front.steps import StepTable
from bregalad_hw.gain.gini import Gini
from bregalad_hw.gain.kearns_mansour import KearnsMansour
from bregalad_hw.gain.xlog2x import XLog2X
from bregalad_hw.link.intake import Intake
from bregalad_hw.link.link import Link
from bregalad_hw.link.linked import LinkedAccelerator
from bregalad_hw.link.receiver import FrameReceiver
from bregalad_hw.link.ring import Ring
from bregalad_hw.link.uart import UartReceiver, UartTransmitter
from bregalad_hw.link.window import Window
from bregalad_hw.mcmu.dma import ReadDMA
from bregalad_hw.mcmu.predictor import Predictor
from bregalad_hw.mcmu.scheduler import AttemptScheduler
from bregalad_hw.registers import RegisterFile
from bregalad_hw.soc.top import AxiTop

TINY = PRESETS["tiny"]
BOARD = TINY.replace(nodes=9)
TABLE = {"nodes": 16, "attributes": 4, "slots": 4}
WALK = {"nodes": 16, "attributes": 4, "codes": 4}
ROWS = {"geometry": Geometry(), "nodes": 4}
FAR = Register("far", 0x400, Field("x", 1, Access.RW, ""))
REFUSED = [
    *(
        (lambda s=s: AttributeProcessorArray(Geometry(), snapshots=s), f"snapshots must be .* 1 to 16, not {s}")
        for s in (0, 3, 32, -4)
    ),
    *(
        (lambda block=block, width=width: block(width), f"width must be {least} to {most} bits, not {width}")
        for block, least, most in ((XLog2X, 2, 32), (Gini, 2, 32), (KearnsMansour, 3, 32), (Log2, 2, 40))
        for width in (least - 1, most + 1)
    ),
    *((lambda n=n: DelayLine(1, n), f"clocks must be 3 to 17, not {n}") for n in (2, 18)),
    *((lambda n=n: StepTable(TINY, n, 128), f"steps must be a power of two, at least 2, not {n}") for n in (1, 12)),
    (lambda: Predictor(Geometry(), depth=2), "depth must be 3 to 1024, not 2"),
    (lambda: Predictor(Geometry(), depth=2000), "depth must be 3 to 1024, not 2000"),
    (lambda: Predictor(Geometry(), waiting=1), "waiting must be at least 2, not 1"),
    (lambda: Front(Geometry(nodes=0)), "nodes must be 2 to 32768, not 0"),
    (lambda: LeafRows(**ROWS | {"nodes": 1}), "nodes must be 2 to 32768, not 1"),
    (lambda: LeafRows(**ROWS | {"width": 33}), "width must be 4 to 32, not 33"),
    (lambda: NodeTable(**TABLE | {"nodes": 0}), "nodes must be 1 to 65536, not 0"),
    (lambda: NodeTable(**TABLE | {"attributes": 8193}), "attributes must be 1 to 8192, not 8193"),
    (lambda: NodeTable(**TABLE | {"slots": 65536}), "slots must be 1 to 65535, not 65536"),
    (lambda: NodeTable(**TABLE | {"walkers": 0}), "walkers must be 1 to 64, not 0"),
    (lambda: ring.Ring(**WALK | {"codes": 3}), "codes must be a power of two, at least 1, not 3"),
    (lambda: ring.Ring(**WALK | {"records": 1}), "records must be a power of two, at least 2, not 1"),
    (lambda: ring.Ring(**WALK | {"alternates": -1}), "alternates must be at least 0, not -1"),
    (lambda: ReadDMA(data_width=48), "data_width must be"),
    (lambda: ReadDMA(data_width=1024), "data_width must be"),
    (lambda: ReadDMA(data_width=64, burst=3), "burst must be"),
    (lambda: ReadDMA(data_width=512, burst=128), "burst must be"),
    (lambda: ReadDMA(data_width=64, outstanding=0), "outstanding must be"),
    (lambda: AttemptScheduler(TINY, depth=0), "depth must be"),
    (lambda: AttemptScheduler(TINY, depth=4, heads=3), "heads must be"),
    (lambda: RegisterFile(TINY, [FAR]), "far: address must fit"),
    (lambda: AxiTop(BOARD, clocks=3), "clocks must be 1 or 2, not 3"),
    (lambda: UartReceiver(1000, 251), "baud must be at least 1 and at most a quarter of the clock"),
    (lambda: UartTransmitter(1000, 0), "baud must be at least 1"),
    (lambda: Ring(24), "depth must be a power of two, 16 to 32768 words, not 24"),
    (lambda: Window(3, 64, 1), "frames must be a power of two, 2 to 64, not 3"),
    (lambda: Window(4, 60, 1), "frame_bytes must be a power of two, 16 to 1024, not 60"),
    (lambda: Window(4, 64, 0), "timeout must be at least 1 tick, not 0"),
    (lambda: FrameReceiver(17), "frame_bytes must be whole words, 16 to 32768, not 17"),
    (lambda: Intake(16, 64), "a ring of 16 words cannot hold a frame of 64 bytes"),
    (lambda: Link(BOARD, clock_hz=999), "clock_hz must be at least 1000, not 999"),
    (lambda: LinkedAccelerator(BOARD, clock_hz=10_000, baud=9600), "at most a quarter"),
    (lambda: ECP5Clock(25e6, 1e5), "no clock near 0.1 MHz can be made of 25 MHz"),
]


@pytest.mark.parametrize("make, message", REFUSED, ids=[message for _, message in REFUSED])
def test_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
