"""The study in seconds: its files appear, and what they say agrees with what was run."""

import numpy as np
import pytest
from bregalad.benchmark import efdt_figures, streams
from bregalad.benchmark.streams import load


@pytest.fixture(autouse=True)
def no_real_streams(monkeypatch):
    def absent(name, instances):
        raise FileNotFoundError(name)

    monkeypatch.setattr(streams, "load", absent)


def rows(part):
    """A table's rows, as dicts."""
    head, _, *lines = ([cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines())
    return [dict(zip(head, line, strict=True)) for line in lines]


def test_efdt_figures(tmp_path, cli, monkeypatch):
    monkeypatch.setattr(efdt_figures, "CLASSES", (2, 5))
    out, err = cli(f"reproduce efdt-figures --instances 3000 --runs 2 --out {tmp_path}/new")
    page = (tmp_path / "new" / "efdt-figures.md").read_text()
    assert page in out and err.count("error 0.") == 2 * 2 * 3
    assert "Random trees, 3,000 instances, 2 runs" in page
    assert "--instances 3000 --runs 2" in page
    assert "KDD'99 was not at hand" in page and "Skin was not at hand" in page
    assert (tmp_path / "new" / "efdt-figures.png").read_bytes().startswith(b"\x89PNG")
    assert "(efdt-figures.png)" in page
    errors, sizes = (rows(part) for part in page.split("\n\n") if part.startswith("|"))
    _, row = errors
    for name in efdt_figures.LEARNERS:
        runs = [float(line.split()[-1]) for line in err.splitlines() if "5 classes" in line and f", {name}:" in line]
        assert len(runs) == 2 and np.mean(runs) == pytest.approx(float(row[name].split(" ± ")[0]), abs=1e-4)
        assert np.std(runs, ddof=1) == pytest.approx(float(row[name].split(" ± ")[1]), abs=1e-4)
    assert row["EFDT better"].endswith(" of 2") and row["MOA EFDT"] == "0.0433"
    assert [line["learner"] for line in sizes] == 2 * list(efdt_figures.LEARNERS)
    assert all(int(line["leaves"]) == 1 + 4 * int(line["splits"]) for line in sizes)


def test_real_streams_are_run_in_both_orders(monkeypatch):
    monkeypatch.setattr(efdt_figures, "CLASSES", (2,))
    monkeypatch.setattr(streams, "load", lambda name, instances: load("generator:sea", instances))
    parts, figures = efdt_figures.run(2000, 2)
    found = rows([part for part in parts if part.startswith("|")][2])
    runs = [f"{name}, {order}" for name in ("KDD'99", "Skin") for order in ("ordered", "shuffled")]
    assert [row["stream"] for row in found] == runs
    assert "±" not in found[0]["VFDT"] and "±" in found[1]["VFDT"]
    assert "Instances: KDD'99 2,000, Skin 2,000. Shuffled: 2 orders." in parts
    assert set(figures) == {"efdt-figures.png", "efdt-figures-real.png"}
