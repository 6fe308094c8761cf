"""Serves a model of a board to real wires: a pseudo-terminal, or a UDP socket on the loopback."""

import os
import select
import socket
import termios
import threading
import time
import tty

from bregalad.protocol.link import decode_cobs, encode_cobs

__all__ = ["serve_serial", "serve_udp"]


class Server:
    """A thread between a file descriptor and a `BoardEnd`.

    Members
    -------
    name : str
        What `open_board` takes.
    deaf : bool
        While true, nothing gets through.
    """

    def __init__(self, end, name, handle, read, write):
        self.end, self.name = end, name
        self.deaf = False
        self._handle, self._read, self._write = handle, read, write
        self._stopping = False
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self):
        while not self._stopping:
            wait = max(0, min(0.01, self.end.deadline - time.monotonic()))
            if select.select([self._handle], [], [], wait)[0]:
                for frame in self._read():
                    if not self.deaf:
                        self.end.take(frame, time.monotonic())
            for frame in self.end.frames(time.monotonic()):
                if not self.deaf:
                    self._write(frame)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stopping = True
        self._thread.join()
        if isinstance(self._handle, int):
            os.close(self._handle)
        else:
            self._handle.close()


def serve_serial(end, baud=None):
    """A board at a pseudo-terminal; it understands no other rate than ``baud``, if given."""
    master, slave = os.openpty()
    tty.setraw(master)
    pending = b""

    def read():
        nonlocal pending
        pending += os.read(master, 1 << 16)
        *frames, pending = pending.split(b"\0")
        if baud is not None and termios.tcgetattr(slave)[4] != getattr(termios, f"B{baud}"):
            return []
        return [decode_cobs(frame) or b"" for frame in frames if frame]

    server = Server(
        end, f"serial:{os.ttyname(slave)}", master, read, lambda frame: os.write(master, encode_cobs(frame) + b"\0")
    )
    server.slave = slave  # kept open, or the master would see hang-ups between two opens
    return server


def serve_udp(end):
    """A board at a UDP port of the loopback."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", 0))
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    peer = None

    def read():
        nonlocal peer
        data, peer = sock.recvfrom(1 << 16)
        return [data]

    def write(frame):
        if peer is not None:
            sock.sendto(frame, peer)

    return Server(end, f"udp:127.0.0.1:{sock.getsockname()[1]}", sock, read, write)
