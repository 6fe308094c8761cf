"""puuCVFDT's paper: positive and unlabelled instances of streams that change, beside CVFDT that knows all labels."""

import numpy as np

from ...data import open_generator
from ...learners.cvfdt import CVFDT
from ...learners.positive.puucvfdt import PuuCVFDT
from ...learners.positive.puuvfdt import PuuVFDT
from ..page import Page
from .unlabelled import SHARES, behind, follow, labelled, tables

__all__ = ["INSTANCES", "RUNS", "SUMMARY", "run"]

SUMMARY = "positive and unlabelled instances of streams that change, beside CVFDT with all labels (Liang et al.)"
INSTANCES = 100_000
RUNS = 3

# The second concept comes half-way.
STREAMS = {
    "turning hyperplane": "hyperplane,attributes=10,drifting=5,change=0.001,reversal=0.1,noise=0.05",
    "SEA": "drift,first=(sea,function=1),second=(sea,function=3,seed=2),position={half}",
    "Agrawal": "drift,first=(agrawal,function=1),second=(agrawal,function=3,seed=2),position={half}",
}
OF_ALL = "10% of all"  # nine instances of ten are unlabelled, as in the paper's abstract
LEARNERS = ("CVFDT, all labels", "puuCVFDT", "true level", "puuVFDT", "unlabelled = negative")

_METHOD = """
Source: Liang, Zhang, Shi and Hu, *Learning very fast decision tree from uncertain data streams with positive and
unlabeled samples*, Information Sciences 2012. The tree: docs/learners.md.

* Streams that change: a hyperplane of which five weights of ten move all the time, and two pairs of concepts, the
  second of which comes half-way. Of the positive instances (the second class) a share, drawn at random, keeps its
  label; all others are unlabelled. *10% of all*: so many positive instances keep theirs that of all instances nine in
  ten are unlabelled, which is what the paper's abstract speaks of.
* Each 1000 instances are predicted, then learnt; accuracy and F1 are those of the predictions, by the true classes,
  from instance 1000 on.
* *CVFDT, all labels*: with majority-class leaves; *puuCVFDT*: nine trees, the level chosen by the estimated merit;
  *true level*: one such tree with `level` as it is in the whole stream; *puuVFDT*: which forgets nothing; *unlabelled =
  negative*: `CVFDT` that takes unlabelled for a class. All with the parameters' defaults.
* Mean and, of several seeds, standard deviation.
"""

_DIFFERENCES = """
* **No copy of the published tables was at hand**, so none are beside ours. Its abstract says that with 90 % of the
  samples unlabelled, the performance still compares with that of CVFDT, which knows all labels.
* With a tenth of the positives labelled (4 % of these samples, less than the abstract speaks of) a tree of ours is
  behind: of 1,843 instances, after which ties are broken, a leaf has seen 60 to 90 labelled ones, and what it is told
  of a side's positives is off by a tenth and more. Nothing that was tried (30,000 instances, accuracies averaged over
  the streams) is sure to help: at 0.7507 with seed 1, `tau=0.1` has 0.7561, `tau=0.02` 0.7770, `window=30_000` 0.7460,
  `grace=500, inner_grace=2000` 0.7798; with seeds 2 and 3 `tau=0.02` has 0.7525 for 0.7502, and with half of the
  positives labelled it costs 0.0095.
* The paper's attributes are uncertain (intervals and distributions); ours are numbers and values.
* How the paper tests alternates without negatives we do not know; ours are tested by an estimate of the errors among
  the unlabelled instances.
* The paper chooses the level by an estimated error; ours is chosen by Lee and Liu's merit, from what the window holds.
"""


def run(settings):
    """Run the study; returns a `Page`."""
    page = Page("puucvfdt", "Positive and unlabelled instances of streams that change")
    page.text(_METHOD)
    found = {}
    for name, spec in STREAMS.items():
        for seed in range(1, settings.runs + 1):
            stream = open_generator(spec.format(half=settings.instances // 2), seed=seed)
            X, y = stream.take(settings.instances)
            y = np.asarray(y) == max(stream.schema.classes)
            for kept, share in {**SHARES, OF_ALL: 0.1 / y.mean()}.items():
                runs = follow(_learners(settings.board, y, labelled(y, share, seed)), X, y)
                for learner, figures in runs.items():
                    found.setdefault((name, kept, learner), []).append(figures)
                settings.note(
                    f"{name}, seed {seed}, {kept}: "
                    + ", ".join(f"{learner} {figures[0]:.4f}" for learner, figures in runs.items())
                )
    page.heading(f"{settings.instances:,} instances, {settings.runs} {'runs' if settings.runs > 1 else 'run'}")
    tables(page, found, LEARNERS, LEARNERS[1:4])
    mean, most = behind(found, "puuCVFDT", "CVFDT, all labels")
    page.text(f"puuCVFDT's accuracy is {mean:.4f} below that of CVFDT with all labels, {most:.4f} at most.")
    page.heading("Differences from the paper, and why")
    page.text(_DIFFERENCES)
    return page


def _learners(board, y, known):
    """By name: the learner, and the labels that it is told."""
    return {
        "CVFDT, all labels": (CVFDT(board, block=1, leaf_prediction="mc"), y),
        "puuCVFDT": (PuuCVFDT(board, block=1, positive=True), known),
        "true level": (PuuCVFDT(board, block=1, positive=True, level=float(y[~known].mean())), known),
        "puuVFDT": (PuuVFDT(board, block=1, positive=True), known),
        "unlabelled = negative": (CVFDT(board, block=1, leaf_prediction="mc"), known),
    }
