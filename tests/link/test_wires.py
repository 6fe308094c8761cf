"""Real wires: a pseudo-terminal and the loopback, with a model of the board behind."""

import errno
import fcntl
import os
import resource
import select
import socket
import time
import tty

import pytest
import serial
from bregalad.boards import BoardError, open_board
from bregalad.cli import main
from bregalad.link import serial as serial_wire
from bregalad.link.serial import SerialWire
from bregalad.link.udp import UdpWire
from bregalad.protocol.link import LINK_VERSION, decode_cobs
from bregalad.protocol.registers import find
from bregalad.sim.link import BoardEnd
from server import serve_serial, serve_udp
from tape import GEOMETRY, TapeBoard
from test_session import traffic

KINDS = pytest.mark.parametrize("serve", [serve_serial, serve_udp])


def end(seed=1, **options):
    return BoardEnd(lambda: TapeBoard(seed), **{"ring_words": 2000, **options})


@KINDS
@pytest.mark.parametrize("sizes", [
    {}, {"ring_words": 300, "frame_bytes": 1024}, {"ring_words": 20_000, "frame_bytes": 1440}])
def test_every_byte_once_and_in_order(serve, sizes):
    import random

    with serve(end(**sizes)) as server, open_board(server.name) as board:
        sent, received = traffic(board, random.Random(1), 80)
        assert server.end.board.tape == sent
        assert received == server.end.board.reported
        assert board.geometry == GEOMETRY
        assert board.statistics().bytes_sent >= sum(
            len(part) for part in sent if isinstance(part, bytes))


@KINDS
def test_board_tells_its_geometry_and_is_held_to_the_expected_one(serve):
    with serve(end()) as server:
        with open_board(server.name, GEOMETRY) as board:
            assert board.read_geometry() == GEOMETRY
        with pytest.raises(BoardError, match="lanes is 2, expected 8.*its bitstream was built for"):
            open_board(server.name, "small")


@KINDS
def test_silent_board_then_resume(serve):
    with serve(end()) as server, open_board(server.name, timeout=0.4) as board:
        board.write("grace.leaf", 77)
        assert board.read("grace.leaf") == 77
        server.deaf = True
        start = time.monotonic()
        with pytest.raises(BoardError, match="no sign of life for 0.4 s.*check cable.*resume"):
            board.read("status.busy")
        assert 0.3 < time.monotonic() - start < 5
        for _ in range(2):
            with pytest.raises(BoardError, match="no sign of life"):
                board.receive()
        board.send(bytes(100 * GEOMETRY.bus_bytes))  # kept
        with pytest.raises(BoardError, match="no sign of life"):
            board.resume()
        server.deaf = False
        board.timeout = 10
        board.resume()
        assert board.read("grace.leaf") == 77
        assert server.end.board.tape == [(find("grace").addr, 77), bytes(100 * GEOMETRY.bus_bytes)]


@KINDS
def test_second_program_is_refused_until_it_takes_over(serve):
    with serve(end()) as server:
        first = open_board(server.name, timeout=3)
        if serve is serve_serial:  # as from another computer: the port itself is not locked
            first._wire.close()
        with pytest.raises(BoardError, match=r"another session \(0x[0-9a-f]{8}\).*"
                                             "take_over=True"):
            open_board(server.name)
        with open_board(server.name, take_over=True) as second:
            second.read("status.busy")
            if serve is serve_udp:
                server.deaf = False
                with pytest.raises(BoardError, match="no longer knows this session: session 0x.*"
                                                     "load the tree that was saved last"):
                    first.read("status.busy")
        first._wire.close()


@KINDS
def test_board_without_power_meanwhile(serve):
    with serve(end()) as server, open_board(server.name, timeout=3) as board:
        board.read("status.busy")
        server.end.restart()
        with pytest.raises(BoardError, match="no longer knows this session: it was reset"):
            board.read("status.busy")
        with pytest.raises(BoardError, match="no longer knows"):
            board.resume()


@KINDS
def test_other_version_of_the_link(serve):
    with serve(end(version=LINK_VERSION + 1)) as server:
        with pytest.raises(BoardError, match=f"version {LINK_VERSION + 1} of the link, this driver "
                                             f"{LINK_VERSION}: rebuild the bitstream"):
            open_board(server.name)


