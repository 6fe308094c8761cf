"""Kept reports of place and route, two files a build: what `bregalad build` wrote."""

import json
from pathlib import Path

__all__ = ["kept"]

_FOLDER = Path(__file__).parent


def kept(folder=_FOLDER):
    """The reports of a folder by name, as dictionaries."""
    return {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
