"""CVFDT's paper: the error on a hyperplane that turns, and who recovers first from a drift."""

import numpy as np

from ...data import open_generator
from ...learners.cvfdt import CVFDT
from ...learners.vfdt import VFDT
from ..page import Page, new_figure
from .runs import follow, mean_curve, spread

__all__ = ["INSTANCES", "RUNS", "SUMMARY", "run"]

SUMMARY = "error on a turning hyperplane, and recovery from drifts (Hulten, Spencer and Domingos)"
INSTANCES = 5_000_000
RUNS = 1

LEARNERS = {
    "VFDT": lambda board: VFDT(board, block=1, delta=1e-4, grace=300, leaf_prediction="mc"),
    "CVFDT": lambda board: CVFDT(
        board,
        block=1,
        delta=1e-4,
        grace=300,
        window=100_000,
        inner_grace=20_000,
        test_every=10_000,
        test_length=1000,
        leaf_prediction="mc",
    ),
    "CVFDT, defaults": lambda board: CVFDT(board, block=1, leaf_prediction="mc"),
}
# Those that are compared after a drift: as above, and by other options or leaves.
RECOVERING = {
    **LEARNERS,
    "CVFDT, tau .1": lambda board: CVFDT(board, block=1, tau=0.1, leaf_prediction="mc"),
    "VFDT, NBA": lambda board: VFDT(board, block=1, delta=1e-4, grace=300, leaf_prediction="nba"),
    "CVFDT, NBA": lambda board: CVFDT(board, block=1, leaf_prediction="nba"),
}
HYPERPLANE = "hyperplane,attributes=50,drifting=10,change=0.0002,reversal=0.0001,noise=0.05"
DRIFT = 60_000  # instances before a drift
DRIFTS = {
    "SEA": "drift,first=(sea,function=1),second=(sea,function=3,seed=2),position=60000",
    "hyperplane": "drift,first=(hyperplane),second=(hyperplane,model_seed=2,seed=2),position=60000",
    "interchanging RBF": "interchanging,period=60000",
    "moving squares": "drift,first=(squares,way=0),second=(squares,horizon=30000,seed=2),position=60000",
}

_METHOD = """
Source: Hulten, Spencer and Domingos, *Mining time-changing data streams*, KDD 2001. The tree: docs/learners.md.

* A hyperplane in 50 dimensions; ten weights move, and turn back now and then; 5 % of the labels are wrong.
* The paper's settings: delta 1e-4, tau .05, grace 300, window 100,000, inner nodes tried every 20,000 instances,
  alternates tested for 1,000 after every 10,000; majority-class leaves. *CVFDT, defaults* is with the parameters'
  defaults: window 10,000, 1,000, 1,000 and 300.
* Errors are prequential, of each hundredth of the stream.
"""

_DIFFERENCES = """
* **No copy of the published figure, nor of its numbers, was at hand**, so there is no published curve in the picture.
  Checked is what it shows: CVFDT's error stays below VFDT's where the concept moves on.
* The paper's hyperplane moves every 50,000 instances, and its attributes are divided in five equal parts; ours moves
  with every instance, and its attributes are seen through zoomed bins of quantile codes.
* A tie of two classes takes 1,843 instances of a leaf at tau .05, of the RBF's fifteen it takes 28,117, and a window
  of the defaults holds 10,000. So trees are small, and with majority-class leaves coarse: the level before the drift
  is low (RBF), or takes long to come back to (hyperplane). With tau .1, which takes a quarter of that, and with NBA
  leaves, CVFDT recovers before VFDT on each stream.
* Inner nodes are tried by their own instances, not by those of the whole tree, and have one alternate at most.
"""


def run(settings):
    """Run the study; returns a `Page`."""
    page = Page("cvfdt", "CVFDT on streams that change")
    page.text(_METHOD)
    curves, reports = {}, {}
    for name, make in LEARNERS.items():
        for seed in range(1, settings.runs + 1):
            tree = make(settings.board)
            stream = open_generator(HYPERPLANE, seed=seed, model_seed=seed)
            curves.setdefault(name, []).append(follow(tree, stream, settings.instances))
            reports.setdefault(name, []).append(tree.report())
            settings.note(f"hyperplane, seed {seed}, {name}: error {1 - curves[name][-1].accuracy[-1]:.4f}")
    page.heading(
        f"Hyperplane, {settings.instances:,} instances, {settings.runs} {'runs' if settings.runs > 1 else 'run'}"
    )
    page.table(
        "hyperplane",
        ["learner", "error", "of the last tenth", "leaves", "alternates", "took over"],
        [
            [
                name,
                spread(1 - curve.accuracy[-1] for curve in found),
                spread(1 - np.mean(curve.recent[-max(1, len(curve.recent) // 10) :]) for curve in found),
                *(
                    spread((report[what] for report in reports[name]), 0)
                    for what in ("leaves", "alternates", "swapped")
                ),
            ]
            for name, found in curves.items()
        ],
    )
    page.picture("", _picture(curves), "prequential error over instances")
    page.heading("Recovery from a drift")
    page.text(
        f"Instances after a drift at {DRIFT:,} until five points of 1,000 instances are on average within .02 of the\n"
        f"five before it (`Curve.recovery`), up to {DRIFT:,}; and the accuracy of the whole {2 * DRIFT:,}.\n"
        "*tau .1*: the defaults but for this. *NBA*: leaves predict by naive Bayes where it has been better, which is\n"
        "CVFDT's default; VFDT and it otherwise as before."
    )
    page.table("recovery", ["stream", *RECOVERING], [_recovery(settings, name) for name in DRIFTS])
    page.heading("Differences from the paper, and why")
    page.text(_DIFFERENCES)
    return page


def _recovery(settings, name):
    """A row of the table: of each learner, the instances and the accuracy."""
    cells = []
    for learner, make in RECOVERING.items():
        curve = follow(make(settings.board), open_generator(DRIFTS[name]), 2 * DRIFT, every=1000)
        after = curve.recovery(DRIFT)
        cells.append(f"{'not' if after is None else format(after, ',')} ({curve.accuracy[-1]:.4f})")
        settings.note(f"{name}, {learner}: {cells[-1]}")
    return [name, *cells]


def _picture(curves):
    figure = new_figure(8, 5)
    if figure is None:
        return None
    panel = figure.subplots()
    for name, found in curves.items():
        panel.plot(*mean_curve(found), label=name)
    panel.set(title="A hyperplane that turns", xlabel="instances", ylabel="error since the last point")
    panel.grid(alpha=0.3)
    panel.legend()
    return figure
