"""Every example runs, as its users would run it, and the three lines of README are of them."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
NEEDS = {"river_pipeline": "river", "polars_frame": "polars", "capymoa_evaluation": "capymoa", "ray_forest": "ray"}


def test_each_example_is_run():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(NEEDS)


@pytest.mark.parametrize("name", NEEDS)
def test_example(name):
    if importlib.util.find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not installed")
    alone = os.environ | {"RAY_ADDRESS": "local"}  # on no cluster that other tests, or anybody, have begun
    done = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py"], env=alone, capture_output=True, text=True, timeout=900
    )
    assert not done.returncode, done.stderr
    assert "Accuracy: " in done.stdout
