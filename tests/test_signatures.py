"""Every public call tells the types of what it takes and returns."""

import importlib
import importlib.util
import inspect
import types

import pytest

# capymoa is left out: what its learners are made with is CapyMOA's.
_INNER = {"CodeBook", "Quantiser", "ValueBook"}  # parts of a tree, which users read at most
MODULES = ("bregalad bregalad.active bregalad.data bregalad.data.generators bregalad.evaluation bregalad.river").split()


def calls(module):
    """(name, function) of each public function, method and property of ours that a module exports."""
    for name in module.__all__:
        if name in _INNER:
            continue
        value = getattr(module, name)
        if isinstance(value, types.FunctionType):
            yield name, value
        for kind in value.__mro__ if isinstance(value, type) else ():
            if not kind.__module__.startswith("bregalad."):
                continue
            for method, member in vars(kind).items():
                member = getattr(member, "fget", getattr(member, "__func__", member))
                if isinstance(member, types.FunctionType) and (method == "__init__" or not method.startswith("_")):
                    yield f"{name}: {member.__qualname__}", inspect.unwrap(member)


def lacking(function):
    """What of a function's signature has no type: names of parameters, and ``return``."""
    parameters = list(inspect.signature(function).parameters.values())
    if "." in function.__qualname__ and parameters and parameters[0].name in ("self", "cls"):
        parameters = parameters[1:]
    names = [parameter.name for parameter in parameters] + ["return"]
    return [name for name in names if name not in inspect.get_annotations(function)]


@pytest.mark.parametrize("name", MODULES)
def test_every_public_call_has_a_complete_signature(name):
    if name == "bregalad.river" and not importlib.util.find_spec("river"):
        pytest.skip("River is not installed")
    found = dict(calls(importlib.import_module(name)))
    assert len(found) > 5
    without = {call: absent for call, function in found.items() if (absent := lacking(function))}
    assert not without
