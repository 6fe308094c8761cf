"""AXI4-Lite to registers."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from bregalad.protocol.registers import Access
from bregalad.protocol.soc import PATIENCE, SOC_BASE, SOC_BYTES

from ..mcmu.axi import Response, channel
from ..members import drive
from ..registers import CSR, READ_LATENCY

LITE_ADDRESS_WIDTH = (SOC_BYTES - 1).bit_length()
# An AXI4-Lite bus of 32 bits, seen from the manager: Arm IHI 0022, chapter B1.
LITE = wiring.Signature(
    {
        **channel("aw", Out, addr=LITE_ADDRESS_WIDTH, prot=3),
        **channel("w", Out, data=32, strb=4),
        **channel("b", In, resp=2),
        **channel("ar", Out, addr=LITE_ADDRESS_WIDTH, prot=3),
        **channel("r", In, data=32, resp=2),
    }
)
_WAIT = READ_LATENCY + 1  # a pulse takes a clock more than a value to work, so a write waits too
_GROUP = (SOC_BASE - 1).bit_length() - 2  # the bit of a word's address that tells whose it is


class RegisterPort(wiring.Component):
    """One access at a time, reads before a write that waits.

    Parameters
    ----------
    accelerator, core : iterable of Register
        Those that there are from byte 0 and from SOC_BASE on.
    stopped : tuple of str
        Names of those of the core that are written only while it is stopped.
    patience : int
        Clocks that a write waits.

    Members
    -------
    axi : In(LITE)
        SLVERR for what is no register, a write of a read-only one, of some of its bytes, or in vain.
    csr, core_csr : Out(CSR)
        To the accelerator and to the core's own registers.
    quiet : In(1)
        The accelerator's registers may be written.
    halted : In(1)
        The core's may, that wait for it.
    open : In(1)
        The accelerator's registers may be read or written at all.

    Latency: 10 clocks from ``arvalid`` to ``rvalid``, and from the later of ``awvalid`` and ``wvalid`` to ``bvalid``,
    if nothing is waited for; 3 of what is no register.
    """

    latency = _WAIT + 4

    def __init__(self, accelerator, core, *, stopped=(), patience=PATIENCE):
        self.groups = tuple(accelerator), tuple(core)
        self.stopped = stopped
        self.patience = patience
        super().__init__(
            {
                "axi": In(LITE),
                "csr": Out(CSR),
                "core_csr": Out(CSR),
                **dict.fromkeys(("quiet", "halted", "open"), In(1)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        axi, csr, core = self.axi, self.csr, self.core_csr

        # Address and word of a write come in any order.
        written, wrote, requested = (
            Signal(),
            Signal(),
            Signal(),
        )  # address and word of a write, address of a read are here
        to, word, strobe, at = (Signal.like(port) for port in (axi.awaddr, axi.wdata, axi.wstrb, axi.araddr))
        m.d.comb += [axi.awready.eq(~written), axi.wready.eq(~wrote), axi.arready.eq(~requested)]
        with m.If(axi.awvalid & ~written):
            m.d.sync += [written.eq(1), to.eq(axi.awaddr)]
        with m.If(axi.wvalid & ~wrote):
            m.d.sync += [wrote.eq(1), word.eq(axi.wdata), strobe.eq(axi.wstrb)]
        with m.If(axi.arvalid & ~requested):
            m.d.sync += [requested.eq(1), at.eq(axi.araddr)]

        read_known, write_known, write_stopped = Signal(), Signal(), Signal()
        self._decode(m, at[2:], read_known, lambda register: True)
        self._decode(m, to[2:], write_known, lambda register: any(f.access is not Access.RO for f in register.fields))
        self._decode(m, to[2:], write_stopped, lambda register: register.name in self.stopped)
        ours = to[2:][_GROUP]
        may_read, may_write, bad_write = Signal(), Signal(), Signal()
        m.d.comb += [
            may_read.eq(at[2:][_GROUP] | self.open),
            may_write.eq(Mux(ours, self.halted | ~write_stopped, self.quiet & self.open)),
            bad_write.eq(~write_known | (strobe != 0b1111)),
        ]

        # What they are is known a clock after they have come.
        requested_before, all_before = Signal(), Signal()
        m.d.sync += [requested_before.eq(requested), all_before.eq(written & wrote)]
        read_due, write_due = requested & requested_before, written & wrote & all_before

        waited = Signal(range(self.patience + 1))
        with m.If(~write_due):
            m.d.sync += waited.eq(0)
        with m.Elif(waited != self.patience):
            m.d.sync += waited.eq(waited + 1)

        reading, group = Signal(), Signal()
        left = Signal(range(_WAIT + 1))
        for port in (csr, core):
            m.d.sync += port.w_en.eq(0)
            m.d.comb += port.w_data.eq(word)
        address = Signal.like(csr.addr)
        m.d.comb += [csr.addr.eq(address), core.addr.eq(address)]
        with m.FSM():
            with m.State("IDLE"):
                m.d.sync += left.eq(_WAIT)
                with m.If(read_due & ~axi.rvalid & (~read_known | may_read)):
                    m.d.sync += [reading.eq(1), address.eq(at[2:]), group.eq(at[2:][_GROUP])]
                    m.next = "ACCESS"
                    with m.If(~read_known):
                        m.d.sync += [axi.rvalid.eq(1), axi.rresp.eq(Response.SLVERR), axi.rdata.eq(0), requested.eq(0)]
                        m.next = "IDLE"
                with m.Elif(write_due & ~axi.bvalid):
                    m.d.sync += [reading.eq(0), address.eq(to[2:])]
                    with m.If(bad_write | (~may_write & (waited == self.patience))):
                        m.d.sync += [axi.bvalid.eq(1), axi.bresp.eq(Response.SLVERR), written.eq(0), wrote.eq(0)]
                        m.next = "IDLE"
                    with m.Elif(may_write):
                        m.d.sync += [core.w_en.eq(ours), csr.w_en.eq(~ours)]
                        m.next = "ACCESS"
            with m.State("ACCESS"):
                m.d.sync += left.eq(left - 1)
                with m.If(left == 0):
                    m.next = "IDLE"
                    with m.If(reading):
                        m.d.sync += [
                            *drive(axi, rvalid=1, rresp=Response.OKAY),
                            axi.rdata.eq(Mux(group, core.r_data, csr.r_data)),
                            requested.eq(0),
                        ]
                    with m.Else():
                        m.d.sync += [axi.bvalid.eq(1), axi.bresp.eq(Response.OKAY), written.eq(0), wrote.eq(0)]
        with m.If(axi.rvalid & axi.rready):
            m.d.sync += axi.rvalid.eq(0)
        with m.If(axi.bvalid & axi.bready):
            m.d.sync += axi.bvalid.eq(0)
        return m

    def _decode(self, m, address, found, which):
        """A clock later, whether a word's address is that of a register of a kind."""
        words = [
            register.addr // 4 + (base << _GROUP)
            for base, group in enumerate(self.groups)
            for register in group
            if which(register)
        ]
        m.d.sync += found.eq(0)
        if words:
            with m.Switch(address):
                with m.Case(*words):
                    m.d.sync += found.eq(1)
