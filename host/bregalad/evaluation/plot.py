"""Curves as pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..extras import needing
from .columns import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from matplotlib.figure import Figure

    from ..hints import Path
    from .curve import Curve

_LABELS = {
    "accuracy": "prequential accuracy",
    "kappa": "prequential kappa",
    "recent": "accuracy since the last point",
    "recent_kappa": "kappa since the last point",
    "memory": "memory (MB)",
    "labels": "labels asked for",
    "ties": "tie-broken splits",
    "replaced": "replaced splits",
}
# By label: the counts that grow where there is one, how high it stands, and its look.
_MARKS: dict[str, tuple[tuple[str, ...], float, dict[str, Any]]] = {
    "drift found": (("alternates", "drifts"), 0.97, {"marker": "v", "color": "tab:red", "markersize": 5}),
    "part of the tree replaced": (
        ("replaced", "swapped", "pruned"),
        0.03,
        {"marker": "^", "color": "tab:purple", "markersize": 5},
    ),
}


def _figure(**options):
    with needing("a plot"):
        from matplotlib.figure import Figure
    return Figure(layout="constrained", **options)


def plot(curve: Curve, path: Path, title: str = "") -> None:
    """Write a curve's `picture`; the format is that of the file's name."""
    picture(curve, title).savefig(path, dpi=120)


def picture(curve: Curve, title: str = "") -> Figure:
    """A curve's accuracy, kappa and leaves, with marks where a drift was found and where a tree's part was replaced."""
    figure = _figure(figsize=(8, 4.5))
    axes = figure.add_subplot()
    axes.plot(curve.instances, curve.recent, color="tab:blue", linewidth=2, label=_LABELS["recent"])
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


def compare_plot(
    curves: Mapping[str, Curve],
    path: Path,
    what: Iterable[str] | str = ("accuracy", "leaves"),
    title: str = "",
    against: str = "instances",
) -> None:
    """Draw several curves into one picture, a panel for each thing compared.

    Parameters
    ----------
    curves : dict of Curve
        By the names of the legend.
    path : str
        Its suffix tells the format.
    what : sequence of str
        Columns of a curve: accuracy, kappa, recent, leaves, ties ...
    title : str
    against : str
        The column along the horizontal axis: instances, seconds, leaves ...

    Raises
    ------
    ValueError
        If there is no curve or a column is unknown.
    ImportError
        If matplotlib is missing; it comes with ``pip install bregalad[demo]``.
    """
    what = (what,) if isinstance(what, str) else tuple(what)
    for name in (*what, against):
        if name not in COLUMNS:
            raise ValueError(f"no column {name!r}; there are {', '.join(COLUMNS)}")
    if not curves or not what:
        raise ValueError("a comparison needs a curve and a column")
    figure = _figure(figsize=(8, 1 + 3 * len(what)))
    panels = figure.subplots(len(what), 1, sharex=True, squeeze=False)[:, 0]
    for panel, name in zip(panels, what, strict=True):
        for label, curve in curves.items():
            panel.plot(getattr(curve, against), getattr(curve, name), label=label, linewidth=1.2)
        panel.set(ylabel=_LABELS.get(name, name))
        panel.grid(alpha=0.3)
    panels[0].set(title=title)
    panels[-1].set(xlabel=_LABELS.get(against, against))
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize="small")
    figure.savefig(path, dpi=120)
