"""What a driver asks of a split policy, and the options and parameters that are refused."""

import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from bregalad import CVFDT, HAT, VFDT, Geometry, PuuCVFDT, PuuVFDT
from bregalad.estimator.parameters import declared
from bregalad.learners.catalogue import CLASSICAL as KEEPERS
from bregalad.learners.catalogue import TREES
from bregalad.options.table import CLASSICAL, LEARNERS, OPTIONS
from bregalad.policy.split_policy import SplitPolicy

NARROW, TABLE = (Geometry(naive_bayes=True, **sizes) for sizes in ({"count_width": 12}, {"nodes": 64}))
NODES = r"a board with a node table \(nodes=64\)"


def test_streams_that_a_bound_or_criterion_is_not_for():
    SplitPolicy().check(32, True, "multiway")
    for bound in ("confidence", "confidence-practical"):
        policy = SplitPolicy(bound=bound)
        policy.check(2, True, "one_vs_rest")
        policy.check(2, False, "multiway")
        with pytest.raises(ValueError, match=f"'{bound}' is for two classes, .* 3: choose 'hoeffding' or 'mcdiarmid'"):
            policy.check(3, False, "multiway")
        with pytest.raises(ValueError, match="binary splits.*nominal_split='one_vs_rest'"):
            policy.check(2, True, "multiway")
    SplitPolicy(criterion="kearns_mansour").check(2, True, "multiway")
    with pytest.raises(ValueError, match="'kearns_mansour' is for two .* 4: choose 'information_gain' or 'gini'"):
        SplitPolicy(criterion="kearns_mansour").check(4, False, "multiway")


VALUES = [
    ({"delta": 0}, "delta must be between 0 and 1, both excluded, not 0"),
    ({"delta": 1.0}, "delta must be between"),
    ({"delta": float("nan")}, "delta must be between"),
    ({"tau": -0.1}, "tau must be 0 or more"),
    ({"tau": float("nan")}, "tau must be"),
    ({"scale": 0}, "scale must be above 0, not 0"),
    ({"scale": float("inf")}, "scale must be above 0, not inf"),
    ({"grace": 0}, "grace must be 1 to 16777215 instances, not 0"),
    ({"grace": 1 << 24}, "grace must be"),
    ({"inner_grace": 0}, "inner_grace must be 1 to 16777215 instances, not 0"),
    ({"tie_increment": -1}, "tie_increment must be 0 to 16777215 instances, not -1"),
    ({"child_counts": "none"}, "child_counts must be 'inherit' or 'zero', not 'none'"),
    ({"criterion": "entropy"}, "criterion must be 'information_gain', 'gini', 'kearns_mansour' or .*, not 'entropy'"),
    ({"bound": "chernoff"}, "bound must be 'hoeffding', 'mcdiarmid', 'confidence' or "),
    ({"ties": None}, "ties must be 'ht', 'htdt' or 'htat', not None"),
    ({"variant": "river"}, "variant must be 'paper', 'moa' or 'kdd2018', not 'river'"),
    ({"same_attribute": "move"}, "same_attribute must be 'keep' or 'replace', not 'move'"),
    ({"bound": "mcdiarmid", "criterion": "kearns_mansour"}, "'gini', not for 'kearns_mansour'; 'hoeffding' takes all"),
    ({"bound": "confidence", "criterion": "classification_error"}, "'confidence' is known for"),
    ({"bound": "confidence-practical", "criterion": "classification_error"}, "is known for"),
    ({"bound": "confidence-practical", "ties": "htdt"}, "ties='htdt' has no effect"),
    ({"anytime": True, "ties": "htat"}, "ties='htat' is about ties between two attributes"),
    ({"anytime": True, "adaptive_grace": True}, "adaptive_grace is for trees that are not"),
    ({"bound": "mcdiarmid", "adaptive_grace": True}, "it needs bound='hoeffding', not 'mcdiarmid'"),
    ({"ties": "htat", "adaptive_grace": True}, "ties='htat' does without"),
    ({"grace": 65536, "adaptive_grace": True}, "grace must be 1 to 65535 instances, not 65536"),
    ({"max_depth": 0}, "max_depth must be 1 to 2147483647, or None for no limit, not 0"),
    ({"max_depth": 2**31}, "max_depth must be 1 to 2147483647"),
]
TYPES = [
    ({"grace": 2.5}, "grace must be an integer, not 2.5"),
    ({"inner_grace": True}, "inner_grace must be an integer, not True"),
    ({"tie_increment": "1"}, "tie_increment must be an integer, not '1'"),
    ({"delta": "small"}, "delta must be a number, not 'small'"),
    ({"tau": None}, "tau must be a number, not None"),
    ({"scale": True}, "scale must be a number, not True"),
    ({"max_depth": 2.0}, "max_depth must be an integer or None, not 2.0"),
    ({"max_depth": True}, "max_depth must be an integer or None, not True"),
    ({"gain_average": "yes"}, "gain_average must be True or False, not 'yes'"),
    ({"adaptive_grace": None}, "adaptive_grace must be True or False, not None"),
]


