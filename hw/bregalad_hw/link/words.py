"""Payloads of the streams between the link's blocks."""

from amaranth.lib import data

# A word of a received frame; at the ``last``, ``bad`` says that the frame is damaged.
FRAME = data.StructLayout({"data": 32, "last": 1, "bad": 1})
# A numbered frame to be sent; ``words`` of payload.
HEAD = data.StructLayout({"type": 8, "flags": 8, "words": 14, "sequence": 16})
# What a register read.
VALUE = data.StructLayout({"address": 16, "value": 32})


def reply_layout(peer_width):
    """The answer to a HELLO: WELCOME, or REFUSED for a ``reason`` that is not 0."""
    return data.StructLayout({"reason": 2, "resumed": 1, "session": 32, "owner": 32, "peer": peer_width})