@pytest.mark.parametrize("serve", [serve_udp])
def test_other_version_of_the_bitstream_and_no_board(serve):
    class Other(TapeBoard):
        changes = {"build": 99}

        def _read_register(self, register):
            return self.changes.get(register.name, super()._read_register(register))

    with serve(BoardEnd(lambda: Other(1))) as server:
        with pytest.raises(BoardError, match="protocol version 99, this driver"):
            open_board(server.name)
        Other.changes = {"identity": 5}
        with pytest.raises(BoardError, match="not a Bregalad board"):
            open_board(server.name)


def test_rates_are_tried_in_turn():
    with serve_serial(end(), baud=115200) as server:
        with open_board(server.name, timeout=3.3) as board:
            assert board.read("grace.leaf") == 0
        # What a pseudo-terminal carries has no rate: it is dropped for that of the port when it is
        # read, so each rate needs some time without frames at its end.
        limit = time.monotonic() + 5
        while server.end.session and time.monotonic() < limit:
            pass
        with pytest.raises(BoardError, match="no answer at 1000000 baud: .*baud="):
            open_board(server.name, baud=1_000_000, timeout=0.5)
        with open_board(f"{server.name},baud=115200,timeout=0.7") as board:
            assert board.timeout == 0.7


def test_serial_port_that_is_no_board():
    master, slave = os.openpty()
    with pytest.raises(BoardError, match="no answer at 3000000, 1000000, 115200 baud: either"):
        open_board(f"serial:{os.ttyname(slave)}", timeout=0.3)
    os.close(master)
    os.close(slave)


def test_busy_port():
    with serve_serial(end()) as server, open_board(server.name):
        with pytest.raises(BoardError, match="or another has this port open already: close it"):
            open_board(server.name)


def test_port_that_is_back_but_busy(tmp_path):
    link, board_end = tmp_path / "port", end()
    with serve_serial(board_end) as first:
        link.symlink_to(first.name.removeprefix("serial:"))
        board = open_board(f"serial:{link}", timeout=1)
        os.close(first.slave)
    link.unlink()
    with serve_serial(board_end) as again:
        link.symlink_to(again.name.removeprefix("serial:"))
        other = os.open(link, os.O_RDWR | os.O_NOCTTY)
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with pytest.raises(BoardError, match="no sign of life.*or another has this port open"):
            board.read("status.busy")
        os.close(other)
        board.timeout = 10
        board.resume()
        assert board.read("status.busy") == 0
        board.close()


def test_missing_port_and_file_that_is_no_port(tmp_path):
    with pytest.raises(BoardError, match="no such port; serial ports here: .*plugged in"):
        open_board("serial:/dev/ttyNONE")
    (tmp_path / "file").write_text("")
    with pytest.raises(BoardError, match="no serial port that can be used"):
        open_board(f"serial:{tmp_path / 'file'}")


@pytest.mark.parametrize("code, message", [
    (errno.EACCES, "permission denied: add your user to the port's group"),
    (errno.EBUSY, "or another has this port open already"),
])
def test_port_that_cannot_be_opened(monkeypatch, tmp_path, code, message):
    (tmp_path / "port").write_text("")

    def fail(*_, **__):
        raise serial.SerialException(code, os.strerror(code))

    monkeypatch.setattr(serial_wire.serial, "Serial", fail)
    with pytest.raises(BoardError, match=message):
        open_board(f"serial:{tmp_path / 'port'}")


def test_device_that_vanishes_and_comes_back(tmp_path):
    """The cable is pulled and plugged in again; the port keeps its name, as by a udev rule."""
    board_end = end()
    link = tmp_path / "port"
    server = serve_serial(board_end)
    link.symlink_to(server.name.removeprefix("serial:"))
    board = open_board(f"serial:{link}", timeout=0.6)
    board.write("grace.leaf", 5)
    assert board.read("grace.leaf") == 5
    server.__exit__()
    os.close(server.slave)
    link.unlink()
    with pytest.raises(BoardError, match="the device has vanished.*check cable"):
        board.read("grace.leaf")
    with serve_serial(board_end) as again:
        link.symlink_to(again.name.removeprefix("serial:"))
        board.timeout = 10
        board.resume()
        assert board.read("grace.leaf") == 5
        board.close()


def test_serial_port_that_takes_nothing_keeps_whole_frames_up_to_a_bound():
    master, slave = os.openpty()
    tty.setraw(master)
    wire = SerialWire(os.ttyname(slave))
    wire.open(115_200)
    frames = [bytes([1 + i % 255]) * 5000 for i in range(300)]
    for frame in frames:
        wire.send([frame])
    assert len(wire._out) < 300_000
    came = b""
    while wire._out or select.select([master], [], [], 0.1)[0]:
        came += os.read(master, 1 << 16)
        wire.send([])
    wire.close()
    got = [decode_cobs(frame) for frame in came.split(b"\0") if frame]
    assert 50 < len(got) < 100
    assert got == frames[:len(got)]
    os.close(master)
    os.close(slave)


