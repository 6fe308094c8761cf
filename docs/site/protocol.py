"""Write docs/protocol.md from the declarations: python docs/site/protocol.py > docs/protocol.md."""

import inspect
import re

from bregalad.geometry import MISSING, NONE, Geometry
from bregalad.predictors import Predictor
from bregalad.protocol import commands, decider, leaf_rows, nodes, registers, reports, rows, soc, tree


def markdown():
    """The page as text; lengths that depend on the geometry are those of ``Geometry()``."""
    geometry = Geometry()
    lines = [
        "# Protocol",
        "",
        "Made from the declarations in `host/bregalad/protocol` by",
        "`python docs/site/protocol.py > docs/protocol.md`; a test compares the two.",
        "All integers are little endian. Arrays are shown for the default geometry "
        f"({geometry.classes} classes, {geometry.bins} bins) and 8 cells.",
        f"NONE, no slot or no cell, is {NONE:#06x}. The code of a missing value is {MISSING}.",
        "What is reserved is 0.",
    ]
    reported = {kind: reports.layout_of(kind, geometry, 8) for kind in reports.Kind}
    for title, module, *parts in (
        ("Commands", commands, _layouts(commands.COMMANDS), commands.CommandFlag, commands.RecordFlag),
        (
            "Rows",
            rows,
            _layout(rows.ROW_COMMAND, "Row command"),
            _layout(rows.STEP, "Step"),
            rows.RowOpcode,
            rows.RowKind,
            rows.StepFlag,
        ),
        ("Trees on the board", tree, _layouts(tree.TREE_COMMANDS), _layouts(tree.TREE_REPORTS), _registers(tree.TREE)),
        ("Node table", nodes, nodes.NodeKind, nodes.EditError),
        ("Reports", reports, _layouts(reported), reports.AttemptFlag, reports.EntryFlag, reports.ErrorCode),
        ("Registers", registers, _registers(registers.REGISTERS), registers.CellKind),
        ("Decider", decider, _registers(decider.DECIDER)),
        ("Leaf rows", leaf_rows, leaf_rows.RowWord, leaf_rows.RowOp, Predictor, _registers(leaf_rows.LEAF_ROWS)),
        (
            "Cores in a system on chip",
            soc,
            _layout(soc.DESCRIPTOR, "Descriptor"),
            soc.Stop,
            _registers(soc.SOC_REGISTERS),
        ),
    ):
        lines += ["", f"## {title}", "", *module.__doc__.strip().splitlines()]
        for part in parts:
            lines += ["", *(_values(part) if isinstance(part, type) else part)]
    return "\n".join(lines) + "\n"


def _layout(layout, title, *note):
    lines = [f"### {title}", "", *note, "| byte | field | bits | |", "|---|---|---|---|"]
    for field in layout.fields:
        count = "" if field.count is None else f" x {field.count}"
        kind = f"{'s' if field.signed else 'u'}{field.width}{count}"
        lines.append(f"| {layout.offset(field.name)} | {field.name} | {kind} | {field.doc} |")
    return lines


def _layouts(layouts):
    """A table of each of some layouts, given by their numbers."""
    meanings, lines = _meanings(type(next(iter(layouts)))), []
    for number, layout in layouts.items():
        lines += ["", *_layout(layout, f"{number.name} = {number.value}", meanings[number.name], "")]
    return lines[1:]


def _registers(found):
    lines = ["| address | register | bits | field | access | reset | |", "|---|---|---|---|---|---|---|"]
    for register in found:
        for field, lsb in register.layout():
            lines.append(
                f"| {register.addr:#04x} | {register.name} | {lsb + field.width - 1}:{lsb}"
                f" | {field.name} | {field.access.value} | {field.reset} | {field.doc} |"
            )
    return lines


def _meanings(values):
    """What values mean, or the comments after them, as sentences."""
    declared = [(value.name, value.meaning) for value in Predictor] if values is Predictor else []
    found = declared or re.findall(r"^    (\w+) = \w+(?:  # (.+))?$", inspect.getsource(values), re.MULTILINE)
    return {name: text and f"{text[0].upper()}{text[1:]}." for name, text in found}


def _values(values):
    lines = [
        f"### {values.__name__}",
        "",
        *inspect.getdoc(values).splitlines(),
        "",
        "| value | name | |",
        "|---|---|---|",
    ]
    return lines + [f"| {getattr(values, name):d} | {name} | {text} |" for name, text in _meanings(values).items()]


if __name__ == "__main__":
    print(markdown(), end="")
