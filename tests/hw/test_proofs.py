"""The proofs of docs/proofs.md; and that a wrong claim is found out."""

import importlib.util

import pytest
from bregalad_hw.link.receiver import FrameReceiver
from bregalad_sim import proofs
from bregalad_sim.proofs import PROOFS, Proof, Watched, prove, soon

pytestmark = pytest.mark.skipif(
    not all(importlib.util.find_spec(f"yowasp_{name}") for name in ("yosys", "boolector")),
    reason="needs pip install 'bregalad[proofs]'",
)
QUICK = ("decider", "skid buffer in order")


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in PROOFS]
)
def test_holds(name, tmp_path):
    result, _, log = prove(name, tmp_path)
    assert result == "pass", log


def test_wrong_claim(tmp_path, monkeypatch):
    """The receiver takes 8 clocks from a frame's last word to the next frame's first, not 7."""
    wrong = Proof("too much", lambda: Watched(FrameReceiver(64, 1), lambda m, block: soon(m, block.i, 7)), "bmc", 16)
    monkeypatch.setitem(proofs.PROOFS, "wrong", wrong)
    result, _, log = prove("wrong", tmp_path)
    assert result == "fail", log