class Stale(socket.socket):
    """As a socket whose address the computer no longer has, until another one is connected."""

    made = []
    error = None  # what sending comes to; None: what is sent is lost without a word
    moved = False  # whether the system would take another address now

    def __init__(self, *args):
        super().__init__(*args)
        self.made.append(self)
        self.stale = False

    def send(self, data):
        if not self.stale:
            return super().send(data)
        if self.error:
            raise OSError(self.error, os.strerror(self.error))
        return len(data)

    def sendmsg(self, data, *args):
        return self.send(b"") if self.stale else super().sendmsg(data, *args)

    def getsockname(self):
        return ("192.0.2.1", 7) if self.moved and self.stale else super().getsockname()


@pytest.fixture
def stale(monkeypatch):
    with serve_udp(end()) as server:
        Stale.made.clear()
        monkeypatch.setattr(socket, "socket", Stale)
        yield server


@pytest.mark.parametrize("error", [errno.EINVAL, errno.ENETUNREACH, errno.EADDRNOTAVAIL])
def test_computer_gets_another_address(stale, monkeypatch, error):
    monkeypatch.setattr(Stale, "error", error)
    with open_board(stale.name) as board:
        Stale.made[-1].stale = True
        assert board.read("status.busy") == 0
    assert len(Stale.made) == 2
    assert Stale.made[0].fileno() < 0


def test_computer_gets_another_address_unnoticed(stale, monkeypatch):
    monkeypatch.setattr(Stale, "moved", True)
    with open_board(stale.name) as board:
        Stale.made[-1].stale = True
        assert board.read("status.busy") == 0
    assert len(Stale.made) == 2
    assert Stale.made[0].fileno() < 0


def test_what_is_sent_gets_lost_and_the_address_is_the_same(stale):
    """Then the socket is kept: an answer may be on its way to its port."""
    with open_board(stale.name, timeout=1.5) as board:
        Stale.made[-1].stale = True
        with pytest.raises(BoardError, match="no sign of life"):
            board.read("status.busy")
        board.timeout = 5
        board.resume()
        assert board.read("status.busy") == 0


def test_frames_go_together_again_once_the_network_is_back(stale, monkeypatch):
    wire = UdpWire(stale.name.removeprefix("udp:"))
    wire.open(None)
    together = []
    sendmsg = Stale.sendmsg

    def noting(this, data, *args):
        together.append(len(data))
        return sendmsg(this, data, *args)

    monkeypatch.setattr(Stale, "sendmsg", noting)
    for error in (errno.ECONNREFUSED, errno.ENETUNREACH, None):
        monkeypatch.setattr(Stale, "error", error)
        Stale.made[-1].stale = error is not None
        wire._tried = wire.now()  # the socket itself works again before another one is tried
        wire.send([bytes(40)] * 20)
    assert together == [20, 20, 20]
    wire.close()


def test_no_other_network_yet(stale, monkeypatch):
    """Another socket is not tried more often than five times a second."""
    monkeypatch.setattr(Stale, "error", errno.ENETUNREACH)
    with open_board(stale.name, timeout=0.5) as board:
        Stale.made[-1].stale = True
        tries = []

        def fail(*_):
            tries.append(1)
            raise OSError(errno.ENETUNREACH, os.strerror(errno.ENETUNREACH))

        monkeypatch.setattr(Stale, "connect", fail)
        with pytest.raises(BoardError, match="no sign of life.*Network is unreachable"):
            board.read("status.busy")
        assert 1 <= len(tries) <= 4
        monkeypatch.undo()
        board.timeout = 5
        board.resume()
        assert board.read("status.busy") == 0


def test_name_with_an_ipv6_address_too(monkeypatch):
    known = socket.getaddrinfo

    def both(host, port, **options):
        six = (socket.AF_INET6, socket.SOCK_DGRAM, 17, "", ("::1", port, 0, 0))
        return [six, *known(host, port, **options)]

    monkeypatch.setattr(socket, "getaddrinfo", both)
    with serve_udp(end()) as server, open_board(server.name, timeout=0.8) as board:
        assert board.read("status.busy") == 0
    with pytest.raises(BoardError, match="no host 'a..b' .*give the board's IP address"):
        open_board("udp:a..b")


