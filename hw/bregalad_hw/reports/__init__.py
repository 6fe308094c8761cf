"""Kept reports of place and route, two files a build: what `bregalad build` wrote."""

import json
from pathlib import Path

from bregalad.geometry import Geometry

_FOLDER = Path(__file__).parent


def kept(folder=_FOLDER):
    """The reports of a folder by name, as dictionaries."""
    return {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}


def clock_of(reports, geometry, board=None):
    """``(MHz asked, MHz reached, name)`` of the report of the very geometry, None each without one.

    The bitstream has the clock asked. Of several reports it is the slowest; of the board of that name only, if one is
    given. Another geometry's clock says nothing: slots and passes alone make memories deeper, and lanes' wires longer.
    """
    found = [
        (*(report["clock_mhz"][key] for key in ("asked", "achieved")), name)
        for name, report in reports.items()
        if board in (None, report["board"]) and Geometry(**report["geometry"]) == geometry
    ]
    return min(found, default=(None,) * 3)
