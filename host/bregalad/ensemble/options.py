"""The parameters of the ensembles, each declared once, as those of the trees."""

from ..options.option import Option

NAMES = ("bagging", "leveraging", "arf")
MEMBER = {"delta": 0.01, "grace": 50, "tau": 0.03, "slots": 4096}  # of a forest's trees, if they are not given
MOST_RATE = 100.0
_GROUP = "ensembles"


def _all(value, **others):
    return {**dict.fromkeys(NAMES, value), **others}


OPTIONS = (
    Option("tree", object, "a tree that has learnt nothing: all members are like it", _all(None)),
    Option("members", int, "trees", _all(10), low=1, high=10_000, group=_GROUP),
    Option(
        "rate",
        float,
        "mean of the Poisson numbers that say how often a member learns an instance",
        _all(6.0, bagging=1.0),
        above=0,
        high=MOST_RATE,
        group=_GROUP,
    ),
    Option(
        "attributes",
        float,
        "the share of the attributes that each node may be split on, drawn for each",
        {"arf": 0.6},
        above=0,
        high=1,
        group=_GROUP,
    ),
    Option(
        "warning",
        float,
        "ADWIN's confidence for a warning, at which a tree begins to grow in the background",
        {"arf": 0.01},
        above=0,
        below=1,
        group=_GROUP,
    ),
    Option(
        "drift",
        float,
        "ADWIN's confidence for a drift, at which a tree is replaced",
        {"leveraging": 0.002, "arf": 0.001},
        above=0,
        below=1,
        group=_GROUP,
    ),
    Option("weighted", bool, "whether votes count by the member's accuracy", {"arf": True}, group=_GROUP),
    Option("seed", int, "of all that is drawn", _all(1), low=0, high=(1 << 64) - 1, group=_GROUP),
    Option(
        "threads",
        int,
        "how many members learn at the same time; the ensemble is the same",
        _all(1),
        low=1,
        high=256,
        group=_GROUP,
    ),
    Option(
        "engine",
        object,
        "where members learn: 'ray', a cluster's workers; see docs/ensembles.md; the ensemble is the same",
        _all(None),
        none="this process",
    ),
)


def options_of(ensemble):
    """The parameters of an ensemble, one of ``NAMES``."""
    return tuple(option for option in OPTIONS if ensemble in option.defaults)
