"""Figure 3 of the confidence tree's papers: accuracy against the number of leaves."""

import numpy as np

from ...data.generators import RandomBinaryTree
from ...learners.confidence import CorrHTree, CTree
from ...learners.vfdt import VFDT
from .. import data
from ..page import Page, new_figure
from .reference import ReferenceTree
from .runs import computes, follow, spread

__all__ = ["INSTANCES", "RUNS", "SUMMARY", "run"]

SUMMARY = "C-Tree, CorrH-Tree and H-Tree at equal numbers of leaves (De Rosa and Cesa-Bianchi)"
INSTANCES = 500_000
RUNS = 10

LEAVES = (10, 20, 40, 80, 160, 320, 640, 1280)  # at which the curves are compared
_COMMON = {"grace": 100, "slots": 4096, "nominal_split": "one_vs_rest", "block": 1}
_HOEFFDING = [
    {"delta": delta, "tau": tau}
    for delta, tau in (
        (1e-7, 0.0),
        (1e-7, 0.02),
        (1e-7, 0.03),
        (1e-7, 0.05),
        (1e-7, 0.07),
        (1e-7, 0.1),
        (1e-3, 0.1),
        (1e-3, 0.15),
    )
]
# Learner: its tree, its criterion, and the settings that make its curve.
LEARNERS = {
    "C-Tree": (
        CTree,
        "gini",
        [{"scale": scale} for scale in (0.003, 0.005, 0.01, 0.015, 0.02, 0.025, 0.03, 0.04, 0.05, 0.06, 0.08)],
    ),
    "H-Tree": (VFDT, "information_gain", _HOEFFDING),
    "H-Tree, no ties": (
        VFDT,
        "information_gain",
        [{"delta": delta, "tau": 0.0} for delta in (0.001, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 0.99)],
    ),
    "CorrH-Tree": (CorrHTree, "classification_error", _HOEFFDING),
}

_METHOD = """
Source: De Rosa and Cesa-Bianchi, *Splitting with confidence in decision trees with application to
stream mining*, IJCNN 2015, and *Confidence decision trees via online and active learning for
streaming data*, JAIR 2017.

* RandCBT: 50 leaves divided at random, 5 numeric attributes, class 1 with probability 0.7 in left
  leaves and 0.3 in right ones, so no tree can be right more often than 0.7; 10,000 instances per
  leaf are the published 500,000. Each run is another tree. Where they are at hand, ELEC and Skin
  (shuffled), once.
* Grace 100, majority-class leaves. C-Tree: Gini, the practical bound, c from 0.003 to 0.08.
  H-Tree: information gain, and CorrH-Tree: classification error, both with Hoeffding's bound,
  delta 1e-7 and 1e-3 and tau from 0 to 0.15. H-Tree, no ties: tau 0, as C-Tree has none, and
  delta from 0.001 to 0.99, so that its bound alone decides. Each setting is a point: leaves at
  the end, accuracy (prequential) so far.
* At equal numbers of leaves: a learner's points on one tree, joined by lines over the logarithm of
  the leaves; mean and standard deviation over the runs, no figure where a run's points do not
  reach. Last columns: C-Tree less H-Tree, run by run.
"""

_DIFFERENCES = """
* No copy of the papers' figure was at hand, only its description, so the claim alone is checked:
  C-Tree is above H-Tree at equal numbers of leaves. The settings behind the points are ours.
* Measured over 10 trees of the published 500,000 instances, the claim does not hold: on RandCBT the
  two are level. At 320 and 640 leaves, where all runs of both have points, C-Tree is ahead by less
  than .001; at 80 and 160 H-Tree is, by .004, a quarter of the deviation between runs. There a
  C-Tree sometimes waits long at a root that no split improves (the classes of RandCBT's leaves are
  drawn at random), where H-Tree's tie threshold makes it split: 58 to 99 % of H-Tree's splits are
  tie-broken. Without ties, bound against bound, the two are within .0013 of each other.
* ELEC: C-Tree is ahead of both at 80 leaves. Skin: H-Tree is ahead at 20 and 40 leaves, level at 10
  and 80. CorrH-Tree is ahead of all on ELEC at 40 leaves, and behind all on Skin.
* Numeric attributes are seen through zoomed bins of quantile codes; we do not know how theirs are.
* A board's gain units compute one criterion. {engines}
"""


