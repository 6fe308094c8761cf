"""Payloads of the streams between the link's blocks."""

from amaranth.lib import data
from bregalad.protocol.link import HEADER

from ..layout import struct

__all__ = ["frame_layout", "head_layout", "header_layout", "reply_layout", "value_layout"]


def frame_layout():
    """A word of a received frame; at the ``last``, ``bad`` says that the frame is damaged."""
    return data.StructLayout({"data": 32, "last": 1, "bad": 1})


def header_layout():
    """The four words that a frame begins with."""
    return struct(HEADER)


def head_layout():
    """A numbered frame to be sent; ``words`` of payload."""
    return data.StructLayout({"type": 8, "flags": 8, "words": 14, "sequence": 16})


def reply_layout(peer_width):
    """The answer to a HELLO: WELCOME, or REFUSED for a ``reason`` that is not 0."""
    return data.StructLayout(
        {
            "reason": 2,
            "resumed": 1,
            "session": 32,
            "holder": 32,
            "peer": peer_width,
        }
    )


def value_layout():
    """What a register read."""
    return data.StructLayout({"address": 16, "value": 32})
