"""What a curve has at each of its points."""

# What a tree's report may say; 0 where it does not.
COUNTS = (
    *("leaves", "nodes", "depth", "trials", "splits", "ties", "replaced", "pruned"),
    *("alternates", "swapped", "drifts"),
)
COLUMNS = ("instances", "accuracy", "kappa", "recent", "recent_kappa", *COUNTS, "labels", "seconds", "memory")
