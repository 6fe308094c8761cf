"""The engine equals the golden model, whatever the geometry; tests/trees/test_tree_on_board.py has more trees."""

import numpy as np
import pytest
from bregalad.boards import open_board
from bregalad.criteria import CRITERIA
from bregalad.driver import checkpoint
from bregalad.driver.trainer import Trainer
from bregalad.geometry import Geometry
from bregalad.policy.split_policy import SplitPolicy
from bregalad.tree.cells import CellMap
from bregalad_sim.latency import GoldenBoard
from hypothesis import given, settings
from hypothesis import strategies as st
from models import SMALL


@st.composite
def geometries(draw):
    """Small geometries of any criterion."""
    criterion = draw(st.sampled_from(CRITERIA))
    return Geometry(
        lanes=draw(st.sampled_from([1, 2, 4])),
        passes=draw(st.sampled_from([4, 5])),
        bins=draw(st.sampled_from([4, 8, 16])),
        classes=2 if criterion == "kearns_mansour" else draw(st.integers(2, 5)),
        slots=draw(st.integers(2, 30)),
        count_width=draw(st.sampled_from([12, 13, 20, 32])),
        bus_width=draw(st.sampled_from([32, 64, 128, 256])),
        criterion=criterion,
        naive_bayes=True,
        nodes=64,
    )


@pytest.mark.parametrize("examples", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_matches_golden(examples):
    """Leaves of naive Bayes, so that all counts are looked at; attempts that hardly need evidence."""

    @settings(max_examples=examples, deadline=None)
    @given(geometry=geometries(), seed=st.integers(0, 1 << 32))
    def check(geometry, seed):
        rng = np.random.default_rng(seed)
        codes = np.stack([rng.integers(0, top, 250) for top in (255, 30, 3, 255)], axis=1).astype(np.uint8)
        labels = ((codes[:, 0] // 64 + codes[:, 2]) % geometry.classes).astype(np.int32)
        codes[rng.random(codes.shape) < 0.05] = 255
        cells = CellMap.build([0, 0, 3, 0], geometry.bins, "multiway")
        policy = SplitPolicy(criterion=geometry.criterion, grace=30, delta=0.3)
        found = []
        for board in (open_board("emulated", geometry), GoldenBoard(geometry, 4096)):
            trainer = Trainer(board, cells, policy, geometry.classes, prediction="nb")
            found.append((trainer.learn(codes, labels), trainer.nodes, checkpoint.read(trainer)))
        (guesses, nodes, counts), (others, other, more) = found
        assert (guesses == others).all() and nodes.difference(other) is None
        assert all((counts[name] == more[name]).all() for name in counts)

    check()


@pytest.mark.parametrize(
    "name, geometry, options, message",
    [
        ("imaginary", None, {}, "no board 'imaginary'; there are emulated, simulated"),
        ("emulated", "huge", {}, "no geometry 'huge'; there are tiny"),
        ("emulated", None, {"timeout": 3}, "no option 'timeout'; there are none"),
        ("emulated", "tiny", {"wave": "run.fst"}, "emulated: no option 'wave'; there are none"),
        ("simulated", SMALL, {"stall": 1.0}, "stall must be"),
        ("simulated", SMALL, {"stall": -0.1}, "stall must be"),
        ("simulated", SMALL, {"latency": -1}, "latency must be"),
        ("simulated", SMALL, {"memory_size": -1}, "memory_size must be"),
        *(
            (name, None, {}, message)
            for name, message in {
                "serial:": "'serial:' lacks a port; serial is an FPGA at a serial port",
                "udp:": "'udp:' lacks an address",
                "udp:1.2.3.4:0": "port must be a number from 1 to 65535, not '0'",
                "udp:1.2.3.4:x": "port must be a number",
                "udp:1.2.3.4,baud=5": "no option 'baud'; there are timeout, take_over",
                "serial:/dev/x,baud=fast": "baud must be an integer, not 'fast'",
                "serial:/dev/x,baud=-1": "baud must be an integer above 0, not -1",
                "udp:1.2.3.4,timeout=0": "timeout must be a number of seconds above 0, not 0.0",
                "udp:1.2.3.4,take_over=perhaps": "take_over must be yes or no, not 'perhaps'",
                "usb:1": "no board 'usb:1'; there are emulated, simulated, serial:PORT, udp:ADDRESS, pynq:FILE, ",
                "pynq:": "lacks a file; pynq is a core in a PYNQ overlay",
                "pynq:a.bit,buffer=1": "no option 'buffer'; there are timeout, memory_size",
                "mem:12,buffer=0": "the registers' address must be a multiple of 4096, as 0x70000000, not '12'",
                "mem:0x1000,buffer=soon": "buffer must be a multiple of 4096, as 0x70000000, not 'soon'",
                "uio:/dev/uio0,memory_size=big": "memory_size must be a number of bytes, not 'big'",
            }.items()
        ),
    ],
)
def test_open_refuses(name, geometry, options, message):
    with pytest.raises(ValueError, match=message):
        open_board(name, geometry, **options)


def test_more_statistics_than_memory():
    geometry = Geometry(lanes=1024, passes=31, classes=1024, slots=32768)
    with pytest.raises(MemoryError, match="no memory for 32768 slots of 16 bins, 1024 classes and 31744 cells: take"):
        open_board("emulated", geometry)
