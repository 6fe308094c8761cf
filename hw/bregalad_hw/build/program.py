"""Load a bitstream into a board."""

import json
import subprocess
from pathlib import Path

from .tools import BuildError, tool


def program(board, output=None, *, cable=None):
    """Load a board's bitstream with openFPGALoader, over a cable of that name if it is told.

    BuildError if there is no bitstream, it is another board's, or it cannot be loaded.
    """
    folder = Path(output or f"out/{board.name}")
    bitstream, report = folder / board.bitstream, folder / "report.json"
    if not bitstream.is_file():
        raise BuildError(f"there is no {bitstream}; bregalad build {board.name} makes it")
    if report.is_file() and (found := json.loads(report.read_text())["board"]) != board.name:
        raise BuildError(f"{bitstream} is for {found}, not for {board.name}")
    command = [tool("openFPGALoader"), "-b", board.loader, *(("-c", cable) if cable else ()), str(bitstream)]
    if subprocess.run(command).returncode:
        raise BuildError(f"{' '.join(command)} failed; is the board connected and powered?")
