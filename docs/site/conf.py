"""Sphinx's configuration of the documentation site; `pages.py` beside it makes what it reads."""

import inspect
import re

project = "Bregalad"
html_title = "Bregalad"
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = html_show_copyright = html_copy_source = False

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 4  # as GitHub names them
highlight_language = "none"  # of what does not say: commands, drawings
default_role = "code"  # `x` in docstrings
smartquotes_action = "D"  # dashes only: quotes are as they are written

napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_custom_sections = [("Members", "params_style")]  # a component's ports
add_module_names = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True, "exclude-members": "elaborate"}


def _tidy(app, what, name, obj, options, lines):
    """Make a docstring one that napoleon reads: names on one line, prose before the sections.

    It takes a paragraph that follows a section (Latency, Source) for one more entry of it.
    """
    at = 0
    while at < len(lines) - 1:
        if re.fullmatch(r"\w+(, \w+)*,", lines[at]) and re.fullmatch(r"\w+(, \w+)*,?", lines[at + 1]):
            lines[at : at + 2] = [f"{lines[at]} {lines[at + 1]}"]
        else:
            at += 1
    heads = [at for at in range(len(lines) - 1) if re.fullmatch("-{3,}", lines[at + 1])]
    if not heads:
        return
    paragraphs = re.split(r"\n\n+(?=\S)", "\n".join(lines[heads[0] :]).strip())
    prose = [text for text in paragraphs if not re.match(r"\w+\n---|>>>|[\w*, ]+ : ", text)]
    lines[:] = "\n\n".join(
        ["\n".join(lines[: heads[0]]).strip(), *prose, *(text for text in paragraphs if text not in prose)]
    ).splitlines() + [""]


def _signature(app, what, name, obj, options, signature, returns):
    """A class's arguments are its constructor's, though bases of it make their own of all calls."""
    if what == "class" and "__init__" in vars(obj):
        found = inspect.signature(obj.__init__)
        return str(found.replace(parameters=[*found.parameters.values()][1:])), returns
    return None


def _skip(app, what, name, obj, skip, options):
    """Leave out what scikit-learn adds to every estimator."""
    return True if re.fullmatch(r"set_\w+_request", name) else None


def setup(app):
    app.connect("autodoc-process-docstring", _tidy, priority=100)  # before napoleon
    app.connect("autodoc-process-signature", _signature)
    app.connect("autodoc-skip-member", _skip)
