"""Phase-locked loops: any clock from the board's."""

from amaranth import ClockDomain, Const, Instance, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

_TOLERANCE = 0.01


class PhaseLockedLoop(wiring.Component):
    """Make a clock. A subclass is a device's loop.

    Parameters
    ----------
    i_hz, o_hz : float
        The board's clock and the clock that is wanted.

    Members
    -------
    i : In(1)
        The board's clock.
    o : Out(1)
    locked : Out(1)
        `o` has its frequency.
    started : Out(1)
        `o`, but still until it has its frequency. What runs on it needs no reset: its registers
        begin as the bitstream says.

    Attributes
    ----------
    hz : float
        The clock that it makes, within 1 % of ``o_hz``.
    dividers : tuple of int
        Of the board's clock, of the oscillator's way back, of the output.

    Raises
    ------
    ValueError
        If no setting comes near enough.
    """

    # Hertz, and what the three dividers can be.
    phase_detector = oscillator = (0, 0)
    references = feedbacks = outputs = range(0)

    def __init__(self, i_hz, o_hz):
        settings = [
            (abs(hz - o_hz), hz, (reference, feedback, output))
            for reference in self.references
            if self.phase_detector[0] <= i_hz / reference <= self.phase_detector[1]
            for feedback in self.feedbacks
            for output in self.outputs
            for hz, oscillator in [self.frequencies(i_hz, reference, feedback, output)]
            if self.oscillator[0] <= oscillator <= self.oscillator[1]
        ]
        error, self.hz, self.dividers = min(settings, default=(o_hz, 0, ()))
        if error > _TOLERANCE * o_hz:
            raise ValueError(f"no clock near {o_hz / 1e6:g} MHz can be made of {i_hz / 1e6:g} MHz")
        self.i_hz = i_hz
        super().__init__({"i": In(1), "o": Out(1), "locked": Out(1), "started": Out(1)})

    @staticmethod
    def frequencies(i_hz, reference, feedback, output):
        """Of output and oscillator, where the output is what goes back to the phase detector."""
        hz = i_hz / reference * feedback
        return hz, hz * output

    def start(self, m):
        """When to let `started` go: in step with `o`, as a clock's gate wants its enable."""
        m.domains.early = early = ClockDomain(reset_less=True, local=True)
        m.d.comb += early.clk.eq(self.o)
        start = Signal()
        m.submodules.start = FFSynchronizer(self.locked, start, o_domain="early")
        return start


class ECP5Clock(PhaseLockedLoop):
    """ECP5.

    Parameters
    ----------
    i_hz, o_hz
        As of every loop.
    lag : float, optional
        Degrees by which a second clock lags behind the first.
    slower : int
        Times that the second clock is slower.

    Members
    -------
    second : Out(1)
        The second clock, with ``lag`` only.

    Source: Lattice FPGA-TN-02200, ECP5 sysCLOCK PLL; FPGA-DS-02012, sysCLOCK PLL timing.
    """

    phase_detector = 3.125e6, 400e6
    oscillator = 400e6, 800e6
    references, feedbacks, outputs = range(1, 129), range(1, 81), range(1, 129)

    def __init__(self, i_hz, o_hz, lag=None, slower=1):
        super().__init__(i_hz, o_hz)
        self.lag, self.slower = lag, slower
        if lag is not None:
            self.second = Signal()

    def elaborate(self, platform):
        m = Module()
        reference, feedback, output = self.dividers
        second = {}
        if self.lag is not None:
            # In eighths of a period of the oscillator.
            eighths = round(8 * output * self.lag / 360)
            second = {
                "p_CLKOS_ENABLE": "ENABLED",
                "p_CLKOS_DIV": output * self.slower,
                "p_CLKOS_CPHASE": output // 2 + eighths // 8,
                "p_CLKOS_FPHASE": eighths % 8,
                "a_FREQUENCY_PIN_CLKOS": f"{self.hz / self.slower / 1e6:g}",
                "o_CLKOS": self.second,
            }
        m.submodules.loop = Instance(
            "EHXPLLL",
            a_FREQUENCY_PIN_CLKI=f"{self.i_hz / 1e6:g}",
            a_FREQUENCY_PIN_CLKOP=f"{self.hz / 1e6:g}",
            a_ICP_CURRENT="12",
            a_LPF_RESISTOR="8",
            p_CLKI_DIV=reference,
            p_CLKFB_DIV=feedback,
            p_FEEDBK_PATH="CLKOP",
            p_CLKOP_ENABLE="ENABLED",
            p_CLKOP_DIV=output,
            p_CLKOP_CPHASE=output // 2,
            p_CLKOP_FPHASE=0,
            i_CLKI=self.i,
            i_CLKFB=self.o,
            o_CLKOP=self.o,
            o_LOCK=self.locked,
            **dict.fromkeys((f"i_PHASE{name}" for name in ("SEL0", "SEL1", "DIR", "STEP", "LOADREG")), 0),
            **dict.fromkeys(("i_RST", "i_STDBY", "i_PLLWAKESYNC", "i_ENCLKOP"), 0),
            **second,
        )
        m.submodules.gate = Instance("DCCA", i_CLKI=self.o, i_CE=self.start(m), o_CLKO=self.started)
        return m