@KINDS
def test_more_files_than_select_takes(serve):
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = limits[1] if limits[1] != resource.RLIM_INFINITY else 4096
    if most < 1200:
        pytest.skip("this system lets a program open too few files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(limits[0], 1200), limits[1]))
    with serve(end()) as server:
        held = []
        try:
            while not held or held[-1] < 1024:
                held.append(os.open(os.devnull, os.O_RDONLY))
            with open_board(server.name) as board:
                assert board.read("status.busy") == 0
        finally:
            for file in held:
                os.close(file)
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@KINDS
def test_a_forked_process_leaves_the_board_to_its_parent(serve, monkeypatch):
    with serve(end()) as server:
        board = open_board(server.name)
        board.write("grace.leaf", 77)
        with monkeypatch.context() as patch:
            patch.setattr(os, "getpid", lambda: -1)
            for call in (lambda: board.read("grace.leaf"), lambda: board.write("grace.leaf", 5),
                         lambda: board.send(bytes(GEOMETRY.bus_bytes)), board.receive,
                         board.resume):
                with pytest.raises(BoardError, match="this process was forked from the one"):
                    call()
        assert board.read("grace.leaf") == 77
        with monkeypatch.context() as patch:
            patch.setattr(os, "getpid", lambda: -1)
            board._closer()
        with pytest.raises(BoardError, match="another session"):
            open_board(server.name)


def test_udp_without_a_board():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(BoardError, match=rf"no answer from 127.0.0.1 port {port} \(.*refused\)"):
        open_board(f"udp:127.0.0.1:{port}", timeout=0.3)
    with pytest.raises(ValueError, match="no option 'baud'; there are timeout, take_over"):
        open_board(f"udp:127.0.0.1:{port}", baud=9600)
    with pytest.raises(BoardError, match="no host 'no.such.host.invalid'"):
        open_board("udp:no.such.host.invalid")


@pytest.mark.parametrize("name, message", [
    ("serial:", "'serial:' lacks a port; serial is an FPGA at a serial port"),
    ("udp:", "'udp:' lacks an address"),
    ("udp:1.2.3.4:0", "port must be a number from 1 to 65535, not '0'"),
    ("udp:1.2.3.4:x", "port must be a number"),
    ("udp:1.2.3.4,baud=5", "no option 'baud'; there are timeout, take_over"),
    ("serial:/dev/x,baud=fast", "baud must be an integer, not 'fast'"),
    ("serial:/dev/x,baud=-1", "baud must be an integer above 0, not -1"),
    ("udp:1.2.3.4,timeout=0", "timeout must be a number of seconds above 0, not 0.0"),
    ("udp:1.2.3.4,take_over=perhaps", "take_over must be yes or no, not 'perhaps'"),
    ("usb:1", "no board 'usb:1'; there are emulated, simulated, serial:PORT and udp:ADDRESS"),
])
def test_wrong_names(name, message):
    with pytest.raises(ValueError, match=message):
        open_board(name)


def test_waiting_for_what_cannot_come():
    with serve_udp(end()) as server, open_board(server.name, timeout=0.2) as board:
        with pytest.raises(BoardError, match="no report can come, since all commands sent"):
            board.receive(wait=True)
        assert board.read("status.busy") == 0


def test_closed_board():
    with serve_udp(end()) as server:
        board = open_board(server.name)
        board.read("status.busy")
        board.close()
        board.close()
        counted = board.statistics()
        assert counted.frames_sent == 1 and counted.seconds > 0
        assert board.statistics() == counted
        for call in (board.receive, lambda: board.send(b""), board.resume,
                     lambda: board.read("status.busy")):
            with pytest.raises(BoardError, match="closed: open it again"):
                call()
        with pytest.raises(ValueError, match="do not fit the board's memory"):
            board.load(0, b"1")
        with open_board(server.name):  # the session was ended: nobody needs to wait
            pass


def test_command_line_says_it_in_one_line(capsys, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("a,b\n" + "1,x\n2,y\n" * 300)
    assert main(["train", str(table), "--quiet", "--board", "serial:/dev/ttyNONE"]) == 1
    error = capsys.readouterr().err
    assert "no such port" in error
    assert error.count("\n") == 1
    assert main(["train", str(table), "--quiet", "--board", "usb:1"]) == 1
    assert "no board 'usb:1'" in capsys.readouterr().err
