"""Registers that a value passes through while others are worked on."""

from amaranth import Signal

__all__ = ["delay"]


def delay(m, value, clocks, name, reset_less=False):
    """``value`` as it was so many clocks ago; its registers are named ``name`` with a number."""
    for i in range(clocks):
        after = Signal.like(value, name=f"{name}_{i}", reset_less=reset_less)
        m.d.sync += after.eq(value)
        value = after
    return value
