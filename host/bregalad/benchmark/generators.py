"""Speed of the generators, one core, one JSON line each; processor time, data frames included."""

import argparse
import json
import platform
import time
from importlib.metadata import version

from ..data.generators import GENERATORS, PRESETS, open_generator
from ..words import first_line

JOINED = {
    "drift": "drift,first=(rbf),second=(rbf,seed=2,model_seed=2),position=250000",
    "recurrence": "recurrence,first=(rbf),second=(rbf,seed=2,model_seed=2)",
}


def main():
    parser = argparse.ArgumentParser(description=first_line(__doc__))
    parser.add_argument(
        "--generator",
        nargs="+",
        metavar="NAME[,OPTION=VALUE...]",
        default=[JOINED.get(name, name) for name in (*GENERATORS, *PRESETS)],
    )
    parser.add_argument("--values", type=int, default=5_000_000, help="attribute values")
    args = parser.parse_args()
    for name in args.generator:
        stream = open_generator(name)
        width = len(stream.schema.attributes)
        stream.take(100)  # compiled by now
        stream.instances = max(1, args.values // width)
        start = time.process_time()
        seen = sum(len(y) for _, y in stream)
        seconds = time.process_time() - start
        print(
            json.dumps(
                {
                    "bench": "generators",
                    "generator": name,
                    "instances": seen,
                    "attributes": width,
                    "seconds": round(seconds, 3),
                    "million_values_per_s": round(seen * width / seconds / 1e6, 1),
                    "numpy": version("numpy"),
                    "python": platform.python_version(),
                }
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
