"""The real streams that tests and benchmarks use; see the README beside the data."""

import pytest
from bregalad.benchmark.streams import FOLDER, KDD_NAMES, KDD_NOMINAL, elec, kdd, led, nominal, path, rt5n, skin

__all__ = ["FOLDER", "KDD_NAMES", "KDD_NOMINAL", "elec", "kdd", "led", "needs", "nominal", "path", "rt5n", "skin"]


def needs(name):
    """A mark that skips a test where the stream's file is absent."""
    return pytest.mark.skipif(
        not path(name).is_file(), reason=f"{path(name).name} is not in BREGALAD_DATA or ../shared/data"
    )
