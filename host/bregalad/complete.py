"""Tables with an entry for every declared value, checked as they are made.

What is declared once (opcodes, report kinds, criteria) is carried out in several programs. Each has
a table of its own, and refuses to be imported while a declared value is missing there.
"""

from enum import Enum


def complete(declared, table, file):
    """``table``, once it is sure that its keys are what is declared, no fewer and no more.

    ``declared`` is an enumeration, or names. ValueError with what is missing or not declared, and the table's file.
    """
    declared, known = list(declared), list(table)
    missing = [value for value in declared if value not in known]
    unknown = [value for value in known if value not in declared]
    if missing:
        raise ValueError(f"{file} lacks {_listed(missing)}: it is declared, so add it there")
    if unknown:
        raise ValueError(f"{file} has {_listed(unknown)}, which is not declared")
    return table


def _listed(values):
    return ", ".join(
        f"{type(value).__name__}.{value.name}" if isinstance(value, Enum) else repr(value) for value in values
    )
