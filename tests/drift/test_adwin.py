"""The adaptive window: the same as River's, number by number."""

import numpy as np
import pytest
from bregalad.compiled import njit
from bregalad.drift import adwin
from river import drift
from river.drift.adwin import AdaptiveWindowing


class Window:
    """One window, asked as River's detector is."""

    def __init__(self, delta=0.002):
        self.delta, self.windows = delta, adwin.new_windows(1)

    def update(self, value):
        return adwin.update(self.windows, 0, value, self.delta)

    def reset(self):
        adwin.forget(self.windows, 0)

    width = property(lambda self: self.windows[0, adwin.WIDTH])
    estimation = property(lambda self: adwin.estimate(self.windows, 0))
    total, variance, detections = (
        property(lambda self, at=at: self.windows[0, at]) for at in (adwin.TOTAL, adwin.VARIANCE, adwin.DETECTIONS)
    )


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


@pytest.mark.parametrize("seed", range(8))
def test_is_rivers(seed):
    rng = np.random.default_rng(seed)
    found = 0
    for stream in streams(rng):
        delta = float(10.0 ** -rng.uniform(0.1, 4))
        mine, theirs = Window(delta), drift.ADWIN(delta)
        for step, value in enumerate(stream):
            if theirs.drift_detected:  # it begins anew then
                mine.reset()
            theirs.update(value)
            assert mine.update(value) == theirs.drift_detected, (seed, delta, step)
            found += theirs.drift_detected
            assert mine.width == theirs.width, (seed, delta, step)
            assert (mine.total, mine.variance, mine.estimation) == (theirs.total, theirs.variance, theirs.estimation)
        assert not adwin.trouble(mine.windows), (seed, delta)
    assert found, seed


@pytest.mark.parametrize("seed", range(3))
def test_is_rivers_without_beginning_anew(seed):
    rng = np.random.default_rng(seed)
    for stream in streams(rng):
        mine, theirs = Window(), AdaptiveWindowing(0.002, 32, 5, 5, 10)
        for step, value in enumerate(stream):
            assert mine.update(value) == theirs.update(value), (seed, step)
            assert (mine.width, mine.total) == (theirs.get_width(), theirs.get_total()), (seed, step)
            assert mine.variance == theirs.get_variance(), (seed, step)
        assert mine.detections == theirs.get_n_detections(), seed


@njit()
def _feed(windows, values, delta):
    changes = np.zeros(values.shape, np.bool_)
    for step in range(values.shape[1]):
        for at in range(len(values)):
            changes[at, step] = adwin.update(windows, at, values[at, step], delta)
    return changes


@pytest.mark.parametrize("seed", range(2))
def test_windows_side_by_side(seed):
    rng = np.random.default_rng(seed)
    values = (rng.random((7, 4000)) < np.repeat(rng.random((7, 4)), 1000, axis=1)).astype(float)
    windows = adwin.new_windows(len(values))
    changes = _feed(windows, values, 0.002)
    assert changes.any(), seed
    for at, stream in enumerate(values):
        alone = Window()
        assert [alone.update(value) for value in stream] == changes[at].tolist(), seed
        assert (windows[at] == alone.windows[0]).all(), seed
        assert windows[at, adwin.WIDTH] == alone.width
        assert adwin.estimate(windows, at) == alone.estimation
    adwin.forget(windows, 2)
    assert not windows[2].any()
    assert windows[3].any()


@pytest.mark.parametrize("more", [{0: 1}, {5: 31}, {6: 90}, {0: 6, 6: 6}, {6: 0.5}, {1: np.nan}], ids=str)
def test_what_are_no_windows_is_told(more):
    """Whose width, levels or counts do not agree, or are no numbers; and of another length or type."""
    window = Window()
    for value in np.arange(300) % 2:
        window.update(float(value))
    windows = window.windows
    assert adwin.trouble(windows) == ""
    assert adwin.trouble(windows[:, :-1]) and adwin.trouble(windows.astype(np.float32))
    for at, value in more.items():
        windows[0, at] += value
    assert adwin.trouble(windows)
