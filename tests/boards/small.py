"""The geometry of the systems on chip that the tests simulate."""

from bregalad.geometry import Geometry

GEOMETRY = Geometry(lanes=2, passes=2, bins=4, slots=16, count_width=16, bus_width=64, nodes=64)
