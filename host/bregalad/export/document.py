"""The description as JSON, and exports' files."""

import json

from ..files import check_writable, replacing


def write(model, path=None):
    """JSON as `schema.json` declares it: a text, or a file."""
    return kept(json.dumps(model, ensure_ascii=False, allow_nan=False, separators=(",", ":")), path)


def kept(text, path):
    """A text, None once it is in a file."""
    if path is None:
        return text
    check_writable(path)
    with replacing(path, "w" if isinstance(text, str) else "wb") as file:
        file.write(text)
    return None
