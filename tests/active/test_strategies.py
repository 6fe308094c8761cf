"""Strategies: their rules by hand, the budget, one instance or many, what they refuse."""

import copy
import importlib.util
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from bregalad import EFDT, VFDT, CTree
from bregalad.active import ConfTree, Rnd, RndVar, SelSamp, Split, SplitConfTree, Strategy, VarUn
from bregalad.active.rules import margin_of
from bregalad.benchmark import streams
from bregalad.evaluation import prequential
from streams import needs

needs_river = pytest.mark.skipif(not importlib.util.find_spec("river"), reason="needs River")
STRATEGIES = [ConfTree, Rnd, RndVar, SelSamp, VarUn]
SPLITS = [pytest.param(strategy, marks=needs_river) for strategy in (Split, SplitConfTree)]
every = pytest.mark.parametrize("strategy", [*STRATEGIES, *SPLITS])
CUTS = (0, 1, 2, 3, 10, 11, 300, 650)  # where a stream is cut: chunks of one instance, and of many


def parts(*columns):
    """Slices of frames and arrays between the cuts, and what is left."""
    for start, end in zip(CUTS, (*CUTS[1:], None), strict=True):
        yield [column[start:end] for column in columns]


def stream(seed, count=3000, changes=False):
    """A frame of two numbers and a word, and labels that are one of two words; the concept turns round midway."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.random(count), "b": rng.random(count), "c": rng.choice(list("pqr"), count)})
    y = (X["a"] > 0.5) ^ (X["c"] == "p") ^ (rng.random(count) < 0.1) ^ (changes & (np.arange(count) > count // 2))
    return X.mask(rng.random(X.shape) < 0.03), np.where(y, "yes", "no")


def tree(**options):
    return CTree(grace=30, nominal=["c"], leaf_prediction="mc", block=1, **options)


def learnt(strategy, budget=0.4, seed=1, count=1500):
    """A strategy after so many instances of a stream, and what comes then."""
    X, y = stream(seed, count + 500)
    made = strategy(tree(), budget, seed=seed)
    made.test_then_train(X[:count], y[:count], ["no", "yes"])
    return made, X[count:], y[count:]


def state(made):
    """All that a strategy's next answers depend on."""
    return pickle.dumps({name: value for name, value in vars(made).items() if name not in ("tree", "_detector")})


# Rules


class Told:
    """A strategy's rule alone: told by hand, at the instance of a number."""

    def __init__(self, strategy, budget, seen=1000, seed=1):
        self.made = strategy(tree(), budget, seed=seed)
        self.made.seen = seen

    def share(self, told, draws=4000):
        return np.mean([self.made._wants(told) for _ in range(draws)])


@pytest.mark.parametrize(
    "shares, margin",
    [((0.8, 0.2), 0.3), ((0.1, 0.9), 0.4), ((0.5, 0.5), 0), ((1,), 0.5), ((), 0), ((0.2, 0.5, 0.3), 0.1)],
)
def test_margin(shares, margin):
    assert margin_of(shares) == pytest.approx(margin)
    if len(shares) == 2:
        assert margin_of(shares) == pytest.approx(abs(shares[0] - 1 / 2))


def test_rnd_has_the_probability_of_the_budget():
    assert Told(Rnd, 0.3).share((0.9, 0.1)) == pytest.approx(0.3, abs=0.03)


@pytest.mark.parametrize("shares", [(1, 0), (0.8, 0.2), (0.5, 0.5)])
def test_sel_samp(shares):
    expected = 0.2 / (0.2 + abs(shares[0] - 0.5))
    assert Told(SelSamp, 0.2).share(shares) == pytest.approx(expected, abs=0.03)


def test_var_un_moves_its_threshold():
    rule = VarUn(tree(), 1)
    # Thresholds: 1, .99, .9801 before the first three; .9801 is no more above .985.
    assert [rule._wants((0.985, 0.015)) for _ in range(4)] == [True, True, False, True]
    assert rule._threshold == pytest.approx(0.99**3 * 1.01)
    for _ in range(200):
        rule._wants((0.5, 0.5))
    assert 0.5 * 0.98 < rule._threshold < 0.5 * 1.02  # it stays where it asks for one in two