@pytest.mark.parametrize(
    "error, options, message",
    [(error, *case) for error, cases in ((ValueError, VALUES), (TypeError, TYPES)) for case in cases],
)
def test_wrong_options(error, options, message):
    with pytest.raises(error, match=message):
        SplitPolicy(**options)


LENGTHS = "block must be an integer from 1 to 65536 instances, or a float above 0 and up to 1.0, or None for 1/32, not"
WRONG = [
    *(
        (VFDT, {"block": block}, ValueError, f"{LENGTHS} {block}")
        for block in (0, -3, 65_537, 0.0, -0.5, 1.5, math.nan)
    ),
    (VFDT, {"nominal_split": "binary"}, ValueError, "nominal_split must be 'multiway' or 'one_vs_rest'"),
    (VFDT, {"nominal_values": 1}, ValueError, "nominal_values must"),
    (VFDT, {"review_period": 0}, ValueError, "review_period must"),
    (VFDT, {"threads": 0}, ValueError, "threads must be 1 to 256, not 0"),
    (VFDT, {"geometry": "huge"}, ValueError, "no geometry 'huge'; there are tiny"),
    (VFDT, {"board": "imagined"}, ValueError, "no board 'imagined'; there are emulated"),
    # Of anything.
    *(
        (VFDT, {name: value}, (TypeError, ValueError), name)
        for name, value in (
            *(("bound", {}), ("board", np.array([1, 2])), ("criterion", pd.Series([1, 2])), ("leaf_prediction", [])),
            *(("grace", np.timedelta64(5, "s")), ("tau", 10**400), ("geometry", pd.DataFrame({"a": [1, 2]}))),
        )
    ),
    *(
        (VFDT, {"nominal": nominal}, TypeError, "^nominal must name attributes, as a list")
        for nominal in ("ab", 5, 1.5, np.array(3), iter("uv"))
    ),
    *(
        (VFDT, {"nominal": [name]}, TypeError, "^nominal must hold names or positions of attributes, not ")
        for name in ([1], {}, ([1],), Decimal("sNaN"))
    ),
    *(
        (VFDT, {"nominal": {"k": values}}, TypeError, "^nominal must hold a list of the values of 'k', not ")
        for values in (5, np.array(3), iter("uv"))
    ),
    *(
        (VFDT, {"nominal": {"k": values}}, (TypeError, ValueError), "^attribute 'k': ")
        for values in (np.zeros((2, 0)), [[1, 2]], [("u", "v")], [None], [math.nan], ["u", "?"])
    ),
    (VFDT, {"class_weight": {"yes": -1}}, ValueError, "class_weight of 'yes' must be 0 to 10000, not -1"),
    (VFDT, {"class_weight": {"yes": math.nan}}, ValueError, "must be 0 to 10000"),
    (VFDT, {"class_weight": {"yes": 1e9}}, ValueError, "must be 0 to 10000"),
    (VFDT, {"class_weight": {"yes": "3"}}, TypeError, "class_weight of 'yes' must be a number, not '3'"),
    (VFDT, {"class_weight": {"yes": True}}, TypeError, "must be a number, not True"),
    (VFDT, {"class_weight": "even"}, TypeError, "must be a dict of class labels to weights, 'balanced' or None"),
    (VFDT, {"class_weight": [1, 2]}, TypeError, "must be a dict of class labels"),
    (HAT, {"drift_delta": 0.0}, ValueError, "drift_delta must be between 0 and 1"),
    (HAT, {"drift_delta": 1}, ValueError, "drift_delta must be between 0 and 1"),
    (HAT, {"switch_delta": -0.5}, ValueError, "switch_delta must be between 0 and 1"),
    (HAT, {"switch_delta": None}, TypeError, "switch_delta must be a number"),
    (HAT, {"switch_width": 0}, ValueError, "switch_width must be 1 to"),
    (HAT, {"switch_width": 2.5}, TypeError, "switch_width must be an integer"),
    (HAT, {"leaf_alternates": 1}, TypeError, "leaf_alternates must be True or False"),
    (HAT, {"geometry": TABLE}, ValueError, f"{NODES} learns no alternates unless .*: choose .* with alternates"),
    (PuuCVFDT, {"geometry": TABLE}, ValueError, f"{NODES} neither forgets nor tests alternates .* with nodes=0"),
    (PuuCVFDT, {"test_length": 0}, ValueError, "test_length must be 1 to"),
    (CVFDT, {"window": 150}, ValueError, "a window of 150 .* grace=200.* window >= 200, or a smaller grace"),
    (CVFDT, {"window": 900}, ValueError, "smaller than inner_grace=1000.*or a smaller inner_grace"),
    (CVFDT, {"window": 1}, ValueError, "window must be 2 to 16777215 instances, or None for all, not 1"),
    (CVFDT, {"geometry": NARROW}, ValueError, "10000 .*, which hold 4095: choose window <= 4095, .*count_width >= 14"),
    (PuuVFDT, {"level": 0}, ValueError, "level must be between 0 and 1, both excluded, or None for not known"),
    (PuuVFDT, {"level": 1.5}, ValueError, "level must be between 0 and 1, both excluded.*not 1.5"),
    (PuuVFDT, {"level": "half"}, TypeError, "level must be a number or None, not 'half'"),
    (PuuVFDT, {"positive": ["a"]}, TypeError, r"positive must be a label, a string or a number, not \['a'\]"),
    (PuuVFDT, {"board": "udp:x"}, ValueError, "nine trees take a board each, and 'udp:x' is one: .*by level"),
]


