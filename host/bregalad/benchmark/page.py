"""What a part of the benchmark or a study writes: a page of text, tables and pictures."""

import os


class Page:
    """A page in Markdown, written piece by piece.

    Parameters
    ----------
    name : str
        The study's; the files' names begin with it.
    title : str
    """

    def __init__(self, name, title):
        self.name = name
        self.parts = [f"# {title}"]
        self.tables = {}
        self._pictures = []

    def text(self, text):
        """Append paragraphs."""
        self.parts.append(text.strip("\n"))

    def heading(self, text):
        """Append a heading."""
        self.parts.append(f"## {text}")

    def table(self, key, head, rows):
        """Append a table; ``tables[key]`` keeps its rows as dicts of what is shown."""
        rows = [[str(cell) for cell in row] for row in rows]
        lines = [head, ["---"] * len(head), *rows]
        self.parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
        self.tables[key] = [dict(zip(head, row, strict=True)) for row in rows]

    def picture(self, suffix, figure, caption):
        """Append a Matplotlib figure, written as NAME[-SUFFIX].png; None is left out."""
        if figure is not None:
            file = f"{self.name}{'-' if suffix else ''}{suffix}.png"
            self._pictures.append((file, figure))
            self.parts.append(f"![{caption}]({file})")

    def __str__(self):
        return "\n\n".join(self.parts) + "\n"

    def write(self, folder):
        """Write the page and its pictures; returns the files' names."""
        os.makedirs(folder, exist_ok=True)
        for file, figure in self._pictures:
            figure.savefig(os.path.join(folder, file), dpi=100)
        with open(os.path.join(folder, f"{self.name}.md"), "w", encoding="utf-8") as page:
            page.write(str(self))
        return [f"{self.name}.md", *(file for file, _ in self._pictures)]


def new_figure(width, height):
    """A Matplotlib figure, None where there is no Matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    return Figure(figsize=(width, height), layout="constrained")
