"""The register map in hardware: configuration, status and counters."""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from bregalad.protocol.registers import CONFIGURATION, REGISTERS, Access

ADDRESS_WIDTH = 8  # of 32-bit words
READ_LATENCY = 5  # clocks from an address to what the accelerator has there; the counters take longest
# Register access, seen from who reads and writes; `addr` counts words.
CSR = wiring.Signature({"addr": Out(ADDRESS_WIDTH), "w_en": Out(1), "w_data": Out(32), "r_data": In(32)})
_LOW = 2  # bits of an address that tell the registers of a group


def configuration_signature(registers=CONFIGURATION):
    """What the host has written, seen from the registers: ``<register>.<field>``."""
    fields = {
        register.name: {field.name: Out(field.width, init=field.reset) for field in register.fields}
        for register in registers
    }
    return wiring.Signature({name: Out(wiring.Signature(members)) for name, members in fields.items()})


class RegisterFile(wiring.Component):
    """One port per field of the declared registers; no value leaves the range of its field.

    Parameters
    ----------
    geometry : Geometry
        What the ranges follow from.
    registers : iterable of Register
    configuration : iterable of Register
        Those of them that the host sets before it sends commands.

    Members
    -------
    csr : In(CSR)
    configuration : Out(configuration_signature(configuration))
    <register>_<field> : In for RO fields, otherwise Out
        The others. A PULSE field, here and there, is 1 for the clock after it was written as 1.

    A value out of range becomes the nearest in it, and no PULSE of such a word works: `Register.taken`.

    Latency: 2 cycles from ``addr`` to ``r_data``, 1 from ``w_en`` to the field. An address without a register reads 0.

    Raises
    ------
    ValueError
        If an address does not fit.

    Source: host/bregalad/protocol/registers.py.
    """

    latency = 2

    def __init__(self, geometry, registers=REGISTERS, configuration=CONFIGURATION):
        self.geometry = geometry
        self.registers = tuple(registers)
        self._configured = [register for register in self.registers if register in configuration]
        members = {"csr": In(CSR), "configuration": Out(configuration_signature(self._configured))}
        for register in self.registers:
            if register.addr >> 2 + ADDRESS_WIDTH:
                raise ValueError(f"{register.name}: address must fit {ADDRESS_WIDTH + 2} bits, not {register.addr:#x}")
            for field in () if register in self._configured else register.fields:
                read_only = field.access is Access.RO
                members[f"{register.name}_{field.name}"] = (
                    In(field.width) if read_only else Out(field.width, init=field.reset)
                )
        super().__init__(members)

    def _port(self, register, field):
        if register in self._configured:
            return getattr(getattr(self.configuration, register.name), field.name)
        return getattr(self, f"{register.name}_{field.name}")

    def elaborate(self, platform):
        m = Module()
        csr = self.csr
        # Groups of registers whose addresses differ in the lowest bits, then the group.
        words = {register.addr // 4: register for register in self.registers}
        groups = sorted({addr >> _LOW for addr in words})
        values = {group: Signal(32, name=f"group_{group}") for group in groups}
        high = Signal(ADDRESS_WIDTH - _LOW)
        m.d.sync += [high.eq(csr.addr >> _LOW), csr.r_data.eq(0)]
        for group, value in values.items():
            m.d.sync += value.eq(0)
            with m.Switch(csr.addr[:_LOW]):
                for addr in sorted(addr for addr in words if addr >> _LOW == group):
                    with m.Case(addr & (1 << _LOW) - 1):
                        for field, lsb in words[addr].layout():
                            if field.access is not Access.PULSE:
                                m.d.sync += value[lsb : lsb + field.width].eq(self._port(words[addr], field))
            with m.If(high == group):
                m.d.sync += csr.r_data.eq(value)
        for register in self.registers:
            given = {
                field: csr.w_data[lsb : lsb + field.width]
                for field, lsb in register.layout()
                if field.access is not Access.RO
            }
            taken = {field: self._nearest(field, bits) for field, bits in given.items()}
            fits = Cat(taken[field] == bits for field, bits in given.items() if field.limits).all()
            for field, value in taken.items():
                port = self._port(register, field)
                if field.access is Access.PULSE:
                    m.d.sync += port.eq(0)
                    value &= fits
                with m.If(csr.w_en & (csr.addr == register.addr // 4)):
                    m.d.sync += port.eq(value)
        return m

    def _nearest(self, field, value):
        """The value in the field's range that is nearest to what is written."""
        least, most = field.range(self.geometry)
        if least == most:
            return Const(least, field.width)  # synthesis would not see that nothing else comes
        if most < (1 << field.width) - 1:
            value = Mux(value > most, most, value)
        return Mux(value < least, least, value) if least else value
