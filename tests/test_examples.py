"""Every example runs, as its users would run it, and so do blocks of README, tutorials and two pages."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from marks import nightly, nightly_but
from processes import python

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
BLOCKS = [
    (page, *found)
    for page in ("README.md", "docs/export.md", "docs/inspection.md")
    for found in re.findall(r"^```(\w*)\n(.*?)^```$", (ROOT / page).read_text("utf-8"), re.DOTALL | re.MULTILINE)
]
FIRST = {page: block for page, *block in reversed(BLOCKS)}
QUICK = [block for block in BLOCKS if block[0] == "README.md" or list(block[1:]) == FIRST[block[0]]]
RUNS = {"python": [sys.executable, "-W", "error", "-c"], "sh": ["sh", "-euc"]}
NEEDS = {"river_pipeline": "river", "polars_frame": "polars", "capymoa_evaluation": "capymoa", "ray_forest": "ray"}


def test_each_example_is_run():
    elsewhere = {"numpy_alone"}  # tests/boards/test_numpy_alone.py
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(NEEDS) | elsewhere


@pytest.mark.parametrize("name", [*list(NEEDS)[:3], *nightly("ray_forest")])
def test_example(name):
    if importlib.util.find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not installed")
    alone = os.environ | {"RAY_ADDRESS": "local"}  # on no cluster that other tests, or anybody, have begun
    done = python(EXAMPLES / f"{name}.py", env=alone, timeout=900)
    assert not done.returncode, done.stderr
    assert "Accuracy: " in done.stdout


def check(tag, code, folder):
    """Run a block; what follows # at a line's begin is printed."""
    path = {"PATH": os.pathsep.join((os.path.dirname(sys.executable), os.environ["PATH"]))}
    done = subprocess.run(
        [*RUNS[tag], code], cwd=folder, env=os.environ | path, capture_output=True, text=True, timeout=900
    )
    assert not done.returncode, done.stderr
    assert set(re.findall(r"^# (.*)$", code, re.MULTILINE)) <= set(done.stdout.splitlines())


@pytest.mark.parametrize(
    "page, tag, code", nightly_but(QUICK, BLOCKS), ids=[f"{page}-{n}" for n, (page, *_) in enumerate(BLOCKS)]
)
def test_block_of_page(page, tag, code, tmp_path):
    """In a folder of its own, with nothing defined."""
    for name in set(re.findall(r"^(?:from|import) (\w+)|\.png", code, re.MULTILINE)):
        pytest.importorskip(name or "matplotlib")
    if re.search(r"^cc ", code, re.MULTILINE) and not shutil.which("cc"):
        pytest.skip("there is no C compiler")
    check(tag, code, tmp_path)
    assert page == "README.md" or len(code.splitlines()) <= 15


@pytest.mark.slow
@pytest.mark.parametrize("name", ["data", "fpga"])
def test_tutorial(name, tmp_path):
    """Its blocks one after the other, in one folder."""
    text = (ROOT / f"docs/tutorial-{name}.md").read_text("utf-8")
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) > 3
    for tag, code in blocks:
        check(tag, code, tmp_path)


def test_readme_has_no_other_code():
    """Which would not be run."""
    text = (ROOT / "README.md").read_text("utf-8")
    own = sum(page == "README.md" for page, *_ in BLOCKS)
    assert text.count("```") == 2 * own and not re.search(
        r"^( {4}|\t|~~~)", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE
    )


def said(notebook):
    """What the cells print and give as text, but for pictures."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return [
        output.get("text") or output["data"]["text/plain"]
        for output in outputs
        if output.get("name") != "stderr" and "image/png" not in output.get("data", {})
    ]


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebook_says_what_it_said(path, tmp_path):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    kept = nbformat.read(path, 4)
    run = nbformat.read(path, 4)
    client = nbclient.NotebookClient(run, timeout=900, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    assert said(kept) and said(run) == said(kept)
