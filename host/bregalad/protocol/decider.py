"""Registers of the decider: which attempts change nothing, so that the host need not hear of them."""

from .fields import Access, Field, Register

MANTISSA = 16  # significant bits that the decider multiplies by

_RW = Access.RW

DECIDER = (
    Register(
        "decider",
        0x100,
        Field("decides", 1, _RW, "0: every attempt is a candidate, 1: one that changes nothing is none."),
        Field("anytime", 1, _RW, "A leaf's best split is compared with 0: no split, 1; the second best, 0."),
        Field("first_attempt", 1, _RW, "1: a leaf splits whatever the gap."),
        Field("inner_ties", 1, _RW, "1: at an inner node half the tie threshold is a gap that is wide enough."),
        Field("null", 1, _RW, "1: at an inner node the best split competes with none."),
        Field("all_inner", 1, _RW, "1: every attempt of an inner node is a candidate."),
    ),
    Register(
        "decider_bound",
        0x104,
        Field(
            "mantissa",
            MANTISSA,
            _RW,
            f"From 2**{MANTISSA - 1} on.",
            1 << MANTISSA - 1,
            lambda geometry: (1 << MANTISSA - 1, (1 << MANTISSA) - 1),
        ),
        Field(
            "exponent",
            8,
            _RW,
            "Signed: mantissa times 2**exponent is below R^2 ln(1 / delta) / 2 in units of gain^2.",
        ),
    ),
    Register(
        "decider_tie",
        0x108,
        Field("n", 32, _RW, "From so many instances on a leaf's gap does not matter.", (1 << 32) - 1),
    ),
)
