"""The description as C99: constant tables and a loop down each tree, without libraries, allocation or recursion."""

import re
from itertools import accumulate
from string import Template
from textwrap import wrap

from ..words import one_line, shown
from .model import codes_of, kept

_KINDS = {"numeric": 1, "multiway": 2, "one_vs_rest": 3}  # a leaf has 0, with naive Bayes 4
_COLUMNS = ("kind", "attribute", "limit", "default", "child")  # of leaves the last is the class, or which of the latter
_HEAD = Template("""\
/* $learner, exported by bregalad as C99; include it once. No library, no allocation, no recursion.

   unsigned ${name}_predict(const double x[$attributes]);   the class, an index into ${name}_labels

   x[attribute]; NAN: missing. A nominal attribute's is the number of its value; any other number is missing, too.
   Not for -ffast-math, which takes NAN for a number.

$listed */

#include <stdint.h>

""")
_CODE = Template("""
static inline uint8_t ${name}_code(double x, unsigned attribute)
{
    const unsigned first = ${name}_first_edge[attribute];
    unsigned low = first, high = ${name}_first_edge[attribute + 1];
    if (${name}_values[attribute])
        return x >= 0 && x < ${name}_values[attribute] ? (uint8_t)x : 255;
    if (x != x)
        return 255;
    while (low < high) {
        const unsigned middle = (low + high) / 2;
        if (${name}_edges[middle] <= x)
            low = middle + 1;
        else
            high = middle;
    }
    return (uint8_t)(low - first);
}
""")
_BAYES = Template("""
static inline unsigned ${name}_bayes(const uint8_t *code, uint32_t leaf)
{
    const uint32_t first = ${name}_first_class[leaf], count = ${name}_first_class[leaf + 1] - first;
    int32_t score[$widest];
    uint32_t best = 0;
    for (uint32_t k = 0; k < count; k++)
        score[k] = ${name}_prior[first + k];
    for (uint32_t i = 0, at = leaf * $attributes; i < $attributes; i++, at++) {
        uint32_t bin = code[i] > ${name}_low[at] ? (uint32_t)(code[i] - ${name}_low[at]) >> ${name}_shift[at] : 0;
        if (bin > ${name}_last_bin[at])
            bin = ${name}_last_bin[at];
        if (code[i] != 255)
            for (uint32_t k = 0; k < count; k++)
                score[k] += ${name}_terms[${name}_first_term[at] + bin * count + k];
    }
    for (uint32_t k = 1; k < count; k++)
        best = score[k] > score[best] ? k : best;
    return ${name}_class[first + best];
}
""")
_PREDICT = Template("""
static inline unsigned ${name}_tree(const uint8_t *code, uint32_t node)
{
    while (${name}_kind[node] % 4) {
        const uint8_t value = code[${name}_attribute[node]], kind = ${name}_kind[node], limit = ${name}_limit[node];
        unsigned branch = ${name}_default[node];
        if (kind == 2)
            branch = value < limit ? value : branch;
        else if (value != 255)
            branch = kind == 1 ? value >= limit : value != limit;
        node = ${name}_child[node] + branch;
    }
    return $leaf;
}

static inline unsigned ${name}_predict(const double x[$attributes])
{
    uint8_t code[$attributes];
    $vote votes[$classes] = {0};
    unsigned best = 0;
    for (unsigned i = 0; i < $attributes; i++)
        code[i] = ${name}_code(x[i], i);
    for (unsigned i = 0; i < $trees; i++)
        votes[${name}_tree(code, ${name}_root[i])] += ${name}_weight[i];
    for (unsigned k = 1; k < $classes; k++)
        best = votes[k] > votes[best] ? k : best;
    return best;
}
""")


