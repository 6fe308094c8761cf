"""Files with something wrong in them, at random: every one ends in instances, or in one clear line.

As many as are wanted: ``MUTANTS=100000 python -m pytest -m slow tests/data/test_mutants.py``.
"""

import datetime
import gzip
import io
import os
import random
import warnings
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from bregalad.data import DataError, open_stream
from pyarrow import parquet

ARFF = (
    "% c\n@relation r\n@attribute n numeric\n@attribute 'the k' {a,'b c','d\\'e'}\n@attribute s string\n"
    "@attribute class {yes,no}\n@data\n"
)
CSV = 'n,kind,"the, class"\n1.5,a,yes\n?,"b, c",no\n-2e3,,yes\n0.25,d,no\n'


def table(**options):
    """Some types of columns, an index, a nested one, in a Parquet file."""
    frame = pd.DataFrame(
        {
            "n": [1.5, np.nan, -2e3, 3] * 9,
            "i": pd.array([1, None, 3, 4] * 9, "Int64"),
            "s": ["a", "b", None, "d"] * 9,
            "c": pd.Categorical(["u", "v", "u", None] * 9),
            "b": [True, False, True, True] * 9,
            "bytes": [b"x", b"y"] * 18,
            "t": [datetime.datetime(2020, 1, 1)] * 36,
            "list": [[1, 2], []] * 18,
            "class": ["p", "q"] * 18,
        }
    ).set_index("b")
    file = io.BytesIO()
    parquet.write_table(pa.Table.from_pandas(frame), file, row_group_size=10, **options)
    return file.getvalue()


def packed(data, method):
    if method == "gz":
        return gzip.compress(data, mtime=0)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr(zipfile.ZipInfo("t"), data)
    return file.getvalue()


TEXTS = [  # the suffix, what the file holds, and columns that are ignored for it to be read
    (".arff", ARFF + "1.5,a,'x y',yes\n?,'b c',?,no\n-2e3,a,z,yes\n0.25,?,z,no\n", [2]),
    (".arff", ARFF + "{0 1,2 x}\n {0 ?, 1 'd\\'e', 3 no}\n{3 yes}\n1, a ,\"x\",yes % c\n2,'b c',\t'',no\n", [2]),
    (
        ".arff",
        "@relation r\n@attribute a real\n@attribute t date\n@attribute class{x,y}\n@data\n1,2020,x\n2,'',y\n",
        [1],
    ),
    (".csv", CSV, []),
    (".csv", CSV.replace("\n", "\r\n"), []),
    (".tsv", CSV.replace(",", "\t"), []),
    (".txt", CSV.replace(",", ";"), []),
    (".csv", "1,2,x\n3,4,y\n" * 9, []),
    (".data", "\ufeffa|b\n1|x\n2|y\n", []),
    (".csv", 2 * "\ufeffday,at,n,class\n2020-01-31,9:30,1,x\n2020-02-01T23:59:59Z,10:00:01.5,N/A,y\n", []),
    (".jsonl", '{"n": 1.5, "k": "a", "t": "2020-01-01", "class": "x"}\n{"n": null, "k": "b", "class": "y"}\n' * 3, []),
]
SEEDS = [(suffix, text.encode(), ignored) for suffix, text, ignored in TEXTS]
SEEDS += [
    (".parquet", table(), ["t", "list"]),
    (".parquet", table(compression="gzip", use_dictionary=False, version="1.0"), ["t", "list"]),
    (".parquet", table(compression="none", data_page_version="2.0"), ["t", "list"]),
]
SEEDS += [
    (f"{SEEDS[i][0]}.{'gz' if method == 'gz' else 'zip'}", packed(SEEDS[i][1], method), SEEDS[i][2])
    for i, method in ((0, "gz"), (3, "gz"), (10, "gz"), (1, 0), (3, 8), (7, 8), (11, 8))
]
PIECES = [
    *(b",", b"'", b'"', b"\n", b"\r", b"\t", b" ", b"?", b"%", b"{", b"}", b"\\", b"@data\n", b";", b"\0", b"\xff"),
    *(b"\xc3\xa4", b"\xe2\x80\xa8", b"\xc2\xa0", b"1e999", b"nan", b"inf", b"_", b"-", b"''", b'""', b"\n\n", b"{}"),
    *(b"x" * 5000, b"\xef\xbb\xbf", b"PAR1", b"PK\x03\x04", b"\x1f\x8b"),
]