def test_rnd_var_scales_by_a_normal_variable():
    rule = Told(RndVar, 1)
    asked = 0
    for _ in range(4000):
        rule.made._threshold = 0.8
        asked += rule.made._wants((0.6, 0.4))
    below = (1 + math.erf((1 - 0.75) / math.sqrt(2))) / 2  # P(.8 N(1, 1) > .6) = P(N(1, 1) > .75)
    assert asked / 4000 == pytest.approx(below, abs=0.03)


def test_conf_tree_asks_where_the_leaf_is_not_consistent():
    # e = sqrt(ln(2 * 1000^2) / (2 * 100)) = 0.2693 at the 1000th instance and 100 in the leaf.
    rule = Told(ConfTree, 0.1)
    assert rule.share((76, 24)) == 1  # margin .26
    e = math.sqrt(math.log(2e6) / 200)
    for size, margin in ((78, 0.28), (100, 0.5)):
        assert rule.share((size, 100 - size)) == pytest.approx((0.1 + e) / (0.1 + e + margin), abs=0.03)
    assert rule.share((0, 0)) == 1 and rule.share(()) == 1
    assert rule.share((9, 1)) == 1  # e = .85


# The budget


@every
@pytest.mark.parametrize("budget", [0, 0.07, 0.1, 0.3, 1])
def test_budget_is_never_exceeded(strategy, budget, seed):
    rng = np.random.default_rng(seed)
    made = strategy(tree(), budget, seed=seed)
    for seen in range(1, 2001):
        made._asks(rng.integers(0, 50, 2).tolist() if "ConfTree" in strategy.__name__ else (p := rng.random(), 1 - p))
        assert made.seen == seen and made.asked <= math.ceil(round(budget * seen, 9))
    assert made.asked == 0 or budget
    if budget == 0.1:
        assert made.asked > 100


def test_all_labels_make_the_tree_that_learns_all(seed):
    X, y = stream(seed)
    plain, made = tree(), Rnd(tree(), 1, seed=seed)
    expected = plain.test_then_train(X, y, ["no", "yes"])
    assert (made.test_then_train(X, y, ["no", "yes"]) == expected).all()
    assert plain.difference(made.tree) is None and plain.report()["splits"] > 2


@every
def test_no_labels(strategy):
    X, y = stream(1, 300)
    made = strategy(tree(), 0)
    assert set(made.test_then_train(X, y, ["no", "yes"])) == {"no"} and not made.query(X).any()
    assert made.report()["labels"] == 0 and made.report()["seen"] == 600 and made.report()["instances"] == 0


# One instance or many


@pytest.mark.parametrize(
    "strategy, kind",
    [
        *((strategy, CTree) for strategy in STRATEGIES),
        *(pytest.param(strategy, CTree, marks=needs_river) for strategy in (Split, SplitConfTree)),
        *((strategy, kind) for strategy in (VarUn, ConfTree) for kind in (VFDT, EFDT)),
    ],
)
def test_asked_in_batches_of_any_size(strategy, kind, seed):
    """Given the tree, as one by one; naive Bayes and what a leaf counts are the same of one instance and of many."""
    X, y = stream(seed, 2000)
    single = strategy(kind(grace=30, nominal=["c"]), 0.4, seed=seed)
    single.test_then_train(X[:1000], y[:1000], ["no", "yes"])
    batch, whole = copy.deepcopy(single), copy.deepcopy(single)
    rest = X[1000:]
    found = [single.query_one(x) for x in rest.to_dict("records")]
    assert 100 < sum(found) < 500
    assert np.concatenate([batch.query(part) for (part,) in parts(rest)]).tolist() == found
    assert whole.query(rest).tolist() == found
    assert state(batch) == state(single) == state(whole)


@every
def test_evaluation_is_predict_query_learn(strategy, seed):
    """In chunks of any size."""
    X, y = stream(seed, 2500, changes=True)
    whole, cut, single = (strategy(tree(), 0.3, seed=seed) for _ in range(3))
    found = whole.test_then_train(X, y, ["no", "yes"])
    assert (np.concatenate([cut.test_then_train(*part, ["no", "yes"]) for part in parts(X, y)]) == found).all()
    single.tree.declare(X, ["no", "yes"])
    for x, label, prediction in zip(X.to_dict("records"), y.tolist(), found, strict=True):
        assert single.tree.predict_one(x) == prediction
        if single.query_one(x):
            single.learn_one(x, label)
    for made in (cut, single):
        assert state(made) == state(whole) and made.tree.difference(whole.tree) is None
    assert whole.tree.report()["instances"] <= whole.asked


