"""PYNQ, as far as the driver uses it, of a simulated core: what a design on a Zynq has under this name."""

import asyncio

from bregalad.protocol.soc import SOC_BYTES

_AT = 0x43C00000  # of the core's registers
_PIN = "core/interrupt"


class Pynq:
    """In the place of the module.

    Parameters
    ----------
    simulated : SimulatedMap

    Members
    -------
    ip_dict : dict
        The design's blocks.
    waits : int
        How often the interrupt has been awaited.
    """

    def __init__(self, simulated):
        self._simulated = simulated
        self.waits = 0
        self.ip_dict = {
            "ps": {"type": "xilinx.com:ip:processing_system7:5.5"},
            "core": {
                "type": "bregalad:bregalad:bregalad:1.0",
                "phys_addr": _AT,
                "addr_range": SOC_BYTES,
                "interrupts": {"interrupt": {"controller": "intc", "index": 0, "fullpath": _PIN}},
            },
        }

    def Overlay(self, path):  # noqa: N802 (as PYNQ has it)
        """All designs are this one."""
        return self

    def MMIO(self, address, length):  # noqa: N802
        """``read`` and ``write`` of its registers."""
        if (address, length) != (_AT, SOC_BYTES):
            raise ValueError(f"there is nothing at {address:#x} of {length} bytes")
        return self._simulated

    def allocate(self, shape, dtype):
        """Bytes of its memory."""
        if dtype != "u1":
            raise ValueError(f"bytes can be had, not {dtype}")
        return self._simulated.allocate(*shape)

    def Interrupt(self, pin):  # noqa: N802
        """Its interrupt."""
        return _Interrupt(self, pin)


class _Interrupt:
    def __init__(self, pynq, pin):
        if pin != _PIN:
            raise ValueError(f"no pin {pin!r}; there is {_PIN}")
        asyncio.get_event_loop()  # PYNQ's wants the one of the thread that it is made in
        self._pynq = pynq

    async def wait(self):
        self._pynq.waits += 1
        while not self._pynq._simulated.interrupt:
            self._pynq._simulated.run(100)
            await asyncio.sleep(0)
