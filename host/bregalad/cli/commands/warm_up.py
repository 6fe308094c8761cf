"""Compile what learners need ahead, so that no later run waits for it."""

from ...ensemble.options import NAMES
from ...options.table import CLASSICAL, LEARNERS, POSITIVE
from ...words import joined

_NAMES = (*LEARNERS, *POSITIVE, *CLASSICAL, *NAMES)
_INSTANCES = 3000


def add_arguments(parser):
    parser.add_argument(
        "learners", nargs="*", metavar="LEARNER", help=f"{joined(_NAMES)}, with its default parameters (default: vfdt)"
    )


def run(args):
    """Learn a few instances with every learner, and say how long compiling took."""
    for name in args.learners:
        if name not in _NAMES:
            raise ValueError(f"no learner {name!r}; there are {joined(_NAMES, 'and')}")
    import numpy as np
    import pandas as pd

    from ...cache import cache_folder
    from ...compiled import compile_seconds
    from ...ensemble.bagging import ENSEMBLES
    from ...learners.catalogue import CLASSICAL, POSITIVE, TREES
    from ...predictors import usual_predictor

    rng = np.random.default_rng(1)
    X = pd.DataFrame({"number": rng.random(_INSTANCES), "word": rng.choice(["a", "b", "c"], _INSTANCES)})
    y = (X["number"] > 0.5).to_numpy().astype(int)
    y[_INSTANCES // 2 :] ^= 1  # a drift, after which trees change
    for name in args.learners or ["vfdt"]:
        made = (TREES | POSITIVE | CLASSICAL | ENSEMBLES)[name]
        usual = [{"leaf_prediction": usual_predictor(bayes).word} for bayes in (True, False)]
        for changes in usual if name in TREES else [{}]:
            began = compile_seconds()
            _use(made(**changes), X[["word"]] if name == "id5r" else X, y)  # of nominal attributes only
            seconds = compile_seconds() - began
            variant = "".join(f" with {key} {value}" for key, value in changes.items())
            print(f"{name}{variant}: {f'compiled in {seconds:.1f} s' if seconds else 'compiled already'}", flush=True)
    print(f"kept in {cache_folder()}")
    return 0


def _use(learner, X, y):
    """Call all that learns and predicts, in batches and one by one."""
    learner.fit(X[:-2], y[:-2])
    learner.partial_fit(X[-2:], y[-2:])
    learner.predict_proba(X[:10])
    learner.predict(X[:10])
    if not hasattr(learner, "learn_one"):
        return
    for x, label in zip(X[:10].to_dict("records"), y, strict=False):
        learner.predict_proba_one(x)
        learner.predict_one(x)
        learner.learn_one(x, label)
