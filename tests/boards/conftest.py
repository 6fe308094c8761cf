"""Simulated systems on chip for the tests of boards that are mapped into memory."""

import pytest
from bregalad_sim.soc import SimulatedMap
from models import SOC as GEOMETRY


@pytest.fixture
def opened():
    """Make maps; all are closed in the end."""
    made = []

    def make(geometry=GEOMETRY, kind=SimulatedMap, **options):
        made.append(kind(geometry, **options))
        return made[-1]

    yield make
    for each in made:
        SimulatedMap.close(each)
