"""For the tests of all folders: ``streams`` can be imported, seeds are fixed, and the longest go first."""

import gc
import os
import random
import signal
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).resolve().parent))

# Amaranth and Numba make objects by the million and keep most of them: a third of an elaboration
# was spent on looking for garbage.
gc.set_threshold(100_000, 20, 50)

# The same examples in each run; ``--hypothesis-profile=default``, as of ``sh .ci/do nightly``, draws others.
settings.register_profile("fixed", derandomize=True)
settings.load_profile("fixed")

# Files whose tests take longest: of compilers of C++ and of Verilog, which leave Numba alone; and of Numba.
_MODELS = ("test_tree_accelerator.py", "test_build.py", "test_wave.py", "test_mapped.py", "test_virtual.py")
_COMPILED = ("test_real.py", "test_alternates_on_boards.py", "test_cvfdt.py", "test_first_use.py")


@pytest.hookimpl(trylast=True)  # of what is left after -m and -k
def pytest_collection_modifyitems(items):
    """The longest first, so that no worker is left with one of them in the end.

    xdist gives each of two workers one half, and who has none left takes from the end of the other's. One worker
    begins with models and benches, the other with trees, so that Numba compiles the same functions in one only.
    """
    items.sort(key=lambda item: (item.path.name not in _MODELS, item.path.parent.name != "hw"))
    trees = [item for item in items if item.path.name in _COMPILED]
    others = [item for item in items if item.path.name not in _COMPILED]
    half = len(items) // 2
    items[:] = others[:half] + trees + others[half:]


@pytest.fixture
def seed(request):
    """Of a random test: always the same, so that what fails is a change's doing; a slow one draws another each time.

    ``BREGALAD_SEED=n`` repeats a run.
    """
    drawn = random.randrange(1 << 30) if request.node.get_closest_marker("slow") else 1
    drawn = int(os.environ.get("BREGALAD_SEED", drawn))
    print(f"BREGALAD_SEED={drawn}")
    return drawn


@pytest.fixture
def table():
    """3000 instances of three columns; the last one is the class."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"width": rng.random(3000), "colour": rng.choice(["red", "blue"], 3000)})
    return table.assign(label=np.where((table["width"] > 0.5) ^ (table["colour"] == "red"), "in", "out"))


@pytest.fixture
def csv(table, tmp_path):
    """They in a file."""
    table.to_csv(tmp_path / "things.csv", index=False)
    return tmp_path / "things.csv"


@pytest.fixture
def cli(capsys):
    """Runs the command line, a text of words or a list of them, to a status; what it prints, as (out, err)."""
    from bregalad.cli import main

    def run(words, status=0):
        capsys.readouterr()
        assert main(words.split() if isinstance(words, str) else [str(word) for word in words]) == status
        return capsys.readouterr()

    return run


@pytest.fixture
def ctrl_c():
    """SIGINT interrupts, as at a terminal: a shell's background job starts with it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
