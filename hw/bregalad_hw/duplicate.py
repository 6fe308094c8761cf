"""Registers of one reader for what many are told."""

import itertools

from amaranth import Module, ResetInserter
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

_FAN_OUT = 8  # registers that one feeds
_MANY = 32  # readers; of more than these ...
_SHARE = 4  # ... neighbours share their registers: these would take a tenth of an ECP5-85F


class DuplicatedRegister(wiring.Component):
    """Repeat a value for one reader.

    All duplicates of a value are the same, and synthesis would make one of them, and of whatever each reader works out
    of it: one gate for readers all over the chip. The build keeps the registers of this component apart (`hw.build`).

    Parameters
    ----------
    init : int
        Of every value.
    **widths
        Bits of each value, under a name.

    Members
    -------
    i_<name> : In(width)
    o_<name> : Out(width)
        Bits and nothing else, for simulators follow the fields of every structure that is a port.

    Latency: ``latency`` clocks.
    """

    latency = 1

    def __init__(self, *, init=0, **widths):
        self.names = tuple(widths)
        super().__init__(
            {
                **{f"i_{name}": In(width) for name, width in widths.items()},
                **{f"o_{name}": Out(width, init=init) for name, width in widths.items()},
            }
        )

    def elaborate(self, platform):
        m = Module()
        for name in self.names:
            m.d.sync += getattr(self, f"o_{name}").eq(getattr(self, f"i_{name}"))
        return m


def duplicated(m, name, value, init=0):
    """The value a clock later, from registers for one reader; ``init`` at first."""
    m.submodules[f"duplicate_{name}"] = duplicate = DuplicatedRegister(init=init, value=len(value))
    m.d.comb += duplicate.i_value.eq(value)
    return duplicate.o_value


def levels(ends, fan):
    """Levels of a tree of registers, one at least, of which each has ``fan`` of the next, or of the ends."""
    return next(level for level in itertools.count(1) if fan**level >= ends)


def distribution_latency(readers):
    """Clocks that `distribute` takes to that many readers."""
    return levels(readers, _FAN_OUT)


def distribute(m, readers, **values):
    """The same values for many readers, a dict for each, from registers of its own if they are few.

    Neighbours share the registers before, so that no wire goes all over the chip.
    """
    widths = {name: len(value) for name, value in values.items()}
    groups, above = [values], readers
    for level in reversed(range(distribution_latency(readers))):
        size = _FAN_OUT**level  # readers that a register feeds
        if level == 0 and readers > _MANY:
            size = _SHARE
        after = []
        for index in range(-(-readers // size)):
            duplicate = DuplicatedRegister(**widths)
            m.submodules[f"duplicate_{level}_{index}"] = duplicate
            m.d.comb += [
                getattr(duplicate, f"i_{name}").eq(value) for name, value in groups[index * size // above].items()
            ]
            after.append({name: getattr(duplicate, f"o_{name}") for name in values})
        groups, above = after, size
    return [groups[reader // above] for reader in range(readers)]


def add_with_reset(m, name, block, reset):
    """Add a block to a module; ``reset`` comes to it by a register of its own, a clock late."""
    m.submodules[name] = ResetInserter(duplicated(m, f"{name}_reset", reset))(block)
