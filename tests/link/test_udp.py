"""UDP as a wire: the loopback, with a model of the board behind."""

import errno
import os
import socket

import pytest
from bregalad.boards import BoardError, open_board
from bregalad.link.udp import UdpWire
from server import serve_udp
from tape import end


class Stale(socket.socket):
    """As a socket whose address the computer no longer has, until another one is connected."""

    made = []
    error = None  # what sending comes to; None: what is sent is lost without a word

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


def test_what_is_sent_gets_lost(stale):
    """Then `resume` takes another socket, as the system chooses its address now."""
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


def test_udp_without_a_board():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(BoardError, match=rf"no answer from 127.0.0.1 port {port} \(.*refused\)"):
        open_board(f"udp:127.0.0.1:{port}", timeout=0.3)
    with pytest.raises(BoardError, match="no host 'no.such.host.invalid'"):
        open_board("udp:no.such.host.invalid")
