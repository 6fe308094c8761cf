"""Learnt trees and forests as files that others read: ONNX, C99 and JSON; see docs/export.md.

`model` describes a learner in JSON's types; and writes that, `graph` makes ONNX of it and `source` C.
"""
