"""UDP as a wire: a datagram is a frame."""

import errno
import select
import socket
import struct
from itertools import groupby

from .wire import REOPEN, Wire, plain, ready

PORT = 0x4252  # "RB" in a hex dump; 16978
_BUFFER = 1 << 22  # bytes that the kernel may hold; more than any board's frames in flight
_DATAGRAM = 1 << 16
_MOST = 1 << 10  # datagrams taken at once

# Linux cuts one large datagram into many frames, for a tenth of the calls' cost.
_SOL_UDP, _UDP_SEGMENT = 17, 103
_SEGMENTS, _SEGMENTED_BYTES = 60, 64_000
# What it says where it does not.
_CANNOT = (errno.EINVAL, errno.EIO, errno.EMSGSIZE, errno.ENOPROTOOPT, errno.EOPNOTSUPP)


class UdpWire(Wire):
    """A socket that talks to one board, at ``address``, ``address:port`` or ``[IPv6 address]:port``.

    The port is ``PORT`` if it is not given. ValueError if there is no address, or the port is not 1 to 65535.
    """

    def __init__(self, place):
        super().__init__(f"udp:{place}")
        self._host, self._port = _split(place)
        self._socket = None
        self._address = None  # as `getaddrinfo` has it
        self._segments = True
        self._tried = 0.0

    def open(self, setting):
        self.close()
        try:
            found = socket.getaddrinfo(self._host, self._port, type=socket.SOCK_DGRAM)
            # A board has no IPv6 address, though the name may have one that comes first.
            self._address = min(found, key=lambda address: address[0] != socket.AF_INET)
            self._socket = self._connected()
        except (socket.gaierror, UnicodeError) as error:
            raise self._error(f"no host {self._host!r} ({plain(error)}): give the board's IP address") from error
        except OSError as error:
            raise self._error(
                f"this address cannot be reached ({error.strerror}): is the network up, and is it the board's?"
            ) from error

    def _connected(self):
        family, kind, protocol, _, address = self._address
        new = socket.socket(family, kind, protocol)
        try:
            new.setblocking(False)
            for buffer in (socket.SO_RCVBUF, socket.SO_SNDBUF):
                new.setsockopt(socket.SOL_SOCKET, buffer, _BUFFER)
            new.connect(address)
        except BaseException:
            new.close()
            raise
        return new

    def renew(self):
        # A socket keeps the address that this computer had when it was connected.
        self._tried = self.now()
        try:
            new = self._connected()
        except OSError as error:
            self.trouble = f"the system says: {plain(error)}"
            return
        self._socket.close()
        self._socket = new
        self._segments = True

    def _failed(self, error):
        self.trouble = f"the system says: {plain(error)}"
        if error.errno != errno.ECONNREFUSED and self.now() - self._tried >= REOPEN:
            self.renew()

    def close(self):
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def send(self, frames):
        if self._socket is None:
            return
        for size, run in groupby(frames, key=len):
            run = list(run)
            most = min(_SEGMENTS, _SEGMENTED_BYTES // size) if self._segments else 1
            for at in range(0, len(run), most):
                self._send(run[at : at + most], size)

    def _send(self, frames, size):
        try:
            if len(frames) == 1:
                self._socket.send(frames[0])
            else:
                self._socket.sendmsg(frames, [(_SOL_UDP, _UDP_SEGMENT, struct.pack("H", size))])
        except BlockingIOError:
            ready(self._socket, select.POLLOUT, 0.1)  # lost, and sent again in time
        except OSError as error:
            if len(frames) == 1:
                self._failed(error)
                return
            if error.errno in _CANNOT:
                self._segments = False  # another system, or a network card that cannot
            for frame in frames:
                self._send([frame], size)

    def receive(self, wait):
        frames = []
        if wait:
            ready(self._socket, select.POLLIN, wait)
        try:
            while len(frames) < _MOST:
                frames.append(self._socket.recv(_DATAGRAM))
        except BlockingIOError:
            pass
        except OSError as error:  # an answer to what was sent: no such port, no such host
            self._failed(error)
        if frames:
            self.trouble = None
        return frames

    def silence(self):
        said = f" ({self.trouble})" if self.trouble else ""
        return (
            f"no answer from {self._host} port {self._port}{said}: is it the board's address, "
            "is its bitstream loaded, and does this computer have an address in the same "
            "network?"
        )


def _split(place):
    """(host, port) of ``place``."""
    host, colon, port = place.rpartition(":")
    if not colon or place.endswith("]") or (":" in host and not host.endswith("]")):
        host, port = place, str(PORT)
    if not (port.isascii() and port.isdigit() and 0 < int(port) < 1 << 16):
        raise ValueError(f"udp: the port must be a number from 1 to 65535, not {port!r}")
    host = host.removeprefix("[").removesuffix("]")
    if not host:
        raise ValueError("udp: needs an address, as in udp:192.168.1.50")
    return host, int(port)
