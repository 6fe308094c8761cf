"""An ensemble's docstring, from the table of options."""

import inspect

from .options import options_of

__all__ = ["described"]


def described(cls):
    """Class decorator of an ensemble: hold its constructor to the table of options, and describe it by that.

    Raises
    ------
    TypeError
        If the constructor has other parameters than the table says, or other defaults.
    """
    given = {name: parameter.default for name, parameter in inspect.signature(cls).parameters.items()}
    expected = {option.name: option.defaults[cls._name] for option in options_of(cls._name)}
    if given != expected:
        raise TypeError(f"{cls.__name__} has the parameters {given}, ensemble/options.py declares {expected}")
    cls._options = tuple(expected)
    if cls.__doc__ is None:  # python -OO
        return cls
    entries = "\n".join(option.entry(cls._name) for option in options_of(cls._name))
    text = inspect.cleandoc(cls.__doc__)
    at = text.index("Source:")
    cls.__doc__ = f"{text[:at]}Parameters\n----------\n{entries}\n\n{text[at:]}"
    return cls
