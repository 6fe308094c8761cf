"""Tables of a page."""


def table(head, rows):
    """A table in Markdown."""
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in (head, ["---"] * len(head), *rows))
