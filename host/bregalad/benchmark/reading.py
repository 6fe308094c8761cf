"""Speed of reading files, in turns with pandas' and Arrow's own reading of the same ones.

Each is read as a whole and thrown away, in one process, by one thread where there is a choice. One
JSON line per file and reader: the median of the repeats, in seconds of processor time, and how many
times the faster of the two others' that is.

    python -m bregalad.benchmark.reading
"""

import argparse
import json
import platform
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.csv

from ..data import open_stream
from ..words import first_line

ATTRIBUTES = 20


def make(folder, nominal, rows, seed):
    """Write a table of 20 attributes and a class as CSV and Parquet; returns the CSV's path."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(rows, ATTRIBUTES - nominal)).round(6)).add_prefix("a")
    for k in range(nominal):
        table[f"n{k}"] = rng.choice([f"value{i}" for i in range(3 + 4 * k)], rows)
    table["class"] = np.where(table["a0"] + table["a1"] * table["a2"] > 0, "pos", "neg")
    path = Path(folder) / f"nominal-{nominal}.csv"
    table.to_csv(path, index=False)
    table.to_parquet(path.with_suffix(".parquet"), index=False)
    return path


def count(path):
    """Read it all by `open_stream`."""
    return sum(len(y) for _, y in open_stream(path))


def survey(path):
    """Go through it for the labels, as `bregalad train` does before it learns."""
    return sum(rows for rows, _ in open_stream(path).values(["class"]))


def arrow(path):
    """By one thread, as the others."""
    options = pyarrow.csv.ReadOptions(use_threads=False)
    return len(pyarrow.csv.read_csv(path, read_options=options))


def main():
    """Print one JSON line per file and reader."""
    parser = argparse.ArgumentParser(description=first_line(__doc__))
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument(
        "--nominal", type=int, nargs="+", default=[0, 5], help="nominal attributes among the 20 of each file"
    )
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for nominal in args.nominal:
            path = make(folder, nominal, args.rows, args.seed)
            readers = {
                "open_stream, CSV": lambda path=path: count(path),
                "labels of the CSV": lambda path=path: survey(path),
                "open_stream, Parquet": lambda path=path: count(path.with_suffix(".parquet")),
                "pandas.read_csv": lambda path=path: len(pd.read_csv(path)),
                "pyarrow.csv.read_csv": lambda path=path: arrow(path),
            }
            seconds = {name: [] for name in readers}
            for _ in range(args.repeats):
                for name, read in readers.items():
                    start = time.process_time()
                    if read() != args.rows:
                        raise SystemExit(f"{name} does not read {args.rows} rows")
                    seconds[name].append(time.process_time() - start)
            medians = {name: float(np.median(times)) for name, times in seconds.items()}
            best = min(medians["pandas.read_csv"], medians["pyarrow.csv.read_csv"])
            for name, median in medians.items():
                print(
                    json.dumps(
                        {
                            "bench": "reading",
                            "rows": args.rows,
                            "nominal": nominal,
                            "reader": name,
                            "megabytes": round(path.stat().st_size / 1e6),
                            "seconds": round(median, 3),
                            "times_the_best": round(median / best, 2),
                            "pandas": version("pandas"),
                            "pyarrow": version("pyarrow"),
                            "python": platform.python_version(),
                        }
                    ),
                    flush=True,
                )


if __name__ == "__main__":
    main()
