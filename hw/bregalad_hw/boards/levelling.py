"""How a DDR3 chip begins: its initialisation, and the search for the delays at which its data can be read."""

import random

from amaranth import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

PHASES = ("p0", "p1")  # clocks of the chip in one of the controller's
SLIPS, DELAYS = 4, 8  # of a byte's reader
_BEATS = 4  # words of the chip in a phase
_RANDOM = random.Random(3)
PATTERNS = tuple(_RANDOM.randbytes(_BEATS * len(PHASES)) for _ in range(3))  # of each byte, beat by beat
_COMMANDS = {"RAS": "ras_n", "CAS": "cas_n", "WE": "we_n", "CS": "cs_n"}
_ACTIVATE, _WRITE, _CLEAR, _READ, _PRECHARGE, _TESTED = 0, 16, 48, 56, 112, 127  # clocks of a test
_LATER = 32  # clocks between two changes of what selects bytes


def dfi_signature(address_bits, bank_bits, width):
    """DFI of a DDR3 chip with two phases and so many pins, seen from the controller."""
    high = Out(1, init=1)
    phase = {
        "address": Out(address_bits),
        "bank": Out(bank_bits),
        **dict.fromkeys(("cs_n", "ras_n", "cas_n", "we_n", "act_n"), high),
        **dict.fromkeys(("cke", "odt", "reset_n", "wrdata_en", "rddata_en"), Out(1)),
        "wrdata": Out(_BEATS * width),
        "wrdata_mask": Out(_BEATS * width // 8),
        "rddata": In(_BEATS * width),
        "rddata_valid": In(1),
    }
    return wiring.Signature(dict.fromkeys(PHASES, Out(wiring.Signature(phase))))


class Leveller(wiring.Component):
    """Initialise the chip, find for each byte how to read it, and then leave the chip to its controller.

    A byte's reader has bit slips, and delays of its strobe. With each of both, words are written, read back and
    compared. A byte gets the middle of the longest run of delays that bring all of them, whatever its slip. If
    there is none, or the words do not come with what was chosen, all is tried anew, for ever.

    Parameters
    ----------
    steps : sequence of (int, int, str, int)
        Address, bank and command of each step of the initialisation, the latter as LiteDRAM writes them, and the
        clocks to wait after it.
    address_bits, bank_bits, width : int
        Pins of the chip.
    read_phase, write_phase : int
        Of commands.

    Members
    -------
    controller : In(dfi_signature)
    phy : Out(dfi_signature)
    select : Out
        The bytes whose readers are meant by the four signals that follow. A reader does not move while it is selected.
    delay_reset, delay_step, slip_reset, slip_step : Out(1)
        For a clock: to 0, or to the next one; after the last comes 0.
    burst_clear : Out(1)
        Forget the bursts.
    burst_seen : In
        Bytes of which there was a burst.
    ready : Out(1)
        The chip can be used, and ``phy`` is ``controller``.
    failed : Out(1)
        A search has come to nothing, and none has come to anything since.

    Latency: as many clocks as the steps wait, and 17,000. Afterwards 0.

    Source: liblitedram/sdram.c of LiteX, which is for its processor.
    """

    def __init__(self, steps, address_bits, bank_bits, width, *, read_phase, write_phase):
        self.steps, self.width = steps, width
        self.read_phase, self.write_phase = read_phase, write_phase
        self.bytes = width // 8
        dfi = dfi_signature(address_bits, bank_bits, width)
        pulses = "delay_reset", "delay_step", "slip_reset", "slip_step", "burst_clear"
        super().__init__(
            {
                "controller": In(dfi),
                "phy": Out(dfi),
                "select": Out(self.bytes),
                "burst_seen": In(self.bytes),
                **dict.fromkeys((*pulses, "ready", "failed"), Out(1)),
            }
        )

    def _words(self, values):
        """A byte's beats, as each phase has them in all bytes."""
        beats = [int.from_bytes(bytes([value]) * self.bytes, "little") for value in values]
        return Cat(Const(beat, self.width) for beat in beats)

    def _of_byte(self, words, byte):
        return Cat(words[at + 8 * byte : at + 8 * byte + 8] for at in range(0, len(words), self.width))

    def elaborate(self, platform):
        m = Module()
        steps = self.steps
        width = len(self.phy.p0.wrdata)
        at = Signal(range(len(steps) + 1))
        waits = Signal(range(max(wait for *_, wait in steps) + 1))
        count = Signal(range(4 * _LATER))
        pattern = Signal(range(len(PATTERNS)))
        slip, delay = Signal(range(SLIPS)), Signal(range(DELAYS))
        settling, settled = Signal(), Signal(range(DELAYS + 1))
        reset = Signal()
        step_delay, step_slip = Signal(self.bytes), Signal(self.bytes)
        right, good = Signal(self.bytes), Signal(self.bytes)
        runs = [Signal(range(DELAYS + 1), name=f"run_{i}") for i in range(self.bytes)]
        best = [Signal(range(DELAYS + 1), name=f"best_{i}") for i in range(self.bytes)]
        best_delays = [Signal(range(DELAYS), name=f"best_delay_{i}") for i in range(self.bytes)]
        best_slips = [Signal(range(SLIPS), name=f"best_slip_{i}") for i in range(self.bytes)]

        # What goes to the chip until its controller has it.
        cke, reset_n = Signal(), Signal()
        command = {name: Signal(init=1, name=f"of_{name}") for name in _COMMANDS.values()}
        phase, writes, reads = Signal(), Signal(), Signal()
        address, bank = (
            Signal.like(self.phy.p0.address, name="at_address"),
            Signal.like(self.phy.p0.bank, name="at_bank"),
        )
        words = Array([self._words(values) for values in PATTERNS])[pattern]
        for number, name in enumerate(PHASES):
            there, ours = getattr(self.phy, name), getattr(self.controller, name)
            mine = phase == number
            instead = {
                "address": address,
                "bank": bank,
                **{signal: value | ~mine for signal, value in command.items()},
                "act_n": 1,
                "cke": cke,
                "odt": reset_n,
                "reset_n": reset_n,
                "wrdata": words[number * width : (number + 1) * width],
                "wrdata_en": writes & mine,
                "wrdata_mask": 0,
                "rddata_en": reads & mine,
            }
            m.d.comb += [
                getattr(there, key).eq(Mux(self.ready, getattr(ours, key), value)) for key, value in instead.items()
            ]
            m.d.comb += [ours.rddata.eq(there.rddata), ours.rddata_valid.eq(there.rddata_valid)]

        m.d.sync += [signal.eq(1) for signal in command.values()]
        m.d.sync += [writes.eq(0), reads.eq(0), count.eq(count + 1)]

        def send(names, in_phase=0, row=0):
            m.d.sync += [command[_COMMANDS[name]].eq(0) for name in names]
            m.d.sync += [phase.eq(in_phase), address.eq(row), bank.eq(0)]

        def column(values):
            return Array(values)[at]

        adjusting = Signal()
        with m.FSM():
            with m.State("INITIALISE"):
                m.d.sync += waits.eq(waits - 1)
                with m.If(waits == 0):
                    with m.If(at == len(steps)):
                        m.d.sync += [count.eq(0), reset.eq(1), step_delay.eq(~0), step_slip.eq(~0), settling.eq(0)]
                        m.next = "ADJUST"
                    with m.Else():
                        m.d.sync += [
                            at.eq(at + 1),
                            waits.eq(column([wait for *_, wait in steps])),
                            phase.eq(0),
                            address.eq(column([step[0] for step in steps])),
                            bank.eq(column([step[1] for step in steps])),
                            cke.eq(cke | column(["CONTROL_CKE" in step[2] for step in steps])),
                            reset_n.eq(reset_n | column(["RESET_N" in step[2] for step in steps])),
                        ]
                        m.d.sync += [
                            signal.eq(column([f"DFII_COMMAND_{short}" not in step[2] for step in steps]))
                            for short, signal in ((short, command[name]) for short, name in _COMMANDS.items())
                        ]
            with m.State("ADJUST"):
                m.d.comb += adjusting.eq(1)
                with m.If(count.all()):
                    m.d.sync += [reset.eq(0), pattern.eq(0), good.eq(~0)]
                    with m.If(settling & (settled != DELAYS)):
                        m.next = "SETTLE"
                    with m.Else():
                        m.next = "TEST"
            with m.State("TEST"):
                m.d.comb += self.burst_clear.eq(count == _CLEAR)
                with m.Switch(count):
                    with m.Case(_ACTIVATE):
                        m.d.sync += right.eq(0)
                        send(("CS", "RAS"))
                    with m.Case(_WRITE):
                        m.d.sync += writes.eq(1)
                        send(("CS", "CAS", "WE"), self.write_phase)
                    with m.Case(_READ):
                        m.d.sync += reads.eq(1)
                        send(("CS", "CAS"), self.read_phase)
                    with m.Case(_PRECHARGE):
                        send(("CS", "RAS", "WE"))
                with m.If(self.phy.p0.rddata_valid):
                    arrived = Cat(self.phy.p0.rddata, self.phy.p1.rddata)
                    m.d.sync += right.eq(Cat(self._of_byte(arrived ^ words, i) == 0 for i in range(self.bytes)))
                with m.If(count == _TESTED):
                    m.d.sync += [good.eq(good & right & self.burst_seen), pattern.eq(pattern + 1)]
                    with m.If(pattern == len(PATTERNS) - 1):
                        m.next = "DECIDE"
            with m.State("DECIDE"):
                m.d.sync += [count.eq(0), step_delay.eq(~0), step_slip.eq((delay == DELAYS - 1).replicate(self.bytes))]
                for i in range(self.bytes):
                    run = Mux(good[i], Mux(delay == 0, 0, runs[i]) + 1, 0)
                    m.d.sync += runs[i].eq(run)
                    with m.If(~settling & (run > best[i])):
                        m.d.sync += [best[i].eq(run), best_delays[i].eq(delay - (run >> 1)), best_slips[i].eq(slip)]
                m.d.sync += [delay.eq(delay + 1), slip.eq(slip + (delay == DELAYS - 1))]
                m.next = "ADJUST"
                with m.If(settling):
                    # Of a byte without a good delay, not even the first one is.
                    m.d.sync += [delay.eq(0), slip.eq(0), settling.eq(0), reset.eq(1), step_slip.eq(~0)]
                    m.d.sync += [signal.eq(0) for signal in best]
                    m.d.sync += self.failed.eq(~good.all())
                    with m.If(good.all()):
                        m.next = "READY"
                with m.Elif((delay == DELAYS - 1) & (slip == SLIPS - 1)):
                    m.d.sync += [settling.eq(1), settled.eq(0)]  # and both are at 0 again
            with m.State("SETTLE"):
                m.d.sync += [count.eq(0), settled.eq(settled + 1)]
                m.d.sync += step_delay.eq(Cat(settled < wanted for wanted in best_delays))
                m.d.sync += step_slip.eq(Cat(settled < wanted for wanted in best_slips))
                m.next = "ADJUST"
            with m.State("READY"):
                m.d.comb += self.ready.eq(1)

        # First the delays of those that are to change, then the slips; then all stand still, to go on in step.
        quarter, within = count[-2:], count[:-2]
        for number, (chosen, back, forth) in enumerate(
            ((step_delay, self.delay_reset, self.delay_step), (step_slip, self.slip_reset, self.slip_step))
        ):
            with m.If(adjusting & (quarter == number)):
                m.d.comb += self.select.eq(chosen)
                with m.If(within == _LATER // 2):
                    m.d.comb += [back.eq(reset), forth.eq(~reset)]
        with m.If(adjusting & (quarter == 2)):
            m.d.comb += self.select.eq(~0)
        return m