@every
def test_queries_and_labels_in_batches(strategy, seed):
    """The tree is that of what was asked for, unless a detector took chance for a change."""
    X, y = stream(seed)
    made, plain = strategy(tree(), 0.5, seed=seed), tree()
    for start in range(0, len(X), 250):
        part = slice(start, start + 250)
        ask = made.query(X[part])
        for each in (made, plain):
            each.partial_fit(X[part][ask], y[part][ask], ["no", "yes"])
    assert 0 < made.asked <= 1500
    assert getattr(made, "changes", 0) or plain.difference(made.tree) is None


@every
def test_another_seed_asks_for_others(strategy):
    one, other = (strategy(tree(), 0.3, seed=seed) for seed in (1, 2))
    told = [(5, 4), (3, 9)] if "ConfTree" in strategy.__name__ else [(0.5, 0.5), (0.9, 0.1)]
    asked = [[each._asks(told[i % 2]) for i in range(300)] for each in (one, other)]
    assert (asked[0] == asked[1]) == (strategy in (VarUn, ConfTree))  # of leaves as small ConfTree draws nothing


@every
def test_copies_go_on_alike(strategy):
    made, X, y = learnt(strategy)
    copies = [copy.deepcopy(made), pickle.loads(pickle.dumps(made))]
    found = made.test_then_train(X, y)
    for other in copies:
        assert (other.test_then_train(X, y) == found).all()
        assert state(made) == state(other) and made.tree.difference(other.tree) is None


def test_arrays(seed):
    X, y = stream(seed, 1000)
    X, y = X[["a", "b"]].to_numpy(), y == "yes"
    made = ConfTree(CTree(grace=30), 0.5, seed=seed)
    found = made.test_then_train(X, y, [False, True])
    assert found.dtype == bool and made.asked == 500
    assert made.query(X).shape == (1000,)
    none = made.query(X[:0])
    assert none.shape == (0,) and none.dtype == bool
    made.partial_fit(X[:0], y[:0])
    assert len(made.test_then_train(X[:0], y[:0])) == 0


@needs("elec")
def test_half_of_the_labels_make_hardly_less_accuracy():
    X, y, schema = streams.load("ELEC")
    stream, classes = [(X, y)], list(schema.classes)
    options = {"nominal": streams.nominal(X, schema), "leaf_prediction": "mc", "slots": 4096, "block": 1}
    full = prequential(CTree(**options), stream, classes)
    half = prequential(ConfTree(CTree(**options), 0.5, seed=1), stream, classes)
    assert half.labels[-1] <= len(y) / 2 < full.labels[-1] == len(y)
    assert full.accuracy[-1] > 0.75 and half.accuracy[-1] > full.accuracy[-1] - 0.01


# Split


@pytest.mark.parametrize("strategy", SPLITS)
def test_detector_sees_what_was_labelled_at_random(strategy, seed):
    made = strategy(tree(), 0.5, share=0.4, seed=seed)
    seen, at_random = [], 0
    made._detector.update = seen.append
    X, y = stream(seed)
    for x, label in zip(X.to_dict("records"), y.tolist(), strict=True):
        wrong = made.tree.predict_one(x) != label
        before = len(seen)
        if made.query_one(x):
            drawn = made._at_random
            at_random += drawn
            made.learn_one(x, label)
            assert seen[before:] == [wrong] * drawn
    # Half of 40 % are 600, by a standard deviation of 22; where all others are asked for, the budget leaves 5 of 8.
    assert len(seen) == at_random and 375 - 4 * 22 < at_random < 600 + 4 * 22


