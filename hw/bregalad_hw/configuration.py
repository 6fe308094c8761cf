"""Run-time configuration: from the registers to the blocks that it concerns."""

from amaranth.lib import wiring
from amaranth.lib.wiring import Out
from bregalad.protocol.registers import CONFIGURATION

__all__ = ["configuration_signature"]


def configuration_signature(registers=CONFIGURATION):
    """What the host has written, seen from the registers: ``<register>.<field>``."""
    return wiring.Signature(
        {
            register.name: Out(
                wiring.Signature({field.name: Out(field.width, init=field.reset) for field in register.fields})
            )
            for register in registers
        }
    )
