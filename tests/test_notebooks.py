"""The notebooks of ``examples`` run, and say what the outputs say that are kept in them."""

from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "examples").glob("*.ipynb"))


def said(notebook):
    """What the cells print and give as text, but for pictures."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return [
        output.get("text") or output["data"]["text/plain"]
        for output in outputs
        if output.get("name") != "stderr" and "image/png" not in output.get("data", {})
    ]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_says_what_it_said(path, tmp_path):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    kept = nbformat.read(path, 4)
    run = nbformat.read(path, 4)
    client = nbclient.NotebookClient(run, timeout=900, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    assert said(kept) and said(run) == said(kept)
