"""The accelerator as a core of a system on chip: AXI, rings in memory, an interrupt."""