@pytest.mark.parametrize("learner, wrong, error, message", WRONG)
def test_wrong_parameters_are_refused_before_any_data(learner, wrong, error, message):
    """In one line; what has been learnt with others is kept."""
    X, y = [[1.0], [2.0]], [0, 1]
    new, tree = learner(**wrong), learner().fit(X, y)
    tree.set_params(**wrong)
    for call in (
        new.check_parameters,
        lambda: new.fit(X, y),
        lambda: new.partial_fit(X, y, y),
        lambda: new.learn_one({"x0": 1.0}, 0) if hasattr(new, "learn_one") else new.fit(X, y),
        lambda: tree.fit(X, y),
    ):
        with pytest.raises(error, match=message) as told:
            call()
        assert "\n" not in str(told.value)
    tree.set_params(**{name: learner().get_params()[name] for name in wrong})
    assert tree.partial_fit(X, y).report()["instances"] == 4


def test_largest_options():
    SplitPolicy(grace=np.int64((1 << 24) - 1), inner_grace=(1 << 24) - 1, tie_increment=0, delta=np.float32(0.5), tau=3)


def test_every_parameter_is_described():
    assert tuple(TREES) == tuple(LEARNERS) and tuple(KEEPERS) == tuple(CLASSICAL)
    for name, tree in (TREES | KEEPERS).items():
        for option in OPTIONS:
            assert (f"\n{option.name} : " in tree.__doc__) == (name in option.defaults)
    assert "\ngrace : int, default 200\n    Grace period: instances between" in TREES["efdt"].__doc__


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"tau": 0.1}, r"VFDT\(tau=0.1\): the table of options declares 0.05"),
        ({"colour": 3}, r"VFDT\(colour=3\): the table of options declares 'no such parameter'"),
        ({"tau": None}, r"VFDT\(tau=None\)"),
    ],
)
def test_a_class_that_the_table_does_not_know_is_refused(parameters, message):
    members = {
        "__doc__": "A tree.\n\nSource: none.",
        "__annotations__": dict.fromkeys(parameters, "float"),
        **parameters,
    }
    with pytest.raises(TypeError, match=message):
        declared(type("VFDT", (TREES["vfdt"],), members))
