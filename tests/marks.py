"""Marks of cases in tables of parameters."""

import pytest

__all__ = ["nightly", "nightly_but"]


def nightly(*cases):
    """Cases that are left to the nightly job, each a value or a tuple of values: list for `parametrize`."""
    return [pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow) for case in cases]


def nightly_but(quick, cases):
    """All cases, of which those that are not among the quick ones are left to the nightly job."""
    return [case if case in quick else nightly(case)[0] for case in cases]
