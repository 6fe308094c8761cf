"""How a core in a system on chip is reached: a UIO device, PYNQ, a card's driver; and maps that are refused."""

import asyncio
import socket
import sys

import numpy as np
import pytest
from bregalad import VFDT, open_board
from bregalad.boards import maps
from bregalad.boards.base import BoardError
from bregalad.boards.engine import Engine
from bregalad.boards.mapped import MappedBoard
from bregalad.protocol.soc import PAGE, SOC_BASE
from bregalad_sim.cache import CachedMap
from bregalad_sim.pynq import Pynq
from models import SOC as GEOMETRY


def test_uio_interrupt(monkeypatch):
    """Of a device as far as its interrupt goes."""
    ours, theirs = socket.socketpair()
    file = theirs.detach()
    monkeypatch.setattr(maps._Registers, "__init__", lambda self, path: None)
    monkeypatch.setattr(maps._Registers, "close", lambda self: None)
    monkeypatch.setattr(maps.os, "open", lambda path, flags: file)
    uio = maps.UioMap("/dev/uio7")
    ours.send((1).to_bytes(4, "little"))
    uio.wait(100)  # returns at once
    uio.wait(0.01)  # in vain
    assert ours.recv(100) == 3 * (1).to_bytes(4, "little")
    uio.close()
    assert ours.recv(1) == b"", "the device is closed"
    ours.close()


class _Memory:
    """A map whose memory or core is not what it should be."""

    name = "wrong"

    def __init__(self, inner, registers=(), skew=0, short=0):
        self.inner, self.registers, self.skew, self.short = inner, dict(registers), skew, short
        self.closed = False

    def read(self, offset):
        return self.registers.get(offset, self.inner.read(offset))

    def write(self, offset, value):
        self.inner.write(offset, value)

    def allocate(self, size):
        found = self.inner.allocate(size + PAGE)[: size - self.short]
        found.device_address = self.inner.base + self.skew
        return found

    def close(self):
        self.closed = True


@pytest.mark.parametrize(
    "how, message",
    [
        ({"registers": {SOC_BASE: 9}}, "reads 0x9, version 9; this driver knows 2: there is no such core"),
        ({"registers": {0: 9}}, "identity register reads 0x00000009"),
        ({"skew": 64}, "not at a page of 4096 bytes"),
        ({"short": 1}, "bytes of memory for DMA, .* are needed"),
    ],
)
def test_refuses_maps(how, message, opened):
    wrong = _Memory(opened(), **how)
    with pytest.raises(BoardError, match=message):
        MappedBoard(wrong)
    assert wrong.closed


@pytest.mark.parametrize(
    "options, message",
    [({"timeout": 0}, "timeout must be a number"), ({"memory_size": -1}, "memory_size must be an integer")],
)
def test_refuses_options(options, message, opened):
    with pytest.raises(ValueError, match=message):
        MappedBoard(opened(), **options)


@pytest.mark.parametrize("running", [False, True], ids=["script", "notebook"])
def test_pynq(running, opened, monkeypatch, tmp_path, cli):
    substitute = Pynq(CachedMap(opened(pace=0), 1))
    monkeypatch.setitem(sys.modules, "pynq", substitute)
    X = np.random.default_rng(1).random((300, 3))
    y = (X[:, 0] > 0.5).astype(int)

    def learn():
        found = []
        for board in ("pynq:design.bit", Engine(GEOMETRY)):
            tree = VFDT(board=board, grace=100, delta=0.1).fit(X, y)
            found.append(tree.draw())
            tree.close()
        return found

    async def in_a_loop():
        return learn()

    found = asyncio.run(in_a_loop()) if running else learn()
    assert found[0] == found[1]
    assert substitute.waits > 0
    np.savetxt(tmp_path / "data.csv", np.column_stack([X, y]), delimiter=",", header="a,b,c,y", comments="")
    cli(f"train {tmp_path}/data.csv --class y --board pynq:design.bit --quiet")
    del substitute.ip_dict["core"]
    with pytest.raises(BoardError, match="0 blocks of the overlay are of type .*, one is needed; there are ps"):
        open_board("pynq:design.bit")


def test_card(tmp_path):
    """Memory by the channels of a card's driver."""
    for name in ("h2c_0", "c2h_0"):
        (tmp_path / f"card_{name}").write_bytes(bytes(8192))
    card = maps.CardMemory(str(tmp_path / "card"), 64, 4096)
    card[10:14] = np.array([1, 2, 3, 4], np.uint8)
    assert (tmp_path / "card_h2c_0").read_bytes()[74:78] == bytes([1, 2, 3, 4])
    (tmp_path / "card_c2h_0").write_bytes(bytes(range(100)))
    assert card[3:6].tolist() == [67, 68, 69] and len(card) == 4096
    with pytest.raises(OSError, match="the card gives no bytes at 0x64"):
        card[30:40]
    card.freebuffer()
