"""The table of builds in docs/boards.md, from the kept reports of their builds in hw/bregalad_hw/reports.

A report is kept by copying `report.json` and `report.txt` of a build there as `<name>.json` and
`<name>.txt`. `--write` puts the table into docs/boards.md, between its two markers.
"""

import argparse
import re
from pathlib import Path

from bregalad_hw.build.report import NOUNS
from bregalad_hw.reports import kept

PAGE = Path(__file__).resolve().parents[1] / "boards.md"
_MARKERS = "<!-- boards -->", "<!-- end of boards -->"


def table(reports):
    """Markdown."""
    names = ("lanes", "bins", "classes", "slots", "nodes")
    lines = [
        f"| board | {', '.join(names)} | array clock asked | reached | LUT4 "
        "| flip-flops | block RAMs | multipliers | seed |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for report in reports:
        size, clock, use = report["geometry"], report["clock_mhz"], report["use"]
        use = {NOUNS[cell]: found for cell, found in use.items() if cell in NOUNS}
        share = [
            f"{use[noun][0]:,} ({100 * use[noun][0] / use[noun][1]:.0f} %)"
            for noun in ("LUT4", "flip-flops", "block RAMs", "multipliers")
        ]
        lines.append(
            "| "
            + " | ".join(
                (
                    report["board"],
                    ", ".join(str(size[name]) for name in names) + (", naive Bayes" if size["naive_bayes"] else ""),
                    f"{clock['asked']:g} MHz",
                    f"{clock['achieved']:.1f} MHz" + ("" if report["met"] else ", **missed**"),
                    *share,
                    str(report["seed"]),
                )
            )
            + " |"
        )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="into docs/boards.md")
    args = parser.parse_args()
    text = table(kept().values())
    if not args.write:
        print(text)
        return
    begin, end = _MARKERS
    PAGE.write_text(re.sub(f"{begin}.*{end}", lambda _: f"{begin}\n{text}\n{end}", PAGE.read_text(), flags=re.DOTALL))


if __name__ == "__main__":
    main()
