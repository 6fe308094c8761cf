"""The ECP5's phase-locked loop: any clock from the board's."""

from amaranth import ClockDomain, Instance, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

__all__ = ["PhaseLockedLoop"]

_PHASE_DETECTOR = (3.125e6, 400e6)  # hertz; FPGA-DS-02012, sysCLOCK PLL timing
_OSCILLATOR = (400e6, 800e6)
_TOLERANCE = 0.01


class PhaseLockedLoop(wiring.Component):
    """Make a clock.

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

    Raises
    ------
    ValueError
        If no setting comes near enough.

    Source: Lattice FPGA-TN-02200, ECP5 sysCLOCK PLL.
    """

    def __init__(self, i_hz, o_hz):
        settings = [
            (abs(i_hz / reference * feedback - o_hz), reference, feedback, output)
            for reference in range(1, 129) for feedback in range(1, 81) for output in range(1, 129)
            if _PHASE_DETECTOR[0] <= i_hz / reference <= _PHASE_DETECTOR[1]
            and _OSCILLATOR[0] <= i_hz / reference * feedback * output <= _OSCILLATOR[1]
        ]
        error, reference, feedback, output = min(settings, default=(o_hz, 1, 1, 1))
        if error > _TOLERANCE * o_hz:
            raise ValueError(f"no clock near {o_hz / 1e6:g} MHz can be made of {i_hz / 1e6:g} MHz")
        self.i_hz = i_hz
        self.hz = i_hz / reference * feedback
        self._dividers = reference, feedback, output
        super().__init__({"i": In(1), "o": Out(1), "locked": Out(1), "started": Out(1)})

    def elaborate(self, platform):
        m = Module()
        reference, feedback, output = self._dividers
        m.submodules.loop = Instance(
            "EHXPLLL",
            a_FREQUENCY_PIN_CLKI=f"{self.i_hz / 1e6:g}", a_FREQUENCY_PIN_CLKOP=f"{self.hz / 1e6:g}",
            a_ICP_CURRENT="12", a_LPF_RESISTOR="8",
            p_CLKI_DIV=reference, p_CLKFB_DIV=feedback, p_FEEDBK_PATH="CLKOP",
            p_CLKOP_ENABLE="ENABLED", p_CLKOP_DIV=output, p_CLKOP_CPHASE=output // 2,
            p_CLKOP_FPHASE=0,
            i_CLKI=self.i, i_CLKFB=self.o, o_CLKOP=self.o, o_LOCK=self.locked,
            i_RST=0, i_STDBY=0, i_PHASESEL0=0, i_PHASESEL1=0, i_PHASEDIR=0, i_PHASESTEP=0,
            i_PHASELOADREG=0, i_PLLWAKESYNC=0, i_ENCLKOP=0,
        )
        # The clock's gate wants its enable in step with the clock.
        m.domains.early = early = ClockDomain(reset_less=True, local=True)
        m.d.comb += early.clk.eq(self.o)
        start = Signal()
        m.submodules.start = FFSynchronizer(self.locked, start, o_domain="early")
        m.submodules.gate = Instance("DCCA", i_CLKI=self.o, i_CE=start, o_CLKO=self.started)
        return m
