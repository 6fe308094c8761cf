"""What a driver asks of a split policy, and the options that are refused."""

import numpy as np
import pytest
from bregalad.estimator.parameters import declared
from bregalad.learners.catalogue import CLASSICAL as KEEPERS
from bregalad.learners.catalogue import TREES
from bregalad.options.table import CLASSICAL, LEARNERS, OPTIONS
from bregalad.policy.split_policy import SplitPolicy


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


@pytest.mark.parametrize(
    "options, message",
    [
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
        (
            {"criterion": "entropy"},
            "criterion must be 'information_gain', 'gini', 'kearns_mansour' or 'classification_error', not 'entropy'",
        ),
        ({"bound": "chernoff"}, "bound must be 'hoeffding', 'mcdiarmid', 'confidence' or "),
        ({"ties": None}, "ties must be 'ht', 'htdt' or 'htat', not None"),
        ({"variant": "river"}, "variant must be 'paper', 'moa' or 'kdd2018', not 'river'"),
        ({"same_attribute": "move"}, "same_attribute must be 'keep' or 'replace', not 'move'"),
        (
            {"bound": "mcdiarmid", "criterion": "kearns_mansour"},
            "bound 'mcdiarmid' is known for the criteria 'information_gain' or 'gini', "
            "not for 'kearns_mansour'; 'hoeffding' takes all",
        ),
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
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ValueError, match=message):
        SplitPolicy(**options)


@pytest.mark.parametrize(
    "options, message",
    [
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
    ],
)
def test_options_of_the_wrong_type(options, message):
    with pytest.raises(TypeError, match=message):
        SplitPolicy(**options)


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
