"""Registers that a value passes through while others are worked on."""

from amaranth import Signal

__all__ = ["delay"]


def delay(m, value, clocks, name):
    """``value`` as it was so many clocks ago; its registers are named ``name`` with a number.

    They have no reset: a reset outlasts what is under way (``RESET_CLOCKS``).
    """
    for i in range(clocks):
        after = Signal.like(value, name=f"{name}_{i}", reset_less=True)
        m.d.sync += after.eq(value)
        value = after
    return value