class GW2AClock(PhaseLockedLoop):
    """Gowin GW2A, grade 8.

    Source: Gowin UG286, Clock; DS226, PLL switching characteristics.
    """

    phase_detector = 3e6, 500e6
    oscillator = 500e6, 1250e6
    references = feedbacks = range(1, 65)
    outputs = 2, 4, 8, *range(16, 129, 16)

    def elaborate(self, platform):
        m = Module()
        reference, feedback, output = self.dividers
        m.submodules.loop = Instance(
            "rPLL",
            p_DEVICE="GW2AR-18C",
            p_FCLKIN=f"{self.i_hz / 1e6:g}",
            p_IDIV_SEL=reference - 1,
            p_FBDIV_SEL=feedback - 1,
            p_ODIV_SEL=output,
            i_CLKIN=self.i,
            i_CLKFB=0,
            o_CLKOUT=self.o,
            o_LOCK=self.locked,
            **dict.fromkeys(("i_RESET", "i_RESET_P"), 0),
            **dict.fromkeys(("i_PSDA", "i_DUTYDA", "i_FDLY"), Const(0, 4)),
            **dict.fromkeys(("i_FBDSEL", "i_IDSEL", "i_ODSEL"), Const(0, 6)),
        )
        m.submodules.gate = Instance("DQCE", i_CLKIN=self.o, i_CE=self.start(m), o_CLKOUT=self.started)
        return m


class Series7Clock(PhaseLockedLoop):
    """Artix-7, grade 1: what goes back to the phase detector is the oscillator.

    Source: Xilinx UG472, 7 series clocking resources; DS181, PLL switching characteristics.
    """

    phase_detector = 19e6, 450e6
    oscillator = 800e6, 1600e6
    references, feedbacks, outputs = range(1, 6), range(2, 65), range(1, 129)

    @staticmethod
    def frequencies(i_hz, reference, feedback, output):
        """Of output and oscillator."""
        hz = i_hz / reference * feedback
        return hz / output, hz

    def elaborate(self, platform):
        m = Module()
        reference, feedback, output = self.dividers
        made, back = Signal(), Signal()
        m.submodules.loop = Instance(
            "PLLE2_BASE",
            p_CLKIN1_PERIOD=1e9 / self.i_hz,
            p_DIVCLK_DIVIDE=reference,
            p_CLKFBOUT_MULT=feedback,
            p_CLKOUT0_DIVIDE=output,
            i_CLKIN1=self.i,
            i_CLKFBIN=back,
            o_CLKFBOUT=back,
            o_CLKOUT0=made,
            o_LOCKED=self.locked,
            i_RST=0,
            i_PWRDWN=0,
        )
        m.submodules.buffer = Instance("BUFG", i_I=made, o_O=self.o)
        m.submodules.gate = Instance("BUFGCE", i_I=made, i_CE=self.start(m), o_O=self.started)
        return m
