"""The tables of pages that are made from declarations: of builds in docs/boards.md, of options in docs/learners.md, of
benches in CONTRIBUTING.md.

    python docs/site/tables.py          prints them
    python docs/site/tables.py --write  puts each into its page, between its two markers

A build's report is kept by copying its `report.json` and `report.txt` to hw/bregalad_hw/reports as `<name>.json` and
`<name>.txt`.
"""

import argparse
import ast
import re
from pathlib import Path

from bregalad.options.table import OPTIONS, default_and_trees
from bregalad_hw.build.report import NOUNS
from bregalad_hw.reports import kept

PAGES = Path(__file__).resolve().parents[1]


def builds():
    """Markdown: the reference builds, what was asked for, reached and used."""
    names = ("lanes", "bins", "classes", "slots", "nodes")
    rows = []
    for report in kept().values():
        size, clock, use = report["geometry"], report["clock_mhz"], report["use"]
        use = {NOUNS[cell]: found for cell, found in use.items() if cell in NOUNS}
        share = [
            f"{use[noun][0]:,} ({100 * use[noun][0] / use[noun][1]:.0f} %)"
            for noun in ("LUT4", "flip-flops", "block RAMs", "multipliers")
        ]
        rows.append(
            (
                report["board"],
                ", ".join(str(size[name]) for name in names) + (", naive Bayes" if size["naive_bayes"] else ""),
                f"{clock['asked']:g} MHz",
                f"{clock['achieved']:.1f} MHz" + ("" if report["met"] else ", **missed**"),
                *share,
                str(report["seed"]),
            )
        )
    head = ("board", ", ".join(names), "array clock asked", "reached")
    return markdown((*head, "LUT4", "flip-flops", "block RAMs", "multipliers", "seed"), rows)


def options():
    """Markdown: the parameters of all trees."""
    rows = [(f"`{option.name}`", *default_and_trees(option), option.meaning) for option in OPTIONS]
    return markdown(("option", "default", "trees", "meaning"), rows)


def benches():
    """Markdown: the benches of blocks, what each does, and the test that runs it."""
    rows = []
    for bench in sorted((PAGES.parent / "sim/bregalad_sim/benches").glob("bench_*.py")):
        what = ast.get_docstring(ast.parse(bench.read_text(encoding="utf-8"))).splitlines()[0].rstrip(".:")
        command = f"`pytest tests/hw/test_benches.py -k {bench.stem}-`"
        rows.append((f"`{bench.stem.removeprefix('bench_')}`", what, command))
    return markdown(("bench", "what", "command"), rows)


def markdown(head, rows):
    """A table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines).replace("|  |", "| |")


TABLES = {
    "builds": ("boards.md", builds),
    "options": ("learners.md", options),
    "benches": ("../CONTRIBUTING.md", benches),
}


def written(name):
    """A page with its table as it is now."""
    page, table = TABLES[name]
    text = (PAGES / page).read_text(encoding="utf-8")
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    return re.sub(f"{begin}.*{end}", lambda _: f"{begin}\n{table()}\n{end}", text, flags=re.DOTALL)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="into the pages")
    args = parser.parse_args()
    for name, (page, table) in TABLES.items():
        if args.write:
            (PAGES / page).write_text(written(name), encoding="utf-8")
        else:
            print(f"{table()}\n")


if __name__ == "__main__":
    main()
