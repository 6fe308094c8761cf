"""Virtual boards: what the bitstream is built of, pin by pin, under the unmodified driver."""

import queue
import random
import struct
import threading
from ipaddress import IPv4Address

import numpy as np
import pytest
from bregalad import EFDT, VFDT, open_board
from bregalad.boards import BoardError
from bregalad.boards.engine import Engine
from bregalad.boards.linked import LinkedBoard
from bregalad.protocol.commands import Opcode, pack_command
from bregalad.protocol.registers import EVENTS
from bregalad_hw.boards import BOARDS
from bregalad_hw.boards.ethernet import mac_address
from bregalad_hw.boards.network import ADDRESS
from bregalad_sim.golden import Golden
from bregalad_sim.latency import GoldenBoard
from bregalad_sim.traffic import Traffic
from bregalad_sim.virtual import CableWire, LineWire, VirtualBoard, VirtualError, network, serve
from bregalad_sim.wire import Faults
from marks import nightly
from models import VIRTUAL as GEOMETRY
from streams import elec, needs, nominal

IP = int(IPv4Address(ADDRESS))


@pytest.fixture
def board(request):
    with VirtualBoard(BOARDS[request.param], GEOMETRY) as virtual:
        yield virtual


@pytest.fixture
def served(board):
    """What `open_board` calls the virtual board."""
    name, done = queue.Queue(), threading.Event()
    server = threading.Thread(target=serve, args=(board, name.put, done.is_set))
    server.start()
    yield name.get(timeout=60)
    done.set()
    server.join(timeout=60)
    assert not server.is_alive()


def compare(linked, count, anytime=False):
    """Train on ELEC's head with an emulated board and with this one: the same, step by step."""
    X, y, schema = elec()
    X, labels, classes = X[:count], np.asarray(y)[:count], np.unique(y)
    trees, found = [], []
    for kind in (Engine(GEOMETRY), linked):
        tree = VFDT(board=kind, nominal=nominal(X, schema), delta=1e-3, grace=100)
        if anytime:
            tree = EFDT(board=kind, nominal=nominal(X, schema), delta=1e-3, grace=100, inner_grace=150)
        found.append(tree.test_then_train(X, labels, classes))
        trees.append(tree)
    assert trees[0].report()["nodes"] > 1
    assert trees[1].difference(trees[0]) is None
    assert (found[0] == found[1]).all()


@needs("elec")
@pytest.mark.slow
@pytest.mark.parametrize("share, count", [(0.01, 45_312), (0.05, 6000), (0.2, 1200)])
@pytest.mark.parametrize("board, wire", [("ulx3s-85f", LineWire), ("ecpix5-85f", CableWire)], indirect=["board"])
def test_same_tree_over_bad_wire(board, wire, share, count, seed):
    """Frames are lost, damaged, doubled and overtaken on the way to and from the RTL's pins.

    So many are sent that some are lost for sure.
    """
    linked = LinkedBoard(wire(board, random.Random(seed), Faults.all(share)), timeout=60)
    compare(linked, count)
    found = linked.statistics()
    assert found.frames_resent
    print(f"{board.clocks} clocks, {found}")


