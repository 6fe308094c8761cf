"""A tree that learns polars' frames, chunk by chunk: pip install polars."""

import numpy as np
import polars as pl
from bregalad import VFDT

rng = np.random.default_rng(1)
flights = pl.DataFrame(
    {
        "delay": rng.exponential(10, 20_000),
        "origin": rng.choice(["EWR", "JFK", "LGA"], 20_000),
    }
)
late = pl.select(
    pl.when((flights["delay"] > 15) & (flights["origin"] != "LGA")).then(pl.lit("late")).otherwise(pl.lit("on time"))
).to_series()

tree = VFDT()
for chunk in range(0, 15_000, 1000):
    tree.partial_fit(flights[chunk : chunk + 1000], late[chunk : chunk + 1000], classes=["late", "on time"])
accuracy = tree.score(flights[15_000:], late[15_000:])
print(f"Accuracy: {accuracy:.2%}", tree.draw(), sep="\n")
assert accuracy > 0.95
