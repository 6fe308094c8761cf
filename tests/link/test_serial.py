"""A serial port as a wire: a pseudo-terminal, with a model of the board behind."""

import errno
import fcntl
import os
import select
import time
import tty
from unittest.mock import Mock

import pytest
import serial
from bregalad.boards import BoardError, open_board
from bregalad.link import serial as serial_wire
from bregalad.link.serial import SerialWire
from bregalad.protocol.link import decode_cobs
from server import serve_serial
from tape import end


def test_rates_are_tried_in_turn():
    with serve_serial(end(), baud=115200) as server:
        with open_board(server.name, timeout=3.3) as board:
            assert board.read("grace.leaf") == 200
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


def test_missing_port_and_file_that_is_no_port(tmp_path):
    with pytest.raises(BoardError, match="no such port; serial ports here: .*plugged in"):
        open_board("serial:/dev/ttyNONE")
    (tmp_path / "file").write_text("")
    with pytest.raises(BoardError, match="no serial port that can be used"):
        open_board(f"serial:{tmp_path / 'file'}")


@pytest.mark.parametrize(
    "code, message",
    [
        (errno.EACCES, "permission denied: add your user to the port's group"),
        (errno.EBUSY, "or another has this port open already"),
    ],
)
def test_port_that_cannot_be_opened(monkeypatch, tmp_path, code, message):
    (tmp_path / "port").write_text("")
    error = serial.SerialException(code, os.strerror(code))
    monkeypatch.setattr(serial_wire.serial, "Serial", Mock(side_effect=error))
    with pytest.raises(BoardError, match=message):
        open_board(f"serial:{tmp_path / 'port'}")


def test_device_that_vanishes_and_comes_back(tmp_path):
    """The cable is pulled and plugged in again; the port keeps its name, as by a udev rule, and is busy at first."""
    link, board_end = tmp_path / "port", end()
    with serve_serial(board_end) as server:
        link.symlink_to(server.name.removeprefix("serial:"))
        board = open_board(f"serial:{link}", timeout=0.6)
        board.write("grace.leaf", 5)
        assert board.read("grace.leaf") == 5
        os.close(server.slave)
    link.unlink()
    with pytest.raises(BoardError, match="the device has vanished.*check cable"):
        board.read("grace.leaf")
    with serve_serial(board_end) as again:
        link.symlink_to(again.name.removeprefix("serial:"))
        other = os.open(link, os.O_RDWR | os.O_NOCTTY)
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with pytest.raises(BoardError, match="no sign of life.*or another has this port open"):
            board.resume()
        os.close(other)
        board.timeout = 10
        board.resume()
        assert board.read("grace.leaf") == 5
        board.close()


def test_serial_port_that_takes_nothing_keeps_whole_frames_up_to_a_bound():
    master, slave = os.openpty()
    tty.setraw(master)
    wire = SerialWire(os.ttyname(slave))
    wire.open(115_200)
    frames = [b"%05d" % i * 1000 for i in range(300)]
    for frame in frames:
        wire.send([frame])
        assert len(wire._out) < 300_000
    came = b""
    while wire._out or select.select([master], [], [], 2)[0]:  # the kernel hands on when it has time
        came += os.read(master, 1 << 16)
        wire.send([])
    wire.close()
    got = [decode_cobs(frame) for frame in came.split(b"\0") if frame]
    assert 50 < len(got) < 100
    assert got[:50] == frames[:50]
    # Whenever the kernel hands some on there is room again: later ones follow, whole and in order.
    assert set(got) <= set(frames) and got == sorted(got)
    os.close(master)
    os.close(slave)
