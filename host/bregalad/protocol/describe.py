"""Write docs/protocol.md from the declarations: python -m bregalad.protocol.describe."""

import inspect
import re

from ..geometry import MISSING, NONE, Geometry
from ..predictors import Predictor
from . import commands, judge, leaf_rows, nodes, registers, reports, rows, soc, tree
from .layout import Layout


def _layout(layout, title, note=""):
    lines = [f"### {title}", "", *([note, ""] if note else []), "| byte | field | bits | |", "|---|---|---|---|"]
    for field in layout.fields:
        count = "" if field.count is None else f" x {field.count}"
        lines.append(
            f"| {layout.offset(field.name)} | {field.name} | "
            f"{'s' if field.signed else 'u'}{field.width}{count} | {field.doc} |"
        )
    return [*lines, ""]


def markdown():
    """The page as text; lengths that depend on the geometry are those of ``Geometry()``."""
    geometry = Geometry()
    lines = [
        "# Protocol",
        "",
        "Made from the declarations in `host/bregalad/protocol` by",
        "`python -m bregalad.protocol.describe > docs/protocol.md`; a test compares the two.",
        "All integers are little endian. Arrays are shown for the default geometry "
        f"({geometry.classes} classes, {geometry.bins} bins) and 8 cells.",
        f"NONE, no slot or no cell, is {NONE:#06x}. The code of a missing value is {MISSING}.",
        "What is reserved is 0.",
        "",
        "## Commands",
        "",
        *_paragraphs(commands),
        "",
    ]
    meanings = _meanings(commands.Opcode)
    for opcode, layout in commands.COMMANDS.items():
        lines += _layout(layout, f"{opcode.name} = {opcode.value}", meanings[opcode.name])
        if opcode is commands.Opcode.WRITE:
            counts = reports.statistics_layout(geometry)
            lines += [
                "What follows is, for `cell` NONE, what ENTRY has from `n` on "
                f"({Layout('entry', *reports.entry_body(geometry)).size} bytes), else what "
                f"STATISTICS has from `counts` on ({counts.size - counts.offset('counts')} "
                "bytes). A link or current of a slot or cell that there is not is NONE.",
                "",
            ]
    for flags in (commands.CommandFlag, commands.RecordFlag):
        lines += _values(flags)
    lines += ["## Rows", "", *_paragraphs(rows), ""]
    lines += _layout(rows.ROW_COMMAND, "Row command")
    lines += _layout(rows.STEP, "Step")
    for values in (rows.RowOpcode, rows.RowKind, rows.StepFlag):
        lines += _values(values)
    lines += ["## Trees on the board", "", *_paragraphs(tree), ""]
    for values, layouts in ((tree.TreeOpcode, tree.TREE_COMMANDS), (tree.TreeKind, tree.TREE_REPORTS)):
        meanings = _meanings(values)
        for number, layout in layouts.items():
            lines += _layout(layout, f"{number.name} = {number.value}", meanings[number.name])
    lines += _registers(tree.TREE)
    lines += ["## Node table", "", *_paragraphs(nodes), ""]
    for values in (nodes.NodeKind, nodes.EditError):
        lines += _values(values)
    lines += ["## Reports", "", *_paragraphs(reports), ""]
    meanings = _meanings(reports.Kind)
    for kind in reports.Kind:
        lines += _layout(reports.layout_of(kind, geometry, 8), f"{kind.name} = {kind.value}", meanings[kind.name])
    for values in (reports.SuggestionFlag, reports.EntryFlag, reports.ErrorCode):
        lines += _values(values)
    lines += [
        "## Registers",
        "",
        "A value out of its field's range becomes the nearest in it, on every board: reading shows what was taken.",
        "No pulse of such a word works.",
        "",
        *_registers(registers.REGISTERS),
    ]
    lines += _values(registers.CellKind)
    lines += ["## Judge", "", *_paragraphs(judge), "", *_registers(judge.JUDGE)]
    lines += ["## Leaf rows", "", *_paragraphs(leaf_rows), ""]
    for values in (leaf_rows.RowWord, leaf_rows.RowOp, Predictor):
        lines += _values(values)
    lines += _registers(leaf_rows.LEAF_ROWS)
    lines += ["## Cores in a system on chip", "", *_paragraphs(soc), ""]
    lines += _layout(soc.DESCRIPTOR, "Descriptor")
    lines += _values(soc.Stop)
    lines += _registers(soc.SOC_REGISTERS)[:-1]
    return "\n".join(lines) + "\n"


def _registers(found):
    """A table of registers."""
    lines = ["| address | register | bits | field | access | reset | |", "|---|---|---|---|---|---|---|"]
    for register in found:
        for field, lsb in register.layout():
            lines.append(
                f"| {register.addr:#04x} | {register.name} | {lsb + field.width - 1}:{lsb}"
                f" | {field.name} | {field.access.value} | {field.reset} | {field.doc} |"
            )
    return [*lines, ""]


def _paragraphs(module):
    return module.__doc__.strip().splitlines()


def _meanings(values):
    """What values mean, or the comments after them, as sentences."""
    declared = [(value.name, value.meaning) for value in Predictor] if values is Predictor else []
    found = declared or re.findall(r"^    (\w+) = \w+(?:  # (.+))?$", inspect.getsource(values), re.MULTILINE)
    return {name: text and f"{text[0].upper()}{text[1:]}." for name, text in found}


def _values(values):
    """A table of a class's values."""
    return [
        f"### {values.__name__}",
        "",
        *inspect.getdoc(values).splitlines(),
        "",
        "| value | name | |",
        "|---|---|---|",
        *(f"| {getattr(values, name):d} | {name} | {text} |" for name, text in _meanings(values).items()),
        "",
    ]


if __name__ == "__main__":
    print(markdown(), end="")
