"""Measurements beside each other: what a user would compare."""
