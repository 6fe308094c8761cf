"""The Gigabit Ethernet core: MAC, ARP, ping and UDP, by LiteEth."""

from bregalad.link.udp import PORT

from .memory import Core

NAME = "ethernet"  # of the module


def mac_address(ip):
    """The MAC address that goes with an IP address, a number: locally administered, and its last four bytes."""
    return 0x0252 << 32 | ip


def write_core(clock_hz, *, receive_delay, transmit_delay):
    """The core's Verilog, module `NAME`, for an RGMII transceiver at an ECP5.

    Parameters
    ----------
    clock_hz : int
        Of its clock ``sys_clk``, at least a quarter of the transceiver's 125 MHz.
    receive_delay, transmit_delay : float
        Seconds by which the FPGA delays the received data and the clock that it sends: 2 ns where
        neither the board nor the transceiver does.

    Ports
    -----
    sys_clk, sys_rst
    mac_address (48 bits), ip_address (32 bits)
        Of the board.
    rgmii_...
        Pins of the transceiver.
    source_..., sink_...
        Datagrams that have come for UDP port `PORT`, and that go out from it: 32 bits a clock,
        little endian, with ``valid``, ``ready``, ``last``, ``last_be`` (one bit: the last byte of
        the last word) and, stable for a whole datagram, the other end's ``ip_address`` and
        ``port``, and ``length`` in bytes. ``source_error``: the frame was damaged.
    """
    made = Core()
    from liteeth.core import LiteEthUDPIPCore
    from liteeth.phy.ecp5rgmii import LiteEthPHYRGMII
    from litex.build.lattice.common import lattice_ecp5_special_overrides
    from litex.soc.interconnect.stream import Buffer, ClockDomainCrossing
    from migen import ClockDomain, ClockDomainsRenamer, Record, Signal

    from .crc import chained
    from .crossing import TransmitCrossing

    core, export = made.module, made.export
    core.clock_domains.cd_sys = ClockDomain("sys")
    clocks = Record([("tx", 1), ("rx", 1)], name="rgmii_clock")
    pins = Record([("rst_n", 1), ("rx_ctl", 1), ("rx_data", 4), ("tx_ctl", 1), ("tx_data", 4)], name="rgmii")
    mac, ip = Signal(48, name="mac_address"), Signal(32, name="ip_address")
    core.submodules.phy = phy = LiteEthPHYRGMII(
        clocks, pins, rx_delay=receive_delay, tx_delay=transmit_delay, with_inband_status=False
    )
    with chained():
        core.submodules.udp = udp = LiteEthUDPIPCore(
            phy, mac_address=mac, ip_address=ip, clk_freq=clock_hz, dw=32, with_sys_datapath=True
        )
    # 8 ns are short in an ECP5 of grade 6. The queue to the transceiver gives way to ours, and
    # Yosys drops it; a word waits after ours, as there must be no pause within a frame. In front
    # of the queue from the transceiver a word waits in registers, both ways.
    received, sent = udp.mac.core.rx_datapath.pipeline, udp.mac.core.tx_datapath.pipeline
    (at,) = (i for i, stage in enumerate(received) if isinstance(stage, ClockDomainCrossing))
    layout = received[at].sink.description
    core.submodules.arrived = arrived = ClockDomainsRenamer("eth_rx")(Buffer(layout, pipe_ready=True))
    received.insert(at, arrived)
    (at,) = (i for i, stage in enumerate(sent) if isinstance(stage, ClockDomainCrossing))
    core.submodules.crossing = crossing = TransmitCrossing(layout)
    core.submodules.goes = goes = ClockDomainsRenamer("eth_tx")(Buffer(layout))
    sent[at : at + 1] = crossing, goes
    user = udp.udp.crossbar.get_port(PORT, dw=32)
    made.ports |= {*clocks.flatten(), *pins.flatten(), mac, ip, core.cd_sys.clk, core.cd_sys.rst}
    for name, stream, ours in (("source", user.source, "src_port"), ("sink", user.sink, "dst_port")):
        sends = stream is user.sink
        export(f"{name}_valid", stream.valid, sends)
        export(f"{name}_ready", stream.ready, not sends)
        for field in ("last", "data", "last_be", "ip_address", "length"):
            export(f"{name}_{field}", getattr(stream, field), sends)
        export(f"{name}_port", getattr(stream, ours), sends)
    export("source_error", user.source.error)
    core.comb += user.sink.src_port.eq(PORT)
    return made.verilog(NAME, lattice_ecp5_special_overrides)
