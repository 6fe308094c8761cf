"""The core in a system on chip, clock by clock, and its driver: every board's reports, whatever the bus does."""

import random

import numpy as np
import pytest
from bregalad import EFDT, VFDT, load_tree
from bregalad.boards import mapped
from bregalad.boards.base import BoardError
from bregalad.boards.engine import Engine
from bregalad.boards.mapped import MappedBoard
from bregalad.geometry import PRESETS
from bregalad.protocol.commands import CommandFlag, Opcode, pack_command
from bregalad.protocol.registers import find
from bregalad.protocol.reports import ErrorCode, Kind, entry_layout
from bregalad.protocol.rows import Column, RowKind, RowLayout
from bregalad.protocol.soc import PAGE, REPORT_RING, RING, SOC_BASE, SOC_BYTES, find_soc
from bregalad_sim.cache import CachedMap
from bregalad_sim.golden.memory import Memory
from bregalad_sim.soc import SimulatedMap
from bregalad_sim.tree_traffic import TreeTraffic
from models import SOC as GEOMETRY

MEMORY = 1 << 15


def soc(name):
    return SOC_BASE + find_soc(name).addr


def fence(board, token=1):
    """Until a FENCE is told; what came before it."""
    board.send(pack_command(board.geometry, Opcode.FENCE, token=token))
    end, found = bytes([Kind.FENCE, 0, 0, 0]) + token.to_bytes(4, "little"), b""
    while not found.endswith(end):
        found += board.receive(wait=True)
    return found


def cleared(geometry):
    """Commands that empty all slots."""
    return b"".join(pack_command(geometry, Opcode.CLEAR, slot=slot) for slot in range(geometry.slots))


class Kept(SimulatedMap):
    """A map that outlives the boards on it."""

    def allocate(self, size):
        self._free = 0
        return super().allocate(size)

    def close(self):
        pass


def stream(seed, count=1200):
    rng = np.random.default_rng(seed)
    X = rng.random((count, 3))
    return X, ((X[:, 0] > 0.5) ^ (X[:, 1] > 0.3)).astype(int)


