"""Who reads exports: a compiler, onnxruntime, and of JSON what its schema says, in plain Python."""

import json
import math
import shutil
import subprocess
from bisect import bisect_right
from importlib.resources import files

import jsonschema
import numpy as np
import pytest

SCHEMA = jsonschema.Draft202012Validator(json.loads((files("bregalad") / "export" / "schema.json").read_text("utf-8")))
FLAGS = "-std=c99 -O1 -Wall -Wextra -pedantic -Werror -fsanitize=undefined -fno-sanitize-recover".split()
_MAIN = """
#include <stdio.h>
#include <stdlib.h>
{includes}
int main(int count, char **given)
{{
    double x[{attributes}];
    const int which = count > 1 ? atoi(given[1]) : 0;
    while (fread(x, sizeof x, 1, stdin))
        switch (which) {{
{cases}
        }}
    return 0;
}}
"""


class Compiled:
    """C of several learners in one program.

    Parameters
    ----------
    folder : Path
    learners : list
        Of as many attributes.
    """

    def __init__(self, folder, learners):
        self.program = folder / "predict"
        for n, learner in enumerate(learners):
            learner.to_c(folder / f"m{n}.h", name=f"m{n}")
        numbers = range(len(learners))
        cases = [f"        case {n}: puts(m{n}_labels[m{n}_predict(x)]); break;" for n in numbers]
        (folder / "main.c").write_text(
            _MAIN.format(
                includes="\n".join(f'#include "m{n}.h"' for n in numbers),
                attributes=learners[0].n_features_in_,
                cases="\n".join(cases),
            )
        )
        cc = shutil.which("cc") or pytest.skip("there is no C compiler")
        subprocess.run([cc, *FLAGS, "main.c", "-o", str(self.program)], cwd=folder, check=True)

    def predict(self, number, rows):
        """Labels as texts."""
        rows = np.ascontiguousarray(rows, np.float64)
        said = subprocess.run([self.program, str(number)], input=rows.tobytes(), capture_output=True, check=True)
        return said.stdout.decode().splitlines()


def run_onnx(model, rows):
    """Labels and probabilities, by onnxruntime."""
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return session.run(["label", "probabilities"], {"X": rows.astype(np.float32)})


class Interpreted:
    """A description's predictions, by what the schema says of its members."""

    def __init__(self, text):
        self.model = json.loads(text)
        SCHEMA.validate(self.model)

    def predict(self, rows):
        """Labels."""
        classes = self.model["classes"]
        return [classes[self._elected(self._codes(row))] for row in rows.tolist()]

    def _codes(self, row):
        return [
            255 if math.isnan(value) else bisect_right(each["edges"], value) if "edges" in each else int(value)
            for value, each in zip(row, self.model["attributes"], strict=True)
        ]

    def _elected(self, codes):
        votes = [0.0] * len(self.model["classes"])
        for tree in self.model["trees"]:
            votes[self._class(tree["nodes"], codes)] += tree["weight"]
        return votes.index(max(votes))

    def _class(self, nodes, codes):
        node = nodes[0]
        while node["kind"] != "leaf":
            code, children = codes[node["attribute"]], node["children"]
            if node["kind"] == "multiway":
                branch = code if code < len(children) else node["default"]
            elif code == 255:
                branch = node["default"]
            else:
                branch = int(code >= node["code"]) if node["kind"] == "numeric" else int(code != node["code"])
            node = nodes[children[branch]]
        if "class" in node:
            return node["class"]
        bayes = node["bayes"]
        scores = list(bayes["prior"])
        for code, table in zip(codes, bayes["attributes"], strict=True):
            if code != 255:
                terms = table["terms"][min(max(code - table["low"], 0) >> table["shift"], len(table["terms"]) - 1)]
                scores = [score + term for score, term in zip(scores, terms, strict=True)]
        return bayes["classes"][scores.index(max(scores))]
