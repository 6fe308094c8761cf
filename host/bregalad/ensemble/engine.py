"""Where an ensemble's members learn, as its parameter ``engine`` says."""

from ..words import shown

__all__ = ["parse"]


def parse(engine):
    """(Ray's address, workers) of an engine's name; the address "ray" is whatever cluster there is, 0 workers are
    as many as there are boards.

    Raises
    ------
    TypeError, ValueError
        If it is none.
    """
    wrong = f"engine must be None, 'ray' or 'ray://HOST:PORT', or one of these with ',workers=N', not {shown(engine)}"
    if not isinstance(engine, str):
        raise TypeError(wrong)
    address, comma, option = engine.partition(",")
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if address != "ray" and not (address.startswith("ray://") and host and port.isdecimal()):
        raise ValueError(wrong)
    name, _, number = option.partition("=")
    if comma and not (name == "workers" and number.isdecimal() and int(number)):
        raise ValueError(wrong)
    return address, int(number or 0)