def spoil(board, rng):
    """Have the bus fail at a word, anywhere in the rings and in what waits."""
    word = rng.randrange(board.memory_size, len(board._buffer)) // 8 * 8
    near = [board._ring, board._commands + board._at, board._reports + board._read * 4 % mapped._REPORTS]
    word = rng.choice([word, *(place // 8 * 8 + 8 * rng.randrange(4) for place in near)])
    board._mapped.faults = {board._buffer.device_address + word: rng.choice([2, 3])}


def learnt(board, rng=None, kind=VFDT):
    """A tree on a board, in words, and how often it had to be mended; with ``rng`` the bus fails now and then."""
    X, y = stream(5)
    tree, cuts = kind(board=board, grace=100, delta=0.01, block=10), 0
    for at in range(0, len(X), 100):
        part, found = slice(at, at + 100), None
        while found is None:
            if rng is not None and not board.cut and rng.random() < 0.7:
                spoil(board, rng)
            try:
                found = tree.resume() if board.cut else tree.test_then_train(X[part], y[part], [0, 1])
            except BoardError as error:
                assert board.cut, error
                with pytest.raises(BoardError, match="has stalled at"):
                    board.receive()
                cuts += 1
                board._mapped.faults = {}
    if rng is not None:
        board._mapped.faults = {}
    words = tree.draw()
    tree.close()
    return words, cuts


def wanted(kind=VFDT):
    with Engine(GEOMETRY.replace(nodes=0)) as engine:
        found, _ = learnt(engine, kind=kind)
    assert "1 leaf" not in found
    return found


def learn(board, count):
    """LEARN of so many rows of four codes, all 0."""
    g = board.geometry
    layout = RowLayout([Column(f"x{i}", 1 + i, RowKind.CODE) for i in range(4)], 5, label=0)
    declared = TreeTraffic(g, random.Random(1), Memory(0, g.bus_bytes)).declare(layout)
    board.load(0, bytes(count * layout.stride))
    return declared + pack_command(g, Opcode.LEARN, flags=CommandFlag.MEMORY, count=count)


def test_whatever_the_bus_does(opened, seed):
    rng = random.Random(seed)
    simulated = CachedMap(opened(stall=0.3, latency=rng.choice([0, 5, 60]), seed=seed), seed)
    with MappedBoard(simulated, memory_size=MEMORY) as board:
        cuts = 0
        for _ in range(20):
            found, more = learnt(board, rng)
            assert found == wanted()
            cuts += more
            if cuts:  # not every fault is met
                break
        assert cuts, "no fault was met"


@pytest.mark.parametrize("kind", [VFDT, pytest.param(EFDT, marks=pytest.mark.slow)])
def test_learns_what_the_emulated_board_does(kind, opened, seed, tmp_path):
    """And saves it, and goes on from there."""
    X, y = stream(seed)
    simulated = CachedMap(opened(stall=0.2, seed=seed), seed)
    found = []
    for board in (MappedBoard(simulated), Engine(GEOMETRY.replace(nodes=0))):
        tree = kind(board=board, grace=100, delta=0.01, block=1)
        predicted = tree.test_then_train(X, y, [0, 1])
        tree.save(tmp_path / "tree.npz")
        with np.load(tmp_path / "tree.npz") as saved:
            kept = [saved[f"board_{name}"].tolist() for name in ("nodes", "entries", "counts")]
        found.append((tree.draw(), predicted.tolist(), kept))
        tree.close()
        tree = load_tree(tmp_path / "tree.npz", board=board)
        tree.partial_fit(X[::-1], y)
        found[-1] += (tree.draw(),)
        tree.close()
        board.close()
    assert found[0] == found[1]
    assert "1 leaf" not in found[0][0]


@pytest.mark.slow  # a compiler run; tests/hw/test_soc.py has a bench of two clocks
@pytest.mark.parametrize("period", [0.3711, 1.618])
def test_two_clocks(period, opened, seed):
    """The array with a clock of its own, slower or faster than the bus': the same tree, after a reset, too."""
    rng = random.Random(seed)
    simulated = opened(kind=Kept, stall=0.3, seed=seed, period=period)
    for _ in range(2):
        with MappedBoard(simulated, memory_size=MEMORY) as board:
            for each in (None, rng, rng):
                assert learnt(board, each)[0] == wanted()
        simulated.reset()
    assert not simulated.interrupt


@pytest.mark.slow  # a compiler run
def test_a_tree_larger_than_the_chip(opened, seed):
    """Pages lie at the window's end, behind the rings: the tree is the engine's."""
    simulated = CachedMap(opened(GEOMETRY.replace(resident=2), stall=0.3, seed=seed), seed)
    with MappedBoard(simulated, memory_size=MEMORY) as board:
        assert learnt(board, kind=EFDT)[0] == wanted(EFDT)
        assert board.counters()["page_bytes"]


def test_a_cache_between(opened, seed):
    """A full ring of commands, by a driver that flushes and invalidates what it writes and reads, and no more."""
    rng = random.Random(seed)
    simulated = CachedMap(opened(pace=0, stall=0.3, seed=seed), seed, line=rng.choice([16, 32, 64]))
    with MappedBoard(simulated, memory_size=MEMORY) as board:
        g, written, begun = board.geometry, 0, simulated.flushed
        want = b""
        for token in range(1, 700):
            commands = pack_command(g, Opcode.FENCE, token=token) + rng.randrange(3) * cleared(g)
            want += bytes([Kind.FENCE, 0, 0, 0]) + token.to_bytes(4, "little")
            board.send(commands)
            written += len(commands)
        found = board.receive()
        while len(found) < len(want):
            found += board.receive(wait=True)
        assert found == want
        # Of what is written or read, and of a descriptor, either end may be in a line of other things.
        assert simulated.flushed - begun <= written + 700 * 3 * 64
        assert simulated.invalidated <= len(want) + 700 * 2 * 64


def test_a_driver_that_dies(opened, seed):
    """Another one begins anew, whatever was under way; so after a reset of the bus."""
    rng = random.Random(seed)
    simulated = opened(kind=Kept, stall=0.3, seed=seed)
    for index in range(6):
        dead = MappedBoard(simulated, memory_size=MEMORY)
        traffic = TreeTraffic(GEOMETRY, rng, Memory(0, GEOMETRY.bus_bytes))
        for name, values in traffic.configuration():
            dead.write_fields(name, **values)
        dead.send(b"".join(traffic.slot_command() for _ in range(10)) + learn(dead, 200))
        simulated.run(rng.randrange(1, 1500))
        dead._release_all.detach()  # it is killed
        if index % 2:
            simulated.reset()
        with MappedBoard(simulated, memory_size=MEMORY) as board:
            assert learnt(board)[0] == wanted()


def test_registers(opened):
    simulated = opened()
    board = MappedBoard(simulated)
    assert simulated.access(find("cells").addr, 3)[0] == 0 and board.read("cells.count") == 3
    nothing = 0x3C, 0x3FC, SOC_BASE + 0x4C, 0x7FC, 0x800, 0x800 + soc("control"), SOC_BYTES - 4
    for address in (*nothing, find("identity").addr, soc("state")):
        assert simulated.access(address, 1)[0] == 2, f"{address:#x} was written"
    for address in nothing:
        assert simulated.access(address) == (2, 0)
    # The window stays where it is while the core runs; the write waits, in vain.
    before = simulated.read(soc("window_low"))
    clocks = simulated.clocks
    assert simulated.access(soc("window_low"), 0)[0] == 2
    assert simulated.clocks - clocks > 1 << 16 and simulated.read(soc("window_low")) == before
    # A ring's size is a power of two, whatever is written.
    simulated.write(soc("control"), 0)
    for name, (least, most) in (("commands_size", RING), ("reports_size", REPORT_RING)):
        for value, taken in ((0, least), (31, most)):
            simulated.write(soc(name), value)
            assert simulated.read(soc(name)) == taken
    board.close()


def test_a_write_waits_for_what_is_under_way(opened):
    """Records are counted by the configuration that they were sent under."""
    simulated = opened(pace=0)
    with MappedBoard(simulated) as board:
        g, count = board.geometry, 400
        board.write("cells.count", 4)
        learns = learn(board, count)
        board.send(cleared(g) + learns)
        board.write("grace.leaf", 0)
        board.send(learns)
        clocks = simulated.clocks
        assert simulated.access(find("cells").addr, 1)[0] == 0  # and the bus is held for as long
        assert simulated.clocks - clocks > 100
        fence(board)
        assert board.counters()["records"] == 2 * count


def test_interrupt(opened):
    simulated = opened()
    with MappedBoard(simulated) as board:
        assert not simulated.interrupt
        simulated.write(soc("interrupt_mask"), 1)
        board.send(pack_command(board.geometry, Opcode.FENCE, token=9))
        simulated.run(500)
        assert simulated.interrupt and simulated.read(soc("interrupt")) == 0b011
        assert board.receive()
        assert not simulated.interrupt and simulated.read(soc("interrupt")) == 0b010


def test_waits_for_the_interrupt(opened):
    """A driver that waits for a report sleeps until it is there, and looks seldom whether any can come."""
    simulated = opened(pace=0)
    with MappedBoard(simulated) as board:
        g, reads = board.geometry, []
        board.write("grace.leaf", 0)
        board.send(cleared(g))
        fence(board)
        read = simulated.read
        simulated.read = lambda offset: (reads.append(offset), read(offset))[1]
        found = []
        for wait in (simulated.wait, None):
            simulated.wait = wait
            reads.clear()
            board.send(learn(board, 2000))
            fence(board)
            found.append(len(reads))
        assert found[0] < 30 < 100 < found[1], found
        simulated.wait = type(simulated).wait.__get__(simulated)
        with pytest.raises(BoardError, match="no report can come"):
            board.receive(wait=True)


def test_behind_the_window(opened):
    """A LEARN that leaves the window is told of; nothing else is harmed."""
    simulated = opened()
    with MappedBoard(simulated, memory_size=PAGE) as board:
        g = board.geometry
        end = board.read("ram.bytes")
        assert end == simulated.read(soc("window_size"))
        board.send(learn(board, 3))
        fence(board)
        board.send(pack_command(g, Opcode.LEARN, flags=CommandFlag.MEMORY, count=100, address=end - 16))
        report = board.receive(wait=True)
        assert report[:2] == bytes([Kind.ERROR, ErrorCode.DECODE])
        assert int.from_bytes(report[4:12], "little") == end
        board.send(pack_command(g, Opcode.RESET))
        assert fence(board)


def test_rings_are_not_believed(opened):
    """What a driver does wrong is told with index and address, and can be put right."""
    simulated = opened()
    board = MappedBoard(simulated)
    fence(board)
    place = board._ring + board._produced % mapped._RING * 16
    command = np.frombuffer(pack_command(board.geometry, Opcode.FENCE, token=3), np.uint8)
    board._buffer[board._commands : board._commands + 16] = command
    wrong = mapped.DESCRIPTOR.pack(opcode=mapped.BUFFER, count=16, address=board._commands + 4)
    board._buffer[place : place + 16] = np.frombuffer(wrong, np.uint8)
    board._waiting.append(0)
    board._produced += 1
    simulated.write(soc("commands_produced"), board._produced)
    with pytest.raises(BoardError, match=rf"descriptor 1, address {board._commands + 4:#x}: a buffer does not begin"):
        board.receive(wait=True)
    assert board.cut
    right = mapped.DESCRIPTOR.pack(opcode=mapped.BUFFER, count=16, address=board._commands)
    board._buffer[place : place + 16] = np.frombuffer(right, np.uint8)
    board.resume()
    assert board.receive(wait=True)[4] == 3
    simulated.write(soc("commands_produced"), board._produced + mapped._RING + 1)
    with pytest.raises(BoardError, match="descriptor 2, address 0x0: more descriptors are produced"):
        board.receive(wait=True)
    board.close()


def test_a_descriptor_beyond_the_window(opened):
    """Nothing is asked of the bus there; whoever begins anew finds the slots as they were."""
    simulated = opened(kind=Kept)
    with MappedBoard(simulated) as board:
        board.send(cleared(board.geometry) + pack_command(board.geometry, Opcode.PLACE, slot=3, parent=3, period=77))
        fence(board)
        address = len(board._buffer) + PAGE
        board._describe(address, 16, 0)
        with pytest.raises(BoardError, match=f"descriptor 2, address {address:#x}: no memory .* outside the core's"):
            board.receive(wait=True)
    with MappedBoard(simulated) as board:
        board.send(pack_command(board.geometry, Opcode.READ, slot=3, cell=0xFFFF))
        assert entry_layout(board.geometry).unpack(board.receive(wait=True))["period"] == 77


@pytest.mark.slow  # compiles a SoC for minutes
@pytest.mark.timeout(7200)
def test_litex():
    """The core learns through the bus of a LiteX SoC, and through its memory."""
    pytest.importorskip("litex")
    from bregalad_sim.litex import LitexMap

    geometry = PRESETS["tiny"]
    X = np.random.default_rng(1).random((600, 3))
    y = (X[:, 0] > 0.5).astype(int)
    found = []
    for board in (MappedBoard(LitexMap(geometry), memory_size=PAGE), Engine(geometry.replace(nodes=0))):
        tree = VFDT(board=board, grace=100, delta=0.1).fit(X, y)
        found.append(tree.draw())
        tree.close()
        board.close()
    assert found[0] == found[1]