@pytest.mark.parametrize("strategy", SPLITS)
def test_a_change_makes_the_tree_anew(strategy, seed):
    X, y = stream(seed, 8000, changes=True)
    made, found = strategy(tree().declare(X, ["no", "yes"]), 0.5, share=0.5, seed=seed), None
    for start, (x, label) in enumerate(zip(X.to_dict("records"), y.tolist(), strict=True)):
        if not made.query_one(x):
            continue
        waiting, before = [*made._kept, (x, label)], made.changes
        made.learn_one(x, label)
        if made.changes > before and start > 4000 and found is None:
            found = start
            assert not made._kept
            fresh = tree().declare(X, ["no", "yes"])
            for instance in waiting:
                fresh.learn_one(*instance)
            assert made.tree.report()["instances"] == len(waiting) and made.tree.difference(fresh) is None
    assert found < 5000 and made.report()["changes"] == made.changes
    assert made.tree.score(X[6000:], y[6000:]) > 0.65  # of exclusive or the first split is a lottery


@pytest.mark.parametrize("strategy", SPLITS)
def test_answers_that_come_later(strategy, seed):
    """In the order in which they were asked for; of others there is none."""
    made, X, y = learnt(strategy)
    ask = made.query(X)
    before = made.tree.report()["instances"]
    with pytest.raises(ValueError, match=f"{len(X) + 1} labels for .* asked for: query says which"):
        made.partial_fit(pd.concat([X, X[:1]]), np.append(y, y[:1]))
    assert made.tree.report()["instances"] == before
    made.query(X[:3])
    for x, label in zip(X[ask].to_dict("records"), y[ask].tolist(), strict=True):
        made.learn_one(x, label)
    assert len(made._open) <= 3
    made._open.clear()
    with pytest.raises(ValueError, match="1 labels for 0 instances that were asked for"):
        made.learn_one({"a": 1.0}, "yes")


# Bad input


@every
@pytest.mark.parametrize(
    "given, error, message",
    [
        ({"budget": -0.1}, ValueError, r"budget must be 0 to 1 \(0.3 is 30 %\), not -0.1"),
        ({"budget": 30}, ValueError, r"budget must be 0 to 1 \(0.3 is 30 %\), not 30"),
        ({"budget": math.nan}, ValueError, "budget must be 0 to 1 .* not nan"),
        ({"budget": "0.3"}, TypeError, "budget must be a number, not '0.3'"),
        ({"budget": True}, TypeError, "budget must be a number, not True"),
        ({"seed": -1}, ValueError, "seed must be 0 or more, or None for any, not -1"),
        ({"seed": 1.5}, TypeError, "seed must be an integer or None, not 1.5"),
        ({"tree": CTree}, TypeError, r"tree must be one of the trees, as CTree\(\), not <class"),
    ],
)
def test_refused_at_construction(strategy, given, error, message):
    given = {"tree": tree(), "budget": 0.5, **given}
    with pytest.raises(error, match=message):
        strategy(given.pop("tree"), given.pop("budget"), **given)


@pytest.mark.parametrize("strategy", [Split, SplitConfTree])
@pytest.mark.parametrize("share", [0, 1, 20])
def test_a_share_that_splits_nothing(strategy, share):
    with pytest.raises(ValueError, match=f"share must be between 0 and 1, both excluded, not {share}"):
        strategy(tree(), 0.5, share=share)


@every
def test_bad_instances_change_nothing(strategy):
    made, X, y = learnt(strategy)
    made.budget = 1.0  # or query_one would not look
    before, report = state(made), made.tree.report()
    wrong = X.copy()
    wrong.loc[wrong.index[9], "a"] = np.inf
    for call in (
        lambda: made.query(wrong),
        lambda: made.query(X[["a", "b"]]),
        lambda: made.test_then_train(wrong, y),
        lambda: made.test_then_train(X, [*y[:-1], "maybe"]),
        lambda: made.test_then_train(X, y[:-1]),
        lambda: made.test_then_train(X[["a"]], y),
        lambda: made.query_one({"a": "word"}),
        lambda: made.partial_fit(X, [*y[:-1], "maybe"]),
    ):
        with pytest.raises((ValueError, TypeError)):
            call()
        assert state(made) == before and made.tree.report() == report


def test_classes_are_needed_first():
    X, y = stream(1, 10)
    with pytest.raises(ValueError, match="classes must name all class labels in the first call"):
        Rnd(tree(), 0.5).test_then_train(X, y)


def test_a_rule_is_a_subclass():
    with pytest.raises(NotImplementedError):
        Strategy(tree(), 1).query(stream(1, 10)[0])
