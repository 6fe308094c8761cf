"""The board's end of the link: frames to commands and registers, reports to frames. Source: docs/link.md."""
