"""A virtual board's Ethernet: a UDP socket of the loopback."""

import select
import socket
import struct
from ipaddress import IPv4Address

from bregalad.link.udp import PORT
from bregalad_hw.boards.ethernet import mac_address
from bregalad_hw.boards.network import ADDRESS

from .board import Pace
from .wire import VirtualWire

HOST_MAC = 0x0252_0000_0001
_IPV4, _ARP, _UDP = 0x0800, 0x0806, 17
_ARP_REQUEST, _ARP_REPLY = 1, 2
_ARP_KIND = (1, _IPV4, 6, 4)  # Ethernet and IPv4, and the sizes of their addresses
_MOST = 1 << 16  # bytes that wait at the board's pins; more wait in the socket


def ethernet_frame(to, kind, payload):
    """A frame from the host, without what the transceiver adds."""
    return to.to_bytes(6, "big") + HOST_MAC.to_bytes(6, "big") + struct.pack(">H", kind) + payload


def arp_frame(code, sender, mac, ip):
    """An ARP request (1) or reply (2) of the host, which is at IP address ``sender``."""
    return ethernet_frame(
        mac if code == _ARP_REPLY else (1 << 48) - 1,
        _ARP,
        struct.pack(">HHBBH", *_ARP_KIND, code)
        + HOST_MAC.to_bytes(6, "big")
        + struct.pack(">I", sender)
        + mac.to_bytes(6, "big")
        + struct.pack(">I", ip),
    )


def ipv4_packet(protocol, source, destination, payload):
    """An IPv4 packet with its checksum."""
    header = struct.pack(">BBHHHBBHII", 0x45, 0, 20 + len(payload), 0, 0, 64, protocol, 0, source, destination)
    return header[:10] + struct.pack(">H", checksum(header)) + header[12:] + payload


def checksum(data):
    """The internet checksum (RFC 1071) of whole 16-bit words."""
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def udp_frame(source, destination, payload):
    """An Ethernet frame with a datagram; addresses as (IP address, port)."""
    datagram = struct.pack(">HHHH", source[1], destination[1], 8 + len(payload), 0) + payload
    return ethernet_frame(mac_address(destination[0]), _IPV4, ipv4_packet(_UDP, source[0], destination[0], datagram))


def udp_payload(frame):
    """((IP address, port), payload) of where an Ethernet frame's datagram goes; None if none."""
    if frame[12:14] != struct.pack(">H", _IPV4) or frame[23] != _UDP:
        return None
    ip, _, port, size = struct.unpack(">IHHH", frame[30:40])
    return (ip, port), frame[42 : 34 + size]


def serve_network(board, opened, stop, port=0, ip=ADDRESS):
    """Answer on a UDP port of the loopback; see `serve`.

    Parameters
    ----------
    port : int
        0: any that is free.
    ip : str
        The address that the board was built for, in its own network.
    """
    ip = int(IPv4Address(ip))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        sock.bind(("127.0.0.1", port))
        sock.setblocking(False)
        opened(f"udp:127.0.0.1:{sock.getsockname()[1]}")
        pace = Pace(board)
        while not stop():
            select.select([sock], [], [], pace.wait())
            while board.waiting < _MOST:
                try:
                    payload, (host, peer) = sock.recvfrom(1 << 16)
                except OSError:  # nothing there, or an answer to what nobody took
                    break
                board.write(udp_frame((int(IPv4Address(host)), peer), (ip, PORT), payload))
                pace.moved()
            board.run()
            while frame := board.read():
                pace.moved()
                if asked := asked_address(frame):
                    board.write(arp_frame(_ARP_REPLY, asked, mac_address(ip), ip))
                elif found := udp_payload(frame):
                    (host, peer), payload = found
                    sock.sendto(payload, (str(IPv4Address(host)), peer))


def asked_address(frame):
    """The IP address that an ARP request asks for; None if it is no such request."""
    if frame[12:22] != struct.pack(">HHHBBH", _ARP, *_ARP_KIND, _ARP_REQUEST):
        return None
    return struct.unpack(">I", frame[38:42])[0]


class CableWire(VirtualWire):
    """The cable to a `VirtualBoard` of this process; `VirtualWire` has the parameters.

    What it damages has a good check sequence, as the MAC drops the others: the link has to find it.
    """

    _host = int(IPv4Address("192.168.1.7")), 50_000
    _there = int(IPv4Address(ADDRESS)), PORT

    def _write(self, frame):
        self.board.write(udp_frame(self._host, self._there, frame))

    def _read(self):
        found = []
        while frame := self.board.read():
            if asked := asked_address(frame):
                self.board.write(arp_frame(_ARP_REPLY, asked, mac_address(self._there[0]), self._there[0]))
            elif there := udp_payload(frame):
                found.append(there[1])
        return found