def mutated(rng, data):
    """The bytes with one to three changes."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        data = bytearray(data)
        at = rng.randrange(len(data) + 1)
        lines = bytes(data).split(b"\n")
        line = rng.randrange(len(lines))
        match rng.randrange(9):
            case 0 | 1:
                data[at : at + 1] = bytes([rng.randrange(256)])
            case 2:
                del data[at : at + rng.choice((1, 1, 2, 10, len(data)))]
            case 3 | 4:
                data[at:at] = rng.choice(PIECES)
            case 5:
                data[at:at] = data[at : at + rng.choice((1, 5, 50))]
            case 6:
                lines.insert(rng.randrange(len(lines) + 1), lines[line])
                data = b"\n".join(lines)
            case 7:
                del lines[line]
                data = b"\n".join(lines)
            case _:
                mark = rng.choice(b",\t {;")
                fields = lines[line].split(bytes([mark]))
                fields.insert(rng.randrange(len(fields) + 1), rng.choice(fields))
                lines[line] = bytes([mark]).join(fields)
                data = b"\n".join(lines)
    return bytes(data)


def options(rng, ignored):
    """What may be asked of a file; as a rule what makes it readable."""
    chosen = {"chunk": rng.choice((1, 2, 100, 65_536)), "unlabelled": rng.random() < 0.3, "ignore": ignored}
    if rng.random() < 0.1:
        chosen["class_name"] = rng.choice((False, 0, 1, "class"))
    if rng.random() < 0.3:
        chosen[rng.choice(("ignore", "nominal", "numeric"))] = rng.sample(range(4), rng.randrange(3))
    return chosen


def check(path, chosen):
    """Whether it was read to its end; raises AssertionError if what comes is neither."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of a header in doubt, of names amid the data
            stream = open_stream(path, **chosen)
            for X, y in stream:
                assert list(X) == list(stream.schema.names) and len(X) == len(y) > 0
                for attribute in stream.schema.attributes:
                    if attribute.kind == "numeric":
                        assert X[attribute.name].dtype == np.float64 and not np.isinf(X[attribute.name]).any()
                    else:
                        assert all(isinstance(v, str) for v in X[attribute.name].dropna().unique())
                assert all(v is None or isinstance(v, str) for v in y)
    except (ValueError, OSError) as error:
        # An error of Python's own or of a library is no clear line, whatever it derives from.
        assert type(error) in (DataError, ValueError), f"{type(error).__name__}: {error}"
        assert "\n" not in str(error) and len(str(error)) < 12_000, str(error)[:300]
        assert path.name in str(error) or type(error) is ValueError, str(error)
        return False
    return True


def run(folder, seed, count):
    rng = random.Random(seed)
    read = 0
    for i in range(count):
        suffix, data, ignored = SEEDS[i % len(SEEDS)]
        path = folder / f"t{suffix}"
        path.write_bytes(mutated(rng, data))
        chosen = options(rng, ignored)
        try:
            read += check(path, chosen)
        except Exception as error:
            (folder / f"found{suffix}").write_bytes(path.read_bytes())
            raise AssertionError(
                f"mutant {i} of seed {seed}, {folder / f'found{suffix}'} with {chosen}: {type(error).__name__}: {error}"
            ) from error
    return read


def test_the_files_as_they_are(tmp_path):
    for suffix, data, ignored in SEEDS:
        (tmp_path / f"t{suffix}").write_bytes(data)
        assert check(tmp_path / f"t{suffix}", {"ignore": ignored}), suffix


@pytest.mark.slow
def test_mutants(tmp_path, seed):
    assert run(tmp_path, seed, int(os.environ.get("MUTANTS", 20_000))) > 0
