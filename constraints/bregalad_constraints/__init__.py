"""One file per family of boards: what its place and route tool must know besides the pins."""
