"""Pages: links lead somewhere, lines are short, docstrings cite what there is, the site is built."""

import ast
import importlib.util
import re
import runpy
from pathlib import Path

import pytest
from processes import python

ROOT = Path(__file__).resolve().parents[1]
TABLES = runpy.run_path(str(ROOT / "docs" / "site" / "tables.py"))["TABLES"]
SOURCES = [path for folder in ("host", "hw", "sim", "tests") for path in sorted((ROOT / folder).rglob("*.py"))]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "constraints").glob("*.md")])

# Written by programs, whose sentences are as long as they come.
GENERATED = [
    *(ROOT / "docs" / "reproduction").glob("*.md"),
    ROOT / "docs" / "area.md",
    ROOT / "docs" / "protocol.md",
    ROOT / "docs" / "proofs.md",
]

FENCED = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)  # a block of code

by_name = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def without_code(text):
    """A page's lines with those of code blocks, and code in backticks, left out."""
    return re.sub(r"`[^`\n]*`", "", FENCED.sub("", text))


def anchors(page):
    """What ``#...`` may name: the headings as GitHub and the site's generator spell them."""
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@by_name
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.exists(), f"{target}: there is no {file}"
        assert ROOT in file.parents, f"{target} leads out of the repository"
        if anchor:
            assert anchor in anchors(file), f"{target}: {file.name} has no such heading"


@by_name
def test_lines_are_short(page):
    lines = [] if page in GENERATED else FENCED.sub("", page.read_text(encoding="utf-8")).splitlines()
    assert not [line for line in lines if len(line) > 120 and not line.startswith(("|", "    ", "![", "<"))]


def test_what_docstrings_cite_is_there():
    sections = set(re.findall(r"^## (\d+)\.", (ROOT / "docs" / "design.md").read_text(encoding="utf-8"), re.MULTILINE))
    cited = 0
    for source in SOURCES:
        text = source.read_text(encoding="utf-8")
        for numbers in re.findall(r"\bdesign, sections?\s+([\d, andto\n]+)", text):
            missing = set(re.findall(r"\d+", numbers)) - sections
            assert not missing, f"{source}: docs/design.md has no section {missing}"
            cited += 1
        for name in re.findall(r"\bdocs/[\w/.-]+\.md\b", text):
            assert (ROOT / name).exists(), f"{source}: there is no {name}"
    assert cited > 20


def test_a_new_learner_is_named_in_these_files():
    """Those that CONTRIBUTING.md lists, of the last one: six, which name it, and no others of the packages do."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = re.search(r"^## A learner\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)[1]
    last = re.search(r"The last one was `(\w+)`", section)[1]
    cells = re.findall(r"^\| (`[^|]*) \|", section, re.MULTILINE)
    listed = {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}
    gone = sorted(name for name in listed if not (ROOT / name).is_file())
    assert not gone and len(listed) <= 6
    packages = {path for name in ("host", "hw", "sim") for path in (ROOT / name).rglob("*.py*")}
    packages = {path for path in packages if path.suffix in (".py", ".pyi") and "benchmark" not in path.parts}
    files = packages | {ROOT / name for name in listed}
    naming = {str(path.relative_to(ROOT)) for path in files if last.lower() in path.read_text("utf-8").lower()}
    assert listed == naming


def test_components_state_their_latency():
    """Of every public component; a top level of a board, and what makes a clock, has none."""
    silent = []
    for source in sorted((ROOT / "hw").rglob("*.py")):
        if "boards" in source.parts:
            continue
        for node in ast.parse(source.read_text(encoding="utf-8")).body:
            if (
                isinstance(node, ast.ClassDef)
                and not node.name.startswith("_")
                and any(isinstance(each, ast.FunctionDef) and each.name == "elaborate" for each in node.body)
                and "latency" not in (ast.get_docstring(node) or "").lower()
            ):
                silent.append(f"{source.name}: {node.name}")
    assert not silent


@pytest.mark.slow
@pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("sphinx", "furo", "myst_parser")),
    reason="needs the documentation's tools: pip install 'bregalad[docs]'",
)
def test_site_is_built(tmp_path):
    """Without a warning: links and anchors lead somewhere, docstrings are what the API's pages can show."""
    said = python(ROOT / "docs" / "site" / "pages.py", tmp_path / "site", cwd=tmp_path, timeout=600)
    assert said.returncode == 0, said.stderr
    api = (tmp_path / "site" / "api" / "hardware.html").read_text(encoding="utf-8")
    assert "Latency" in api and "Bregalad" in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")


def test_every_bench_is_run():
    """By a test, which CONTRIBUTING says how to find."""
    text = "".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("*.py"))
    benches = {path.stem for path in (ROOT / "sim/bregalad_sim/benches").glob("bench_*.py")}
    assert len(benches) > 20
    assert not {bench for bench in benches if not re.search(rf"\b{bench}\b", text)}


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_of_what_is_declared(name):
    page, table = TABLES[name]
    assert table() in (ROOT / "docs" / page).read_text("utf-8"), "run: python docs/site/tables.py --write"


def by_hand(page):
    """A page's text without what programs write between markers."""
    return re.sub(r"<!-- (\w+) -->.*<!-- end of \1 -->", "", page.read_text("utf-8"), flags=re.DOTALL)


def test_pages_are_few_words():
    """As `wc -w` counts: code, tables and all."""
    words = {page: len(by_hand(page).split()) for page in PAGES if page not in GENERATED}
    assert sum(words.values()) <= 20_000, words
    assert words[ROOT / "README.md"] <= 600


def test_sentences_are_short():
    """Twenty words on average, on every page; tables, lists of cells and code are no sentences."""
    for page in PAGES:
        text = re.sub(r"^( {4}|\|).*$", "", without_code(by_hand(page)), flags=re.MULTILINE)
        sentences = [each.split() for each in re.split(r"[.?!](?:\*\*|\))*\s|\n\n|\n *[*#]|\n\d+\.", text)]
        lengths = [len(words) for words in sentences if len(words) > 2]
        assert page in GENERATED or sum(lengths) <= 20 * len(lengths), page
