"""What a prequential run has come to, point by point."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..extras import needing
from ..files import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from ..hints import Path

__all__ = ["COLUMNS", "Curve", "check_suffix", "kappa"]

# What a tree's report may say; 0 where it does not.
_COUNTS = (
    *("leaves", "nodes", "depth", "attempts", "splits", "ties", "replaced", "pruned"),
    *("alternates", "swapped", "drifts"),
)
COLUMNS = ("instances", "accuracy", "kappa", "recent", "recent_kappa", *_COUNTS, "labels", "seconds", "memory")


@dataclass(repr=False)
class Curve:
    """Prequential results along a stream, one element per point.

    Attributes
    ----------
    instances : list of int
    accuracy, kappa : list of float
        Share of right predictions and Cohen's kappa so far; kappa is NaN where only one class has
        been met and predicted.
    recent, recent_kappa : list of float
        The same since the point before.
    leaves, nodes, depth : list of int
        The tree's size.
    attempts, splits, ties, replaced, pruned : list of int
        So far: attempts, splits, those that only the tie threshold allowed, inner nodes split anew,
        and inner nodes made leaves again.
    alternates, swapped, drifts : list of int
        So far: alternates that began and that took over, and drifts that an ensemble has found.
    labels : list of int
        Labels asked for so far: all, unless the learner chooses (`bregalad.active`).
    seconds : list of float
        Time spent on predicting and learning so far; all else is left out: compiling, building a model, the curve.
    memory : list of float
        The most memory that the process has held so far, in MB; 0 where that is not known.
    confusion : array (classes, classes) or None
        Counts of class (row) and prediction (column) so far.
    """

    instances: list[int] = field(default_factory=list)
    accuracy: list[float] = field(default_factory=list)
    kappa: list[float] = field(default_factory=list)
    recent: list[float] = field(default_factory=list)
    recent_kappa: list[float] = field(default_factory=list)
    leaves: list[int] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    depth: list[int] = field(default_factory=list)
    attempts: list[int] = field(default_factory=list)
    splits: list[int] = field(default_factory=list)
    ties: list[int] = field(default_factory=list)
    replaced: list[int] = field(default_factory=list)
    pruned: list[int] = field(default_factory=list)
    alternates: list[int] = field(default_factory=list)
    swapped: list[int] = field(default_factory=list)
    drifts: list[int] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    confusion: np.ndarray | None = None

    @property
    def right(self) -> int:
        """Right predictions so far."""
        return 0 if self.confusion is None else int(np.trace(self.confusion))

    def add(self, confusion: ArrayLike, report: Mapping[str, Any], seconds: float = 0.0, memory: float = 0.0) -> None:
        """Append a point: counts and seconds since the point before, the former an int array (classes, classes), the
        tree's report, and the memory by now.
        """
        confusion = np.asarray(confusion)
        self.confusion = confusion + (0 if self.confusion is None else self.confusion)
        count, seen = int(confusion.sum()), int(self.confusion.sum())
        self.instances.append(seen)
        self.accuracy.append(self.right / seen)
        self.kappa.append(kappa(self.confusion))
        self.recent.append(int(np.trace(confusion)) / count)
        self.recent_kappa.append(kappa(confusion))
        for name in _COUNTS:
            getattr(self, name).append(report.get(name, 0))
        self.labels.append(report.get("labels", seen))
        self.seconds.append((self.seconds[-1] if self.seconds else 0.0) + seconds)
        self.memory.append(memory)

    def __repr__(self):
        """The last point, a line for each of its figures."""
        if not self.instances:
            return "Curve without points"
        last = {name: getattr(self, name)[-1] for name in COLUMNS}
        rows = [f"  {name:<14}{round(value, 6)}" for name, value in last.items()]
        return "\n".join([f"Curve, the last of {len(self.instances)} points:", *rows])

    def table(self) -> pd.DataFrame:
        """The points as a `pandas.DataFrame`, a row each."""
        return pd.DataFrame({name: getattr(self, name) for name in COLUMNS})

    def write(self, path: Path) -> None:
        """Write the points to a file: .csv, .parquet or .pq.

        Raises
        ------
        ValueError
            If the name has another suffix.
        """
        if check_suffix(path) == ".csv":
            with replacing(path, "w") as file:
                self.table().to_csv(file, index=False, float_format="%.6g")
        else:
            with replacing(path, "wb") as file:
                self.table().to_parquet(file, index=False)

    @classmethod
    def restored(cls, state: dict[str, Any]) -> Curve:
        """The curve of which ``dataclasses.asdict`` has made a dict, its confusion a list.

        Raises
        ------
        KeyError, TypeError, ValueError
            If it is none.
        """
        points: dict[str, Any] = {name: list(state[name]) for name in COLUMNS}
        confusion = np.array(state["confusion"])
        columns = np.array(list(points.values()))  # ValueError if they are not equally long
        square = confusion.dtype.kind == "i" and confusion.ndim == 2 and len(set(confusion.shape)) == 1
        if columns.dtype.kind not in "if" or not square or points["instances"][-1:] != [confusion.sum()]:
            raise ValueError("no curve")
        return cls(**points, confusion=confusion)

    def plot(self, path: Path, title: str = "") -> None:
        """Draw accuracy, kappa and leaves over the instances.

        Raises
        ------
        ImportError
            If matplotlib is missing.
        """
        picture(self, title).savefig(path, dpi=120)


def check_suffix(path: Path) -> str:
    """The suffix of a curve's file; ValueError if curves are not written in that format."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in (".csv", ".parquet", ".pq"):
        raise ValueError(f"{path}: curves are written as .csv, .parquet or .pq")
    return suffix


def kappa(confusion: ArrayLike) -> float:
    """Cohen's kappa of a confusion matrix, NaN where only one class was met and predicted.

    Parameters
    ----------
    confusion : array (classes, classes)
        Counts; a row per class, a column per prediction.

    Source: Cohen, A coefficient of agreement for nominal scales, 1960; for streams Bifet and
    Frank, Sentiment knowledge discovery in Twitter streaming data, 2010.
    """
    confusion = np.asarray(confusion, float)
    total = confusion.sum()
    if not total:
        return math.nan
    chance = float(confusion.sum(axis=0) @ confusion.sum(axis=1)) / total**2
    if math.isclose(chance, 1, abs_tol=1e-15):
        return math.nan
    return (float(np.trace(confusion)) / total - chance) / (1 - chance)


# Label, counts that grow where there is one, how high it stands, and its look.
_MARKS = (
    ("drift found", ("alternates", "drifts"), 0.97, "v", "tab:red"),
    ("part of the tree replaced", ("replaced", "swapped", "pruned"), 0.03, "^", "tab:purple"),
)


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
    for label, names, height, marker, color in _MARKS:
        counts = np.array([getattr(curve, name) for name in names])
        where = np.array(curve.instances)[(np.diff(counts, prepend=0) > 0).any(axis=0)]
        if len(where):
            heights, transform = [height] * len(where), axes.get_xaxis_transform()
            axes.plot(where, heights, marker, label=label, color=color, markersize=5, transform=transform)
    other = axes.twinx()
    other.fill_between(curve.instances, curve.leaves, step="pre", color="tab:orange", alpha=0.15, label="leaves")
    other.set(ylabel="leaves", ylim=(0, None))
    axes.set_zorder(1)  # before the leaves
    axes.patch.set_visible(False)
    figure.legend(loc="outside lower center", ncols=3, fontsize="small")
    return figure
