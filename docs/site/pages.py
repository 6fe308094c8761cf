"""Make the documentation site: these pages, the root's, and the API from docstrings.

    python docs/site/pages.py out/site

Warnings are errors: a link that leads nowhere, a docstring that cannot be read.
"""

import argparse
import ast
import inspect
import re
import shutil
import sys
from importlib import import_module
from pathlib import Path

from bregalad.learners.catalogue import CLASSICAL, POSITIVE, TREES
from sphinx.cmd.build import main as sphinx

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ROOTS_PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
SOURCES = ("hw", "host", "sim", "tests", "constraints", "examples")
CHAPTERS = {
    "Begin": ("For data people <tutorial-data>", "For FPGA people <tutorial-fpga>"),
    "Learn": ("learners", "Ensembles <ensembles>", "Looking into a tree <inspection>", "Export <export>", "streams"),
    "Hardware": (
        "hardware",
        "design",
        "protocol",
        "The link <link>",
        "boards",
        "In a system on chip <soc>",
        "proofs",
    ),
    "Results": ("results", "area", "EFDT against VFDT <reproduction/efdt-figures>"),
    "Develop": ("contributing", "changelog"),
    "API": ("api/trees", "api/ensemble", "api/active", "api/boards", "api/data", "api/protocol", "api/hardware"),
}
API = {  # page: classes and functions, and modules with all of theirs
    "trees": (
        *(f"bregalad.{kind.__name__}" for kind in (TREES | POSITIVE | CLASSICAL).values()),
        "bregalad.load_tree",
        "bregalad.estimator.tree.StreamTree",
        "bregalad.estimator.looking.explanation.Explanation",
        "bregalad.estimator.looking.history.History",
        "bregalad.learners.classical.estimator.ClassicalTree",
        "bregalad.policy.split_policy.SplitPolicy",
        "bregalad.evaluation.prequential",
        "bregalad.evaluation.curve",
    ),
    "ensemble": ("bregalad.ensemble.bagging",),
    "active": ("bregalad.active.strategy", "bregalad.active.rules", "bregalad.active.split"),
    "boards": ("bregalad.open_board", "bregalad.Board", "bregalad.BoardError", "bregalad.Geometry"),
    "data": (
        "bregalad.data.formats.sources",
        "bregalad.data.schema",
        "bregalad.data.formats.writers",
        "bregalad.data.quantiser",
        "bregalad.data.codebook",
        "bregalad.data.nominal",
        "bregalad.data.generators",
        "bregalad.data.generators.concepts",
        "bregalad.data.generators.drift",
    ),
    "protocol": (
        "bregalad.protocol.layout",
        "bregalad.protocol.registers",
        "bregalad.protocol.link",
        "bregalad.criteria.Criterion",
        "bregalad.fixed.xlog2x",
        "bregalad.fixed.reciprocal_fixed",
        "bregalad.fixed.root_fixed",
        "bregalad.fixed.bayes_log2",
    ),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=Path, help="folder of the site; regenerated")
    args = parser.parse_args()
    sys.exit(build(args.output))


def build(output):
    """Make the site in a folder; Sphinx's status."""
    pages = output.with_name(f"{output.name}-pages")
    for folder in (pages, output):
        shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", pages, ignore=shutil.ignore_patterns("site", "*.json", "*.jsonl"))
    for source, name in ROOTS_PAGES.items():
        (pages / name).write_text(
            re.sub(r"\]\(docs/", "](", (ROOT / source).read_text(encoding="utf-8")), encoding="utf-8"
        )
    for page in pages.rglob("*.md"):
        page.write_text(_on_site(page.read_text(encoding="utf-8")), encoding="utf-8")
    with open(pages / "index.md", "a", encoding="utf-8") as index:
        index.write(
            "".join(
                f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "\n".join(names) + "\n```\n"
                for caption, names in CHAPTERS.items()
            )
        )
    (pages / "api").mkdir()
    for name, members in {**API, "hardware": _components()}.items():
        (pages / "api" / f"{name}.md").write_text(_api(name, members), encoding="utf-8")
    return sphinx(
        [
            "-q",
            "-W",
            "--keep-going",
            "-j",
            "auto",
            "-d",
            str(pages / ".doctrees"),
            "-c",
            str(HERE),
            str(pages),
            str(output),
        ]
    )


def _on_site(text):
    """A page with links that lead somewhere there: sources and data are not on it, so they are their names."""
    text = re.sub(rf"\[([^\]]*)\]\((?:\.\./)*(?:{'|'.join(SOURCES)})(?:/[^)]*)?\)", r"`\1`", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\.jsonl?\)", r"`\1`", text)
    for source, name in ROOTS_PAGES.items():
        text = re.sub(rf"\]\((?:\.\./)?{source}", f"]({name}", text)
    return text.replace("](reproduction)", "](reproduction/efdt-figures.md)")


def _api(title, members):
    """A page of the API."""
    lines = [f"# {title.capitalize()}", "", "```{eval-rst}"]
    for name in members:
        if inspect.ismodule(found := _imported(name)):
            lines += [name, "-" * len(name), "", f".. automodule:: {name}", ""]
        else:
            lines += [f".. auto{'class' if inspect.isclass(found) else 'function'}:: {name}", ""]
    return "\n".join([*lines, "```", ""])


def _imported(name):
    """A module, or a name of one."""
    module, _, last = name.rpartition(".")
    found = getattr(import_module(module), last, None)
    # What a package exports may have the name of the module that it is from.
    return import_module(name) if found is None else found


def _components():
    """The full names of the public components of the hardware."""
    hardware = ROOT / "hw" / "bregalad_hw"
    found = []
    for path in sorted(hardware.rglob("*.py")):
        module = ".".join(path.relative_to(hardware.parent).with_suffix("").parts)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and "elaborate" in {getattr(each, "name", "") for each in node.body}:
                found.append(f"{module}.{node.name}")
    return found


if __name__ == "__main__":
    main()
