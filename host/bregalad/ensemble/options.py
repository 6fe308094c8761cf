"""The parameters of the ensembles, each declared once, as those of the trees."""

from ..options.option import ANY, FLAG, PROBABILITY, Option, in_help, integer, real

NAMES = ("bagging", "leveraging", "arf")
MEMBER = {"delta": 0.01, "grace": 50, "tau": 0.03, "slots": 4096}  # of a forest's trees, if they are not given
MOST_RATE = 100.0


def _all(value, **others):
    return {**dict.fromkeys(NAMES, value), **others}


OPTIONS = (
    Option("tree", ANY, "a tree that has learnt nothing: all members are like it", _all(None)),
    Option(
        "engine",
        ANY,
        "where members learn: 'ray', a cluster's workers; see docs/ensembles.md; the ensemble is the same",
        _all(None),
        none="this process",
    ),
    *in_help(
        "ensembles",
        Option("members", integer(1, 10_000), "trees", _all(10)),
        Option(
            "rate",
            real(f"above 0, {MOST_RATE:g} at most", lambda value: 0 < value <= MOST_RATE),
            "mean of the Poisson numbers that say how often a member learns an instance",
            _all(6.0, bagging=1.0),
        ),
        Option(
            "attributes",
            real("above 0, 1 at most", lambda value: 0 < value <= 1),
            "the share of the attributes that each node may be split on, drawn for each",
            {"arf": 0.6},
        ),
        Option(
            "warning",
            PROBABILITY,
            "ADWIN's confidence for a warning, at which a tree begins to grow in the background",
            {"arf": 0.01},
        ),
        Option(
            "drift",
            PROBABILITY,
            "ADWIN's confidence for a drift, at which a tree is replaced",
            {"leveraging": 0.002, "arf": 0.001},
        ),
        Option("weighted", FLAG, "whether votes count by the member's accuracy", {"arf": True}),
        Option("seed", integer(0, (1 << 64) - 1), "of all that is drawn", _all(1)),
        Option(
            "threads", integer(1, 256), "how many members learn at the same time; the ensemble is the same", _all(1)
        ),
    ),
)
