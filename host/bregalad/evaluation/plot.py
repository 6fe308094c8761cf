"""Curves as pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..extras import needing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .curve import Curve

# By label: the counts that grow where there is one, how high it stands, and its look.
_MARKS: dict[str, tuple[tuple[str, ...], float, dict[str, Any]]] = {
    "drift found": (("alternates", "drifts"), 0.97, {"marker": "v", "color": "tab:red", "markersize": 5}),
    "part of the tree replaced": (
        ("replaced", "swapped", "pruned"),
        0.03,
        {"marker": "^", "color": "tab:purple", "markersize": 5},
    ),
}


def picture(curve: Curve, title: str = "") -> Figure:
    """A curve's accuracy, kappa and leaves, with marks where a drift was found and where a tree's part was replaced."""
    with needing("a plot"):
        from matplotlib.figure import Figure
    figure = Figure(layout="constrained", figsize=(8, 4.5))
    axes = figure.add_subplot()
    axes.plot(curve.instances, curve.recent, color="tab:blue", linewidth=2, label="accuracy since the last point")
    axes.plot(curve.instances, curve.accuracy, color="tab:blue", linewidth=1, alpha=0.6, label="accuracy so far")
    axes.plot(curve.instances, curve.kappa, color="tab:green", linewidth=1, alpha=0.6, label="kappa so far")
    axes.set(xlabel="instances", ylabel="prequential accuracy, kappa")
    axes.set_title(title, wrap=True)
    axes.margins(y=0.1)  # room for marks
    axes.grid(alpha=0.3)
    for label, (names, height, style) in _MARKS.items():
        where = _rises(curve, names)
        if where:
            axes.plot(
                where, [height] * len(where), label=label, linestyle="", transform=axes.get_xaxis_transform(), **style
            )
    other = axes.twinx()
    other.fill_between(curve.instances, curve.leaves, step="pre", color="tab:orange", alpha=0.15, label="leaves")
    other.set(ylabel="leaves", ylim=(0, None))
    axes.set_zorder(1)  # before the leaves
    axes.patch.set_visible(False)
    figure.legend(loc="outside lower center", ncols=3, fontsize="small")
    return figure


def _rises(curve, names):
    """The instances of the points at which one of these counts has grown."""
    counts = np.array([getattr(curve, name) for name in names])
    grown = (np.diff(counts, prepend=0) > 0).any(axis=0)
    return np.array(curve.instances)[grown].tolist()
