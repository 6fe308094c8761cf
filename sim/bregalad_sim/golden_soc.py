"""A system on chip as a model: the core's registers and rings around the golden model, in Python alone."""

import numpy as np
from bregalad.protocol.commands import COMMAND_BYTES
from bregalad.protocol.registers import REGISTERS
from bregalad.protocol.soc import (
    BUFFER,
    DESCRIPTOR,
    SOC_BASE,
    SOC_REGISTERS,
    SOC_VERSION,
    find_soc,
)
from bregalad.protocol.tree import TREE_REGISTERS

from .golden import Golden
from .soc_memory import SocMemory

_NAMES = {register.addr: register.name for register in (*REGISTERS, *TREE_REGISTERS)}
_SOC_NAMES = {register.addr: register.name for register in SOC_REGISTERS}
_INDEX = 0xFFFFFFFF  # where indices go round


class GoldenMap(SocMemory):
    """What a driver needs of a core in a system on chip; no word of the bus fails.

    Parameters
    ----------
    geometry : Geometry
    size, base : int
        As of `SocMemory`.
    """

    def __init__(self, geometry, size=1 << 22, base=0x8_1234_5000):
        super().__init__("golden core", size, base)
        self.geometry = geometry
        self._values = {register.name: 0 for register in SOC_REGISTERS}
        self._values["core"] = SOC_VERSION | geometry.bus_bytes << 8
        self._values["state"] = 1
        self._begin()

    def _begin(self):
        self.model = Golden(self.geometry)
        self._told = b""  # reports for which there is no room yet
        values = self._values
        values["commands_consumed"], values["reports_produced"] = (
            values["commands_produced"],
            values["reports_consumed"],
        )

    def _fields(self, name):
        return find_soc(name).values(self._values[name])

    def read(self, offset):
        if offset < SOC_BASE:
            return self.model.read_register(_NAMES[offset])
        return self._values[_SOC_NAMES[offset - SOC_BASE]]

    def write(self, offset, value):
        if offset < SOC_BASE:
            self.model.write_register(_NAMES[offset], value)
            return
        name = _SOC_NAMES[offset - SOC_BASE]
        self._values[name] = value
        control = self._fields("control")
        if name == "control" and control["reset"]:
            self._begin()
        if control["run"]:
            self.model.memory.data = memoryview(self._window)
            self._go_on()

    @property
    def interrupt(self):
        mask = self._fields("interrupt_mask")
        values = self._values
        return bool(
            mask["reports"]
            and values["reports_produced"] != values["reports_consumed"]
            or mask["commands"]
            and values["commands_produced"] == values["commands_consumed"]
        )

    def run(self, clocks):
        """All that is asked for has been done as it was."""

    @property
    def _window(self):
        values = self._values
        begin = (values["window_low"] | values["window_high"] << 32) - self.base
        return self.memory[begin : begin + values["window_size"]]

    def _go_on(self):
        """Do what the descriptors say that are produced, and write reports as far as there is room."""
        values, window = self._values, self._window
        while values["commands_consumed"] != values["commands_produced"]:
            number = values["commands_consumed"] % (1 << values["commands_size"])
            at = values["commands_ring"] + number * DESCRIPTOR.size
            stream = window[at : at + DESCRIPTOR.size].tobytes()
            if stream[0] == BUFFER:
                descriptor = DESCRIPTOR.unpack(stream)
                at = int(descriptor["address"])
                stream = window[at : at + int(descriptor["count"])].tobytes()
            else:
                stream += bytes(max(0, self.geometry.bus_bytes - COMMAND_BYTES))
            values["commands_consumed"] = values["commands_consumed"] + 1 & _INDEX
            self._told += self.model.execute(stream)
        size = 1 << values["reports_size"]
        room = size // 4 - (values["reports_produced"] - values["reports_consumed"] & _INDEX)
        told, self._told = self._told[: 4 * room], self._told[4 * room :]
        words = np.frombuffer(told, np.uint32)
        places = (values["reports_produced"] + np.arange(len(words))) % (size // 4)
        window[values["reports_ring"] :][:size].view(np.uint32)[places] = words
        values["reports_produced"] = values["reports_produced"] + len(words) & _INDEX