def run(settings):
    """Run the study; returns a `Page`."""
    page = Page("ctree", "C-Tree, CorrH-Tree and H-Tree at equal numbers of leaves")
    page.text(_METHOD)
    streams = {"RandCBT": [RandomBinaryTree(model_seed=seed) for seed in range(1, settings.runs + 1)]}
    for name, title in (("elec", "ELEC"), ("skin", "Skin, shuffled")):
        whole = data.load(name)
        if whole is not None:
            streams[title] = [whole.shuffled(1) if name == "skin" else whole]
    points, engines = {}, {}
    for title, group in streams.items():
        for name in LEARNERS:
            found = _curve(settings, title, name, group, engines)
            if found is not None:
                points[title, name] = found
    for title, group in streams.items():
        sizes = {min(settings.instances, getattr(s, "len_hint", None) or _length(s, settings)) for s in group}
        page.heading(f"{title}: {max(sizes):,} instances, {len(group)} {'runs' if len(group) > 1 else 'run'}")
        learners = [name for name in LEARNERS if (title, name) in points]
        page.text("Accuracy at equal numbers of leaves:")
        behind = [f"C-Tree - {name}" for name in _others(learners)]
        page.table(
            f"{title} equal",
            ["leaves", *learners, *behind],
            [_row(leaves, {name: points[title, name] for name in learners}) for leaves in LEAVES],
        )
        page.text("The points:")
        page.table(
            f"{title} points",
            ["learner", "setting", "leaves", "accuracy", "tie-broken"],
            [
                [
                    name,
                    ", ".join(f"{key} {value:g}" for key, value in setting.items()),
                    f"{np.mean(leaves):.1f}",
                    f"{np.mean(accuracy):.4f}",
                    f"{100 * ties:.0f} %",
                ]
                for name in learners
                for setting, leaves, accuracy, ties in points[title, name]
            ],
        )
    page.picture("", _picture(list(streams), points), "accuracy over leaves")
    page.heading("Differences from the papers, and why")
    page.text(_DIFFERENCES.replace("{engines}", " ".join(f"{name}: {engine}." for name, engine in engines.items())))
    return page


def _length(stream, settings):
    return len(stream) if hasattr(stream, "__len__") else settings.instances


def _curve(settings, title, name, group, engines):
    """Points (setting, leaves, accuracy, share of ties) of a learner; None if it cannot run.

    Leaves and accuracies are a run's each.
    """
    kind, criterion, grid = LEARNERS[name]
    on_board = computes(settings.board, criterion)
    engines[name] = (
        f"the {settings.board} board"
        if on_board
        else f"the float64 reference on the board's codes, for no board computes {criterion}"
    )
    points = []
    for setting in grid:
        curves = []
        for stream in group:
            try:
                tree = _tree(settings, kind, criterion if not on_board else None, setting, stream)
            except ImportError:
                engines[name] = f"left out, for neither a board nor the reference has {criterion}"
                return None
            curves.append(
                follow(
                    tree, stream, min(settings.instances, _length(stream, settings)), getattr(stream, "classes", None)
                )
            )
        leaves = [curve.leaves[-1] for curve in curves]
        accuracy = [curve.accuracy[-1] for curve in curves]
        splits = sum(curve.splits[-1] for curve in curves)
        points.append((setting, leaves, accuracy, sum(curve.ties[-1] for curve in curves) / max(splits, 1)))
        settings.note(f"{title}, {name} {setting}: {np.mean(leaves):.1f} leaves, accuracy {np.mean(accuracy):.4f}")
    return points


def _tree(settings, kind, criterion, setting, stream):
    """A tree on the board, or the reference with a criterion that the board lacks."""
    nominal = getattr(stream, "nominal", stream.schema.nominal)
    if criterion is None:
        return kind(board=settings.board, nominal=nominal, leaf_prediction="mc", **_COMMON, **setting)
    policy = kind(grace=_COMMON["grace"], **setting)
    return ReferenceTree(
        stream.schema,
        getattr(stream, "classes", stream.schema.classes),
        observer="zoomed",
        criterion=criterion,
        grace=policy.grace,
        nominal_split="one_vs_rest",
        delta=policy.delta,
        tau=policy.tau,
        bound=getattr(policy, "bound", "hoeffding"),
        c=getattr(policy, "scale", 5e-3),
    )


def _row(leaves, points):
    """Learners at a number of leaves: mean and deviation, empty where a run does not reach."""
    at = {name: _at(found, leaves) for name, found in points.items()}
    ahead = [at.get("C-Tree", np.array(np.nan)) - at[name] for name in _others(at)]
    return [leaves, *("" if np.isnan(values).any() else spread(values) for values in (*at.values(), *ahead))]


def _others(names):
    """Those that C-Tree is to be above."""
    return [name for name in names if name.startswith("H-Tree")]


def _at(points, leaves):
    """Each run's accuracy at a number of leaves, NaN where its points do not reach."""
    runs = []
    for run in range(len(points[0][1])):
        x, y = np.array(sorted((found[run], accuracy[run]) for _, found, accuracy, _ in points)).T
        reached = x[0] <= leaves <= x[-1]
        runs.append(np.interp(np.log(leaves), np.log(x), y) if reached else np.nan)
    return np.array(runs)


def _picture(titles, points):
    figure = new_figure(5 * len(titles), 4)
    if figure is None:
        return None
    for panel, title in zip(figure.subplots(1, len(titles), squeeze=False)[0], titles, strict=True):
        for name in LEARNERS:
            if (title, name) in points:
                found = sorted((np.mean(leaves), np.mean(accuracy)) for _, leaves, accuracy, _ in points[title, name])
                panel.plot(*zip(*found, strict=True), marker="o", markersize=4, label=name)
        panel.set(title=title, xlabel="leaves", ylabel="prequential accuracy", xscale="log")
        panel.grid(alpha=0.3)
        panel.legend()
    return figure
