"""The adaptive window: the same as River's, number by number."""

import copy

import numpy as np
import pytest
from bregalad.compiled import njit
from bregalad.drift import adwin
from bregalad.drift.adwin import ADWIN
from river import drift
from river.drift.adwin import AdaptiveWindowing


def streams(rng):
    """Streams of bits and of numbers, steady, abrupt and gradual."""
    count = int(rng.integers(500, 6000))
    before, after = rng.random(2)
    ramp = np.clip((np.arange(count) - count / 3) / (count / 3), 0, 1)
    step = np.arange(count) >= rng.integers(count)
    yield (rng.random(count) < before).astype(float)
    yield (rng.random(count) < np.where(step, after, before)).astype(float)
    yield (rng.random(count) < before + (after - before) * ramp).astype(float)
    yield rng.normal(0, 1 + before, count) + step * rng.normal(0, 3)
    yield np.repeat(rng.random(count // 50 + 1), 50)[:count]
    yield np.full(count, before)
    yield step * 1000.0  # found with as few numbers as there may be


def options(rng):
    """A detector's parameters: the defaults half of the time."""
    if rng.random() < 0.5:
        return {}
    return {
        "delta": float(10.0 ** -rng.uniform(0.1, 4)),
        "clock": int(rng.integers(1, 50)),
        "max_buckets": int(rng.integers(2, 9)),
        "min_window_length": int(rng.integers(1, 12)),
        "grace_period": int(rng.integers(0, 60)),
    }


@pytest.mark.parametrize("seed", range(20))
def test_is_rivers(seed):
    rng = np.random.default_rng(seed)
    found = 0
    for stream in streams(rng):
        chosen = options(rng)
        mine, theirs = ADWIN(**chosen), drift.ADWIN(**chosen)
        for step, value in enumerate(stream):
            if theirs.drift_detected:  # it begins anew then
                mine.reset()
            theirs.update(value)
            assert mine.update(value) == theirs.drift_detected, (seed, chosen, step)
            found += theirs.drift_detected
            assert mine.width == theirs.width, (seed, chosen, step)
            assert (mine.total, mine.variance, mine.estimation) == (theirs.total, theirs.variance, theirs.estimation)
        assert not adwin.trouble(mine.windows, mine.rule.buckets), (seed, chosen)
    assert found, seed


@pytest.mark.parametrize("seed", range(5))
def test_is_rivers_without_beginning_anew(seed):
    rng = np.random.default_rng(seed)
    for stream in streams(rng):
        mine, theirs = ADWIN(clock=1), AdaptiveWindowing(0.002, 1, 5, 5, 10)
        for step, value in enumerate(stream):
            assert mine.update(value) == theirs.update(value), (seed, step)
            assert (mine.width, mine.total) == (theirs.get_width(), theirs.get_total()), (seed, step)
            assert mine.variance == theirs.get_variance(), (seed, step)
        assert mine.detections == theirs.get_n_detections(), seed


def test_goes_on_after_a_change():
    """Without `reset` what is as before the change is dropped, and the rest is kept, as in the paper."""
    window = ADWIN()
    stream = [0.0] * 3000 + [1.0] * 3000
    changed = [step for step, value in enumerate(stream) if window.update(value)]
    assert changed[0] > 2999
    assert window.detections == len(changed)
    assert 2900 < window.width <= 3100
    assert window.estimation > 0.97


@njit()
def _feed(windows, values, rule):
    changes = np.zeros(values.shape, np.bool_)
    for step in range(values.shape[1]):
        for at in range(len(values)):
            changes[at, step] = adwin.update(windows, at, values[at, step], rule)
    return changes


@pytest.mark.parametrize("seed", range(3))
def test_windows_side_by_side(seed):
    rng = np.random.default_rng(seed)
    values = (rng.random((7, 4000)) < np.repeat(rng.random((7, 4)), 1000, axis=1)).astype(float)
    rule = adwin.rule_of()
    windows = adwin.new_windows(len(values))
    changes = _feed(windows, values, rule)
    assert changes.any(), seed
    for at, stream in enumerate(values):
        alone = ADWIN()
        assert [alone.update(value) for value in stream] == changes[at].tolist(), seed
        assert (windows[at] == alone.windows[0]).all(), seed
        assert adwin.width(windows, at) == alone.width
        assert adwin.estimate(windows, at) == alone.estimation
    adwin.forget(windows, 2)
    assert not windows[2].any()
    assert windows[3].any()


def test_saved_goes_on_as_it_would_have():
    rng = np.random.default_rng(5)
    window = ADWIN(delta=0.01, clock=7, max_buckets=3)
    for value in rng.random(1000):
        window.update(value)
    again = ADWIN.from_state(window.state())
    copied = copy.deepcopy(window)
    for value in rng.random(3000) + 0.3:
        found = window.update(value)
        assert again.update(value) == found
        assert copied.update(value) == found
    assert again.detections == window.detections > 0


def spoilt():
    """States that are none, by what is wrong with them."""
    window = ADWIN()
    for value in np.arange(300) % 2:
        window.update(value)
    whole = window.state()
    for name, change in {
        "nothing": lambda state: state.clear(),
        "rule": lambda state: state["rule"].update(delta=2.0),
        "length": lambda state: state["window"].pop(),
        "width": lambda state: state["window"].__setitem__(0, 301.0),
        "levels": lambda state: state["window"].__setitem__(5, 31.0),
        "count": lambda state: state["window"].__setitem__(6, 90.0),
        "crowded": lambda state: state["window"].__setitem__(slice(0, 7, 6), [306.0, state["window"][6] + 6]),
        "half": lambda state: state["window"].__setitem__(6, 4.5),
        "nan": lambda state: state["window"].__setitem__(1, float("nan")),
        "text": lambda state: state.update(window="abc"),
    }.items():
        state = copy.deepcopy(whole)
        change(state)
        yield pytest.param(state, id=name)


@pytest.mark.parametrize("state", [*spoilt()])
def test_damaged_states_are_refused(state):
    with pytest.raises(ValueError, match="this is no state of ADWIN"):
        ADWIN.from_state(state)


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        ({"delta": 0}, ValueError, "delta must be between 0 and 1"),
        ({"delta": 1.0}, ValueError, "delta must be between 0 and 1"),
        ({"delta": float("nan")}, ValueError, "delta must be between 0 and 1"),
        ({"delta": "0.1"}, TypeError, "delta must be a number"),
        ({"clock": 0}, ValueError, "clock must be 1 or more"),
        ({"clock": 2.5}, TypeError, "clock must be an integer"),
        ({"max_buckets": 1}, ValueError, "max_buckets must be 2 or more"),
        ({"min_window_length": 0}, ValueError, "min_window_length must be 1 or more"),
        ({"grace_period": -1}, ValueError, "grace_period must be 0 or more"),
        ({"grace_period": True}, TypeError, "grace_period must be an integer"),
    ],
)
def test_wrong_parameters_are_refused(wrong, error, says):
    with pytest.raises(error, match=says):
        ADWIN(**wrong)


def test_numbers_must_be_finite():
    window = ADWIN()
    window.update(1)
    for value in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="value must be finite"):
            window.update(value)
    assert window.width == 1
