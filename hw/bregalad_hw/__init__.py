"""The accelerator in Amaranth HDL, one block of the architecture's figure per file."""