def write(model, path=None, name="model"):
    """C of a description, whose names begin with ``name``: a text, or a file; see ``Learner.to_c``."""
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII):
        raise ValueError(f"name must be one of C's, letters, digits and _, not {shown(name)}")
    attributes, trees = model["attributes"], model["trees"]
    edges = [attribute.get("edges", []) for attribute in attributes]
    alike = len({tree["weight"] for tree in trees}) == 1  # then counting votes is as exact
    fields = {"name": name, "attributes": len(attributes), "classes": len(model["classes"]), "trees": len(trees)}
    fields |= {"learner": model["learner"], "listed": _listed(attributes), "vote": "uint16_t" if alike else "double"}
    rows, roots, leaves = _rows(trees)
    arrays = {
        "labels": ("char *const", [_quoted(str(label)) for label in model["classes"]]),
        "first_edge": (None, _starts(edges)),
        "edges": ("double", [repr(edge) for own in edges for edge in own] or [0]),
        "values": (None, [0 if "edges" in attribute else codes_of(attribute) for attribute in attributes]),
        "root": (None, roots),
        "weight": (fields["vote"], [1 if alike else repr(tree["weight"]) for tree in trees]),
        **{column: (None, each) for column, each in zip(_COLUMNS, zip(*rows, strict=True), strict=True)},
    }
    parts, fields["leaf"] = [_CODE, _PREDICT], f"{name}_child[node]"
    if leaves:
        arrays |= _tables(leaves)
        parts.insert(1, _BAYES)
        fields["leaf"] = f"{name}_kind[node] ? {name}_bayes(code, {name}_child[node]) : {name}_child[node]"
        fields["widest"] = max(len(leaf["classes"]) for leaf in leaves)
    texts = [_array(f"{name}_{what}", *each) for what, each in arrays.items()]
    return kept("".join([_HEAD.substitute(fields), *texts, *(part.substitute(fields) for part in parts)]), path)


def _rows(trees):
    """Nodes by ``_COLUMNS``, those of all trees behind each other; where each tree begins; leaves with naive Bayes."""
    rows, roots, leaves = [], [], []
    for tree in trees:
        roots.append(first := len(rows))
        for node in tree["nodes"]:
            if children := node.get("children"):
                test = _KINDS[node["kind"]], node["attribute"], node.get("code", len(children)), node["default"]
                rows.append((*test, first + children[0]))
            elif "bayes" in node:
                rows.append((4, 0, 0, 0, len(leaves)))
                leaves.append(node["bayes"])
            else:
                rows.append((0, 0, 0, 0, node["class"]))
    return rows, roots, leaves


def _tables(leaves):
    """The arrays of naive Bayes."""
    tables = [table for leaf in leaves for table in leaf["attributes"]]
    terms = [[term for row in table["terms"] for term in row] for table in tables]
    return {
        "first_class": (None, _starts([leaf["classes"] for leaf in leaves])),
        "class": (None, [label for leaf in leaves for label in leaf["classes"]]),
        "prior": ("int32_t", [prior for leaf in leaves for prior in leaf["prior"]]),
        "low": (None, [table["low"] for table in tables]),
        "shift": (None, [table["shift"] for table in tables]),
        "last_bin": (None, [len(table["terms"]) - 1 for table in tables]),
        "first_term": (None, _starts(terms)[:-1]),
        "terms": ("int16_t", [term for own in terms for term in own]),
    }


def _starts(parts):
    """Where each of several lists begins that are put behind each other, and where the last one ends."""
    return [0, *accumulate(map(len, parts))]


def _array(name, kind, values):
    """A constant array's declaration, by default of the smallest unsigned type."""
    kind = kind or f"uint{next(bits for bits in (8, 16, 32) if max(values) < 1 << bits)}_t"
    body = "\n    ".join(wrap(", ".join(map(str, values)), 112, break_long_words=False, break_on_hyphens=False))
    return f"static const {kind} {name}[] = {{\n    {body}\n}};\n"


def _quoted(text):
    """A string literal of a text's UTF-8."""
    escaped = re.sub(rb"[^\w.,+:;=()-]", lambda found: b"\\%03o" % ord(found[0]), text.encode())
    return f'"{escaped.decode()}"'


def _listed(attributes):
    """The attributes in a comment's words."""
    lines = []
    for place, attribute in enumerate(attributes):
        values = [f"{code} {one_line(value, 60)}" for code, value in enumerate(attribute.get("values", []))]
        values += [] if attribute.get("unknown") is None else [f"{attribute['unknown']} any other"]
        words = f"x[{place}] {one_line(attribute['name'])}{': ' * bool(values)}{', '.join(values)}"
        lines += wrap(words.replace("*/", "* /").replace("/*", "/ *"), 112, subsequent_indent="    ")
    return "\n".join(f"   {line}" for line in lines)