@pytest.mark.parametrize("board", ["ulx3s-85f"], indirect=True)
@pytest.mark.parametrize(
    "rounds, shares", [(2, [0.05]), pytest.param(18, [0.0, 0.05, 0.2], marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_any_commands_over_a_bad_line(board, rounds, shares, seed):
    """Random commands and accesses to registers: reports and events are the golden model's."""
    rng = random.Random(seed)
    wire = LineWire(board, rng, Faults.all(rng.choice(shares)))
    linked = LinkedBoard(wire, timeout=60)
    golden = GoldenBoard(GEOMETRY, linked.memory_size)
    for index in range(rounds):
        traffic = Traffic(GEOMETRY, rng, golden.model.memory)
        for name, fields in traffic.configuration():
            for each in (golden, linked):
                each.write_fields(name, **fields)
            assert linked.read_register(name) == golden.read_register(name)
        stream = b"".join(traffic.command(index % 2 == 1) for _ in range(12))
        stream += pack_command(GEOMETRY, Opcode.RESET) + pack_command(GEOMETRY, Opcode.FENCE, token=index)
        for each in (golden, linked):
            each.send(np.frombuffer(stream, np.uint8))
        want, found = golden.receive(), b""
        while len(found) < len(want):
            found += linked.receive(wait=True)
        assert found == want
        for name in EVENTS:
            assert linked.read_register(name) == golden.read_register(name), name
    linked.close()


@pytest.mark.slow
@pytest.mark.parametrize("board", ["ulx3s-85f"], indirect=True)
def test_a_session_that_is_taken_over(board, seed):
    """The next one begins with a reset, amid reports of the one before, none of which is taken for its own."""
    rng = random.Random(seed)
    first = before = LinkedBoard(LineWire(board), timeout=60)
    for token in range(5):
        before.write("cells.count", 2)
        with pytest.raises(BoardError, match="another session"):
            LinkedBoard(LineWire(board), timeout=60)
        before.send(np.frombuffer(30 * pack_command(GEOMETRY, Opcode.READ, slot=1, cell=0), np.uint8))
        board.run(rng.randrange(100_000))
        linked = LinkedBoard(LineWire(board), timeout=60, take_over=True)
        assert linked.read("cells.count") == 1
        fence = pack_command(GEOMETRY, Opcode.FENCE, token=token)
        linked.send(np.frombuffer(fence, np.uint8))
        assert linked.receive(wait=True) == Golden(GEOMETRY).execute(fence)
        before = linked
    with pytest.raises(BoardError, match="of another program has the board now"):
        first.read("cells.count")
    before.close()


@needs("elec")
@pytest.mark.slow  # 3 minutes for the model, 4 for the simulation
@pytest.mark.parametrize("anytime", [False, True])
def test_the_netlist_grows_the_same_tree(anytime):
    """The netlist that is placed and routed, with models of the ECP5's cells."""
    with VirtualBoard(BOARDS["ulx3s-12f"], GEOMETRY, netlist=True) as virtual:
        compare(LinkedBoard(LineWire(virtual)), 1200, anytime)


def test_a_board_that_is_closed():
    """A driver that outlives it says goodbye to nobody."""
    with VirtualBoard(BOARDS["ulx3s-85f"], GEOMETRY) as virtual:
        linked = LinkedBoard(LineWire(virtual))
    assert virtual.closed
    virtual.close()
    with pytest.raises(VirtualError, match="the virtual board is closed"):
        virtual.run()
    linked.close()


@needs("elec")
@pytest.mark.parametrize(
    "board, count",
    [
        ("ulx3s-85f", 1200),
        ("ecpix5-85f", 3000),
        *nightly(
            ("arty-a7-35", 1200),
            ("tang-nano-20k", 1200),
            ("ecpix5-85f", 45_312),
            ("colorlight-5a-75b", 3000),
            ("versa-ecp5", 3000),
        ),
    ],
    indirect=["board"],
)
def test_as_a_user_does(board, served, count):
    """The port's name is all that the driver knows."""
    with open_board(served, timeout=60) as linked:
        assert linked.geometry == GEOMETRY
        compare(linked, count)
        print(f"{count} instances, {board.clocks} clocks, {linked.statistics()}")


@pytest.mark.parametrize("board", ["ecpix5-85f"], indirect=True)
def test_two_programs_at_one_board(board, served):
    """Each is answered at its own port."""
    with open_board(served, timeout=60) as first:
        with pytest.raises(BoardError, match="another session"):
            open_board(served, timeout=60)
        assert board.alive
        first.write("grace.leaf", 77)
        assert first.read("grace.leaf") == 77
    with open_board(served, timeout=60) as second:  # the session was ended
        assert second.geometry == GEOMETRY


def answer(board, frame, limit=20_000):
    """What the board sends next, after at most so many clocks, when it knows where to."""
    board.write(frame)
    limit += board.clocks
    while True:
        assert board.clocks < limit, "no answer"
        board.run(100)
        if got := board.read():
            if (asked := network.asked_address(got)) is None:
                return got
            board.write(network.arp_frame(2, asked, mac_address(IP), IP))


@pytest.mark.parametrize("board", ["ecpix5-85f"], indirect=True)
def test_address_resolution_and_ping(board, seed):
    rng = random.Random(seed)
    ip, host = IPv4Address(ADDRESS), IPv4Address("192.168.1.7")
    board.run(1000)  # the transceiver's reset
    mac = mac_address(IP)
    got = answer(board, network.arp_frame(1, int(host), 0, IP))
    ours, theirs = mac.to_bytes(6, "big") + ip.packed, network.HOST_MAC.to_bytes(6, "big") + host.packed
    answered = bytes.fromhex("0806 0001 0800 06 04 0002")
    assert got[:42] == theirs[:6] + ours[:6] + answered + ours + theirs

    for size in (8, 31, 56, 400, 56):
        echo = struct.pack(">HH", rng.getrandbits(16), rng.getrandbits(16)) + rng.randbytes(size)

        def message(kind, echo=echo):
            even = struct.pack(">BBH", kind, 0, 0) + echo + bytes(len(echo) % 2)
            return struct.pack(">BBH", kind, 0, network.checksum(even)) + echo

        ping = network.ethernet_frame(mac, 0x0800, network.ipv4_packet(1, int(host), IP, message(8)))
        if size > 128:  # too long for the core's buffer, and dropped
            with pytest.raises(AssertionError, match="no answer"):
                answer(board, ping)
            continue
        got = answer(board, ping)
        assert got[:6] == network.HOST_MAC.to_bytes(6, "big") and got[23] == 1
        assert got[26:34] == ip.packed + host.packed
        assert got[34 : 34 + 4 + len(echo)] == message(0)


@pytest.mark.parametrize(
    "name, option, values, message",
    [
        ("ulx3s-85f", "ratio", [3, 8.0, True], "ratio must be a whole number, at least 4 clocks per bit"),
        ("ecpix5-85f", "ratio", [0.2, "1"], "ratio must be at least 0.25 clocks per byte, not"),
        *(
            (name, "netlist", [True], "netlist is for ECP5 boards with a serial port, not for")
            for name in ("ecpix5-85f", "arty-a7-35", "tang-nano-20k")
        ),
        ("ecpix5-85f", "ip", ["192.168.1", "fe80::1", "224.0.0.1", "0.0.0.0", 5.5], "ip must be a board's IPv4 "),
    ],
)
def test_refuses(name, option, values, message):
    for value in values:
        with pytest.raises(ValueError, match=message):
            VirtualBoard(BOARDS[name], "tiny", **{option: value})
