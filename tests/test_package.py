"""What `import bregalad` offers, and what it does not load before it is asked for."""

import subprocess
import sys

import bregalad
import pytest


def test_every_name_is_there():
    for name in bregalad.__all__:
        assert name in dir(bregalad)
        assert getattr(bregalad, name) is not None
    with pytest.raises(AttributeError, match="module 'bregalad' has no attribute 'Tree'"):
        bregalad.Tree  # noqa: B018


def test_gateware_does_not_load_what_trees_need():
    code = ("import sys, bregalad.sim.golden, bregalad.sim.traffic; "
            "print({'numba', 'pandas', 'sklearn'} & set(sys.modules))")
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert said.stdout == "set()\n"
