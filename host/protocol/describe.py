"""Write docs/protocol.md from the declarations: python -m bregalad.protocol.describe."""

from ..geometry import Geometry
from . import commands, registers, reports

__all__ = ["markdown"]


def _layout(layout, title, note=""):
    lines = [f"### {title}", "", *([note, ""] if note else []),
             "| byte | field | bits | |", "|---|---|---|---|"]
    for field in layout.fields:
        count = "" if field.count is None else f" x {field.count}"
        lines.append(f"| {layout.offset(field.name)} | {field.name} | "
                     f"{'s' if field.signed else 'u'}{field.width}{count} | {field.doc} |")
    return [*lines, ""]


def markdown():
    """The page as text; lengths that depend on the geometry are those of ``Geometry()``."""
    geometry = Geometry()
    lines = ["# Protocol", "",
             "Made from the declarations in `host/protocol` by",
             "`python -m bregalad.protocol.describe > docs/protocol.md`; a test compares the two.",
             "All integers are little endian. Arrays are shown for the default geometry "
             f"({geometry.classes} classes, {geometry.bins} bins) and 8 cells.", "",
             "## Commands", "", *_paragraphs(commands), ""]
    for opcode, layout in commands.COMMANDS.items():
        lines += _layout(layout, f"{opcode.name} = {opcode.value}")
    lines += _layout(commands.record_layout(8), "Instance record")
    for flags in (commands.CommandFlag, commands.RecordFlag):
        lines += _values(flags)
    lines += ["## Reports", "", *_paragraphs(reports), ""]
    for kind in reports.Kind:
        lines += _layout(reports.layout_of(kind, geometry, 8), f"{kind.name} = {kind.value}")
    for values in (reports.SuggestionFlag, reports.EntryFlag, reports.ErrorCode):
        lines += _values(values)
    lines += ["## Registers", "", "| address | register | bits | field | access | reset | |",
              "|---|---|---|---|---|---|---|"]
    for register in registers.REGISTERS:
        for field, lsb in register.layout():
            lines.append(f"| {register.addr:#04x} | {register.name} | {lsb + field.width - 1}:{lsb}"
                         f" | {field.name} | {field.access.value} | {field.reset} | {field.doc} |")
    return "\n".join(lines) + "\n"


def _paragraphs(module):
    return module.__doc__.strip().splitlines()


def _values(values):
    return [f"`{values.__name__}`: " + ", ".join(f"{v.name} = {v.value}" for v in values), ""]


if __name__ == "__main__":
    print(markdown(), end="")
