"""Attribute processor array: lanes, their control, and what merges their results."""
