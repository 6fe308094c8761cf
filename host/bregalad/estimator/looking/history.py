"""What has happened to a tree, as its users read it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from ...engine.history import EVENTS, LEVELS
from ...tree.table import MULTIWAY, NUMERIC


class History(NamedTuple):
    """The last 10,000 events of a tree.

    Members
    -------
    events : pandas.DataFrame
        A row each, oldest first; docs/inspection.md has the columns.
    dropped : int
        How many older ones are gone: a tree keeps 1 MB of them at most.
    """

    events: pd.DataFrame
    dropped: int


def history_of(record, schema, books):
    """The `History` of what compiled code has recorded, an ``engine.history.History``."""
    events, paths, dropped = record.in_order()
    table = pd.DataFrame({"instances": events["instances"], "event": np.array(EVENTS)[events["event"]]})
    table["attribute"] = [schema.names[place] if place >= 0 else None for place in events["attribute"]]
    table["value"] = pd.Series([_value(event, books) for event in events], dtype=object)
    ways = zip(paths.tolist(), events["depth"].tolist(), strict=True)
    table["path"] = [".".join(str(b - 1) for b in path[:depth]) + "..." * (depth > LEVELS) for path, depth in ways]
    table["alternates"], table["n"] = events["within"], events["n"].astype(np.int64)
    for name in ("gain", "rival", "bound"):
        table[name] = np.where(events["n"] > 0, events[name], np.nan)
    table["tie"] = table["gain"] - table["rival"] <= table["bound"]
    return History(table, dropped)


def _value(event, books):
    """What an event's test compares with; None: nothing."""
    kind, code, book = event["kind"], int(event["threshold"]), books[event["attribute"]]
    if kind == NUMERIC:
        return book.threshold(code) if np.isnan(event["value"]) else float(event["value"])
    known = [] if event["attribute"] < 0 or kind == MULTIWAY else book.values
    return known[code] if code < len(known) else None
