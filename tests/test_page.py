"""The web page of a tree: what it holds, and what headless Chromium shows of it."""

import html
import json
import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from bregalad import EFDT, ITI, VFDT, load_tree
from bregalad.data import open_stream
from bregalad.evaluation import prequential

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FRAME = """<iframe width="{}" height="900" srcdoc="{}"></iframe>"""
# In each frame: what is seen at first, what unfolding all makes, what a click on an event finds.
ASK = """<pre id="found"></pre><script>
addEventListener("load", () => {
  const found = [...document.querySelectorAll("iframe")].map(frame => {
    const page = frame.contentDocument, root = page.documentElement, size = () => root.scrollWidth - root.clientWidth;
    const first = { over: size(), width: root.clientWidth, nodes: page.querySelectorAll("details, .leaf").length };
    const small = [...page.querySelectorAll("body *")].filter(each => each.textContent.trim() &&
      parseFloat(getComputedStyle(each).fontSize) < 12).length;
    page.getElementById("unfold").click();
    const all = page.querySelectorAll("details, .leaf").length, line = [...page.querySelectorAll("#events p")].pop();
    line.click();
    return { ...first, small, all, overAll: size(), event: line.textContent,
      shown: page.querySelector(".found").textContent, ties: page.querySelectorAll("#tree .tie").length,
      marks: [...page.querySelectorAll("svg path")].map(path => path.getAttribute("d").length),
      text: page.body.innerText };
  });
  document.getElementById("found").textContent = JSON.stringify(found);
});
</script>"""


def shown(page, folder, *widths):
    """What Chromium finds in frames of such widths."""
    if CHROMIUM is None:
        pytest.skip("needs Chromium: Debian's package chromium")
    path = folder / "frames.html"
    path.write_text("".join(FRAME.format(width, html.escape(page)) for width in widths) + ASK, encoding="utf-8")
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"]
    said = subprocess.run([CHROMIUM, *options, "--dump-dom", path.as_uri()], capture_output=True, timeout=300)
    return json.loads(html.unescape(re.search(r'<pre id="found">(.*?)</pre>', said.stdout.decode())[1]))


def data_of(page):
    return json.loads(re.search(r"^const D = (.*);$", page, re.MULTILINE)[1])


@pytest.fixture(scope="module")
def run():
    """A tree with some events, and the curve of its run."""
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"<b>width</script>": rng.random(9000), "kind": rng.choice(["a", "</script>"], 9000)})
    y = np.where(np.arange(9000) < 4000, X.iloc[:, 0] > 0.3, X["kind"] == "a") ^ (rng.random(9000) < 0.05)
    tree = EFDT(grace=50, inner_grace=100)
    return tree, prequential(tree, [(X, np.where(y, "<in>", "out"))], ["<in>", "out"], every=500)


def test_it_holds_the_tree(run):
    tree, curve = run
    page, report = tree.to_html(curve), tree.report()
    data = data_of(page)
    assert len(data["words"]) == len(data["width"]) == report["nodes"] and data["width"].count(0) == report["leaves"]
    assert page.count("</script>") == 1 and not re.search(r"src=|href|url\(|import|fetch", page)  # one file is all
    counts = [sum(count for _, count in each) for each in data["counts"]]
    for node, (first, width) in enumerate(zip(data["child"], data["width"], strict=True)):
        assert not width or counts[node] == sum(counts[first : first + width])
    assert all(bool(found) == bool(width) for found, width in zip(data["decision"], data["width"], strict=True))
    assert data["curve"]["labels"] == curve.instances and len(data["events"]["tie"]) == len(tree.history.events)


def test_chromium_shows_it(run, tmp_path):
    """At two widths: nothing is beyond the edge, nothing too small, all is there once it is unfolded."""
    tree, curve = run
    wide, narrow = shown(tree.to_html(curve), tmp_path, 1280, 400)
    data, events = data_of(tree.to_html(curve)), tree.history.events
    ties = [found and found[1] - found[2] <= found[3] for found in data["decision"]]
    for found in (wide, narrow):
        assert found["over"] <= 0 and found["overAll"] <= 0 and not found["small"]
        assert found["all"] == len(data["width"]) and found["ties"] == sum(map(bool, ties))
        assert len(found["marks"]) == 6 + events["event"].nunique() and min(found["marks"]) > 5
        assert f"{events['instances'].iloc[-1]:,} {events['event'].iloc[-1]}" in found["event"] and found["shown"]
        assert "<b>width</script>" in found["text"] and "Accuracy" in found["text"] and "■ <in>" in found["text"]
    assert narrow["width"] <= 400 and wide["width"] > 1200


@pytest.mark.slow
def test_five_thousand_nodes(tmp_path):
    """Below 2 MB; nodes are made as they are unfolded."""
    tree = VFDT(tau=0.5, grace=20, slots=4000)
    for X, y in open_stream("generator:rbf,instances=240000,seed=1", chunk=60_000):
        tree.partial_fit(X, y, classes=["c1", "c2"])
    page = tree.to_html()
    assert tree.report()["nodes"] > 5000 and len(page.encode()) < 2_000_000
    (found,) = shown(page, tmp_path, 1280)
    assert found["nodes"] <= 15 and found["all"] == tree.report()["nodes"]


def test_a_tree_without_history(tmp_path):
    """Of ITI, and before anything is split."""
    X = pd.DataFrame({"width": np.arange(40.0)})
    for tree in (ITI().fit(X, X["width"] > 10), VFDT().fit(X, X["width"] > 10)):
        data = data_of(tree.to_html())
        assert data["curve"] is None and not data["events"]["event"]
        assert len(data["words"]) == tree.report()["nodes"] and not any(data["decision"])


def test_commands(tmp_path, cli, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cli("generate sea,seed=3 --limit 6000 --out sea.csv")
    cli("train sea.csv --quiet --tree efdt --grace 50 --save tree.npz --html run.html")
    cli("inspect tree.npz --html tree.html")
    page = (tmp_path / "tree.html").read_text("utf-8")
    assert page == (tmp_path / "run.html").read_text("utf-8") == load_tree("tree.npz").to_html()
    assert data_of(page)["curve"]["labels"] == [2000, 4000, 6000] and data_of(page)["events"]["event"]
    cli("train sea.csv --quiet --from tree.npz --save tree.npz --html run.html")
    curve = data_of((tmp_path / "run.html").read_text("utf-8"))["curve"]
    assert curve["labels"] == [2000 * (1 + point) for point in range(6)] and len(curve["leaves"]) == 6
    for words, message in (
        ("inspect tree.npz --html tree.html --dot", "--html is for the whole tree"),
        ("inspect tree.npz --html no/tree.html", "no/tree.html"),
        ("inspect tree.npz --html tree.npz", "tree.npz"),
        ("train sea.csv --learner bagging --members 2 --html run.html", "--html is for one tree"),
    ):
        said = cli(words, 1).err
        assert message in said and said.count("\n") == 1 and "Traceback" not in said
