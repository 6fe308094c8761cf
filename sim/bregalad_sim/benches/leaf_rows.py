"""What the benches of leaf rows and front share: registers, and what of a result matters."""

from bregalad.predictors import Predictor
from bregalad.protocol.leaf_rows import LEAF_ROWS

_PORTS = {
    field.name: f"configuration__{register.name}__{field.name}" for register in LEAF_ROWS for field in register.fields
}


def configure(bench, golden, **values):
    """Give the block and the golden leaf rows any registers, or these."""
    by = bench.rng.choice(list(Predictor)) if golden.geometry.naive_bayes else Predictor.MAJORITY
    known = {"by": by, "reported": bench.rng.randrange(2)} | values
    assert known.keys() == _PORTS.keys()
    for name, value in known.items():
        setattr(golden, name, value)
        bench.set_inputs(**{_PORTS[name]: value})


def shown(result):
    """What matters of a golden result's fields, or of the block's, whose hits may be the word."""
    result = {"word": result["hits"], **result}
    names = [name for name in ("reported", "mark", "read") if result[name]]
    names += ["node", "label"] * bool(result["reported"])
    names += ["instances", "hits"] * bool(result["mark"])
    names += ["node", "word"] * bool(result["read"])
    return {name: int(result[name]) for name in names}
